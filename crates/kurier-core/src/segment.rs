//! Segments: named sets of contacts. A dynamic one is an expression and its members follow
//! by themselves; a static one has the members it was given.

use serde::{Deserialize, Serialize};

use crate::event::{Event, Kind, Position};
use crate::expr::{Checked, Error, Place};
use crate::id::{ContactId, EventId, SegmentId};
use crate::time::Timestamp;

/// A segment's name may be this long.
pub const NAME_CHARS_MAX: usize = 120;

/// What a segment is: kept in the log as `segment.created` and `segment.changed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    pub segment: SegmentId,
    pub name: String,
    /// `None` for a static segment.
    pub expression: Option<String>,
}

/// Why a definition cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Name(String),
    Expression(Vec<Error>),
}

impl Definition {
    /// Checks a definition and writes its expression the one way it is written.
    pub fn new(segment: SegmentId, name: &str, expression: Option<&str>) -> Result<Self, Fault> {
        let name = name.trim();
        if name.is_empty() || name.chars().count() > NAME_CHARS_MAX {
            return Err(Fault::Name(format!(
                "a name has 1 to {NAME_CHARS_MAX} characters"
            )));
        }
        let checked = expression
            .map(|text| Checked::new(text, Place::SEGMENT))
            .transpose();
        let canonical = checked
            .map_err(Fault::Expression)?
            .map(|checked| checked.canonical());
        Ok(Self {
            segment,
            name: name.to_owned(),
            expression: canonical,
        })
    }

    /// The expression, ready to be evaluated.
    pub fn checked(&self) -> Result<Option<Checked>, Vec<Error>> {
        self.expression
            .as_deref()
            .map(|text| Checked::new(text, Place::SEGMENT))
            .transpose()
    }
}

/// The payload of `segment.deleted`, `segment.entered` and `segment.left`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    pub segment: SegmentId,
}

/// The payload of `segment.edited`. Who of them crosses the border is decided when it is folded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    pub segment: SegmentId,
    pub add: Vec<ContactId>,
    pub remove: Vec<ContactId>,
}

/// Who would be in a segment, found by looking at everyone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    pub count: u64,
    /// Some of them.
    pub sample: Vec<ContactId>,
    pub last_calculated: Timestamp,
    /// The last position in the log that was seen.
    pub position: Position,
    /// When time alone may change it.
    pub until: Timestamp,
}

impl Preview {
    /// Whether it is what a look would find now, by one who knows of `last_change` to what the
    /// expression reads.
    pub fn is_true(&self, last_change: Option<Position>, now: Timestamp) -> bool {
        last_change.is_some_and(|change| change <= self.position)
            && (self.last_calculated..self.until).contains(&now)
    }
}

/// The event that a contact entered or left a segment at an instant. Its id is derived from
/// what caused it, so that saying it twice says it once.
pub fn crossing(
    segment: SegmentId,
    contact: ContactId,
    entered: bool,
    cause: EventId,
    (occurred_at, recorded_at): (Timestamp, Timestamp),
) -> Event {
    let kind = if entered {
        Kind::SegmentEntered
    } else {
        Kind::SegmentLeft
    };
    let reactor = format!("segment:{segment}:{contact}");
    Event {
        id: EventId::derived(&reactor, cause, u32::from(entered)),
        kind,
        contact: Some(contact),
        occurred_at,
        recorded_at,
        payload: format!("{{\"segment\":\"{segment}\"}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> SegmentId {
        SegmentId::new(Timestamp::from_millis(1), [1; 10])
    }

    #[test]
    fn a_definition_is_checked_and_written_one_way() {
        let definition =
            Definition::new(id(), " Pros ", Some("contact.plan=='pro'")).expect("good");
        assert_eq!(
            (definition.name.as_str(), definition.expression.as_deref()),
            ("Pros", Some("contact.plan = 'pro'"))
        );
        assert!(definition.checked().expect("good").is_some());
        assert!(matches!(
            Definition::new(id(), "", None),
            Err(Fault::Name(_))
        ));
        assert!(matches!(
            Definition::new(id(), "x", Some("plan")),
            Err(Fault::Expression(_))
        ));
    }

    #[test]
    fn a_preview_is_true_until_what_it_reads_or_time_changes_it() {
        let at = Timestamp::from_millis;
        let preview = Preview {
            count: 1,
            sample: Vec::new(),
            last_calculated: at(10),
            position: Position(5),
            until: at(20),
        };
        let is_true = |change: Option<i64>, now| preview.is_true(change.map(Position), at(now));
        assert!(is_true(Some(5), 10) && is_true(Some(2), 19));
        assert!(!is_true(Some(6), 15), "what it reads has changed since");
        assert!(!is_true(None, 15), "nobody knows what has changed");
        assert!(!is_true(Some(5), 20), "its time is over");
        assert!(!is_true(Some(5), 9), "its time has not come");
    }

    #[test]
    fn a_crossing_is_one_event_however_often_it_is_said() {
        let contact = ContactId::new(Timestamp::from_millis(2), [2; 10]);
        let cause = EventId::of_message("m");
        let at = (Timestamp::from_millis(3), Timestamp::from_millis(4));
        let entered = crossing(id(), contact, true, cause, at);
        assert_eq!(entered, crossing(id(), contact, true, cause, at));
        assert_ne!(entered.id, crossing(id(), contact, false, cause, at).id);
        let payload: Membership = serde_json::from_str(&entered.payload).expect("JSON");
        assert_eq!(payload.segment, id());
    }
}
