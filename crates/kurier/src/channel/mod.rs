//! Channels: what takes a message and hands it on.

pub mod outbox;

use std::time::Duration;

use async_trait::async_trait;
use kurier_core::message::{Letter, Outcome};

/// Something that takes letters. Whatever happens is an outcome: a channel never fails
/// otherwise, and never takes longer than it says.
#[async_trait]
pub trait Channel: Send + Sync {
    async fn send(&self, letter: &Letter) -> Outcome;

    /// How many letters it takes at the same time.
    fn concurrency(&self) -> usize;

    /// How long a letter may take.
    fn timeout(&self) -> Duration;
}
