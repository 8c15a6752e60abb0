//! `update_contact`: sets attributes of the contact. The instance goes on when the contact
//! has them, so whatever comes next sees them.
//!
//! ```yaml
//! - id: mark
//!   node_type: update_contact
//!   updates:
//!     stage: trial                 # a value as it is; null removes
//!     last_cart: {from: journey.state.cart_id}
//!   next_node_id: done
//! ```

use super::super::fields::Fields;
use super::super::rule::Source;
use super::super::step::{By, Context, Effect, Input, Visit};
use super::super::{Instance, NodeIndex};
use super::{Kind, Way};
use crate::expr::Place;
use crate::value::{Object, Value};

#[derive(Debug, Clone)]
pub struct UpdateContact {
    pub updates: Vec<(String, Update)>,
    pub next: NodeIndex,
}

#[derive(Debug, Clone)]
pub enum Update {
    Value(Value),
    From(Source),
}

impl Kind for UpdateContact {
    const NAME: &'static str = "update_contact";

    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let object = fields.object("updates");
        if object.is_empty() {
            fields.fault("updates", "says nothing to update");
        }
        let updates = object.into_iter().filter_map(|(name, value)| {
            let update = read_update(fields, &name, value)?;
            Some((name, update))
        });
        Self {
            updates: updates.collect(),
            next: fields.target("next_node_id"),
        }
    }

    fn ways(&self) -> Vec<Way> {
        vec![Way {
            by: By::Next,
            to: self.next,
        }]
    }

    fn visit(
        &self,
        input: Input,
        instance: &Instance,
        cx: &Context<'_>,
        effects: &mut Vec<Effect>,
    ) -> Visit {
        match input {
            Input::Updated => Visit::go(By::Next, self.next),
            Input::Arrive => {
                let traits = self.traits(instance, cx);
                if traits.is_empty() {
                    return Visit::go(By::Next, self.next);
                }
                effects.push(Effect::UpdateContact { traits });
                Visit::AwaitUpdate
            }
            _ => Visit::AwaitUpdate,
        }
    }
}

impl UpdateContact {
    /// A source without a value updates nothing.
    fn traits(&self, instance: &Instance, cx: &Context<'_>) -> Object {
        let scene = cx.scene(instance);
        let traits = self.updates.iter().filter_map(|(name, update)| {
            let value = match update {
                Update::Value(value) => value.clone(),
                Update::From(source) => source.value(&scene, cx.now)?,
            };
            Some((name.clone(), value))
        });
        traits.collect()
    }
}

fn read_update(fields: &mut Fields<'_, '_>, name: &str, value: Value) -> Option<Update> {
    let field = format!("updates.{name}");
    let text = match &value {
        Value::Object(object) => match object.get("from") {
            Some(Value::Text(text)) if object.len() == 1 => text.clone(),
            _ => return Some(Update::Value(value)),
        },
        _ => return Some(Update::Value(value)),
    };
    fields
        .source(&field, &text, Place::JOURNEY)
        .map(Update::From)
}

#[cfg(test)]
mod tests {
    use super::super::tests::Ground;

    const JOURNEY: &str = r#"
name: t
nodes:
  - {id: start, node_type: trigger, event_type: go, state: {n: event.properties.n}, next_node_id: u}
  - {id: u, node_type: update_contact, updates: {stage: trial, number: {from: journey.state.n}, none: {from: contact.nothing}}, next_node_id: c}
  - {id: c, node_type: condition, condition: "contact.stage = 'trial' AND contact.number = 3", true_node_id: a, false_node_id: b}
  - {id: a, node_type: exit}
  - {id: b, node_type: exit}
"#;

    #[test]
    fn the_next_node_sees_what_was_updated() {
        let mut ground = Ground::new(JOURNEY);
        ground.track("ann", "go", r#"{"n": 3}"#);
        assert_eq!(ground.path("ann"), "start -next> u -next> c -true> a (exit)");
    }
}
