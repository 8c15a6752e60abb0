//! The channel that needs nothing: it hands nothing on and keeps messages to look at. What a
//! message says stands in the log already, so there is nothing more to keep.

use std::time::Duration;

use async_trait::async_trait;
use kurier_core::message::{Letter, Outcome};

use super::Channel;

pub const NAME: &str = "outbox";

pub struct Outbox;

#[async_trait]
impl Channel for Outbox {
    async fn send(&self, _letter: &Letter) -> Outcome {
        Outcome::Sent { receipt: None }
    }

    fn concurrency(&self) -> usize {
        1_000
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(1)
    }
}
