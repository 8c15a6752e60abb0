//! `wait`: rests until time has passed, an event comes, or a condition holds. Any wait may
//! have a timeout with a way of its own.
//!
//! ```yaml
//! - id: an-hour
//!   node_type: wait
//!   wait_type: duration
//!   duration: 1h
//!   next_node_id: remind
//! - id: until-bought
//!   node_type: wait
//!   wait_type: event
//!   event_type: purchased
//!   event_conditions: event.properties.cart_id = journey.state.cart_id
//!   next_node_id: done
//!   timeout: 1h
//!   timeout_node_id: remind
//! - id: until-pro
//!   node_type: wait
//!   wait_type: condition
//!   wait_condition: contact.plan = 'pro'
//!   check_interval: 1h             # looked at by itself; this only bounds how seldom
//!   next_node_id: thanks
//! ```

use std::time::Duration;

use super::super::fields::Fields;
use super::super::rule::{Rule, Source};
use super::super::scene::Scene;
use super::super::step::{By, Context, Effect, Input, Visit};
use super::super::{Instance, NodeIndex};
use super::trigger::{read_state, values};
use super::{Kind, Way};
use crate::expr::{FOREVER, Place};
use crate::time::Timestamp;

#[derive(Debug, Clone)]
pub struct Wait {
    pub until: Until,
    pub next: NodeIndex,
    pub timeout: Option<(Duration, NodeIndex)>,
}

#[derive(Debug, Clone)]
pub enum Until {
    Elapsed(Duration),
    Event {
        event_type: String,
        conditions: Option<Rule>,
        /// Custom keys of the state, set from the event that came.
        state: Vec<(String, Source)>,
    },
    Condition {
        rule: Rule,
        check_interval: Option<Duration>,
    },
}

#[derive(Clone, Copy)]
enum Word {
    Duration,
    Event,
    Condition,
}

impl Kind for Wait {
    const NAME: &'static str = "wait";

    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let words = [
            ("duration", Word::Duration),
            ("event", Word::Event),
            ("condition", Word::Condition),
        ];
        let word = fields.word("wait_type", &words);
        let until = match word.unwrap_or(Word::Duration) {
            Word::Duration => Until::Elapsed(fields.duration("duration")),
            Word::Event => Until::Event {
                event_type: fields.text("event_type"),
                conditions: fields.optional_rule("event_conditions", Place::JOURNEY_EVENT),
                state: read_state(fields, Place::JOURNEY_EVENT),
            },
            Word::Condition => Until::Condition {
                rule: fields.rule("wait_condition", Place::JOURNEY),
                check_interval: fields.optional_duration("check_interval"),
            },
        };
        let timeout = read_timeout(fields, &until);
        Self {
            until,
            next: fields.target("next_node_id"),
            timeout,
        }
    }

    fn ways(&self) -> Vec<Way> {
        let next = Way {
            by: By::Met,
            to: self.next,
        };
        let timeout = self.timeout.map(|(_, to)| Way {
            by: By::Timeout,
            to,
        });
        std::iter::once(next).chain(timeout).collect()
    }

    fn visit(
        &self,
        input: Input,
        instance: &Instance,
        cx: &Context<'_>,
        effects: &mut Vec<Effect>,
    ) -> Visit {
        let begun = instance.arrived_at;
        let scene = cx.scene(instance);
        let (met, due) = match &self.until {
            Until::Elapsed(duration) => elapsed(begun.plus(*duration), cx.now),
            Until::Event { .. } => (self.event(input, &scene, cx, effects), FOREVER),
            Until::Condition {
                rule,
                check_interval,
            } => condition(rule, *check_interval, &scene, cx.now),
        };
        if let Some(because) = met {
            let (by, to) = (By::Met, self.next);
            return Visit::Go { by, to, because };
        }
        self.unmet(begun, due, cx.now)
    }
}

/// The reasons if it is met, and when to look again if not.
type Look = (Option<Vec<String>>, Timestamp);

