//! Realms over random logs, through snapshots and crashes.

mod ring;

use proptest::prelude::*;

use self::ring::{EXPRESSIONS, Fate, Ring, segment};
use super::*;
use crate::engine::Snapshot;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// What the log tells of who came and went.
fn crossings(ring: &Ring) -> Vec<Kind> {
    let kinds = ring.log.iter().map(|recorded| recorded.event.kind);
    kinds
        .filter(|kind| matches!(kind, Kind::SegmentEntered | Kind::SegmentLeft))
        .collect()
}

fn leaves_a_window_at_the_exact_instant(uses_snapshot: bool) {
    let mut ring = Ring::new();
    ring.define(1, Some(EXPRESSIONS[1]));
    ring.say(r#"{"type":"track","event":"buy","userId":"u"}"#);
    ring.drain();
    assert_eq!(ring.realm.members(segment(1)).expect("there").len(), 1);
    let leaves = ring.now.shifted(30 * DAY);
    assert_eq!(ring.realm.due(), leaves);
    ring.now = leaves.shifted(-1);
    ring.drain();
    assert_eq!(ring.realm.members(segment(1)).expect("there").len(), 1);
    // Across a restart, and with no other event.
    ring.keep();
    ring.restart(uses_snapshot);
    ring.react(Fate::Deferred, |_| {});
    assert_eq!(ring.realm.due(), leaves);
    ring.now = leaves;
    ring.drain();
    assert!(ring.realm.members(segment(1)).expect("there").is_empty());
    let last = ring.log.last().expect("an event");
    assert_eq!(
        (
            last.event.kind,
            last.event.occurred_at,
            last.event.recorded_at
        ),
        (Kind::SegmentLeft, leaves, leaves)
    );
    ring.check();
}

#[test]
fn a_window_is_entered_and_left_at_the_exact_instant() {
    leaves_a_window_at_the_exact_instant(true);
    leaves_a_window_at_the_exact_instant(false);
}

/// What ended while nobody looked, ended when it was due.
#[test]
fn a_window_that_ended_while_nothing_ran_ended_when_it_did() {
    let mut ring = Ring::new();
    ring.define(1, Some(EXPRESSIONS[1]));
    ring.say(r#"{"type":"track","event":"buy","userId":"u"}"#);
    ring.drain();
    ring.keep();
    let leaves = ring.realm.due();
    ring.restart(true);
    ring.now = leaves.shifted(3 * DAY);
    ring.drain();
    let last = ring.log.last().expect("an event");
    assert_eq!(
        (last.event.occurred_at, last.event.recorded_at),
        (leaves, ring.now)
    );
}

#[test]
fn nothing_for_a_week_is_noticed_when_the_week_is_over() {
    let mut ring = Ring::new();
    ring.define(2, Some(EXPRESSIONS[2]));
    ring.say(r#"{"type":"track","event":"login","userId":"u"}"#);
    ring.drain();
    assert!(ring.realm.members(segment(2)).expect("there").is_empty());
    let quiet = ring.realm.due();
    assert_eq!(quiet, ring.now.shifted(7 * DAY));
    for uses_snapshot in [true, false] {
        ring.keep();
        ring.restart(uses_snapshot);
        ring.now = quiet.shifted(-1);
        ring.drain();
        assert!(ring.realm.members(segment(2)).expect("there").is_empty());
        assert_eq!(ring.realm.due(), quiet);
    }
    ring.now = quiet;
    ring.drain();
    assert_eq!(ring.realm.members(segment(2)).expect("there").len(), 1);
    let last = ring.log.last().expect("an event");
    assert_eq!(
        (last.event.kind, last.event.occurred_at),
        (Kind::SegmentEntered, quiet)
    );
}

/// A crash between the parts of what a definition decided, and time goes on before it is
/// decided again: who was told of and is none any more leaves.
#[test]
fn a_definition_told_in_part_is_told_to_its_end() {
    let mut ring = Ring::new();
    for user in ["u", "v", "w"] {
        let at = "2025-12-03T00:00:00Z";
        ring.say(&format!(
            r#"{{"type":"track","event":"buy","userId":"{user}","timestamp":"{at}"}}"#
        ));
    }
    ring.drain();
    ring.define(1, Some(EXPRESSIONS[1]));
    ring.now = ring.now.shifted(2 * DAY);
    ring.react(Fate::Crash(1), |_| {});
    ring.check();
    let told = |kind| ring.log.iter().filter(|r| r.event.kind == kind).count();
    assert_eq!(
        (told(Kind::SegmentEntered), told(Kind::SegmentLeft)),
        (2, 2)
    );
}

/// What was told of someone is taken back also when nothing is left that says who that was.
#[test]
fn who_was_erased_before_a_restart_leaves_all_segments() {
    let mut ring = Ring::new();
    ring.define(0, Some(EXPRESSIONS[0]));
    ring.say(r#"{"type":"identify","userId":"u","traits":{"plan":"pro"}}"#);
    ring.drain();
    ring.erase("u");
    ring.restart(false);
    ring.drain();
    let last = ring.log.last().expect("an event");
    assert_eq!(last.event.kind, Kind::SegmentLeft);
    ring.check();
}

#[test]
fn any_damage_to_a_snapshot_is_noticed() {
    let mut ring = Ring::new();
    ring.define(1, Some(EXPRESSIONS[1]));
    ring.define(9, None);
    ring.say(r#"{"type":"track","event":"buy","userId":"u"}"#);
    ring.drain();
    ring.keep();
    let mut bytes = ring.kept.take().expect("kept");
    for at in 0..bytes.len() {
        bytes[at] ^= 1;
        assert!(Snapshot::read(&mut bytes.as_slice()).is_err(), "byte {at}");
        bytes[at] ^= 1;
        assert!(Snapshot::read(&mut &bytes[..at]).is_err(), "cut at {at}");
    }
    assert!(Snapshot::read(&mut bytes.as_slice()).is_ok());
    bytes.push(0);
    assert!(Snapshot::read(&mut bytes.as_slice()).is_err());
}

#[test]
fn a_static_segment_loses_who_is_erased_and_follows_who_is_merged() {
    let mut ring = Ring::new();
    ring.define(9, None);
    ring.say(r#"{"type":"identify","userId":"u"}"#);
    ring.say(r#"{"type":"identify","userId":"v"}"#);
    ring.edit(&["u", "v"], &[]);
    ring.drain();
    assert_eq!(ring.realm.members(segment(9)).expect("there").len(), 2);
    ring.erase("u");
    ring.say(r#"{"type":"alias","userId":"w","previousId":"v"}"#);
    ring.drain();
    let members = ring.realm.members(segment(9)).expect("there");
    let members: Vec<ContactId> = members
        .iter()
        .map(|n| ring.realm.world.contact_id(n))
        .collect();
    assert_eq!(members, [ring.key.contact_of_user("w")]);
    ring.check();
}

#[test]
fn an_edit_crosses_each_border_once_and_only_that_of_a_static_segment() {
    let mut ring = Ring::new();
    ring.define(9, None);
    ring.say(r#"{"type":"identify","userId":"u"}"#);
    ring.edit(&["u", "u", "nobody"], &["v"]);
    ring.edit(&["u"], &[]);
    ring.drain();
    assert_eq!(crossings(&ring), [Kind::SegmentEntered]);
    ring.edit(&[], &["u"]);
    ring.edit(&[], &["u"]);
    ring.drain();
    assert_eq!(crossings(&ring), [Kind::SegmentEntered, Kind::SegmentLeft]);
    ring.define(9, Some("contact.plan = 'pro'"));
    ring.edit(&["u"], &[]);
    ring.drain();
    assert_eq!(crossings(&ring).len(), 2);
}

#[test]
fn an_attribute_with_a_dot_in_its_name_is_followed() {
    let mut ring = Ring::new();
    ring.define(8, Some("contact.\"a.b\" = 1"));
    ring.say(r#"{"type":"identify","userId":"u","traits":{"a.b":2}}"#);
    ring.drain();
    assert!(ring.realm.members(segment(8)).expect("there").is_empty());
    ring.say(r#"{"type":"identify","userId":"u","traits":{"a.b":1}}"#);
    ring.drain();
    assert_eq!(ring.realm.members(segment(8)).expect("there").len(), 1);
}

#[test]
fn a_segment_that_is_defined_anew_has_the_members_of_the_new_expression() {
    let mut ring = Ring::new();
    ring.say(r#"{"type":"identify","userId":"u","traits":{"plan":"pro"}}"#);
    ring.say(r#"{"type":"track","event":"buy","userId":"v"}"#);
    ring.define(1, Some(EXPRESSIONS[0]));
    ring.drain();
    ring.define(1, Some(EXPRESSIONS[1]));
    ring.check();
    let mut told = crossings(&ring);
    assert_eq!(told.remove(0), Kind::SegmentEntered);
    assert_eq!(told.len(), 2, "u goes and v comes: {told:?}");
    assert_ne!(told[0], told[1]);
}

#[derive(Debug, Clone)]
enum Step {
    Say(String),
    Erase(String),
    /// Segments are defined again as well, with another expression or the same.
    Define(u8, usize),
    Delete(u8),
    Edit(String, String),
    Pass(i64),
    React(Fate),
    /// The reactor folds while a client appends, and commits after it.
    Race(Fate, String),
    Keep,
    Restart {
        uses_snapshot: bool,
    },
}

fn say() -> impl Strategy<Value = String> {
    let user = || "[uvw]";
    prop_oneof![
        (user(), "pro|free").prop_map(|(u, p)| format!(r#"{{"type":"identify","userId":"{u}","traits":{{"plan":"{p}"}}}}"#)),
        (user(), "buy|login", 0..4i32).prop_map(|(u, e, n)| format!(r#"{{"type":"track","event":"{e}","userId":"{u}","properties":{{"n":{n}}}}}"#)),
        (user(), 0..40i32).prop_map(|(u, d)| format!(
            r#"{{"type":"track","event":"buy","userId":"{u}","timestamp":"2025-12-{:02}T00:00:00Z"}}"#, 1 + d % 28)),
        "[ab]".prop_map(|a| format!(r#"{{"type":"track","event":"login","anonymousId":"{a}"}}"#)),
        (user(), "[ab]").prop_map(|(u, a)| format!(r#"{{"type":"identify","userId":"{u}","anonymousId":"{a}"}}"#)),
        (user(), user()).prop_map(|(u, p)| format!(r#"{{"type":"alias","userId":"{u}","previousId":"{p}"}}"#)),
    ]
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        3 => Just(Fate::Committed),
        3 => Just(Fate::Deferred),
        1 => (0..4usize).prop_map(Fate::Crash),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => say().prop_map(Step::Say),
        1 => "[uvw]".prop_map(Step::Erase),
        4 => (0..4u8, 0..EXPRESSIONS.len()).prop_map(|(n, which)| Step::Define(n, which)),
        1 => (0..4u8).prop_map(Step::Delete),
        4 => ("[uvw]", "[uvw]").prop_map(|(add, remove)| Step::Edit(add, remove)),
        3 => (0..20 * DAY).prop_map(Step::Pass),
        4 => fate().prop_map(Step::React),
        4 => (fate(), say()).prop_map(|(fate, raw)| Step::Race(fate, raw)),
        2 => Just(Step::Keep),
        2 => any::<bool>().prop_map(|uses_snapshot| Step::Restart { uses_snapshot }),
    ]
}

fn take(ring: &mut Ring, step: Step) {
    ring.now = ring.now.shifted(SECOND);
    match step {
        Step::Say(raw) => ring.say(&raw),
        Step::Erase(user) => ring.erase(&user),
        Step::Define(n, which) => ring.define(n, Some(EXPRESSIONS[which])),
        Step::Delete(n) => ring.delete(n),
        Step::Edit(add, remove) => ring.edit(&[&add], &[&remove]),
        Step::Pass(micros) => ring.now = ring.now.shifted(micros),
        Step::React(fate) => ring.react(fate, |_| {}),
        Step::Race(fate, raw) => ring.react(fate, |ring| ring.say(&raw)),
        Step::Keep => ring.keep(),
        Step::Restart { uses_snapshot } => ring.restart(uses_snapshot),
    }
}

proptest! {
    #[test]
    fn memberships_equal_a_fresh_scan_and_are_told_once(
        steps in prop::collection::vec(step(), 1..60),
        batch in 1..5usize,
    ) {
        let mut ring = Ring::new();
        ring.batch = batch;
        ring.define(9, None);
        for step in steps {
            take(&mut ring, step);
        }
        ring.check();
        ring.check_same();
    }
}
