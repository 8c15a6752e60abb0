//! One test for every row of the specification of journeys, and for every row of how its
//! gaps were settled.

use super::ring::Ring;
use crate::event::{Kind, Position};
use crate::id::MessageId;
use crate::journey::node::tests::Ground;
use crate::journey::{Ending, Known, Node, RESERVED_KEYS, Status, check};
use crate::value::Value;

const HOUR: i64 = 3_600;

/// Trigger, wait, message, exit; with fields of the journey itself.
fn simple(head: &str) -> String {
    format!(
        r#"
name: t
{head}
nodes:
  - {{id: start, label: Begin, node_type: trigger, event_type: go, state: {{n: event.properties.n}}, next_node_id: wait}}
  - {{id: wait, node_type: wait, wait_type: duration, duration: 1h, next_node_id: send}}
  - {{id: send, node_type: send_message, channel: email, template: m, next_node_id: done}}
  - {{id: done, node_type: exit}}
"#
    )
}

fn with_wait(wait: &str) -> String {
    format!(
        r#"
name: t
nodes:
  - {{id: start, node_type: trigger, event_type: go, next_node_id: wait}}
  - {{id: wait, node_type: wait, {wait}, next_node_id: done}}
  - {{id: done, node_type: exit}}
"#
    )
}

mod state_machine {
    use super::*;

    #[test]
    fn q_nodes_q0_start_f_exits_and_labels() {
        let definition = check(&simple(""), 1, &Known::default()).definition;
        let definition = definition.expect("good");
        assert_eq!(definition.nodes.len(), 4);
        assert_eq!(definition.id_of(definition.start), "start");
        assert_eq!(definition.nodes[0].label.as_deref(), Some("Begin"));
        let exits = definition.nodes.iter();
        let exits = exits.filter(|placed| matches!(placed.node, Node::Exit(_)));
        assert_eq!(exits.count(), 1);
    }

