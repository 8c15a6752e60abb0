use super::*;

#[test]
fn waiting_instances_are_not_searched_through() {
    // An event of one contact looks at that contact's run alone, however many wait.
    let wait = "wait_type: event, event_type: e";
    let mut ring = Ring::new();
    ring.publish(
        "t",
        1,
        &simple("").replace("wait_type: duration, duration: 1h", wait),
    );
    for n in 0..2_000 {
        ring.track(&format!("u{n}"), "go", "{}");
    }
    ring.drain();
    let before = ring.engine.journeys().looks();
    for n in 0..200 {
        ring.track(&format!("u{n}"), "e", "{}");
    }
    ring.drain();
    assert_eq!(ring.count(Kind::MessageRequested), 200);
    assert_eq!(ring.engine.journeys().looks() - before, 200);
}

#[test]
fn a_waiting_instance_is_small() {
    let mut ring = Ring::new();
    ring.publish("t", 1, &simple("reentry_key: event.properties.n"));
    const INSTANCES: usize = 20_000;
    for n in 0..INSTANCES {
        ring.track(&format!("u{n}"), "go", &format!("{{\"n\": \"cart-{n}\"}}"));
    }
    ring.drain();
    let each = ring.engine.journeys().bytes() / INSTANCES;
    assert!(each <= 600, "{each} bytes");
}
