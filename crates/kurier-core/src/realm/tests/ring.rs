//! A log with a reactor, and everything that may happen to them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::*;
use crate::accept::{Reception, accept};
use crate::engine::{Decision, Engine, Engines, Snapshot, Tide, decide};
use crate::event::{Erasure, Position, tombstone};
use crate::id::{IdentityKey, WorkspaceId};

/// A reaction with more events is committed in parts of this many.
const PART: usize = 2;

/// A reactor commits a batch at a time: its checkpoint moves with what it appends, and clients
/// may append before it does. Where nothing was decided the checkpoint may lag.
pub struct Ring {
    pub key: IdentityKey,
    pub log: Vec<Recorded>,
    pub realm: Realm,
    /// How far the realm has folded.
    position: usize,
    checkpoint: usize,
    /// How many events are folded at once.
    pub batch: usize,
    pub now: Timestamp,
    /// The last snapshot.
    pub kept: Option<Vec<u8>>,
    /// What the log says last of every segment that has an expression.
    defined: BTreeMap<u8, String>,
    deleted: BTreeSet<u8>,
}

/// What becomes of a reaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Committed,
    /// Nothing was decided, and the checkpoint waits.
    Deferred,
    /// The process dies when so many parts are committed.
    Crash(usize),
}

fn workspace() -> WorkspaceId {
    WorkspaceId::new(Timestamp::from_millis(1), [7; 10])
}

pub fn segment(n: u8) -> SegmentId {
    SegmentId::new(Timestamp::from_millis(1), [n; 10])
}

pub const EXPRESSIONS: &[&str] = &[
    "contact.plan = 'pro'",
    "EXISTS (event WHERE event_type = 'buy' AND event_time > now() - 30d)",
    "COUNT(event WHERE event_type = 'login' AND event_time > now() - 7d) = 0",
    "contact.plan = 'pro' OR SUM(event.properties.n WHERE event_type = 'buy') > 3",
];

impl Ring {
    pub fn new() -> Self {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let key = IdentityKey::new([1; 32]);
        Self {
            key,
            log: Vec::new(),
            realm: Realm::default(),
            position: 0,
            checkpoint: 0,
            batch: 3,
            now,
            kept: None,
            defined: BTreeMap::new(),
            deleted: BTreeSet::new(),
        }
    }

    pub fn append(&mut self, event: Event) {
        if self
            .log
            .iter()
            .any(|recorded| recorded.event.id == event.id)
        {
            return;
        }
        let workspace = workspace();
        let position = Position(self.log.len() as i64 + 1);
        self.log.push(Recorded {
            position,
            workspace,
            event: event.into(),
        });
    }

