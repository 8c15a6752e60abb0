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
    let wait = "wait_type: condition, wait_condition: \"COUNT(event WHERE event_type = 'e') >= 2\"";
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
