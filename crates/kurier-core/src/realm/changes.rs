//! What changed when: by it an answer that was found earlier is known to be still true.

use std::collections::HashMap;
use std::sync::Arc;

use crate::columns::Touched;
use crate::event::Position;
use crate::expr::Reads;

/// Where in the log each thing that an expression can read changed last.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// The first change that was seen; of earlier ones nothing is known.
    first: Option<Position>,
    /// A contact came, went or became part of another.
    whole: Position,
    any_event: Position,
    attributes: HashMap<Arc<str>, Position>,
    events: HashMap<Arc<str>, Position>,
}

impl Changes {
    pub fn note(&mut self, touched: &Touched, position: Position) {
        self.first.get_or_insert(position);
        if touched.is_whole {
            self.whole = position;
        }
        for name in &touched.attributes {
            self.attributes.insert(name.clone(), position);
        }
        if let Some(name) = &touched.event_type {
            self.any_event = position;
            self.events.insert(name.clone(), position);
        }
    }

    /// The last change of anything that is read; `None` while that is not known.
    pub fn last(&self, reads: &Reads) -> Option<Position> {
        let mut last = self.first?.max(self.whole);
        if reads.any_event {
            last = last.max(self.any_event);
        }
        for name in &reads.events {
            last = last.max(self.events.get(name.as_str()).copied().unwrap_or_default());
        }
        let read = self
            .attributes
            .iter()
            .filter(|(name, _)| reads_attribute(reads, name));
        Some(read.fold(last, |last, (_, position)| last.max(*position)))
    }
}

/// Whether what an event touched can change a verdict that reads this.
pub fn concerns(reads: &Reads, touched: &Touched) -> bool {
    touched.is_whole
        || touched
            .event_type
            .as_deref()
            .is_some_and(|name| reads.any_event || reads.events.contains(name))
        || touched
            .attributes
            .iter()
            .any(|name| reads_attribute(reads, name))
}

/// A name may hold dots itself: then it may begin more paths than it is meant to, never fewer.
fn reads_attribute(reads: &Reads, name: &str) -> bool {
    let begins = |path: &String| {
        let rest = path.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    reads.contact.iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Checked, Place};

    fn last(changes: &Changes, text: &str) -> Option<i64> {
        let checked = Checked::new(text, Place::SEGMENT).expect("good");
        changes
            .last(&checked.plan.reads())
            .map(|position| position.0)
    }

    fn touched(attribute: Option<&str>, event_type: Option<&str>) -> Touched {
        Touched {
            attributes: attribute.map(Arc::from).into_iter().collect(),
            event_type: event_type.map(Arc::from),
            ..Touched::default()
        }
    }

    #[test]
    fn only_what_is_read_counts() {
        let mut changes = Changes::default();
        assert_eq!(last(&changes, "TRUE"), None, "nothing was seen yet");
        changes.note(&touched(None, None), Position(3));
        changes.note(&touched(Some("plan"), Some("identify")), Position(5));
        changes.note(&touched(None, Some("buy")), Position(7));
        changes.note(&touched(Some("a.b"), None), Position(8));
        for (text, expected) in [
            ("TRUE", 3),
            ("contact.plan = 'pro' OR contact.planet = 1", 5),
            ("contact.plan.deeper = 1", 5),
            ("contact.pla = 1", 3),
            ("EXISTS (event WHERE event_type = 'login')", 3),
            ("EXISTS (event WHERE event_type = 'buy')", 7),
            ("EXISTS event", 7),
            ("contact.\"a.b\" = 1", 8),
        ] {
            assert_eq!(last(&changes, text), Some(expected), "{text}");
        }
        let whole = Touched {
            is_whole: true,
            ..Touched::default()
        };
        changes.note(&whole, Position(9));
        assert_eq!(last(&changes, "contact.pla = 1"), Some(9));
    }
}
