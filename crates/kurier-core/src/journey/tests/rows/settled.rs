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
    ground.say(
        r#"{"type": "track", "userId": "ann", "event": "e", "timestamp": "2025-12-31T00:00:00Z"}"#,
    );
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
