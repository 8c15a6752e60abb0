//! Segments and members as the API shows them.

use kurier_core::expr::Reason;
use kurier_core::projection::SegmentSummary;
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
    condition: String,
    holds: bool,
    /// The values or the event it met.
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
