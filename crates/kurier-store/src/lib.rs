//! What Kurier keeps.

pub mod kv;
