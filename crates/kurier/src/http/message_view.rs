//! A message as the API shows it.

use kurier_core::message::{Refusal, Rendered};
use kurier_core::projection::{Attempt, MessageSummary, Told};
use kurier_store::MessageCount;
use serde::Serialize;
use utoipa::ToSchema;

/// A message: who asked for it, to whom it goes, and what became of it.
#[derive(Debug, Serialize, ToSchema)]
pub struct MessageView {
    id: String,
    /// None for one to nobody we know.
    contact: Option<String>,
    /// The address, as it was known when the message was asked for.
    #[schema(example = "ann@example.com")]
    to: Option<String>,
    /// The journey that asked for it; none if a program did.
    #[schema(example = "019a9b6e-5f00-7c3a-9d1e-3f2b8c4d5e6f")]
    journey: Option<String>,
    version: Option<u32>,
    #[schema(example = "019a9b6e-5f00-7c3a-9d1e-3f2b8c4d5e6f")]
    instance: Option<String>,
    #[schema(example = "send_welcome")]
    node: Option<String>,
    /// The channel that was asked for.
    #[schema(example = "email")]
    channel: String,
    #[schema(example = "welcome")]
    template: Option<String>,
    #[schema(example = "news")]
    topic: Option<String>,
    /// 1 to 10; 10 goes first.
    priority: u8,
    /// `queued`, `sending`, `sent`, `retrying`, `failed`, `skipped` or `unknown`.
    #[schema(example = "sent")]
    state: &'static str,
    /// What it is headed; only in a list that was asked for `subjects`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "Welcome")]
    subject: Option<String>,
    /// Why it is in that state, where there is a reason.
    #[schema(example = "suppressed")]
    reason: Option<&'static str>,
    /// What the channel said last.
    #[schema(example = "smtp 550 5.1.1")]
    code: Option<String>,
    /// How often it was handed to its channel.
    attempts: u32,
    /// When it is tried, if that is later.
    next_at: Option<String>,
    /// The channel that took it.
    #[schema(example = "email")]
    sent_by: Option<String>,
    /// Somebody put it away.
    discarded: bool,
    requested_at: String,
    changed_at: String,
}

impl From<&MessageSummary> for MessageView {
    fn from(message: &MessageSummary) -> Self {
        let (request, standing) = (&message.request, &message.standing);
        let origin = request.origin.as_ref();
        Self {
            id: request.message.to_string(),
            contact: message.contact.map(|it| it.to_string()),
            to: request.to.clone(),
            journey: origin.map(|it| it.journey.to_string()),
            version: origin.map(|it| it.version),
            instance: origin.map(|it| it.instance.to_string()),
            node: origin.map(|it| it.node.clone()),
            channel: request.channel.clone(),
            template: request.template.clone(),
            topic: request.topic.clone(),
            priority: request.priority,
            state: message.state.as_str(),
            subject: None,
            reason: message.reason.map(|it| it.as_str()),
            code: message.code.clone(),
            attempts: message.attempts,
            next_at: standing.next_at.map(|it| it.to_string()),
            sent_by: standing.sent_by.clone(),
            discarded: message.is_discarded,
            requested_at: message.requested_at.to_string(),
            changed_at: message.changed_at.to_string(),
        }
    }
}

impl MessageView {
    pub(super) fn headed(mut self, subject: Option<String>) -> Self {
        self.subject = subject;
        self
    }
}

/// A message with everything that is known of it.
#[derive(Debug, Serialize, ToSchema)]
pub struct MessageDetail {
    #[serde(flatten)]
    message: MessageView,
    /// Which version of the template it was written with.
    template_version: Option<u32>,
    /// What the provider calls it.
    #[schema(example = "250 queued as 4F2A")]
    receipt: Option<String>,
    /// The values its template reads.
    #[schema(value_type = Object)]
    inputs: kurier_core::value::Object,
    tries: Vec<AttemptView>,
    /// What the log was told of it, oldest first.
    events: Vec<MessageEvent>,
}

impl From<MessageSummary> for MessageDetail {
    fn from(message: MessageSummary) -> Self {
        Self {
            message: MessageView::from(&message),
            template_version: message.request.template_version,
            receipt: message.standing.receipt,
            inputs: message.request.inputs,
            tries: message
                .standing
                .tries
                .into_iter()
                .map(AttemptView::from)
                .collect(),
            events: message.standing.told.iter().map(event_view).collect(),
        }
    }
}

/// One event of the log about a message.
#[derive(Debug, Serialize, ToSchema)]
pub struct MessageEvent {
    /// Where it stands in the log.
    position: i64,
    #[serde(rename = "type")]
    #[schema(example = "message.sent")]
    kind: &'static str,
    /// Why, where there is a reason.
    #[schema(example = "suppressed")]
    reason: Option<&'static str>,
    occurred_at: String,
}

fn event_view(told: &Told) -> MessageEvent {
    MessageEvent {
        position: told.position.0,
        kind: told.kind.as_str(),
        reason: told.reason.map(|it| it.as_str()),
        occurred_at: told.at.to_string(),
    }
}

/// One time that a message was handed to its channel.
#[derive(Debug, Serialize, ToSchema)]
pub struct AttemptView {
    attempt: u32,
    began_at: String,
    ended_at: Option<String>,
    /// The state it led to; `sending` until it ends.
    #[schema(example = "retrying")]
    outcome: &'static str,
    #[schema(example = "http 503")]
    code: Option<String>,
    /// What the channel said, for people.
    #[schema(example = "421 the mailbox is busy, try again later")]
    detail: Option<String>,
    /// `temporary`, `permanent` or `retryable`.
    #[schema(example = "temporary")]
    category: Option<&'static str>,
}

impl From<Attempt> for AttemptView {
    fn from(attempt: Attempt) -> Self {
        let refusal: Option<Refusal> = attempt.refusal;
        Self {
            attempt: attempt.attempt,
            began_at: attempt.began_at.to_string(),
            ended_at: attempt.ended_at.map(|it| it.to_string()),
            outcome: attempt.outcome.as_str(),
            category: refusal.as_ref().map(|it| it.category.as_str()),
            code: refusal.as_ref().map(|it| it.code.clone()),
            detail: refusal.map(|it| it.detail),
        }
    }
}

/// Messages that stand alike, counted.
#[derive(Debug, Serialize, ToSchema)]
pub struct CountView {
    #[schema(example = "email")]
    channel: String,
    #[schema(example = "sent")]
    state: &'static str,
    #[schema(example = "suppressed")]
    reason: Option<&'static str>,
    #[schema(example = "http 503")]
    code: Option<String>,
    count: u64,
}

impl From<MessageCount> for CountView {
    fn from(count: MessageCount) -> Self {
        Self {
            channel: count.channel,
            state: count.state.as_str(),
            reason: count.reason.map(|it| it.as_str()),
            code: count.code,
            count: count.count,
        }
    }
}

/// What a message says. Which parts there are depends on its template.
#[derive(Debug, Serialize, ToSchema)]
pub struct RenderedContent {
    #[schema(example = "Welcome")]
    subject: Option<String>,
    #[schema(example = "<p>Hello Ann</p>")]
    html: Option<String>,
    #[schema(example = "Hello Ann")]
    text: Option<String>,
    /// A JSON document: a webhook's data, or Slack's blocks.
    #[schema(example = "{\"text\":\"Hello Ann\"}")]
    json: Option<String>,
}

impl From<Rendered> for RenderedContent {
    fn from(rendered: Rendered) -> Self {
        Self {
            subject: rendered.subject,
            html: rendered.html,
            text: rendered.text,
            json: rendered.json,
        }
    }
}
