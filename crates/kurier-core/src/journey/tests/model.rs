//! Random graphs, random inputs, random crashes. What a reactor that dies leaves in the log
//! is what one that does not would have written, event by event.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::ring::{Asked, Ring, asked, journey, template};
use crate::event::{Event, Kind};
use crate::id::InstanceId;
use crate::journey::simulate::{Run, Simulation};
use crate::journey::{Instance, Known, Standing, check, read_document};

const RULES: &[&str] = &[
    "contact.plan = 'pro'",
    "COUNT(event WHERE event_type = 'e0') > 2",
    "EXISTS (event WHERE event_type = 'e1' AND event_time > now() - 20m)",
    "NOT EXISTS (event WHERE event_type = 'e2' AND event_time > now() - 30m)",
    "journey.state.step_count < 9",
    "journey.state.k = 1",
    "EXISTS (event WHERE event_type = 'e1') AND NOT EXISTS (event WHERE event_type = 'e1' AND event_time > now() - 10m)",
];

const EXITS: &[&str] = &[
    "FALSE",
    "FALSE",
    "contact.plan = 'free'",
    "journey.state.entry_time < now() - 3h",
    "EXISTS (event WHERE event_type = 'e2' AND properties.k = journey.state.k AND event_time > now() - 5m)",
];

const POLICIES: &[&str] = &["skip", "restart", "parallel", "wait"];

/// A node before its targets are known: what it is, and two dice.
type Dice = (u8, u8, u8);