    #[test]
    fn sigma_event_timeout_manual_trigger_and_condition_met() {
        // EVENT begins and is waited for, TIMEOUT and CONDITION_MET end waits; a manual
        // trigger is in `versions`.
        let wait = "wait_type: condition, wait_condition: contact.ok = TRUE, timeout: 1h, timeout_node_id: done";
        for (meets, expected) in [(true, "met"), (false, "timeout")] {
            let mut ground = Ground::new(&with_wait(wait));
            ground.track("ann", "go", "{}");
            if meets {
                ground.identify("ann", r#"{"ok": true}"#);
            }
            ground.pass(HOUR);
            let path = format!("start -next> wait -{expected}> done (exit)");
            assert_eq!(ground.path("ann"), path);
        }
    }

    #[test]
    fn delta_is_pure_the_same_input_gives_the_same_events() {
        let run = || {
            let mut ring = Ring::new();
            ring.publish("t", 1, &simple("reentry_policy: parallel"));
            for n in 0..20 {
                ring.track(&format!("u{}", n % 3), "go", "{}");
                ring.live(n * 400);
            }
            ring.log
        };
        assert_eq!(run(), run());
    }

    #[test]
    fn case_trigger_is_evaluated_at_the_start_only() {
        let definition = simple("").replace(
            "event_type: go,",
            "event_type: go, event_conditions: \"contact.plan = 'pro'\",",
        );
        let mut ground = Ground::new(&definition);
        ground.track("ann", "go", "{}");
        assert!(ground.runs("ann").is_empty());
        ground.identify("ann", r#"{"plan": "pro"}"#);
        ground.track("ann", "go", "{}");
        ground.identify("ann", r#"{"plan": "free"}"#);
        ground.pass(HOUR);
        assert!(ground.path("ann").ends_with("(exit)"));
    }

    #[test]
    fn case_condition_true_and_false() {
        let definition = r#"
name: t
nodes:
  - {id: start, node_type: trigger, event_type: go, next_node_id: c}
  - {id: c, node_type: condition, config: {condition: "contact.n > 1", true_node_id: a, false_node_id: b}}
  - {id: a, node_type: exit}
  - {id: b, node_type: exit}
"#;
        for (n, expected) in [(2, "true> a"), (1, "false> b")] {
            let mut ground = Ground::new(definition);
            ground.identify("ann", &format!("{{\"n\": {n}}}"));
            ground.track("ann", "go", "{}");
            assert_eq!(
                ground.path("ann"),
                format!("start -next> c -{expected} (exit)")
            );
        }
    }

    #[test]
    fn case_wait_duration_until_wait_until() {
        let mut ground = Ground::new(&simple(""));
        ground.track("ann", "go", "{}");
        let until = ground.now().shifted(HOUR * 1_000_000).to_string();
        assert_eq!(ground.state_data("ann")["wait_until"], Value::Text(until));
        ground.pass(HOUR - 1);
        assert_eq!(ground.messages().len(), 0);
        ground.pass(1);
        assert_eq!(ground.messages().len(), 1);
    }

    #[test]
    fn case_wait_event_with_event_conditions() {
        let wait = "wait_type: event, event_type: e, event_conditions: event.properties.n > 1 AND contact.ok = TRUE";
        let mut ground = Ground::new(&with_wait(wait));
        ground.identify("ann", r#"{"ok": true}"#);
        ground.track("ann", "go", "{}");
        ground.track("ann", "e", r#"{"n": 1}"#);
        ground.track("ann", "other", r#"{"n": 2}"#);
        assert_eq!(ground.path("ann"), "start -next> wait");
        ground.track("ann", "e", r#"{"n": 2}"#);
        assert_eq!(ground.path("ann"), "start -next> wait -met> done (exit)");
    }

    #[test]
    fn case_wait_condition() {
        let wait =
            "wait_type: condition, wait_condition: \"COUNT(event WHERE event_type = 'e') >= 2\"";
        let mut ground = Ground::new(&with_wait(wait));
        ground.track("ann", "go", "{}");
        ground.track("ann", "e", "{}");
        assert_eq!(ground.path("ann"), "start -next> wait");
        ground.track("ann", "e", "{}");
        assert_eq!(ground.path("ann"), "start -next> wait -met> done (exit)");
    }

    #[test]
    fn case_send_message_says_which_and_goes_on() {
        let mut ground = Ground::new(&simple(""));
        ground.track("ann", "go", "{}");
        ground.pass(HOUR);
        assert_eq!(ground.messages(), ["ann email/m 5"]);
        assert!(ground.path("ann").ends_with("send -next> done (exit)"));
    }

    #[test]
    fn case_update_contact() {
        let definition = simple("").replace(
            "node_type: send_message, channel: email, template: m,",
            "node_type: update_contact, updates: {stage: warm, old: null},",
        );
        let mut ground = Ground::new(&definition);
        ground.identify("ann", r#"{"old": 1}"#);
        ground.track("ann", "go", "{}");
        ground.pass(HOUR);
        let world = ground.simulation.world();
        let number = world.number(ground.simulation.contact("ann")).expect("ann");
        let has = |text: &str| {
            let rule = crate::expr::Checked::new(text, crate::expr::Place::SEGMENT).expect("good");
            rule.evaluate(&world.subject(number), None, ground.now())
                .holds
        };
        assert!(has("contact.stage = 'warm' AND contact.old IS NULL"));
    }

    #[test]
    fn case_branch_by_priority_and_default() {
        // In `node/branch.rs` in full; here that a missing priority comes first.
        let definition = r#"
name: t
nodes:
  - {id: start, node_type: trigger, event_type: go, next_node_id: b}
  - id: b
    node_type: branch
    branches:
      - {priority: 1, condition: TRUE, next_node_id: one}
      - {condition: TRUE, next_node_id: none}
    default_node_id: one
  - {id: one, node_type: exit}
  - {id: none, node_type: exit}
"#;
        let mut ground = Ground::new(definition);
        ground.track("ann", "go", "{}");
        assert_eq!(ground.path("ann"), "start -next> b -branch:1> none (exit)");
    }

    #[test]
    fn case_exit_completes() {
        let mut ground = Ground::new(&simple(""));
        ground.track("ann", "go", "{}");
        ground.pass(HOUR);
        let ending = ground.runs("ann")[0].ending.expect("ended");
        assert_eq!((ending, ending.status()), (Ending::Exit, Status::Completed));
    }
}

mod instances {
    use super::*;

    #[test]
    fn a_contact_may_be_in_several_journeys_at_once() {
        let mut ring = Ring::new();
        for name in ["a", "b", "c"] {
            ring.publish(name, 1, &simple(""));
        }
        ring.track("ann", "go", "{}");
        ring.drain();
        assert_eq!(ring.engine.journeys().len(), 3);
        ring.live(HOUR);
        assert_eq!(ring.messages().len(), 3);
    }

    fn thrice(policy: &str) -> Vec<String> {
        let mut ground = Ground::new(&simple(&format!("reentry_policy: {policy}")));
        for n in 0..3 {
            ground.track("ann", "go", &format!("{{\"n\": {n}}}"));
            ground.pass(60);
        }
        ground.pass(4 * HOUR);
        ground.paths("ann")
    }

    const WHOLE: &str = "start -next> wait -met> send -next> done (exit)";
    const RESTARTED: &str = "start -next> wait (restarted)";

    #[test]
    fn reentry_policy_skip() {
        assert_eq!(thrice("skip"), [WHOLE]);
    }

    #[test]
    fn reentry_policy_restart_cancels_with_its_reason() {
        assert_eq!(thrice("restart"), [RESTARTED, RESTARTED, WHOLE]);
        assert_eq!(Ending::Restarted.status(), Status::Cancelled);
        assert_eq!(Ending::Restarted.as_str(), "restarted");
    }

    #[test]
    fn reentry_policy_parallel() {
        assert_eq!(thrice("parallel"), [WHOLE, WHOLE, WHOLE]);
    }

    #[test]
    fn reentry_policy_wait_starts_the_latest_trigger_when_the_run_has_ended() {
        assert_eq!(thrice("wait"), [WHOLE, WHOLE]);
        let mut ground = Ground::new(&simple("reentry_policy: wait"));
        for n in 0..3 {
            ground.track("ann", "go", &format!("{{\"n\": {n}}}"));
        }
        ground.pass(HOUR);
        let journeys = ground.simulation.journeys();
        let second = journeys.instances().next().expect("the second run");
        assert_eq!(second.entered_at, ground.now());
        let state = second.state.as_deref().expect("state");
        assert_eq!(state["n"], Value::Int(2), "the latest wins");
    }

    #[test]
    fn state_data_reserved_keys() {
        let definition = simple("").replace(
            "- {id: send,",
            "- {id: wait2, node_type: wait, wait_type: condition, wait_condition: contact.x = 1, next_node_id: done}\n  - {id: send,",
        );
        let definition = definition.replace(
            "template: m, next_node_id: done",
            "template: m, next_node_id: wait2",
        );
        let mut ground = Ground::new(&definition);
        ground.track("ann", "go", "{}");
        let entered = ground.now();
        ground.pass(HOUR);
        let (state, instance) = (ground.state_data("ann"), ground.instance("ann"));
        let text = |text: String| Value::Text(text);
        assert_eq!(state["entry_time"], text(entered.to_string()));
        assert_eq!(
            state["trigger_event_id"],
            text(instance.trigger.to_string())
        );
        assert_eq!(state["wait_start_time"], text(ground.now().to_string()));
        assert_eq!(
            state["last_condition_check"],
            text(ground.now().to_string())
        );
        assert!(
            !state.contains_key("wait_until"),
            "nothing ends this wait but its condition"
        );
        let message = MessageId::of_visit(instance.id, "send", 2);
        assert_eq!(state["last_message_id"], text(message.to_string()));
        assert_eq!(state["last_message_channel"], text("email".to_owned()));
        assert_eq!(state["step_count"], Value::Int(3));
        assert_eq!(RESERVED_KEYS.len(), 8);
    }

    #[test]
    fn state_data_reserved_keys_are_read_by_expressions_and_set_by_nobody() {
        let definition = simple(
            "exit_when: journey.state.entry_time < now() - 10m AND journey.state.step_count = 1",
        );
        let mut ground = Ground::new(&definition);
        ground.track("ann", "go", "{}");
        ground.pass(601);
        assert_eq!(ground.path("ann"), "start -next> wait (exit_when)");
        let set = simple("").replace("state: {n:", "state: {step_count:");
        let faults = check(&set, 1, &Known::default()).faults;
        assert!(
            faults[0].message.contains("Kurier sets itself"),
            "{faults:?}"
        );
    }

    #[test]
    fn custom_state_is_set_persists_between_nodes_and_is_archived() {
        let wait = "wait_type: event, event_type: e, state: {m: event.properties.m}";
        let definition = simple("").replace("wait_type: duration, duration: 1h", wait);
        let mut ring = Ring::new();
        ring.publish("t", 1, &definition);
        ring.track("ann", "go", r#"{"n": "one"}"#);
        ring.drain();
        ring.restart();
        let instance = ring
            .engine
            .journeys()
            .instances()
            .next()
            .expect("one")
            .clone();
        assert_eq!(
            instance.state.expect("state")["n"],
            Value::Text("one".into())
        );
        ring.track("ann", "e", r#"{"m": 2.5}"#);
        ring.drain();
        let records = ring.records();
        let state = |at: usize| &records[at].1.state;
        assert_eq!(state(0)["n"], Value::Text("one".into()));
        assert_eq!(state(1)["m"], Value::Float(2.5));
    }
}

mod processing {
    use super::*;
    use std::time::Instant;

    #[test]
    fn waiting_instances_are_not_searched_through() {
        // 20,000 wait; an event of one of them looks at that one. Looking at all for each of
        // 2,000 events would be 40 million looks.
        let wait = "wait_type: event, event_type: e";
        let mut ring = Ring::new();
        ring.publish(
            "t",
            1,
            &simple("").replace("wait_type: duration, duration: 1h", wait),
        );
        for n in 0..20_000 {
            ring.track(&format!("u{n}"), "go", "{}");
        }
        ring.react(100_000);
        let begun = Instant::now();
        for n in 0..2_000 {
            ring.track(&format!("u{n}"), "e", "{}");
        }
        ring.react(100_000);
        assert_eq!(ring.count(Kind::MessageRequested), 2_000);
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }

    #[test]
    fn a_waiting_instance_is_small() {
        let mut ring = Ring::new();
        ring.publish("t", 1, &simple("reentry_key: event.properties.n"));
        const INSTANCES: usize = 20_000;
        for n in 0..INSTANCES {
            ring.track(&format!("u{n}"), "go", &format!("{{\"n\": \"cart-{n}\"}}"));
        }
        ring.react(100_000);
        let each = ring.engine.journeys().bytes() / INSTANCES;
        assert!(each <= 600, "{each} bytes");
    }
}

mod settled {
    use super::*;

    #[test]
    fn expressions_read_the_contact_as_it_is_now() {
        let definition = simple("").replace(
            "node_type: send_message, channel: email, template: m, next_node_id: done",
            "node_type: condition, condition: \"contact.plan = 'pro'\", true_node_id: done, false_node_id: wait",
        );
        let mut ground = Ground::new(&definition);
        ground.track("ann", "go", "{}");
        ground.pass(HOUR);
        ground.identify("ann", r#"{"plan": "pro"}"#);
        ground.pass(HOUR);
        assert!(ground.path("ann").ends_with("send -true> done (exit)"));
    }

    #[test]
    fn wait_for_event_compares_positions_not_the_clients_clock() {
        let mut ground = Ground::new(&with_wait("wait_type: event, event_type: e"));
        ground.track("ann", "go", "{}");
        // The client's clock is a day behind: by it, this was before the wait began.
        ground.say(r#"{"type": "track", "userId": "ann", "event": "e", "timestamp": "2025-12-31T00:00:00Z"}"#);
        assert_eq!(ground.path("ann"), "start -next> wait -met> done (exit)");
    }

    #[test]
    fn wait_for_condition_is_not_late_by_its_check_interval() {
        let wait = "wait_type: condition, check_interval: 4w, wait_condition: contact.ok = TRUE";
        let mut ground = Ground::new(&with_wait(wait));
        ground.track("ann", "go", "{}");
        ground.pass(7);
        ground.identify("ann", r#"{"ok": true}"#);
        assert_eq!(ground.finished_at("ann"), ground.now());
    }

    #[test]
    fn reentry_wait_parks_the_trigger_durably() {
        let mut ring = Ring::new();
        ring.publish("t", 1, &simple("reentry_policy: wait"));
        ring.track("ann", "go", "{}");
        ring.track("ann", "go", "{}");
        ring.drain();
        ring.restart();
        assert_eq!(ring.engine.journeys().parked(), 1);
        ring.live(HOUR);
        ring.restart();
        ring.live(HOUR);
        assert_eq!(ring.messages().len(), 2);
    }

    #[test]
    fn reentry_is_enforced_by_a_key_within_one_pass() {
        // All triggers are folded before anything is committed: a look at what is committed
        // would find none of the others.
        let mut ring = Ring::new();
        ring.publish("t", 1, &simple("reentry_policy: skip"));
        for _ in 0..8 {
            ring.track("ann", "go", "{}");
        }
        ring.react(100);
        assert_eq!(ring.count(Kind::JourneyEntered), 1);
    }

    #[test]
    fn a_message_is_known_by_instance_node_and_visit() {
        let mut ring = Ring::new();
        ring.publish("t", 1, &simple(""));
        ring.track("ann", "go", "{}");
        ring.live(HOUR);
        let instance = ring.records()[0].1.run.instance;
        let asked = ring
            .log
            .iter()
            .find(|r| r.event.kind == Kind::MessageRequested);
        let id = asked.expect("a message").event.id;
        assert_eq!(
            id.as_uuid(),
            MessageId::of_visit(instance, "send", 2).as_uuid()
        );
    }

    #[test]
    fn exits_fire_during_waits() {
        let exit = "exit_when: EXISTS (event WHERE event_type = 'unsubscribed')";
        let mut ground = Ground::new(&simple(exit));
        ground.track("ann", "go", "{}");
        ground.pass(60);
        ground.track("ann", "unsubscribed", "{}");
        assert_eq!(ground.path("ann"), "start -next> wait (exit_when)");
        assert_eq!(ground.finished_at("ann"), ground.now());
    }

    #[test]
    fn who_is_erased_leaves_and_of_its_runs_only_where_they_went_stays() {
        let mut ring = Ring::new();
        ring.publish("t", 1, &simple("reentry_policy: wait"));
        ring.track("ann", "go", r#"{"n": "secret"}"#);
        ring.track("ann", "go", r#"{"n": "secret"}"#);
        ring.drain();
        ring.erase("ann");
        ring.live(3 * HOUR);
        assert_eq!(ring.paths(), ["start -next> wait (erased)"]);
        assert_eq!(
            (ring.messages().len(), ring.engine.journeys().parked()),
            (0, 0)
        );
        let payload = &ring.records()[0].0.event.payload;
        let tombstone = crate::event::tombstone(payload);
        assert!(payload.contains("secret") && !tombstone.contains("secret"));
        assert_eq!(
            tombstone,
            crate::event::tombstone(&tombstone),
            "done twice, nothing more"
        );
        let record: crate::journey::Record = serde_json::from_str(&tombstone).expect("a record");
        assert_eq!(record.run.since, Position(2));
    }

    #[test]
    fn who_becomes_part_of_another_takes_its_runs_along() {
        let mut ring = Ring::new();
        ring.publish("t", 1, &simple("reentry_key: event.properties.n"));
        ring.say(r#"{"type": "track", "anonymousId": "x", "event": "go", "properties": {"n": 1}}"#);
        ring.say(r#"{"type": "track", "anonymousId": "x", "event": "go", "properties": {"n": 2}}"#);
        ring.track("ann", "go", r#"{"n": 2}"#);
        ring.live(60);
        ring.say(r#"{"type": "identify", "userId": "ann", "anonymousId": "x"}"#);
        ring.live(HOUR);
        let mut paths = ring.paths();
        paths.sort();
        assert_eq!(paths[0], "start -next> wait (merged)");
        assert_eq!(
            paths.iter().filter(|path| path.ends_with("(exit)")).count(),
            2
        );
    }
}
