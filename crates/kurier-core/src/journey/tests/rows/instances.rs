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
