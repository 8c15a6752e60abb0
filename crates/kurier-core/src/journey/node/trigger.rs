//! `trigger`: where a journey begins. It is looked at only then.
//!
//! ```yaml
//! - id: start
//!   node_type: trigger
//!   trigger_type: event            # or segment_entered, segment_left, manual
//!   event_type: cart_updated
//!   event_conditions: event.properties.total > 0
//!   state:
//!     cart_id: event.properties.cart_id
//!   next_node_id: wait
//! ```

use super::super::fields::Fields;
use super::super::rule::{RESERVED_KEYS, Rule, Source};
use super::super::scene::Scene;
use super::super::step::{By, Context, Effect, Input, Visit};
use super::super::{Instance, NodeIndex};
use super::{Kind, Way};
use crate::expr::Place;
use crate::id::SegmentId;
use crate::time::Timestamp;
use crate::value::{Object, Value};

#[derive(Debug, Clone)]
pub struct Trigger {
    pub kind: TriggerKind,
    /// Custom keys of the state, set from what began the run.
    pub state: Vec<(String, Source)>,
    pub next: NodeIndex,
}

#[derive(Debug, Clone)]
pub enum TriggerKind {
    Event {
        event_type: String,
        conditions: Option<Box<Rule>>,
    },
    Segment {
        segment: SegmentId,
        entered: bool,
    },
    Manual,
}

#[derive(Clone, Copy)]
enum Word {
    Event,
    Entered,
    Left,
    Manual,
}

impl Kind for Trigger {
    const NAME: &'static str = "trigger";

    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let words = [
            ("event", Word::Event),
            ("segment_entered", Word::Entered),
            ("segment_left", Word::Left),
            ("manual", Word::Manual),
        ];
        let kind = match fields.word("trigger_type", &words).unwrap_or(Word::Event) {
            Word::Event => TriggerKind::Event {
                event_type: fields.text("event_type"),
                conditions: fields
                    .optional_rule("event_conditions", Place::TRIGGER)
                    .map(Box::new),
            },
            Word::Entered => segment(fields, true),
            Word::Left => segment(fields, false),
            Word::Manual => TriggerKind::Manual,
        };
        let place = match kind {
            TriggerKind::Event { .. } => Place::TRIGGER,
            _ => Place::SEGMENT,
        };
        Self {
            kind,
            state: read_state(fields, place),
            next: fields.target("next_node_id"),
        }
    }

    fn ways(&self) -> Vec<Way> {
        vec![Way {
            by: By::Next,
            to: self.next,
        }]
    }

    fn visit(&self, _: Input, _: &Instance, _: &Context<'_>, _: &mut Vec<Effect>) -> Visit {
        Visit::go(By::Next, self.next)
    }
}

impl Trigger {
    /// The segment that begins it.
    pub const fn segment(&self) -> Option<SegmentId> {
        match &self.kind {
            TriggerKind::Segment { segment, .. } => Some(*segment),
            _ => None,
        }
    }

    /// Whether the event in scope begins a run.
    pub fn fires(&self, scene: &Scene<'_>, now: Timestamp) -> bool {
        match &self.kind {
            TriggerKind::Event {
                conditions: Some(rule),
                ..
            } => rule.verdict(scene, now).holds,
            _ => true,
        }
    }

    /// The custom state that a run begins with.
    pub fn state(&self, scene: &Scene<'_>, now: Timestamp) -> Object {
        values(&self.state, scene, now)
    }
}

fn segment(fields: &mut Fields<'_, '_>, entered: bool) -> TriggerKind {
    let name = fields.text("segment");
    let segment = fields.reading.known.segment(&name);
    if segment.is_none() && !name.is_empty() {
        fields.fault("segment", format!("there is no segment `{name}`"));
    }
    TriggerKind::Segment {
        segment: segment.unwrap_or_else(|| SegmentId::of_name("")),
        entered,
    }
}

/// Custom keys and where their values come from.
pub fn read_state(fields: &mut Fields<'_, '_>, place: Place) -> Vec<(String, Source)> {
    let mut state = Vec::new();
    for (key, value) in fields.object("state") {
        let field = format!("state.{key}");
        if RESERVED_KEYS.contains(&key.as_str()) || key.is_empty() {
            fields.fault(&field, "is a key that Kurier sets itself");
            continue;
        }
        let Value::Text(text) = value else {
            fields.fault(&field, "must be an expression such as event.properties.cart_id");
            continue;
        };
        if let Some(source) = fields.source(&field, &text, place) {
            fields.reading.state_keys.insert(key.clone());
            state.push((key, source));
        }
    }
    state
}

pub fn values(sources: &[(String, Source)], scene: &Scene<'_>, now: Timestamp) -> Object {
    let values = sources
        .iter()
        .filter_map(|(key, source)| Some((key.clone(), source.value(scene, now)?)));
    values.collect()
}