/// Makes a graph that can be published: ways lead forward, and back only out of waits for
/// time; what cannot be reached is left out.
fn graph(dice: &[Dice], (policy, exit, keyed): (usize, usize, bool)) -> String {
    let last = dice.len() + 1;
    let ahead = |at: usize, die: u8| at + 1 + usize::from(die) % (last - at);
    let mut nodes: BTreeMap<usize, (String, Vec<usize>)> = BTreeMap::new();
    let trigger = r#""node_type": "trigger", "event_type": "e0", "state": {"k": "event.properties.k"}, "next_node_id": "n1""#;
    nodes.insert(0, (trigger.to_owned(), vec![1]));
    for (index, (kind, a, b)) in dice.iter().enumerate() {
        let at = index + 1;
        let (next, other) = (ahead(at, *a), ahead(at, *b));
        let back = 1 + usize::from(*b) % last;
        let rule = RULES[usize::from(*b) % RULES.len()];
        let node = match kind % 8 {
            0 => (
                format!(
                    r#""node_type": "condition", "condition": "{rule}", "true_node_id": "n{next}", "false_node_id": "n{other}""#
                ),
                vec![next, other],
            ),
            1 => (
                format!(
                    r#""node_type": "wait", "wait_type": "duration", "duration": "{}m", "next_node_id": "n{next}", "timeout": "25m", "timeout_node_id": "n{back}""#,
                    10 + a % 30
                ),
                vec![next, back],
            ),
            2 => (
                format!(
                    r#""node_type": "wait", "wait_type": "event", "event_type": "e{}", "event_conditions": "event.properties.k = journey.state.k", "next_node_id": "n{back}", "timeout": "1h", "timeout_node_id": "n{next}""#,
                    a % 3
                ),
                vec![back, next],
            ),
            3 => (
                format!(
                    r#""node_type": "wait", "wait_type": "condition", "wait_condition": "{rule}", "check_interval": "7m", "next_node_id": "n{next}", "timeout": "2h", "timeout_node_id": "n{other}""#
                ),
                vec![next, other],
            ),
            4 => (
                format!(
                    r#""node_type": "update_contact", "updates": {{"plan": "{}"}}, "next_node_id": "n{next}""#,
                    ["pro", "free"][usize::from(b % 2)]
                ),
                vec![next],
            ),
            5 => (
                format!(
                    r#""node_type": "branch", "branches": [{{"priority": 2, "condition": "{rule}", "next_node_id": "n{next}"}}, {{"priority": 1, "condition": "contact.plan = 'pro'", "next_node_id": "n{other}"}}], "default_node_id": "n{next}""#
                ),
                vec![next, other],
            ),
            _ => (
                format!(
                    r#""node_type": "send_message", "channel": "email", "template": "m{at}", "next_node_id": "n{next}""#
                ),
                vec![next],
            ),
        };
        nodes.insert(at, node);
    }
    nodes.insert(last, (r#""node_type": "exit""#.to_owned(), Vec::new()));
    document(&nodes, (policy, exit, keyed))
}

fn document(
    nodes: &BTreeMap<usize, (String, Vec<usize>)>,
    (policy, exit, keyed): (usize, usize, bool),
) -> String {
    let (mut reached, mut open) = (BTreeSet::new(), vec![0]);
    while let Some(at) = open.pop() {
        if reached.insert(at) {
            open.extend(&nodes[&at].1);
        }
    }
    let items: Vec<String> = reached
        .iter()
        .map(|at| format!(r#"{{"id": "n{at}", {}}}"#, nodes[at].0))
        .collect();
    let key = match keyed {
        true => r#""reentry_key": "event.properties.k","#,
        false => "",
    };
    let text = format!(
        r#"{{"name": "t", "reentry_policy": "{}", {key} "exit_when": "{}", "nodes": [{}]}}"#,
        POLICIES[policy % POLICIES.len()],
        EXITS[exit % EXITS.len()],
        items.join(", ")
    );
    let checked = check(&text, 1, &Known::default());
    assert!(
        checked.definition.is_some(),
        "{text}\n{:#?}",
        checked.faults
    );
    text
}

fn graphs() -> impl Strategy<Value = String> {
    let dice = prop::collection::vec(any::<Dice>(), 1..9);
    (dice, (0..4usize, 0..5usize, any::<bool>())).prop_map(|(dice, head)| graph(&dice, head))
}

/// Whether the reactor dies where steps say so: before it commits anything, or between the
/// parts of what it commits. The latter writes things down at another time than it would have,
/// and is not to be compared event by event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Death {
    Never,
    Before,
    Between,
}

#[derive(Debug, Clone)]
enum Step {
    Say(String),
    Erase(String),
    Pass(i64),
    Publish(String),
    /// Publishes a template anew.
    Template(usize),
    Stand(Kind),
    React(usize),
    /// Dies after deciding, and before committing so many parts of it.
    Die(usize, usize),
    /// Writes a snapshot.
    Keep,
    /// Dies after committing.
    Restart,
}

fn say() -> impl Strategy<Value = String> {
    let user = || "[uv]";
    prop_oneof![
        8 => (user(), 0..3, 0..3).prop_map(|(user, e, k)| format!(r#"{{"type":"track","event":"e{e}","userId":"{user}","properties":{{"k":{k}}}}}"#)),
        2 => (user(), "pro|free").prop_map(|(user, plan)| format!(r#"{{"type":"identify","userId":"{user}","traits":{{"plan":"{plan}"}}}}"#)),
        2 => (0..2).prop_map(|k| format!(r#"{{"type":"track","event":"e0","anonymousId":"a","properties":{{"k":{k}}}}}"#)),
        1 => user().prop_map(|user| format!(r#"{{"type":"identify","userId":"{user}","anonymousId":"a"}}"#)),
        1 => Just(r#"{"type":"alias","userId":"u","previousId":"v"}"#.to_owned()),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => say().prop_map(Step::Say),
        1 => "[uv]".prop_map(Step::Erase),
        6 => (1..4_000i64).prop_map(Step::Pass),
        1 => graphs().prop_map(Step::Publish),
        1 => (1..9usize).prop_map(Step::Template),
        1 => prop_oneof![Just(Kind::JourneyPaused), Just(Kind::JourneyResumed), Just(Kind::JourneyRetired)]
            .prop_map(Step::Stand),
        6 => (1..9usize).prop_map(Step::React),
        3 => (1..9usize, 0..4usize).prop_map(|(max, parts)| Step::Die(max, parts)),
        1 => Just(Step::Keep),
        2 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..60)
}

fn publish(ring: &mut Ring, version: &mut u32, definition: &str) {
    *version += 1;
    ring.publish("t", *version, definition);
}

fn names(of: std::ops::Range<usize>) -> impl Iterator<Item = String> {
    of.map(|n| format!("m{n}"))
}

/// Runs the steps; a reactor that does not die skips the deaths.
fn run(definition: &str, steps: &[Step], dies: Death) -> Ring {
    let mut ring = Ring::new();
    let (mut version, mut templates) = (0, 1);
    ring.templates(templates, names(1..6));
    publish(&mut ring, &mut version, definition);
    for step in steps {
        ring.pass(1);
        match step {
            Step::Say(raw) => ring.say(raw),
            Step::Erase(user) => ring.erase(user),
            Step::Pass(seconds) => ring.pass(*seconds),
            Step::Publish(definition) => publish(&mut ring, &mut version, definition),
            Step::Template(n) => {
                templates += 1;
                ring.templates(templates, names(*n..n + 1));
            }
            Step::Stand(kind) => {
                let journey = journey("t");
                ring.operate(*kind, None, &Standing { journey });
            }
            Step::React(max) => ring.react(*max),
            Step::Die(max, parts) if dies != Death::Never => {
                let decided = ring.decide(*max);
                if dies == Death::Between {
                    ring.commit_but(decided, *parts);
                }
                ring.restart();
            }
            Step::Keep if dies != Death::Never => ring.keep(),
            Step::Restart if dies != Death::Never => ring.restart(),
            Step::Die(..) | Step::Keep | Step::Restart => {}
        }
    }
    ring.drain();
    ring
}

/// The log. What is due at the same pass may be written in any order.
fn told(ring: &Ring) -> Vec<&Event> {
    let mut events: Vec<&Event> = ring
        .log
        .iter()
        .map(|recorded| recorded.event.as_ref())
        .collect();
    events.sort_by_key(|event| (event.recorded_at, event.id));
    events
}

/// The instances, without when to look again: who follows looks at once.
fn known(engine: &crate::engine::Engine) -> BTreeMap<InstanceId, Instance> {
    let instances = engine.journeys().instances().cloned();
    let blur = |instance: Instance| Instance {
        due: crate::time::Timestamp::default(),
        // Numbers are given in the order of arrival, which is the log's for both.
        ..instance
    };
    instances
        .map(|instance| (instance.id, blur(instance)))
        .collect()
}

/// Each run begins once, ends at most once, and is active if it has not ended; its records
/// are numbered without gap; each message is asked for once.
fn check_runs(ring: &Ring) {
    let mut seqs: BTreeMap<InstanceId, (u32, bool)> = BTreeMap::new();
    let mut messages = BTreeSet::new();
    for (recorded, record) in ring.records() {
        let (seq, is_over) = seqs.entry(record.run.instance).or_default();
        assert!(!*is_over, "a run goes on after its end");
        assert_eq!(record.run.seq, *seq + 1);
        assert_eq!(
            record.run.seq == 1,
            recorded.event.kind == Kind::JourneyEntered
        );
        (*seq, *is_over) = (record.run.seq, record.run.ending.is_some());
        for sent in &record.run.messages {
            assert!(messages.insert(sent.message), "asked for twice");
        }
    }
    let requested = ring
        .log
        .iter()
        .filter(|r| r.event.kind == Kind::MessageRequested);
    let requested: BTreeSet<_> = requested.map(|r| r.event.id.as_uuid()).collect();
    assert_eq!(requested, messages.iter().map(|id| id.as_uuid()).collect());
    let over = seqs.iter().filter(|(_, (_, is_over))| !is_over);
    let active: BTreeSet<InstanceId> = over.map(|(id, _)| *id).collect();
    let held: BTreeSet<InstanceId> = known(&ring.engine).into_keys().collect();
    assert_eq!(active, held, "each run is active or finished");
}

proptest! {
    #[test]
    fn a_reactor_that_dies_anywhere_writes_what_one_that_does_not_would(definition in graphs(), steps in steps()) {
        let (calm, mortal) = (run(&definition, &steps, Death::Never), run(&definition, &steps, Death::Before));
        check_runs(&calm);
        let (told, expected) = (told(&mortal), told(&calm));
        for (after_death, without) in told.iter().zip(&expected) {
            prop_assert_eq!(after_death, without);
        }
        prop_assert_eq!(told.len(), expected.len());
    }

    #[test]
    fn a_reactor_that_dies_between_parts_loses_nothing_and_doubles_nothing(definition in graphs(), steps in steps()) {
        let ring = run(&definition, &steps, Death::Between);
        check_runs(&ring);
        prop_assert_eq!(known(&ring.successor()), known(&ring.engine));
        // Updates come back at another place in the log; all else goes the way it would have.
        if !format!("{definition}{steps:?}").contains("update_contact") {
            let calm = run(&definition, &steps, Death::Never);
            prop_assert_eq!(ring.outcome(), calm.outcome());
        }
    }

    #[test]
    fn who_follows_knows_what_who_leads_knows(definition in graphs(), steps in steps()) {
        let ring = run(&definition, &steps, Death::Never);
        let successor = ring.successor();
        prop_assert_eq!(known(&successor), known(&ring.engine));
        prop_assert_eq!(successor.journeys().parked(), ring.engine.journeys().parked());
    }

    #[test]
    fn a_simulation_gives_the_paths_and_messages_of_the_live_run(definition in graphs(), steps in steps()) {
        let mut ring = Ring::new();
        let mut simulation = Simulation::new(ring.key.clone());
        simulation.pass_to(ring.now);
        let mut version = 0;
        ring.templates(3, names(1..6));
        for name in names(1..6) {
            simulation.operate(Kind::TemplatePublished, None, &template(&name, 3));
        }
        publish(&mut ring, &mut version, &definition);
        simulation.publish(journey("t"), 1, read_document(&definition).expect("JSON"));
        for step in &steps {
            ring.pass(1);
            match step {
                Step::Say(raw) => {
                    ring.drain();
                    ring.say(raw);
                    simulation.say(raw, ring.now).expect("accepted");
                }
                Step::Pass(seconds) => {
                    // Time passes in one go for both; nobody looks in between.
                    ring.drain();
                    ring.pass(*seconds);
                }
                _ => {}
            }
            ring.drain();
            simulation.pass_to(ring.now);
        }
        let mut simulated: Vec<String> = simulation.runs().iter().map(Run::path).collect();
        let mut lived = ring.paths();
        simulated.sort();
        lived.sort();
        prop_assert_eq!(simulated, lived);
        let simulated: BTreeSet<Asked> = simulation.messages().iter().map(|m| asked(m.at, m.request.template_name(), &m.request)).collect();
        let lived: BTreeSet<Asked> = ring.requests().iter().map(|(at, request)| asked(*at, request.template_name(), request)).collect();
        prop_assert_eq!(simulated, lived);
    }

    #[test]
    fn a_replay_of_the_log_gives_the_runs_and_messages_of_the_live_run(definition in graphs(), steps in steps()) {
        let mut ring = Ring::new();
        ring.templates(1, names(1..6));
        ring.publish("t", 1, &definition);
        for step in &steps {
            ring.pass(1);
            match step {
                Step::Say(raw) => ring.say(raw),
                Step::Pass(seconds) => ring.pass(*seconds),
                _ => {}
            }
            ring.drain();
        }
        let mut simulation = Simulation::new(ring.key.clone());
        simulation.pass_to(ring.log[0].event.recorded_at);
        simulation.publish(journey("t"), 1, read_document(&definition).expect("JSON"));
        ring.log.iter().for_each(|recorded| simulation.replay(recorded));
        simulation.pass_to(ring.now);
        let mut replayed: Vec<_> = simulation.runs().iter().map(|run| (run.instance, run.path())).collect();
        replayed.sort();
        let mut lived = ring.runs();
        lived.sort();
        prop_assert_eq!(replayed, lived);
        let replayed: BTreeSet<Asked> = simulation.messages().iter().map(|m| asked(m.at, &m.request.message.to_string(), &m.request)).collect();
        let lived: BTreeSet<Asked> = ring.requests().iter().map(|(at, request)| asked(*at, &request.message.to_string(), request)).collect();
        prop_assert_eq!(replayed, lived);
    }
}
