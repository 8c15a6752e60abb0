//! `branch`: the first of several conditions that holds decides. They are asked in the order
//! of their priority, the lowest number first, and as written where priorities are equal.
//!
//! ```yaml
//! - id: by-plan
//!   node_type: branch
//!   branches:
//!     - {priority: 1, condition: "contact.plan = 'pro'", next_node_id: thanks}
//!     - {priority: 2, condition: "contact.seats > 10", next_node_id: call}
//!   default_node_id: offer
//! ```

use super::super::fields::Fields;
use super::super::rule::Rule;
use super::super::step::{By, Context, Effect, Input, Visit};
use super::super::{Instance, NodeIndex};
use super::{Kind, Way};
use crate::expr::Place;
use crate::value::Value;

/// A branch may have this many ways.
pub const BRANCHES_MAX: usize = 1_000;

#[derive(Debug, Clone)]
pub struct Branch {
    /// In the order in which they are asked.
    pub arms: Vec<Arm>,
    pub default: NodeIndex,
}

#[derive(Debug, Clone)]
pub struct Arm {
    /// Its place in the definition.
    pub at: u16,
    pub priority: i64,
    pub rule: Rule,
    pub next: NodeIndex,
}

impl Kind for Branch {
    const NAME: &'static str = "branch";

    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let list = fields.list("branches");
        if list.is_empty() || list.len() > BRANCHES_MAX {
            fields.fault("branches", format!("must have 1 to {BRANCHES_MAX} items"));
        }
        let mut arms: Vec<Arm> = Vec::new();
        for (at, value) in list.into_iter().take(BRANCHES_MAX).enumerate() {
            arms.extend(read_arm(fields, at as u16, value));
        }
        arms.sort_by_key(|arm| (arm.priority, arm.at));
        Self {
            arms,
            default: fields.target("default_node_id"),
        }
    }

    fn ways(&self) -> Vec<Way> {
        let mut ways: Vec<Way> = self
            .arms
            .iter()
            .map(|arm| Way {
                by: By::Branch(arm.at),
                to: arm.next,
            })
            .collect();
        ways.push(Way {
            by: By::Default,
            to: self.default,
        });
        ways
    }

    fn visit(
        &self,
        _: Input,
        instance: &Instance,
        cx: &Context<'_>,
        _: &mut Vec<Effect>,
    ) -> Visit {
        let scene = cx.scene(instance);
        let holding = self
            .arms
            .iter()
            .find(|arm| arm.rule.verdict(&scene, cx.now).holds);
        match holding {
            Some(arm) => Visit::Go {
                by: By::Branch(arm.at),
                to: arm.next,
                because: arm.rule.because(&scene, cx.now),
            },
            None => Visit::Go {
                by: By::Default,
                to: self.default,
                because: vec![format!("none of {} conditions holds", self.arms.len())],
            },
        }
    }
}

fn read_arm(fields: &mut Fields<'_, '_>, at: u16, value: Value) -> Option<Arm> {
    let Value::Object(object) = value else {
        fields.fault(&format!("branches[{at}]"), "must be an object");
        return None;
    };
    let mut inside = fields.inside(format!("branches[{at}]."), object);
    let arm = Arm {
        at,
        priority: inside
            .optional_int("priority", (-1_000_000, 1_000_000))
            .unwrap_or(0),
        rule: inside.rule("condition", Place::JOURNEY),
        next: inside.target("next_node_id"),
    };
    inside.finish();
    Some(arm)
}

#[cfg(test)]
mod tests {
    use super::super::tests::Ground;

    const JOURNEY: &str = r#"
name: t
nodes:
  - {id: start, node_type: trigger, event_type: go, next_node_id: b}
  - id: b
    node_type: branch
    branches:
      - {priority: 2, condition: "contact.n > 1", next_node_id: second}
      - {priority: 1, condition: "contact.n > 5", next_node_id: first}
      - {priority: 2, condition: "contact.n > 0", next_node_id: third}
    default_node_id: none
  - {id: first, node_type: exit}
  - {id: second, node_type: exit}
  - {id: third, node_type: exit}
  - {id: none, node_type: exit}
"#;

    #[test]
    fn the_first_that_holds_by_priority_decides() {
        for (n, expected) in [
            (9, "b -branch:1> first"),
            (3, "b -branch:0> second"),
            (1, "b -branch:2> third"),
            (0, "b -default> none"),
        ] {
            let mut ground = Ground::new(JOURNEY);
            ground.identify("ann", &format!("{{\"n\": {n}}}"));
            ground.track("ann", "go", "{}");
            assert_eq!(ground.path("ann"), format!("start -next> {expected} (exit)"));
        }
    }
}
