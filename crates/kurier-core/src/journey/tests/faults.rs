//! A definition's faults are told all at once, each with its place; and quickly, whatever
//! the definition.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::SegmentId;
use crate::journey::{Checked, Fault, Known, NODES_MAX, Severity, check};

fn known() -> Known {
    let set = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<BTreeSet<_>>()
    };
    Known {
        channels: Some(set(&["email", "sms"])),
        templates: Some(set(&["welcome"])),
        segments: Some(BTreeMap::from([(
            "Pros".to_owned(),
            SegmentId::of_name("Pros"),
        )])),
        ..Known::default()
    }
}

#[track_caller]
fn check_faults(definition: &str, expected: &[&str]) {
    let checked = check(definition, 1, &known());
    let told: Vec<String> = checked.faults.iter().map(Fault::to_string).collect();
    assert_eq!(told, expected);
}

#[test]
fn ten_faults_are_told_with_their_places() {
    let definition = r#"
name: Ten
reentry_policy: sometimes
nodes:
  - {id: start, node_type: trigger, event_type: go, event_conditions: "contact.plan == pro", next_node_id: wate}
  - {id: wait, node_type: wait, wait_type: event, event_type: e, next_node_id: mail, timeout: soon, timeout_node_id: mail}
  - {id: mail, node_type: send_message, channel: emial, template: welcom, next_node_id: loop1}
  - {id: loop1, node_type: condition, condition: "event.properties.n = 1", true_node_id: loop2, false_node_id: wait}
  - {id: loop2, node_type: update_contact, updates: {a: 1}, next_node_id: loop1, colour: red}
  - {id: seg, node_type: trigger, trigger_type: segment_entered, segment: Amateurs, next_node_id: wait}
"#;
    let checked = check(definition, 1, &known());
    assert!(checked.definition.is_none());
    let told: Vec<String> = checked.faults.iter().map(Fault::to_string).collect();
    let expected = [
        "node start, event_conditions: `pro` is not a value this language knows; write contact.pro for an attribute, 'pro' for a text",
        "node start, next_node_id: there is no node `wate`; did you mean `wait`?",
        "node wait, timeout: `soon` is not a duration; write 30s, 15m, 12h, 7d or 2w",
        "node mail, channel: there is no channel `emial`; did you mean `email`?",
        "node mail, template: there is no template `welcom`; did you mean `welcome`?",
        "node loop1, condition: `event.properties.n` means something only where there is an event; write EXISTS (event WHERE event.properties.n …)",
        "node loop2, colour: is not a field here",
        "node seg, segment: there is no segment `Amateurs`",
        "reentry_policy: `sometimes` is not one of skip, restart, parallel, wait",
        "node seg, node_type: a journey has one trigger, and this is another",
        "nodes: no node is an exit: nobody could leave",
        "node loop1: goes round without resting: a cycle needs a wait for time or for an event",
    ];
    for fault in expected {
        assert!(
            told.iter().any(|told| told == fault),
            "{fault}\nis not told:\n{}",
            told.join("\n")
        );
    }
    let spanned = checked
        .faults
        .iter()
        .find_map(|fault| fault.expression.as_ref());
    let (text, span) = spanned.expect("an expression is faulty");
    assert_eq!(&text[span.start..span.end], "pro");
}

fn node(rest: &str) -> String {
    format!(
        "name: t\nnodes:\n  - {{id: start, node_type: trigger, event_type: go, next_node_id: n}}\n  - {{id: n, {rest}}}\n  - {{id: done, node_type: exit}}\n"
    )
}

#[test]
fn each_fault_in_words() {
    check_faults(
        "[1, 2]",
        &["the journey: must be an object with name and nodes"],
    );
    check_faults(
        "name: t\nnodes: []",
        &["nodes: must be a list of 1 to 10000 nodes, and has 0"],
    );
    check_faults(
        &node("node_type: jump, next_node_id: done"),
        &[
            "node n, node_type: `jump` is not a kind of node",
            "node done: cannot be reached from the trigger",
        ],
    );
    check_faults(
        &node("node_type: wait, wait_type: duration, duration: 1h, next_node_id: n"),
        &[
            "node done: cannot be reached from the trigger",
            "node start: no way leads from here to an exit",
            "node n: no way leads from here to an exit",
        ],
    );
    check_faults(
        &node("node_type: wait, wait_type: duration, duration: 1h, next_node_id: start"),
        &[
            "node done: cannot be reached from the trigger",
            "node n: leads back to the trigger",
            "node start: no way leads from here to an exit",
            "node n: no way leads from here to an exit",
        ],
    );
    check_faults(
        &node(
            "node_type: wait, wait_type: duration, duration: 1h, timeout: 1m, next_node_id: done",
        ),
        &["node n, timeout_node_id: is missing: a timeout needs a way"],
    );
    check_faults(
        &node("node_type: update_contact, updates: {a: {from: contact.b = 1}}, next_node_id: done"),
        &["node n, updates.a: expected AND, OR or the end, found `IS`"],
    );
}