fn elapsed(end: Timestamp, now: Timestamp) -> Look {
    ((now >= end).then(Vec::new), end)
}

fn condition(
    rule: &Rule,
    check_interval: Option<Duration>,
    scene: &Scene<'_>,
    now: Timestamp,
) -> Look {
    let verdict = rule.verdict(scene, now);
    let met = verdict.holds.then(|| rule.because(scene, now));
    let latest = check_interval.map_or(FOREVER, |interval| now.plus(interval));
    (met, verdict.until.min(latest))
}

impl Wait {
    pub fn awaited(&self) -> Option<&str> {
        match &self.until {
            Until::Event { event_type, .. } => Some(event_type),
            _ => None,
        }
    }

    /// The latest end of a wait that began then, as far as time decides it.
    pub fn until(&self, begun: Timestamp) -> Option<Timestamp> {
        let elapsed = match &self.until {
            Until::Elapsed(duration) => Some(begun.plus(*duration)),
            _ => None,
        };
        let timeout = self.timeout.map(|(timeout, _)| begun.plus(timeout));
        elapsed.into_iter().chain(timeout).min()
    }

    /// The condition that it waits for.
    pub const fn rule(&self) -> Option<&Rule> {
        match &self.until {
            Until::Condition { rule, .. } => Some(rule),
            _ => None,
        }
    }

    /// A condition may hold at once; the others cannot be met on arrival.
    pub const fn takes_time(&self) -> bool {
        !matches!(self.until, Until::Condition { .. })
    }

    fn event(
        &self,
        input: Input,
        scene: &Scene<'_>,
        cx: &Context<'_>,
        effects: &mut Vec<Effect>,
    ) -> Option<Vec<String>> {
        let Until::Event {
            event_type,
            conditions,
            state,
        } = &self.until
        else {
            return None;
        };
        let event = scene.event.filter(|_| input == Input::Event)?;
        if event.event_type != *event_type {
            return None;
        }
        let because = match conditions {
            Some(rule) if !rule.verdict(scene, cx.now).holds => return None,
            Some(rule) => rule.because(scene, cx.now),
            None => Vec::new(),
        };
        if !state.is_empty() {
            let state = values(state, scene, cx.now);
            effects.push(Effect::Remember { state });
        }
        Some(because)
    }

    fn unmet(&self, begun: Timestamp, due: Timestamp, now: Timestamp) -> Visit {
        match self.timeout {
            Some((timeout, to)) if now >= begun.plus(timeout) => Visit::go(By::Timeout, to),
            Some((timeout, _)) => Visit::Stay {
                due: due.min(begun.plus(timeout)),
            },
            None => Visit::Stay { due },
        }
    }
}

fn read_timeout(fields: &mut Fields<'_, '_>, until: &Until) -> Option<(Duration, NodeIndex)> {
    let timeout = fields.optional_duration("timeout");
    let target = fields.optional_target("timeout_node_id");
    match (timeout, target, until) {
        (Some(timeout), Some(_), Until::Elapsed(duration)) if timeout >= *duration => {
            fields.warning("timeout", "never comes: the wait is over by then");
        }
        (Some(_), None, _) => fields.fault("timeout_node_id", "is missing: a timeout needs a way"),
        (None, Some(_), _) => fields.fault("timeout", "is missing: when is this way taken?"),
        (None, None, Until::Event { .. } | Until::Condition { .. }) => {
            fields.warning("timeout", "is missing: an instance may wait here for ever");
        }
        _ => {}
    }
    timeout.zip(target)
}

#[cfg(test)]
mod tests {
    use super::super::tests::Ground;

    fn journey(wait: &str) -> String {
        let late = match wait.contains("late") {
            true => "  - {id: late, node_type: exit}\n",
            false => "",
        };
        format!(
            r#"
name: t
nodes:
  - {{id: start, node_type: trigger, event_type: go, state: {{cart: event.properties.cart}}, next_node_id: w}}
  - {{id: w, node_type: wait, {wait}, next_node_id: met}}
  - {{id: met, node_type: exit}}
{late}"#
        )
    }

