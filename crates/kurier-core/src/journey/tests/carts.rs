use super::ring::Ring;

const HOUR: i64 = 3_600;

const ABANDONED: &str = r#"
name: Abandoned cart
reentry_policy: skip
reentry_key: event.properties.cart_id
nodes:
  - {id: start, node_type: trigger, event_type: cart_updated, state: {cart_id: event.properties.cart_id}, next_node_id: wait}
  - id: wait
    node_type: wait
    wait_type: event
    event_type: purchased
    event_conditions: event.properties.cart_id = journey.state.cart_id
    next_node_id: bought
    timeout: 1h
    timeout_node_id: remind
  - {id: remind, node_type: send_message, channel: email, template: reminder, next_node_id: done}
  - {id: bought, node_type: exit}
  - {id: done, node_type: exit}
"#;

#[test]
fn two_carts_of_one_contact_run_side_by_side_and_a_purchase_stops_only_its_own() {
    let mut ring = Ring::new();
    ring.publish("carts", 1, ABANDONED);
    ring.track("ann", "cart_updated", r#"{"cart_id": "c1"}"#);
    ring.live(60);
    let second = ring.now;
    ring.track("ann", "cart_updated", r#"{"cart_id": "c2"}"#);
    ring.track("ann", "cart_updated", r#"{"cart_id": "c1"}"#);
    ring.live(60);
    assert_eq!(ring.engine.journeys().len(), 2);
    ring.track("ann", "purchased", r#"{"cart_id": "c1"}"#);
    ring.live(HOUR - 61);
    assert_eq!(ring.messages(), []);
    ring.live(1);
    assert_eq!(
        ring.messages(),
        [(second.shifted(HOUR * 1_000_000), "reminder".to_owned())]
    );
    assert_eq!(
        ring.paths(),
        [
            "start -next> wait -met> bought (exit)",
            "start -next> wait -timeout> remind -next> done (exit)",
        ]
    );
}

#[test]
fn a_cart_may_be_abandoned_again_after_its_run_has_ended() {
    let mut ring = Ring::new();
    ring.publish("carts", 1, ABANDONED);
    for _ in 0..3 {
        ring.track("ann", "cart_updated", r#"{"cart_id": "c1"}"#);
        ring.live(2 * HOUR);
    }
    assert_eq!(ring.messages().len(), 3);
}

#[test]
fn a_timer_that_is_noticed_late_moves_at_its_instant() {
    let mut ring = Ring::new();
    ring.publish("carts", 1, ABANDONED);
    ring.track("ann", "cart_updated", r#"{"cart_id": "c1"}"#);
    ring.drain();
    let begun = ring.now;
    // Nobody reacts for a day; the purchase came an hour too late to stop the reminder.
    ring.pass(2 * HOUR);
    ring.track("ann", "purchased", r#"{"cart_id": "c1"}"#);
    ring.pass(22 * HOUR);
    ring.restart();
    ring.drain();
    let due = begun.shifted(HOUR * 1_000_000);
    assert_eq!(ring.messages(), [(due, "reminder".to_owned())]);
}
