//! What a message is given on its way.

use super::ring::Ring;
use crate::event::Kind;
use crate::template::{Compiled, Publication};
use crate::value::Value;

const JOURNEY: &str = r#"
name: t
nodes:
  - {id: start, node_type: trigger, event_type: go, state: {cart: event.properties.cart, n: event.properties.n}, next_node_id: a}
  - {id: a, node_type: send_message, channel: email, template: hello, next_node_id: w}
  - {id: w, node_type: wait, wait_type: duration, duration: 1h, next_node_id: b}
  - {id: b, node_type: send_message, channel: sms, template: hello, next_node_id: c}
  - {id: c, node_type: send_message, channel: webhook, template: unknown, next_node_id: done}
  - {id: done, node_type: exit}
"#;

fn publish(ring: &mut Ring, version: u32, text: &str) {
    let document = format!(r#"{{"name": "hello", "topic": "news", "text": {text:?}}}"#);
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let compiled = Compiled::new(&document).expect("good");
    let publication = Publication::new(&compiled, version, document);
    ring.operate(Kind::TemplatePublished, None, &publication);
}

fn begin(ring: &mut Ring) {
    ring.publish("t", 1, JOURNEY);
    publish(
        ring,
        1,
        "{{ contact.name }} {{ contact.address }} {{ contact.user_id }} {{ journey.state.n }} {{ data.x }}",
    );
    ring.say(
        r#"{"type": "identify", "userId": "ann", "traits": {"name": "Ann", "email": "ann@example.org", "phone": "+49",
            "secret": "s", "address": {"city": "Ulm", "zip": 89073, "geo": {"lat": 48.4}}, "age": 41}}"#,
    );
    ring.track("ann", "go", r#"{"cart": "c1", "n": 3}"#);
}

fn told(ring: &Ring) -> Vec<String> {
    let requests = ring.requests().into_iter();
    let tell = |request: crate::message::Request| {
        let inputs = serde_json::to_string(&request.inputs).expect("JSON");
        let (to, topic) = (
            request.to.unwrap_or_default(),
            request.topic.unwrap_or_default(),
        );
        format!("{} to [{to}] on [{topic}] with {inputs}", request.channel)
    };
    requests.map(|(_, request)| tell(request)).collect()
}

#[test]
fn a_message_has_just_what_its_template_reads_as_it_was_then() {
    let mut ring = Ring::new();
    begin(&mut ring);
    ring.live(60);
    // What changes later is not in what was asked for before.
    ring.say(r#"{"type": "identify", "userId": "ann", "traits": {"name": "Anna", "email": "anna@example.org"}}"#);
    publish(
        &mut ring,
        2,
        "{% if contact.age > 40 %}{{ journey.state.cart }}{% endif %}",
    );
    ring.live(4_000);
    let first = r#"email to [ann@example.org] on [news] with {"contact":{"address":{"city":"Ulm","geo":{"lat":48.4},"zip":89073},"name":"Ann","user_id":"ann"},"journey":{"state":{"n":3}}}"#;
    let second =
        r#"sms to [+49] on [news] with {"contact":{"age":41},"journey":{"state":{"cart":"c1"}}}"#;
    assert_eq!(told(&ring), [first, second, "webhook to [] on [] with {}"]);
}

#[test]
fn who_takes_over_from_a_snapshot_knows_what_templates_read() {
    let mut ring = Ring::new();
    begin(&mut ring);
    ring.live(60);
    ring.keep();
    ring.restart();
    ring.live(4_000);
    let told = told(&ring);
    assert_eq!(told.len(), 3);
    assert!(
        told[1].contains(r#"sms to [+49] on [news] with {"contact":{"address":{"city":"Ulm""#),
        "{told:?}"
    );
}
