//! An event as the API shows it: the fields of the Segment spec, and where it stands.

use kurier_core::event::Recorded;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// An event of a contact.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventView {
    id: String,
    /// Its place in the log.
    position: i64,
    #[schema(example = "track")]
    r#type: &'static str,
    /// What was tracked, or the page's or screen's name.
    #[schema(example = "Order Completed")]
    name: Option<String>,
    /// The client's time, corrected for its clock's skew.
    occurred_at: String,
    recorded_at: String,
    message_id: Option<String>,
    user_id: Option<String>,
    anonymous_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "Docs")]
    category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_id: Option<String>,
    /// The client's time as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "2026-11-19T09:30:00.000Z")]
    original_timestamp: Option<String>,
    /// What a client gave with it, or all that Kurier itself says.
    properties: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    traits: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    context: Value,
}

impl EventView {
    pub fn of(recorded: &Recorded) -> Result<Self, kurier_store::Error> {
        let damaged = |e: serde_json::Error| kurier_store::Error::Damaged(e.to_string());
        let said = recorded.said().map_err(damaged)?;
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let json = |raw: Option<&serde_json::value::RawValue>| {
            raw.map_or(Ok(Value::Null), |raw| serde_json::from_str(raw.get()))
                .map_err(damaged)
        };
        Ok(Self {
            id: recorded.event.id.to_string(),
            position: recorded.position.0,
            r#type: recorded.event.kind.as_str(),
            name: owned(said.title()),
            occurred_at: recorded.event.occurred_at.to_string(),
            recorded_at: recorded.event.recorded_at.to_string(),
            message_id: owned(said.message_id.as_deref()),
            user_id: owned(said.user_id.as_deref()),
            anonymous_id: owned(said.anonymous_id.as_deref()),
            category: owned(said.category.as_deref()),
            group_id: owned(said.group_id.as_deref()),
            previous_id: owned(said.previous_id.as_deref()),
            original_timestamp: owned(said.timestamp.as_deref()),
            properties: match recorded.event.kind.is_from_client() {
                true => json(said.properties)?,
                false => serde_json::from_str(&recorded.event.payload).map_err(damaged)?,
            },
            traits: json(said.traits)?,
            context: json(said.context)?,
        })
    }
}
