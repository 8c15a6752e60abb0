//! A channel as the API shows it: whatever is secret is told only to be set.

use std::collections::BTreeMap;

use kurier_core::message::{BreakerLimits, ContactLimit, Gate, GateLimits, Outcome};
use kurier_store::{KeptChannel, Scope};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::channel::{HealthReport, Registry, outcome_word};
use crate::clock;

/// A channel that is set up.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChannelView {
    #[schema(example = "email")]
    pub name: String,
    #[schema(example = "email")]
    pub kind: &'static str,
    /// What it speaks to; which settings there are depends on the kind.
    #[schema(value_type = Object)]
    settings: Value,
    /// The secrets that are set, by name; never what they are.
    #[schema(example = json!({"password": "set"}))]
    secrets: BTreeMap<String, &'static str>,
    pub enabled: bool,
    rate_limit_per_minute: Option<u32>,
    #[schema(value_type = Option<Object>)]
    contact_limit: Option<ContactLimit>,
    max_retries: u32,
    /// `resend` or `ask`.
    #[schema(value_type = String, example = "resend")]
    on_unknown: Value,
    #[schema(value_type = Object)]
    breaker: BreakerLimits,
    /// Goes up whenever it is set up otherwise.
    revision: i64,
    pub changed_at: String,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "the secret `password` is missing")]
    pub fault: Option<String>,
    /// What this server saw of it; nothing before the first message.
    pub health: Option<HealthReport>,
    /// Whether messages may pass, for all servers together.
    pub gate: GateView,
}

/// The gate before a channel.
#[derive(Debug, Serialize, ToSchema)]
pub struct GateView {
    /// The circuit breaker: `closed` lets everything pass, `open` nothing, `half_open` one
    /// message at a time.
    #[schema(example = "closed")]
    breaker: &'static str,
    /// Why nothing passes: `circuit_open`, `rate_limit` or `retry_after`.
    #[schema(example = "circuit_open")]
    closed_by: Option<&'static str>,
    #[schema(example = "2026-11-19T09:30:00.000Z")]
    closed_until: Option<String>,
}

impl GateView {
    fn of(gate: &Gate, kept: &KeptChannel) -> Self {
        let settings = &kept.settings;
        let limits = GateLimits {
            revision: kept.revision,
            per_minute: settings.rate_limit_per_minute,
            breaker: settings.breaker,
        };
        let closed = gate.closed(limits, clock::now());
        Self {
            breaker: gate.breaker.as_str(),
            closed_by: closed.map(|closed| closed.by.as_str()),
            closed_until: closed.map(|closed| closed.until.to_string()),
        }
    }
}

impl ChannelView {
    /// What is kept of a channel, and how it fares.
    pub async fn of(
        registry: &Registry,
        scope: Scope,
        kept: KeptChannel,
        gates: &[(String, Gate)],
    ) -> Self {
        let gate = gates.iter().find(|(name, _)| *name == kept.name);
        let gate = gate.map(|(_, gate)| gate.clone()).unwrap_or_default();
        let opened = match &kept.secrets {
            Some(sealed) => registry.vault().open(scope, &kept.name, sealed),
            None => Ok(Default::default()),
        };
        let (names, fault) = match &opened {
            Ok(secrets) => (secrets.names(), None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let found = registry.find(scope, &kept.name).await.ok().flatten();
        let found = found.filter(|found| found.revision == Some(kept.revision));
        let written = serde_json::to_value(&kept.settings).unwrap_or_default();
        Self {
            kind: kept.settings.kind().as_str(),
            settings: written["settings"].clone(),
            secrets: names.iter().map(|it| ((*it).to_owned(), "set")).collect(),
            enabled: kept.settings.enabled,
            rate_limit_per_minute: kept.settings.rate_limit_per_minute,
            contact_limit: kept.settings.contact_limit,
            max_retries: kept.settings.max_retries,
            on_unknown: written["on_unknown"].clone(),
            breaker: kept.settings.breaker,
            revision: kept.revision.0,
            changed_at: kept.changed_at.to_string(),
            fault,
            health: found.map(|found| found.health.report()),
            gate: GateView::of(&gate, &kept),
            name: kept.name,
        }
    }
}

/// What became of a test.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestView {
    /// `sent`, `refused` or `unknown`.
    #[schema(example = "sent")]
    pub outcome: &'static str,
    /// The id that the letter carried.
    #[schema(example = "019a9b6e-5f00-7c3a-9d1e-3f2b8c4d5e6f")]
    message: String,
    took_ms: u64,
    /// What the provider calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "250 queued as 4F2A")]
    pub receipt: Option<String>,
    /// `temporary`, `permanent` or `retryable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "temporary")]
    category: Option<&'static str>,
    /// Whose fault it is: `recipient`, `message` or `channel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "channel")]
    blame: Option<kurier_core::message::Blame>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "http 503")]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "the service answered 503")]
    pub detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
}

impl TestView {
    pub fn of(message: String, outcome: Outcome, took_ms: u64) -> Self {
        let mut view = Self {
            outcome: outcome_word(&outcome),
            message,
            took_ms,
            receipt: None,
            category: None,
            blame: None,
            code: None,
            detail: None,
            retry_after: None,
        };
        match outcome {
            Outcome::Sent { receipt } => view.receipt = receipt,
            Outcome::Unknown { detail } => view.detail = Some(detail),
            Outcome::Refused(refusal) => {
                view.category = Some(refusal.category.as_str());
                view.blame = Some(refusal.blame);
                view.code = Some(refusal.code);
                view.detail = Some(refusal.detail);
                view.retry_after = refusal.retry_after;
            }
        }
        view
    }
}
