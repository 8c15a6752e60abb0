use super::ring::{Ring, journey};
use crate::event::Kind;
use crate::id::EventId;
use crate::journey::{Standing, Triggering};
use crate::value::Object;

fn version(template: &str, days: u32) -> String {
    format!(
        r#"
name: Welcome
reentry_policy: parallel
nodes:
  - {{id: start, node_type: trigger, event_type: signed_up, next_node_id: wait}}
  - {{id: wait, node_type: wait, wait_type: duration, duration: {days}d, next_node_id: hello}}
  - {{id: hello, node_type: send_message, channel: email, template: {template}, next_node_id: done}}
  - {{id: done, node_type: exit}}
"#
    )
}

const DAY: i64 = 86_400;

#[test]
fn who_waits_on_version_1_finishes_on_it_and_who_comes_later_starts_on_version_2() {
    let mut ring = Ring::new();
    ring.publish("welcome", 1, &version("one", 2));
    for n in 0..1_000 {
        ring.track(&format!("user{n}"), "signed_up", "{}");
    }
    ring.live(60);
    assert_eq!(ring.engine.journeys().len(), 1_000);
    ring.publish("welcome", 2, &version("two", 1));
    ring.restart();
    for n in 0..10 {
        ring.track(&format!("late{n}"), "signed_up", "{}");
    }
    ring.live(DAY);
    let sent = |ring: &Ring, name: &str| {
        let messages = ring.messages();
        messages
            .iter()
            .filter(|(_, template)| template == name)
            .count()
    };
    assert_eq!((sent(&ring, "one"), sent(&ring, "two")), (0, 10));
    ring.restart();
    ring.live(DAY);
    assert_eq!((sent(&ring, "one"), sent(&ring, "two")), (1_000, 10));
    assert!(ring.engine.journeys().is_empty());
}

#[test]
fn a_version_is_published_once_and_does_not_change() {
    let mut ring = Ring::new();
    ring.publish("welcome", 1, &version("one", 1));
    ring.publish("welcome", 1, &version("other", 1));
    ring.track("ann", "signed_up", "{}");
    ring.live(DAY);
    assert_eq!(ring.messages()[0].1, "one");
}

fn stand(ring: &mut Ring, kind: Kind) {
    let standing = Standing {
        journey: journey("welcome"),
    };
    ring.operate(kind, None, &standing);
    ring.drain();
}

#[test]
fn a_paused_journey_admits_nobody_and_sends_nothing_until_it_is_resumed() {
    let mut ring = Ring::new();
    ring.publish("welcome", 1, &version("one", 1));
    ring.track("ann", "signed_up", "{}");
    ring.live(60);
    stand(&mut ring, Kind::JourneyPaused);
    ring.track("bob", "signed_up", "{}");
    ring.live(3 * DAY);
    assert_eq!(
        (ring.messages().len(), ring.engine.journeys().len()),
        (0, 1)
    );
    ring.restart();
    ring.live(60);
    assert_eq!(ring.messages().len(), 0);
    stand(&mut ring, Kind::JourneyResumed);
    assert_eq!(ring.messages(), [(ring.now, "one".to_owned())]);
}

#[test]
fn what_comes_while_a_journey_is_paused_is_not_forgotten() {
    let definition = r#"
name: Welcome
nodes:
  - {id: start, node_type: trigger, event_type: signed_up, next_node_id: wait}
  - {id: wait, node_type: wait, wait_type: event, event_type: bought, next_node_id: thanks, timeout: 1d, timeout_node_id: remind}
  - {id: thanks, node_type: send_message, channel: email, template: thanks, next_node_id: done}
  - {id: remind, node_type: send_message, channel: email, template: remind, next_node_id: done}
  - {id: done, node_type: exit}
"#;
    let mut ring = Ring::new();
    ring.publish("welcome", 1, definition);
    ring.track("ann", "signed_up", "{}");
    ring.live(60);
    stand(&mut ring, Kind::JourneyPaused);
    ring.track("ann", "bought", "{}");
    ring.live(2 * DAY);
    assert_eq!(ring.paths(), ["start -next> wait -met> thanks"]);
    ring.restart();
    stand(&mut ring, Kind::JourneyResumed);
    assert_eq!(ring.messages(), [(ring.now, "thanks".to_owned())]);
    assert!(ring.engine.journeys().is_empty());
}

#[test]
fn a_retired_journey_admits_nobody_and_lets_everybody_finish() {
    let mut ring = Ring::new();
    ring.publish("welcome", 1, &version("one", 1));
    ring.track("ann", "signed_up", "{}");
    ring.live(60);
    stand(&mut ring, Kind::JourneyRetired);
    ring.track("bob", "signed_up", "{}");
    ring.live(2 * DAY);
    assert_eq!((ring.messages().len(), ring.paths().len()), (1, 1));
    ring.publish("welcome", 2, &version("two", 1));
    ring.track("cleo", "signed_up", "{}");
    ring.live(DAY);
    assert_eq!(ring.messages()[1].1, "two");
}

#[test]
fn a_program_may_send_a_contact_in_with_state_and_key() {
    let definition = version("one", 1).replace(
        "trigger, event_type: signed_up",
        "trigger, trigger_type: manual",
    );
    let mut ring = Ring::new();
    ring.publish("welcome", 1, &definition);
    ring.track("ann", "seen", "{}");
    let triggering = Triggering {
        journey: journey("welcome"),
        key: Some("order-7".to_owned()),
        state: Object::from([("order".to_owned(), crate::value::Value::Int(7))]),
    };
    ring.operate(Kind::JourneyTriggered, Some("ann"), &triggering);
    ring.operate(Kind::JourneyTriggered, Some("nobody"), &triggering);
    ring.live(60);
    let instances: Vec<_> = ring.engine.journeys().instances().collect();
    assert_eq!(instances.len(), 1);
    assert_eq!(instances[0].key.as_deref(), Some("order-7"));
    assert_eq!(instances[0].trigger, EventId::of_message("operated 3"));
    assert!(
        instances[0]
            .state
            .as_ref()
            .is_some_and(|state| state.contains_key("order"))
    );
}

#[test]
fn an_operator_may_take_a_run_out() {
    let mut ring = Ring::new();
    ring.publish("welcome", 1, &version("one", 1));
    ring.track("ann", "signed_up", "{}");
    ring.live(60);
    let instance = ring.engine.journeys().instances().next().expect("one").id;
    let cancellation = crate::journey::Cancellation { instance };
    ring.operate(Kind::JourneyCancelled, Some("ann"), &cancellation);
    ring.live(2 * DAY);
    assert_eq!(ring.paths(), ["start -next> wait (cancelled)"]);
    assert_eq!(ring.messages(), []);
}
