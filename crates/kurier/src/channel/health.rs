//! How a channel fares in this process.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use kurier_core::message::{Blame, Letter, Outcome};
use kurier_core::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::Channel;
use crate::metrics as names;

/// What was seen of a channel since this process knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct HealthReport {
    pub sent: u64,
    pub refused: u64,
    pub unknown: u64,
    /// Refusals in a row that were the channel's fault, answers that were lost included.
    #[schema(example = 0)]
    pub failing: u32,
    #[schema(value_type = Option<String>)]
    pub last_sent_at: Option<Timestamp>,
    #[schema(value_type = Option<String>)]
    pub last_failed_at: Option<Timestamp>,
    /// Of the last failure, what a machine may tell it by.
    #[schema(example = "http 503")]
    pub last_code: Option<String>,
    #[schema(example = "the service answered 503")]
    pub last_detail: Option<String>,
}

#[derive(Default)]
pub struct Health(Mutex<HealthReport>);

impl Health {
    pub fn report(&self) -> HealthReport {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn note(&self, outcome: &Outcome, at: Timestamp) {
        let mut report = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match outcome {
            Outcome::Sent { .. } => {
                report.sent += 1;
                report.failing = 0;
                report.last_sent_at = Some(at);
            }
            Outcome::Refused(refusal) => {
                report.refused += 1;
                let is_channel = refusal.blame == Blame::Channel;
                report.failing = if is_channel { report.failing + 1 } else { 0 };
                report.failed(at, &refusal.code, &refusal.detail);
            }
            Outcome::Unknown { detail } => {
                report.unknown += 1;
                report.failing += 1;
                report.failed(at, "unknown", detail);
            }
        }
    }
}

impl HealthReport {
    fn failed(&mut self, at: Timestamp, code: &str, detail: &str) {
        self.last_failed_at = Some(at);
        self.last_code = Some(code.to_owned());
        self.last_detail = Some(detail.to_owned());
    }
}

/// A channel that is looked at while it works.
pub(super) struct Watched {
    pub kind: &'static str,
    pub channel: Arc<dyn Channel>,
    pub health: Arc<Health>,
}

#[async_trait]
impl Channel for Watched {
    async fn send(&self, letter: &Letter) -> Outcome {
        let began = Instant::now();
        let outcome = self.channel.send(letter).await;
        let word = word(&outcome);
        let seconds = began.elapsed().as_secs_f64();
        metrics::histogram!(names::CHANNEL_SECONDS, "kind" => self.kind, "outcome" => word)
            .record(seconds);
        self.health.note(&outcome, letter.at);
        outcome
    }

    fn concurrency(&self) -> usize {
        self.channel.concurrency()
    }

    fn timeout(&self) -> Duration {
        self.channel.timeout()
    }
}

pub const fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Sent { .. } => "sent",
        Outcome::Refused(_) => "refused",
        Outcome::Unknown { .. } => "unknown",
    }
}