    pub fn say(&mut self, raw: &str) {
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

    pub fn operate(&mut self, kind: Kind, contact: Option<ContactId>, payload: String) {
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

    /// The id of a segment that was deleted is not used again.
    pub fn delete(&mut self, n: u8) {
        self.deleted.insert(n);
        self.defined.remove(&n);
        let payload = format!("{{\"segment\":\"{}\"}}", segment(n));
        self.operate(Kind::SegmentDeleted, None, payload);
    }

    /// Makes a segment, or changes it.
    pub fn define(&mut self, n: u8, expression: Option<&str>) {
        if self.deleted.contains(&n) {
            return;
        }
        let definition = Definition::new(segment(n), "s", expression).expect("good");
        let payload = serde_json::to_string(&definition).expect("JSON");
        let before = match expression {
            Some(text) => self.defined.insert(n, text.to_owned()),
            None => self.defined.remove(&n),
        };
        let kind = before.map_or(Kind::SegmentCreated, |_| Kind::SegmentChanged);
        self.operate(kind, None, payload);
    }

    /// Gives users to the static segment 9, and takes others.
    pub fn edit(&mut self, add: &[&str], remove: &[&str]) {
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

    /// Erases as the product does: what the contact said is gone from the log at once,
    /// before the reactor hears of it.
    pub fn erase(&mut self, user: &str) {
        let followed = self.followed();
        let Some(number) = followed.world.number(self.key.contact_of_user(user)) else {
            return;
        };
        let is_it = |id: &ContactId| followed.world.number(*id) == Some(number);
        let all = self
            .log
            .iter()
            .filter_map(|recorded| recorded.event.contact);
        let contacts: BTreeSet<ContactId> = all.filter(is_it).collect();
        // What a guest said before may be someone else's by now: that stays here.
        let contact = followed.world.contact_id(number);
        for recorded in &mut self.log {
            let is_theirs = recorded.event.contact == Some(contact);
            if is_theirs && recorded.event.kind.is_from_client() {
                let event = Arc::make_mut(&mut recorded.event);
                event.payload = tombstone(&event.payload);
            }
        }
        let erasure = Erasure {
            contacts: contacts.into_iter().collect(),
            addresses: Vec::new(),
            positions: Vec::new(),
            seen: Position(0),
        };
        let payload = serde_json::to_string(&erasure).expect("JSON");
        self.operate(Kind::ContactErased, Some(contact), payload);
    }

    /// Folds a batch, lets `meanwhile` append, and then commits what was decided.
    pub fn react(&mut self, fate: Fate, meanwhile: impl FnOnce(&mut Self)) {
        let to = (self.position + self.batch).min(self.log.len());
        let tide = Tide {
            now: self.now,
            settled: self.now,
            is_behind: to == self.position + self.batch,
        };
        let batch = self.log[self.position..to].to_vec();
        let realm = std::mem::take(&mut self.realm);
        let mut engines = Engines::from([(workspace(), Engine::of_realm(realm))]);
        let from = Position(self.position as i64);
        let decided = decide(&mut engines, (from, &batch), tide, PART);
        self.realm = engines.remove(&workspace()).expect("there").into_realm();
        meanwhile(self);
        match &decided[..] {
            [only] if only.events.is_empty() && fate == Fate::Deferred => {
                self.position = only.to.0 as usize;
            }
            _ => self.commit(&decided, fate),
        }
    }

    /// A portion that is small is committed at once with the checkpoint, a larger one in parts.
    fn commit(&mut self, decided: &[Decision], fate: Fate) {
        let mut parts = 0;
        for Decision { to, events } in decided {
            for part in events.chunks(PART) {
                if fate == Fate::Crash(parts) {
                    return self.restart(true);
                }
                parts += 1;
                let recorded_at = self.now;
                for (_, event) in part.iter().cloned() {
                    self.append(Event {
                        recorded_at,
                        ..event
                    });
                }
            }
            self.checkpoint = to.0 as usize;
        }
        self.position = self.checkpoint;
    }

    pub fn drain(&mut self) {
        while self.position < self.log.len() {
            self.react(Fate::Committed, |_| {});
        }
        self.react(Fate::Committed, |_| {});
    }

    /// Writes down what there is; the checkpoint is moved here first.
    pub fn keep(&mut self) {
        self.checkpoint = self.position;
        let Some(last) = self.position.checked_sub(1) else {
            return;
        };
        let engine = Engine::of_realm(self.realm.clone());
        let engines = Engines::from([(workspace(), engine)]);
        let last = &self.log[last];
        let at = (last.position, last.event.id);
        let snapshot = Snapshot::of(at, last.position, &engines).expect("copied");
        let mut bytes = Vec::new();
        snapshot.write(&mut bytes).expect("written");
        self.kept = Some(bytes);
    }

    /// The process dies: another begins with the snapshot or with nothing, follows the log to
    /// the checkpoint, recalls, and leads on.
    pub fn restart(&mut self, uses_snapshot: bool) {
        let (mut from, mut realm) = (0, Realm::default());
        if let Some(bytes) = self.kept.as_ref().filter(|_| uses_snapshot) {
            let read = Snapshot::read(&mut bytes.as_slice()).expect("read");
            let (position, event, mut engines) = read;
            from = position.0 as usize;
            assert_eq!(self.log[from - 1].event.id, event);
            realm = engines.remove(&workspace()).expect("there").into_realm();
        }
        for recorded in &self.log[from..self.checkpoint] {
            assert_eq!(realm.fold(recorded, Role::Follow), []);
        }
        self.log[self.checkpoint..]
            .iter()
            .for_each(|recorded| realm.recall(recorded));
        realm.doubt();
        self.position = self.checkpoint;
        self.realm = realm;
    }

    /// A realm that only ever followed the log.
    fn followed(&self) -> Realm {
        let mut realm = Realm::default();
        for recorded in &self.log {
            assert_eq!(realm.fold(recorded, Role::Follow), []);
        }
        realm
    }

    /// The realm is the one that a fold from the start makes.
    pub fn check_same(&mut self) {
        self.drain();
        let other = self.followed();
        let ids = |realm: &Realm, members: &Bitmap| {
            let ids = members.iter().map(|number| realm.world.contact_id(number));
            ids.collect::<BTreeSet<ContactId>>()
        };
        for expression in EXPRESSIONS {
            let checked = Checked::new(expression, crate::expr::Place::SEGMENT).expect("good");
            let [ours, theirs] = [&self.realm, &other]
                .map(|realm| ids(realm, &realm.preview(&checked, self.now).members));
            assert_eq!(ours, theirs, "{expression}");
        }
        assert_eq!(self.realm.world.events(), other.world.events());
        assert_eq!(self.realm.segments.len(), other.segments.len());
        for (id, live) in &self.realm.segments {
            let theirs = &other.segments[id];
            assert_eq!(
                ids(&self.realm, &live.members),
                ids(&other, &theirs.members)
            );
        }
    }

    /// Memberships are what a fresh look finds, and the log tells of each crossing once.
    pub fn check(&mut self) {
        self.drain();
        for (n, expression) in &self.defined {
            let live = &self.realm.segments[&segment(*n)];
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
