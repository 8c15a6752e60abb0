//! Re-entry, against a model of a few lines, with triggers that come while others are being
//! decided and processes that die.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::ring::Ring;
use crate::event::Kind;

const WAIT_SECONDS: i64 = 100;

fn definition(policy: &str) -> String {
    format!(
        r#"
name: t
reentry_policy: {policy}
reentry_key: event.properties.key
nodes:
  - {{id: start, node_type: trigger, event_type: go, next_node_id: wait}}
  - {{id: wait, node_type: wait, wait_type: duration, duration: {WAIT_SECONDS}s, next_node_id: done}}
  - {{id: done, node_type: exit}}
"#
    )
}

/// What a policy does, in seconds: for each key the runs that are active and what is parked.
#[derive(Default)]
struct Model {
    /// When each active run ends.
    active: BTreeMap<String, Vec<i64>>,
    parked: BTreeMap<String, bool>,
    entered: usize,
    restarted: usize,
}

impl Model {
    fn pass_to(&mut self, now: i64) {
        loop {
            let ends = self
                .active
                .iter()
                .flat_map(|(key, ends)| ends.iter().map(move |end| (*end, key)));
            let Some((end, key)) = ends.min().map(|(end, key)| (end, key.clone())) else {
                return;
            };
            if end > now {
                return;
            }
            let active = self.active.entry(key.clone()).or_default();
            active.retain(|other| *other != end);
            if self.parked.insert(key, false) == Some(true) {
                active.push(end + WAIT_SECONDS);
                self.entered += 1;
            }
        }
    }

    fn trigger(&mut self, policy: &str, key: &str, now: i64) {
        self.pass_to(now);
        let active = self.active.entry(key.to_owned()).or_default();
        match (policy, active.is_empty()) {
            ("skip", false) => return,
            ("wait", false) => {
                self.parked.insert(key.to_owned(), true);
                return;
            }
            ("restart", false) => {
                self.restarted += 1;
                active.clear();
            }
            _ => {}
        }
        active.push(now + WAIT_SECONDS);
        self.entered += 1;
    }
}

#[derive(Debug, Clone)]
enum Step {
    Trigger(String, String),
    Pass(i64),
    React(usize),
    /// Dies after deciding, before committing.
    Die(usize),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => ("[uv]", "[ab]").prop_map(|(user, key)| Step::Trigger(user, key)),
        3 => (1..80i64).prop_map(Step::Pass),
        4 => (1..9usize).prop_map(Step::React),
        2 => (1..9usize).prop_map(Step::Die),
        2 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..80)
}

proptest! {
    #[test]
    fn reentry_counts_equal_the_model(steps in steps(), policy in "skip|restart|parallel|wait") {
        let mut ring = Ring::new();
        ring.publish("t", 1, &definition(&policy));
        let mut model = Model::default();
        let mut now = 0;
        for step in steps {
            match step {
                Step::Trigger(user, key) => {
                    // No two triggers in one second: the model tells time in seconds.
                    (now, ring.now) = (now + 1, ring.now.shifted(1_000_000));
                    ring.track(&user, "go", &format!("{{\"key\": \"{key}\"}}"));
                    model.trigger(&policy, &format!("{user}{key}"), now);
                }
                Step::Pass(seconds) => {
                    now += seconds;
                    ring.pass(seconds);
                }
                Step::React(max) => ring.react(max),
                Step::Die(max) => {
                    drop(ring.decide(max));
                    ring.restart();
                }
                Step::Restart => ring.restart(),
            }
        }
        ring.drain();
        model.pass_to(now);
        prop_assert_eq!(ring.count(Kind::JourneyEntered), model.entered);
        let active: usize = model.active.values().map(Vec::len).sum();
        prop_assert_eq!(ring.engine.journeys().len(), active);
        let restarted = ring.paths().iter().filter(|path| path.ends_with("(restarted)")).count();
        prop_assert_eq!(restarted, model.restarted);
        let parked = model.parked.values().filter(|parked| **parked).count();
        prop_assert_eq!(ring.engine.journeys().parked(), parked);
    }
}