#[test]
fn a_cycle_through_a_wait_for_a_condition_may_not_rest() {
    let definition = node(
        "node_type: wait, wait_type: condition, wait_condition: TRUE, timeout: 1h, timeout_node_id: done, next_node_id: n",
    );
    check_faults(
        &definition,
        &["node n: goes round without resting: a cycle needs a wait for time or for an event"],
    );
}

#[test]
fn what_is_probably_not_meant_is_a_warning() {
    let definition = node(
        "node_type: wait, wait_type: event, event_type: e, event_conditions: event.properties.a = journey.state.a, next_node_id: done",
    );
    let Checked { definition, faults } = check(&definition, 1, &known());
    assert!(definition.is_some());
    assert!(
        faults
            .iter()
            .all(|fault| fault.severity == Severity::Warning)
    );
    let told: Vec<String> = faults.iter().map(Fault::to_string).collect();
    assert_eq!(
        told,
        [
            "node n, timeout: is missing: an instance may wait here for ever",
            "node n, event_conditions: no node sets journey.state.a",
        ]
    );
}

#[test]
fn an_unknown_name_of_the_journey_is_told_where_it_stands() {
    let definition = node(
        "node_type: condition, condition: contact.a = 1 AND journey.step_count > 3, true_node_id: done, false_node_id: done",
    );
    let faults = check(&definition, 1, &known()).faults;
    let (text, span) = faults[0].expression.as_ref().expect("a span");
    assert_eq!(&text[span.start..span.end], "journey.step_count");
    assert!(
        faults[0]
            .to_string()
            .ends_with("write journey.state.step_count"),
        "{}",
        faults[0]
    );
}

fn chain(nodes: usize) -> String {
    let mut text = r#"{"name": "long", "nodes": [{"id": "n0", "node_type": "trigger", "event_type": "go", "next_node_id": "n1"}"#.to_owned();
    for n in 1..nodes - 1 {
        text.push_str(&format!(r#", {{"id": "n{n}", "node_type": "condition", "condition": "contact.a = {n}", "true_node_id": "n{}", "false_node_id": "n{}"}}"#, n + 1, nodes - 1));
    }
    text.push_str(&format!(
        r#", {{"id": "n{}", "node_type": "exit"}}]}}"#,
        nodes - 1
    ));
    text
}

fn answered(definition: &str) -> Checked {
    check(definition, 1, &known())
}

#[test]
fn a_hundred_thousand_nodes_are_answered() {
    let told = |checked: Checked| checked.faults[0].to_string();
    let too_long = told(answered(&chain(100_000)));
    assert!(too_long.contains("a document has at most"), "{too_long}");
    let mut many = r#"{"name": "many", "nodes": ["#.to_owned();
    many.push_str(&vec![r#"{"id":"a"}"#; 100_000].join(","));
    many.push_str("]}");
    let too_many = told(answered(&many));
    assert!(too_many.contains("and has 100000"), "{too_many}");
}

#[test]
fn as_many_nodes_as_are_allowed_are_checked() {
    assert!(answered(&chain(NODES_MAX)).definition.is_some());
}

#[test]
fn a_thousand_way_branch_is_answered() {
    let branch = |ways: usize| {
        let arms: Vec<String> = (0..ways)
            .map(|n| {
                format!(
                    "{{condition: \"contact.n = {n}\", priority: {}, next_node_id: done}}",
                    ways - n
                )
            })
            .collect();
        node(&format!(
            "node_type: branch, branches: [{}], default_node_id: done",
            arms.join(", ")
        ))
    };
    assert!(answered(&branch(1_000)).definition.is_some());
    let told = answered(&branch(1_001)).faults[0].to_string();
    assert_eq!(told, "node n, branches: must have 1 to 1000 items");
}

#[test]
fn a_self_loop_is_answered() {
    let definition =
        node("node_type: condition, condition: TRUE, true_node_id: n, false_node_id: done");
    let told = answered(&definition).faults[0].to_string();
    assert!(told.starts_with("node n: goes round"), "{told}");
}

#[test]
fn a_definition_full_of_faults_is_answered() {
    let mut text = r#"{"name": "bad", "nodes": ["#.to_owned();
    let nodes: Vec<String> = (0..NODES_MAX)
        .map(|n| format!(r#"{{"id": "n{n}", "node_type": "condition", "condition": "nonsense", "true_node_id": "x{n}", "false_node_id": "n{}"}}"#, (n + 1) % NODES_MAX))
        .collect();
    text.push_str(&nodes.join(","));
    text.push_str("]}");
    assert_eq!(answered(&text).faults.len(), 1_000);
}
