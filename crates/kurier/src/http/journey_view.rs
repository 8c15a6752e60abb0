//! Journeys and their faults as the API shows them.

use kurier_core::journey::Fault;
use kurier_core::projection::JourneySummary;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::expressions::SpanView;

/// A journey.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct JourneyView {
    id: String,
    #[schema(example = "Abandoned cart")]
    name: String,
    /// `draft`, `active`, `paused` or `retired`.
    #[schema(example = "active")]
    standing: &'static str,
    /// The version that who enters now enters.
    version: Option<u32>,
    /// There is a draft that was not published.
    has_draft: bool,
    created_at: String,
    changed_at: String,
}

impl From<&JourneySummary> for JourneyView {
    fn from(journey: &JourneySummary) -> Self {
        Self {
            id: journey.id.to_string(),
            name: journey.name.clone(),
            standing: journey.standing.as_str(),
            version: journey.version,
            has_draft: journey.has_draft,
            created_at: journey.created_at.to_string(),
            changed_at: journey.changed_at.to_string(),
        }
    }
}

/// A journey with its definitions.
#[derive(Debug, Serialize, ToSchema)]
pub struct JourneyDetail {
    #[serde(flatten)]
    pub journey: JourneyView,
    /// The version that who enters now enters.
    pub definition: Option<Value>,
    pub draft: Option<Value>,
}

/// One thing that is wrong with a definition, or probably is, and where.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FaultView {
    /// `fault`, or `warning`, which keeps nobody from publishing.
    #[schema(example = "fault")]
    severity: &'static str,
    #[schema(example = "remind")]
    node: Option<String>,
    #[schema(example = "next_node_id")]
    field: Option<String>,
    #[schema(example = "the node `offer` is not there")]
    message: String,
    #[schema(example = "send_offer")]
    suggestion: Option<String>,
    /// The expression that is faulty, and the bytes of it that are; of a template, the bytes of
    /// its field.
    #[schema(example = "contact.plan = ")]
    expression: Option<String>,
    span: Option<SpanView>,
}

impl From<&kurier_core::template::Fault> for FaultView {
    fn from(fault: &kurier_core::template::Fault) -> Self {
        Self {
            severity: "fault",
            node: None,
            field: fault.field.clone(),
            message: fault.message.clone(),
            suggestion: fault.suggestion.clone(),
            expression: None,
            span: fault.span.map(SpanView::from),
        }
    }
}

impl From<&Fault> for FaultView {
    fn from(fault: &Fault) -> Self {
        let expression = fault.expression.as_ref();
        Self {
            severity: if fault.is_fault() { "fault" } else { "warning" },
            node: fault.node.clone(),
            field: fault.field.clone(),
            message: fault.message.clone(),
            suggestion: fault.suggestion.clone(),
            expression: expression.map(|(text, _)| text.clone()),
            span: expression.map(|(_, span)| SpanView::from(*span)),
        }
    }
}
