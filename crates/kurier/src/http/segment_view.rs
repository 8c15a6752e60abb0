//! Segments and members as the API shows them.

use kurier_core::expr::Reason;
use kurier_core::id::SegmentId;
use kurier_core::projection::{JourneySummary, SegmentSummary};
use kurier_store::Member;
use serde::Serialize;
use utoipa::ToSchema;

/// A named set of contacts.
#[derive(Debug, Serialize, ToSchema)]
pub struct SegmentView {
    id: String,
    #[schema(example = "Active pros")]
    name: String,
    /// Who is in it; without one the segment is static.
    #[schema(example = "contact.plan = 'pro'")]
    expression: Option<String>,
    /// How many members it has.
    size: i64,
    created_at: String,
    changed_at: String,
    revision: i64,
    /// Journeys that it begins; it cannot be deleted while there are any.
    used_by: Vec<JourneyName>,
}

/// A journey, by name.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct JourneyName {
    id: String,
    #[schema(example = "welcome")]
    name: String,
}

impl JourneyName {
    /// Those of the journeys that a segment begins.
    pub fn using(segment: SegmentId, journeys: &[JourneySummary]) -> Vec<Self> {
        let using = journeys.iter().filter(|journey| journey.uses(segment));
        using.map(Self::from).collect()
    }
}

impl From<&JourneySummary> for JourneyName {
    fn from(journey: &JourneySummary) -> Self {
        Self {
            id: journey.id.to_string(),
            name: journey.name.clone(),
        }
    }
}

impl SegmentView {
    pub fn of(segment: SegmentSummary, journeys: &[JourneySummary]) -> Self {
        let used_by = JourneyName::using(segment.definition.segment, journeys);
        Self {
            used_by,
            ..Self::from(segment)
        }
    }
}

impl From<SegmentSummary> for SegmentView {
    fn from(segment: SegmentSummary) -> Self {
        Self {
            id: segment.definition.segment.to_string(),
            name: segment.definition.name,
            expression: segment.definition.expression,
            size: segment.size,
            created_at: segment.created_at.to_string(),
            changed_at: segment.changed_at.to_string(),
            revision: segment.revision.0,
            used_by: Vec::new(),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct MemberView {
    contact: String,
    entered_at: String,
}

impl From<Member> for MemberView {
    fn from(member: Member) -> Self {
        Self {
            contact: member.contact.to_string(),
            entered_at: member.entered_at.to_string(),
        }
    }
}

/// One deciding condition of a verdict.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReasonView {
    #[schema(example = "contact.plan = 'pro'")]
    condition: String,
    holds: bool,
    /// The values or the event it met.
    #[schema(example = "pro")]
    found: String,
}

impl From<Reason> for ReasonView {
    fn from(reason: Reason) -> Self {
        Self {
            condition: reason.condition,
            holds: reason.holds,
            found: reason.found,
        }
    }
}
