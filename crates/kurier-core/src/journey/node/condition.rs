//! `condition`: one way if an expression holds, another if not.
//!
//! ```yaml
//! - id: is-pro
//!   node_type: condition
//!   condition: contact.plan = 'pro'
//!   true_node_id: thanks
//!   false_node_id: offer
//! ```

use super::super::fields::Fields;
use super::super::rule::Rule;
use super::super::step::{By, Context, Effect, Input, Visit};
use super::super::{Instance, NodeIndex};
use super::{Kind, Way};
use crate::expr::Place;

#[derive(Debug, Clone)]
pub struct Condition {
    pub rule: Rule,
    pub on_true: NodeIndex,
    pub on_false: NodeIndex,
}

impl Kind for Condition {
    const NAME: &'static str = "condition";

    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            rule: fields.rule("condition", Place::JOURNEY),
            on_true: fields.target("true_node_id"),
            on_false: fields.target("false_node_id"),
        }
    }

    fn ways(&self) -> Vec<Way> {
        let (on_true, on_false) = (self.on_true, self.on_false);
        vec![
            Way {
                by: By::True,
                to: on_true,
            },
            Way {
                by: By::False,
                to: on_false,
            },
        ]
    }

    fn visit(
        &self,
        _: Input,
        instance: &Instance,
        cx: &Context<'_>,
        _: &mut Vec<Effect>,
    ) -> Visit {
        let scene = cx.scene(instance);
        let (by, to) = match self.rule.verdict(&scene, cx.now).holds {
            true => (By::True, self.on_true),
            false => (By::False, self.on_false),
        };
        Visit::Go {
            by,
            to,
            because: self.rule.because(&scene, cx.now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Ground;

    const JOURNEY: &str = r#"
name: t
nodes:
  - {id: start, node_type: trigger, event_type: go, next_node_id: c}
  - {id: c, node_type: condition, condition: "contact.plan = 'pro'", true_node_id: a, false_node_id: b}
  - {id: a, node_type: exit}
  - {id: b, node_type: exit}
"#;

    #[test]
    fn goes_where_the_verdict_says_and_says_why() {
        let mut ground = Ground::new(JOURNEY);
        ground.identify("ann", r#"{"plan": "pro"}"#);
        ground.track("ann", "go", "{}");
        ground.track("bob", "go", "{}");
        assert_eq!(ground.path("ann"), "start -next> c -true> a (exit)");
        assert_eq!(ground.path("bob"), "start -next> c -false> b (exit)");
        assert_eq!(
            ground.because("bob"),
            ["contact.plan = 'pro' is FALSE: contact.plan is missing"]
        );
    }
}