    const WITH_TIMEOUT: &str = "timeout: 1h, timeout_node_id: late";

    #[test]
    fn a_duration_passes_at_its_second_and_not_before() {
        let mut ground = Ground::new(&journey("wait_type: duration, duration: 2h"));
        ground.track("ann", "go", "{}");
        ground.pass(2 * 3_600 - 1);
        assert_eq!(ground.path("ann"), "start -next> w");
        ground.pass(1);
        assert_eq!(ground.path("ann"), "start -next> w -met> met (exit)");
        assert_eq!(ground.finished_at("ann"), ground.now());
    }

    #[test]
    fn a_timeout_takes_its_own_way() {
        let wait = format!("wait_type: duration, duration: 2h, {WITH_TIMEOUT}");
        let mut ground = Ground::new(&journey(&wait));
        ground.track("ann", "go", "{}");
        ground.pass(3_600);
        assert_eq!(ground.path("ann"), "start -next> w -timeout> late (exit)");
    }

    #[test]
    fn an_event_is_waited_for_by_type_and_condition() {
        let wait = format!(
            "wait_type: event, event_type: bought, event_conditions: event.properties.cart = journey.state.cart, {WITH_TIMEOUT}"
        );
        let mut ground = Ground::new(&journey(&wait));
        ground.track("ann", "bought", r#"{"cart": "c1"}"#);
        ground.track("ann", "go", r#"{"cart": "c1"}"#);
        ground.track("ann", "looked", r#"{"cart": "c1"}"#);
        ground.track("ann", "bought", r#"{"cart": "c2"}"#);
        ground.track("bob", "bought", r#"{"cart": "c1"}"#);
        assert_eq!(ground.path("ann"), "start -next> w");
        ground.track("ann", "bought", r#"{"cart": "c1"}"#);
        assert_eq!(ground.path("ann"), "start -next> w -met> met (exit)");
    }

    #[test]
    fn the_event_that_began_the_run_is_not_waited_for() {
        let wait = format!("wait_type: event, event_type: go, {WITH_TIMEOUT}");
        let mut ground = Ground::new(&journey(&wait));
        ground.track("ann", "go", "{}");
        assert_eq!(ground.path("ann"), "start -next> w");
        ground.pass(3_600);
        assert_eq!(ground.path("ann"), "start -next> w -timeout> late (exit)");
    }

    #[test]
    fn a_condition_is_looked_at_when_what_it_reads_changes() {
        let wait = format!("wait_type: condition, wait_condition: \"contact.plan = 'pro'\", {WITH_TIMEOUT}");
        let mut ground = Ground::new(&journey(&wait));
        ground.track("ann", "go", "{}");
        ground.pass(60);
        ground.identify("ann", r#"{"plan": "pro"}"#);
        assert_eq!(ground.path("ann"), "start -next> w -met> met (exit)");
        assert_eq!(ground.finished_at("ann"), ground.now());
    }

    #[test]
    fn a_condition_is_looked_at_when_its_verdict_ends() {
        // Nothing happens but time: the event leaves the window at a known second.
        let wait = "wait_type: condition, wait_condition: \"NOT EXISTS (event WHERE event_type = 'go' AND event_time > now() - 30m)\"";
        let mut ground = Ground::new(&journey(&format!("{wait}, {WITH_TIMEOUT}")));
        ground.track("ann", "go", "{}");
        ground.pass(30 * 60 - 1);
        assert_eq!(ground.path("ann"), "start -next> w");
        ground.pass(1);
        assert_eq!(ground.path("ann"), "start -next> w -met> met (exit)");
    }

    #[test]
    fn a_condition_that_holds_does_not_wait() {
        let wait = format!("wait_type: condition, wait_condition: TRUE, {WITH_TIMEOUT}");
        let mut ground = Ground::new(&journey(&wait));
        ground.track("ann", "go", "{}");
        assert_eq!(ground.path("ann"), "start -next> w -met> met (exit)");
    }
}
