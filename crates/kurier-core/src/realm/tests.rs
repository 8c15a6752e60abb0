use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::accept::{Reception, accept};
use crate::event::{Erasure, Position};
use crate::id::{IdentityKey, WorkspaceId};

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// A log with a reactor that commits a batch at a time: its checkpoint moves with what it
/// appends, and clients may append before it does.
struct Ring {
    key: IdentityKey,
    log: Vec<Recorded>,
    realm: Realm,
    checkpoint: usize,
    now: Timestamp,
}

fn segment(n: u8) -> SegmentId {
    SegmentId::new(Timestamp::from_millis(1), [n; 10])
}

const EXPRESSIONS: &[&str] = &[
    "contact.plan = 'pro'",
    "EXISTS (event WHERE event_type = 'buy' AND event_time > now() - 30d)",
    "COUNT(event WHERE event_type = 'login' AND event_time > now() - 7d) = 0",
    "contact.plan = 'pro' OR SUM(event.properties.n WHERE event_type = 'buy') > 3",
];

impl Ring {
    fn new() -> Self {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let key = IdentityKey::new([1; 32]);
        Self {
            key,
            log: Vec::new(),
            realm: Realm::default(),
            checkpoint: 0,
            now,
        }
    }

    fn append(&mut self, event: Event) {
        if self
            .log
            .iter()
            .any(|recorded| recorded.event.id == event.id)
        {
            return;
        }
        let workspace = WorkspaceId::new(Timestamp::from_millis(1), [7; 10]);
        let position = Position(self.log.len() as i64 + 1);
        self.log.push(Recorded {
            position,
            workspace,
            event,
        });
    }

    fn say(&mut self, raw: &str) {
        let number = self.log.len();
        let fresh_id = &|| EventId::of_message(&number.to_string());
        let reception = Reception {
            key: &self.key,
            received_at: self.now,
            sent_at: None,
            kind: None,
            fresh_id,
        };
        let event = accept(raw, &reception).expect("accepted");
        self.append(event);
    }

    fn operate(&mut self, kind: Kind, contact: Option<ContactId>, payload: String) {
        let id = EventId::of_message(&format!("operator {}", self.log.len()));
        let (occurred_at, recorded_at) = (self.now, self.now);
        self.append(Event {
            id,
            kind,
            contact,
            occurred_at,
            recorded_at,
            payload,
        });
    }

    fn define(&mut self, n: u8, expression: Option<&str>) {
        let definition = Definition::new(segment(n), "s", expression).expect("good");
        self.operate(
            Kind::SegmentCreated,
            None,
            serde_json::to_string(&definition).expect("JSON"),
        );
    }

    /// Gives users to the static segment 9, and takes others.
    fn edit(&mut self, add: &[&str], remove: &[&str]) {
        let ids = |users: &[&str]| {
            let ids = users.iter().map(|user| self.key.contact_of_user(user));
            ids.collect::<Vec<_>>()
        };
        let edit = Edit {
            segment: segment(9),
            add: ids(add),
            remove: ids(remove),
        };
        let payload = serde_json::to_string(&edit).expect("JSON");
        self.operate(Kind::SegmentEdited, None, payload);
    }

    fn erase(&mut self, user: &str) {
        let contact = self.key.contact_of_user(user);
        let erasure = Erasure {
            contacts: vec![contact],
            addresses: Vec::new(),
            positions: Vec::new(),
            seen: Position(0),
        };
        self.operate(
            Kind::ContactErased,
            Some(contact),
            serde_json::to_string(&erasure).expect("JSON"),
        );
    }

    /// Folds up to `max` events, lets `meanwhile` append, and then commits what was decided.
    fn react(&mut self, max: usize, meanwhile: impl FnOnce(&mut Self)) {
        let to = (self.checkpoint + max).min(self.log.len());
        let mut decided = Vec::new();
        for index in self.checkpoint..to {
            decided.extend(self.realm.fold(&self.log[index], Role::Lead));
        }
        decided.extend(self.realm.tick(self.now));
        meanwhile(self);
        decided.into_iter().for_each(|event| self.append(event));
        self.checkpoint = to;
    }

    fn drain(&mut self) {
        while self.checkpoint < self.log.len() {
            self.react(3, |_| {});
        }
        self.react(0, |_| {});
    }

    /// The process dies: another follows the log to the checkpoint, recalls, and leads on.
    fn restart(&mut self) {
        let mut realm = Realm::default();
        for recorded in &self.log[..self.checkpoint] {
            assert_eq!(realm.fold(recorded, Role::Follow), []);
        }
        self.log[self.checkpoint..]
            .iter()
            .for_each(|recorded| realm.recall(recorded));
        self.realm = realm;
    }

