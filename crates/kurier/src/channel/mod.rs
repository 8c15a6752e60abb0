//! Channels: what takes a letter and hands it on. Each says truthfully what became of it:
//! taken, certainly not taken, or handed over with the answer lost.

mod email;
mod health;
mod http;
pub mod outbox;
mod registry;
mod slack;
mod sms;
mod webhook;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kurier_core::message::channel::{ChannelSettings, Setup};
use kurier_core::message::reply::refusal;
use kurier_core::message::{Blame, Category, Letter, Outcome};

pub use health::{Health, HealthReport, word as outcome_word};
pub use http::{Fetch, Outside, Resolve};
pub use registry::{Found, Registry};

use crate::secret::Secrets;

#[async_trait]
pub trait Channel: Send + Sync {
    /// Hands a letter over, within [`Channel::timeout`]. Many may be on their way at once; who
    /// comes when all places are taken waits for one, which is not part of that time.
    async fn send(&self, letter: &Letter) -> Outcome;

    /// So many letters can be on their way at once.
    fn concurrency(&self) -> usize;

    fn timeout(&self) -> Duration;
}

/// What cannot be built from its settings.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(pub String);

/// The channel that settings and secrets describe.
pub fn build(
    settings: &ChannelSettings,
    secrets: &Secrets,
    outside: &Outside,
) -> Result<Arc<dyn Channel>, Unusable> {
    Ok(match &settings.setup {
        Setup::Email(it) => Arc::new(email::Email::new(it, secrets)?),
        Setup::Webhook(it) => Arc::new(webhook::Webhook::new(it, secrets, outside)?),
        Setup::Slack(it) => Arc::new(slack::Slack::new(it, secrets, outside)?),
        Setup::Sms(it) => sms::build(it, secrets, outside)?,
        Setup::Outbox => Arc::new(outbox::Outbox),
    })
}

/// A channel that cannot be built refuses everything, and says why.
struct Refusing(String);

#[async_trait]
impl Channel for Refusing {
    async fn send(&self, _letter: &Letter) -> Outcome {
        refused((Category::Permanent, Blame::Channel), "settings", &self.0)
    }

    fn concurrency(&self) -> usize {
        1
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(1)
    }
}

/// It was certainly not taken.
fn refused(verdict: (Category, Blame), code: &str, detail: &str) -> Outcome {
    Outcome::Refused(refusal(verdict, code.to_owned(), detail))
}

/// The time was up before anything was handed over.
fn late() -> Outcome {
    let verdict = (Category::Retryable, Blame::Channel);
    refused(
        verdict,
        "timeout",
        "the time was up before it was handed over",
    )
}

/// The way there failed.
fn unreachable(code: &str, detail: &str) -> Outcome {
    refused((Category::Retryable, Blame::Channel), code, detail)
}

/// The letter lacks what the channel needs.
fn unsendable(code: &str, detail: &str) -> Outcome {
    refused((Category::Permanent, Blame::Message), code, detail)
}

fn no_recipient() -> Outcome {
    let verdict = (Category::Permanent, Blame::Recipient);
    refused(verdict, "no_address", "there is no address to send it to")
}
