//! Placeholder until the keyspace lands.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {}