    /// Memberships are what a fresh look finds, and the log tells of each crossing once.
    fn check(&mut self) {
        self.drain();
        for (n, expression) in EXPRESSIONS.iter().enumerate() {
            let id = segment(n as u8);
            let Some(live) = self.realm.segments.get(&id) else {
                continue;
            };
            let checked = Checked::new(expression, crate::expr::Place::SEGMENT).expect("good");
            let fresh: Vec<u32> = self
                .realm
                .world
                .contacts()
                .filter(|number| {
                    let subject = self.realm.world.subject(*number);
                    checked.evaluate(&subject, None, self.realm.now).holds
                })
                .collect();
            assert_eq!(
                live.members.iter().collect::<Vec<_>>(),
                fresh,
                "{expression}"
            );
        }
        let mut told: BTreeMap<(SegmentId, ContactId), bool> = BTreeMap::new();
        let crossings = self
            .log
            .iter()
            .filter(|r| matches!(r.event.kind, Kind::SegmentEntered | Kind::SegmentLeft));
        for recorded in crossings {
            let Membership { segment } =
                serde_json::from_str(&recorded.event.payload).expect("JSON");
            let key = (segment, recorded.event.contact.expect("a contact"));
            let entered = recorded.event.kind == Kind::SegmentEntered;
            let was = told.insert(key, entered).unwrap_or(false);
            assert_ne!(was, entered, "told twice at {}", recorded.position);
        }
        for (id, live) in &self.realm.segments {
            let members: Vec<ContactId> = live
                .members
                .iter()
                .map(|n| self.realm.world.contact_id(n))
                .collect();
            let mut expected: Vec<ContactId> = told
                .iter()
                .filter(|((s, _), is)| s == id && **is)
                .map(|((_, c), _)| *c)
                .collect();
            let mut found = members.clone();
            expected.sort();
            found.sort();
            assert_eq!(
                found, expected,
                "the log tells of other members than there are"
            );
        }
    }
}

#[test]
fn a_window_is_entered_and_left_at_the_exact_instant() {
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
    ring.restart();
    ring.now = leaves;
    ring.drain();
    assert!(ring.realm.members(segment(1)).expect("there").is_empty());
    let last = ring.log.last().expect("an event");
    assert_eq!(
        (last.event.kind, last.event.recorded_at),
        (Kind::SegmentLeft, leaves)
    );
    ring.check();
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
    ring.now = quiet;
    ring.drain();
    assert_eq!(ring.realm.members(segment(2)).expect("there").len(), 1);
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
    let crossings = |ring: &Ring| {
        let kinds = ring.log.iter().map(|recorded| recorded.event.kind);
        kinds
            .filter(|kind| matches!(kind, Kind::SegmentEntered | Kind::SegmentLeft))
            .collect::<Vec<_>>()
    };
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

#[derive(Debug, Clone)]
enum Step {
    Say(String),
    Erase(String),
    Define(u8),
    Delete(u8),
    Edit(String, String),
    Pass(i64),
    React(usize),
    /// The reactor folds while a client appends, and commits after it.
    Race(usize, String),
    Restart,
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

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => say().prop_map(Step::Say),
        1 => "[uvw]".prop_map(Step::Erase),
        3 => (0..4u8).prop_map(Step::Define),
        1 => (0..4u8).prop_map(Step::Delete),
        4 => ("[uvw]", "[uvw]").prop_map(|(add, remove)| Step::Edit(add, remove)),
        3 => (0..20 * DAY).prop_map(Step::Pass),
        4 => (1..5usize).prop_map(Step::React),
        4 => (1..5usize, say()).prop_map(|(n, raw)| Step::Race(n, raw)),
        2 => Just(Step::Restart),
    ]
}

fn take(ring: &mut Ring, step: Step) {
    ring.now = ring.now.shifted(SECOND);
    match step {
        Step::Say(raw) => ring.say(&raw),
        Step::Erase(user) => ring.erase(&user),
        Step::Define(n) => ring.define(n, Some(EXPRESSIONS[n as usize])),
        Step::Delete(n) => ring.operate(
            Kind::SegmentDeleted,
            None,
            format!("{{\"segment\":\"{}\"}}", segment(n)),
        ),
        Step::Edit(add, remove) => ring.edit(&[&add], &[&remove]),
        Step::Pass(micros) => ring.now = ring.now.shifted(micros),
        Step::React(max) => ring.react(max, |_| {}),
        Step::Race(max, raw) => ring.react(max, |ring| ring.say(&raw)),
        Step::Restart => ring.restart(),
    }
}

proptest! {
    #[test]
    fn memberships_equal_a_fresh_scan_and_are_told_once(steps in prop::collection::vec(step(), 1..60)) {
        let mut ring = Ring::new();
        let has_deletion = steps.iter().any(|step| matches!(step, Step::Delete(_)));
        ring.define(9, None);
        for step in steps {
            take(&mut ring, step);
        }
        // A segment that was deleted and made again begins anew: its old crossings do not count.
        if !has_deletion {
            ring.check();
        } else {
            ring.drain();
        }
    }
}
