//! A reactor that dies between the parts of what one cause decided: whoever comes after
//! writes the rest, and the log tells what it would have told, event by event.

use super::ring::{Ring, journey};
use crate::event::{Event, Kind};
use crate::journey::{Standing, record::Cancellation};

const POLICIES: [&str; 4] = ["skip", "restart", "parallel", "wait"];

/// A journey with these nodes in a row between its trigger and its exit.
fn chain(policy: &str, nodes: &[String]) -> String {
    let mut text = format!(
        "name: t\nreentry_policy: {policy}\nnodes:\n  - {{id: n0, node_type: trigger, event_type: go, next_node_id: n1}}\n"
    );
    for (at, node) in nodes.iter().enumerate() {
        let (at, next) = (at + 1, at + 2);
        text.push_str(&format!(
            "  - {{id: n{at}, {node}, next_node_id: n{next}}}\n"
        ));
    }
    let last = nodes.len() + 1;
    text.push_str(&format!("  - {{id: n{last}, node_type: exit}}\n"));
    text
}

fn sends(count: usize) -> Vec<String> {
    let send = |n| format!("node_type: send_message, channel: email, template: m{n}");
    (0..count).map(send).collect()
}

fn wait() -> Vec<String> {
    vec!["node_type: wait, wait_type: duration, duration: 10m".to_owned()]
}

fn update() -> Vec<String> {
    vec!["node_type: update_contact, updates: {plan: pro}".to_owned()]
}

fn told(ring: &Ring) -> Vec<Event> {
    let mut events: Vec<Event> = ring.log.iter().map(|r| Event::clone(&r.event)).collect();
    events.sort_by_key(|event| event.id);
    events
}

/// Lets a reactor die after each part of what it decides next, twice in a row.
#[track_caller]
fn check_deaths(tell: impl Fn(&mut Ring)) {
    let mut calm = Ring::new();
    tell(&mut calm);
    calm.drain();
    for parts in 1..6 {
        for again in 0..3 {
            let mut ring = Ring::new();
            tell(&mut ring);
            for parts in [parts, again] {
                let decided = ring.decide(100);
                ring.commit(decided, parts);
                ring.restart();
                ring.keep();
            }
            ring.react(100);
            ring.restart();
            ring.drain();
            let (told, expected) = (told(&ring), told(&calm));
            for (after_death, without) in told.iter().zip(&expected) {
                assert_eq!(after_death, without, "after {parts} and {again} parts");
            }
            assert_eq!(told.len(), expected.len());
            let left = ring.engine.journeys().len();
            assert_eq!(left, calm.engine.journeys().len());
            assert_eq!(ring.successor().journeys().len(), left);
        }
    }
}

#[test]
fn a_run_that_begins_and_ends_at_once_ends_once_whatever_the_policy() {
    for policy in POLICIES {
        for count in 0..9 {
            check_deaths(|ring| {
                ring.publish("t", 1, &chain(policy, &sends(count)));
                // A contact that is known, so that what is its own can be recalled.
                ring.track("u", "come", "{}");
                ring.drain();
                ring.track("u", "go", "{}");
                ring.say(r#"{"type": "identify", "userId": "u", "anonymousId": "a"}"#);
            });
        }
    }
}

#[test]
fn a_run_that_makes_way_for_another_does_so_once() {
    for policy in POLICIES {
        for count in 0..9 {
            check_deaths(|ring| {
                ring.publish("t", 1, &chain(policy, &wait()));
                ring.track("u", "go", "{}");
                ring.drain();
                ring.publish("t", 2, &chain(policy, &sends(count)));
                ring.track("u", "go", "{}");
                ring.pass(600);
            });
        }
    }
}

#[test]
fn what_was_parked_begins_once_when_time_ends_the_run_before() {
    for (before, count) in (0..5).flat_map(|before| (0..7).map(move |count| (before, count))) {
        for (is_told, is_merged) in [(false, false), (true, false), (false, true), (true, true)] {
            check_deaths(|ring| {
                let first = [wait(), sends(before)].concat();
                ring.publish("t", 1, &chain("wait", &first));
                ring.track("u", "come", "{}");
                for _ in 0..2 {
                    let who = if is_merged { "anonymousId" } else { "userId" };
                    ring.say(&format!(
                        r#"{{"type": "track", "event": "go", "{who}": "u"}}"#
                    ));
                }
                if is_merged {
                    ring.say(r#"{"type": "identify", "userId": "u", "anonymousId": "u"}"#);
                }
                ring.drain();
                ring.publish("t", 2, &chain("wait", &sends(count)));
                ring.drain();
                ring.pass(1_000);
                if is_told {
                    ring.track("u", "go", "{}");
                }
            });
        }
    }
}

#[test]
fn what_was_parked_follows_its_contact_into_another_once() {
    for (journeys, times) in (1..9).flat_map(|journeys| [(journeys, 1), (journeys, 2)]) {
        check_deaths(|ring| {
            for name in 0..journeys {
                ring.publish(&format!("t{name}"), 1, &chain("wait", &wait()));
            }
            ring.track("u", "go", "{}");
            for _ in 0..times {
                ring.say(r#"{"type": "track", "event": "go", "anonymousId": "a"}"#);
            }
            ring.drain();
            ring.say(r#"{"type": "identify", "userId": "u", "anonymousId": "a"}"#);
        });
    }
}

#[test]
fn an_update_is_not_read_before_the_run_that_waits_for_it() {
    for (before, is_timed) in (0..9).flat_map(|before| [(before, false), (before, true)]) {
        check_deaths(|ring| {
            let first = if is_timed { wait() } else { Vec::new() };
            let nodes = [first, sends(before), update(), sends(1)].concat();
            ring.publish("t", 1, &chain("wait", &nodes));
            ring.track("u", "go", "{}");
            if is_timed {
                ring.drain();
                ring.pass(1_000);
            }
        });
    }
}

#[test]
fn what_waited_for_a_pause_to_end_begins_once() {
    for (first, second) in (0..4).flat_map(|first| (0..5).map(move |second| (first, second))) {
        check_deaths(|ring| {
            ring.templates(1, (0..5).map(|n| format!("m{n}")));
            for name in ["t0", "t1"] {
                ring.publish(name, 1, &chain("wait", &wait()));
            }
            ring.track("u", "go", "{}");
            ring.track("u", "go", "{}");
            ring.drain();
            stand(ring, Kind::JourneyPaused);
            let runs: Vec<_> = ring.engine.journeys().instances().map(|i| i.id).collect();
            for instance in runs {
                let cancelled = Cancellation { instance };
                ring.operate(Kind::JourneyCancelled, Some("u"), &cancelled);
            }
            ring.publish("t0", 2, &chain("wait", &[sends(first), update()].concat()));
            ring.publish("t1", 2, &chain("wait", &sends(second)));
            ring.drain();
            ring.pass(60);
            stand(ring, Kind::JourneyResumed);
            while ring.checkpoint < ring.log.len() {
                ring.react(100);
            }
        });
    }
}

fn stand(ring: &mut Ring, kind: Kind) {
    for name in ["t0", "t1"] {
        let journey = journey(name);
        ring.operate(kind, None, &Standing { journey });
    }
}
