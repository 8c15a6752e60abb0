mod belated;
mod rebuild;

use std::sync::Arc;

use super::*;
use crate::accept::{Reception, accept};
use crate::contact::{Contact, Standing};
use crate::event::{Erasure, Event, Position, tombstone};
use crate::id::{EventId, IdentityKey, InstanceId, JourneyId};
use crate::journey::{Course, Record};
use crate::projection::simulation::Tables;
use crate::time::Timestamp;
use crate::value::Object;

/// What a reader of the tables sees.
trait Read {
    fn contact(&self, world: &World, id: ContactId) -> Option<Contact>;
    fn timeline(&self, contact: &Contact) -> Vec<String>;
}

impl Read for Tables {
    fn contact(&self, world: &World, id: ContactId) -> Option<Contact> {
        let row = self
            .0
            .get(&(CONTACT.name, vec![world.workspace.into(), id.into()]))?;
        match contact_standing(row)?.2 {
            Standing::Live(contact) => Some(*contact),
            Standing::Merged { into } => self.contact(world, into),
            Standing::Erased { .. } => None,
        }
    }

    fn timeline(&self, contact: &Contact) -> Vec<String> {
        let ids: Vec<Cell> = contact.ids().into_iter().map(Cell::from).collect();
        let rows = self
            .0
            .iter()
            .filter(|((name, key), _)| *name == TIMELINE.name && ids.contains(&key[1]));
        let mut titles: Vec<(i64, String)> = rows
            .map(|(_, row)| {
                (
                    row[3].as_int().expect("position"),
                    row[6].as_text().unwrap_or("-").to_owned(),
                )
            })
            .collect();
        titles.sort();
        titles.into_iter().map(|(_, title)| title).collect()
    }
}

struct World {
    workspace: WorkspaceId,
    key: IdentityKey,
    log: Vec<Recorded>,
}

impl World {
    fn new() -> Self {
        let workspace = WorkspaceId::new(Timestamp::from_millis(1), [1; 10]);
        Self {
            workspace,
            key: IdentityKey::new([1; 32]),
            log: Vec::new(),
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_000 + self.log.len() as i64)
    }

    fn push(&mut self, event: Event) {
        let position = Position(self.log.len() as i64 + 1);
        self.log.push(Recorded {
            position,
            workspace: self.workspace,
            event: event.into(),
        });
    }

    fn say(&mut self, raw: &str) {
        let number = self.log.len();
        let fresh_id = &|| EventId::of_message(&number.to_string());
        let reception = Reception {
            key: &self.key,
            received_at: self.now(),
            sent_at: None,
            kind: None,
            fresh_id,
        };
        let event = accept(raw, &reception).expect("accepted");
        self.push(event);
    }

    /// Erases as the product does: an event is appended, older payloads become tombstones.
    fn erase(&mut self, contact: &Contact) {
        let ids = contact.ids();
        let addresses = contact
            .email()
            .map(|email| self.key.address(&email))
            .into_iter()
            .collect();
        let payload = serde_json::to_string(&Erasure {
            contacts: ids.clone(),
            addresses,
            positions: Vec::new(),
            seen: Position(0),
        })
        .expect("JSON");
        let id = EventId::of_message(&format!("erase {}", self.log.len()));
        let (occurred_at, recorded_at) = (self.now(), self.now());
        let contact = Some(contact.id);
        self.push(Event {
            id,
            kind: Kind::ContactErased,
            contact,
            occurred_at,
            recorded_at,
            payload,
        });
    }

    fn folded(&self, batch: usize) -> Tables {
        let mut tables = Tables::default();
        self.log
            .chunks(batch)
            .for_each(|events| tables.run(&Contacts, events));
        tables
    }

    /// Every event twice in a row.
    fn folded_twice(&self, batch: usize) -> Tables {
        let twice = self.log.iter().flat_map(|it| [it.clone(), it.clone()]);
        let twice: Vec<Recorded> = twice.collect();
        let mut tables = Tables::default();
        twice
            .chunks(batch)
            .for_each(|events| tables.run(&Contacts, events));
        tables
    }

    fn user(&self, id: &str) -> ContactId {
        self.key.contact_of_user(id)
    }
}

#[test]
fn a_guest_becomes_a_user_and_brings_its_history() {
    let mut world = World::new();
    world.say(r#"{"type":"track","event":"Viewed","anonymousId":"a"}"#);
    world.say(r#"{"type":"identify","anonymousId":"a","traits":{"city":"Bonn","plan":"free"}}"#);
    world.say(r#"{"type":"identify","userId":"u","anonymousId":"a","traits":{"plan":"pro","email":"u@x.de"}}"#);
    world.say(r#"{"type":"track","event":"Bought","anonymousId":"a"}"#);
    let tables = world.folded(2);
    let contact = tables.contact(&world, world.user("u")).expect("there");
    assert_eq!(tables.timeline(&contact), ["Viewed", "-", "-", "Bought"]);
    assert_eq!(
        serde_json::to_string(&contact.attributes).expect("JSON"),
        r#"{"city":"Bonn","email":"u@x.de","plan":"pro"}"#
    );
    assert_eq!(
        tables
            .contact(&world, world.key.contact_of_anonymous("a"))
            .expect("merged"),
        contact
    );
    assert_eq!((contact.event_count, contact.revision), (4, Position(4)));
}

#[test]
fn a_shared_device_does_not_make_two_users_one() {
    let mut world = World::new();
    world.say(r#"{"type":"track","event":"Before","anonymousId":"a"}"#);
    world.say(r#"{"type":"identify","userId":"ann","anonymousId":"a"}"#);
    world.say(r#"{"type":"identify","userId":"bob","anonymousId":"a"}"#);
    world.say(r#"{"type":"track","event":"After","anonymousId":"a"}"#);
    let tables = world.folded(10);
    let timeline =
        |user: &str| tables.timeline(&tables.contact(&world, world.user(user)).expect("there"));
    assert_eq!(timeline("ann"), ["Before", "-"]);
    assert_eq!(timeline("bob"), ["-", "After"]);
}

#[test]
fn an_alias_merges_two_contacts_and_keeps_both_histories() {
    let mut world = World::new();
    world.say(r#"{"type":"track","event":"Old","userId":"old"}"#);
    world.say(r#"{"type":"track","event":"New","userId":"new"}"#);
    world.say(r#"{"type":"alias","userId":"new","previousId":"old"}"#);
    world.say(r#"{"type":"alias","userId":"old","previousId":"new"}"#);
    world.say(r#"{"type":"track","event":"Later","userId":"old"}"#);
    let tables = world.folded(1);
    let contact = tables.contact(&world, world.user("old")).expect("there");
    assert_eq!(contact.id, world.user("new"));
    assert_eq!(tables.timeline(&contact), ["Old", "New", "-", "-", "Later"]);
    assert_eq!(contact.former_user_ids.iter().collect::<Vec<_>>(), ["old"]);
}

#[test]
fn an_alias_to_a_new_user_makes_the_new_id_the_one_it_goes_by() {
    let mut world = World::new();
    world.say(r#"{"type":"track","event":"Old","userId":"old"}"#);
    world.say(r#"{"type":"alias","userId":"new","previousId":"old"}"#);
    let contact = world
        .folded(1)
        .contact(&world, world.user("new"))
        .expect("there");
    assert_eq!(contact.user_id.as_deref(), Some("new"));
    assert_eq!(contact.former_user_ids.iter().collect::<Vec<_>>(), ["old"]);
}

#[test]
fn a_row_that_cannot_be_read_stops_the_fold() {
    let mut world = World::new();
    world.say(r#"{"type":"track","event":"E","userId":"u"}"#);
    let mut row = vec![Cell::Null; CONTACT.columns.len()];
    (row[0], row[1]) = (world.workspace.into(), world.user("u").into());
    row[2] = "from the future".into();
    let loaded = vec![Loaded {
        table: &CONTACT,
        rows: vec![row],
    }];
    let stopped = Contacts.fold(loaded, &world.log).expect_err("must stop");
    assert_eq!(stopped.table, "contact");
}

#[test]
fn null_removes_and_missing_keeps() {
    let mut world = World::new();
    world.say(r#"{"type":"identify","userId":"u","traits":{"a":1,"b":2}}"#);
    world.say(r#"{"type":"identify","userId":"u","context":{"traits":{"b":null,"c":3}},"traits":{"c":4}}"#);
    let contact = world
        .folded(2)
        .contact(&world, world.user("u"))
        .expect("there");
    assert_eq!(
        serde_json::to_string(&contact.attributes).expect("JSON"),
        r#"{"a":1,"c":4}"#
    );
}

#[test]
fn who_was_erased_is_gone_and_is_noticed_when_back() {
    let mut world = World::new();
    world.say(r#"{"type":"identify","userId":"u","traits":{"email":"u@x.de"}}"#);
    world.say(r#"{"type":"track","event":"Bought","userId":"u"}"#);
    let contact = world
        .folded(1)
        .contact(&world, world.user("u"))
        .expect("there");
    world.erase(&contact);
    let tables = world.folded(1);
    assert_eq!(tables.contact(&world, world.user("u")), None);
    assert!(!format!("{tables:?}").contains("x.de"), "{tables:?}");

    let erased_at = world.log[2].event.recorded_at;
    world.say(r#"{"type":"track","event":"Back","userId":"u"}"#);
    world.say(r#"{"type":"identify","userId":"v","traits":{"email":"U@x.de"}}"#);
    let tables = world.folded(1);
    for user in ["u", "v"] {
        let contact = tables.contact(&world, world.user(user)).expect("back");
        assert_eq!(contact.erased_before, Some(erased_at), "{user}");
    }
    let back = tables.contact(&world, world.user("u")).expect("back");
    assert_eq!(tables.timeline(&back), ["Back"]);
}

#[test]
fn an_unreadable_payload_is_set_aside() {
    let mut world = World::new();
    world.say(r#"{"type":"track","event":"Fine","userId":"u"}"#);
    Arc::make_mut(&mut world.log[0].event).payload = "{".into();
    let folded = Contacts.fold(Vec::new(), &world.log).expect("no rows");
    assert_eq!(folded.poison.len(), 1);
    assert_eq!(folded.changes, []);
}

impl World {
    /// What a journey says of a user's run.
    fn record(&mut self, user: &str) {
        let number = self.log.len();
        let course = Course {
            journey: JourneyId::of_name("j"),
            version: 1,
            instance: InstanceId::new(self.now(), [1; 10]),
            seq: 1,
            hops: Vec::new(),
            messages: Vec::new(),
            at: "start".to_owned(),
            since: Position(0),
            wake: None,
            awaits: None,
            held: false,
            ending: None,
        };
        let record = Record {
            run: course,
            key: Some(format!("key of {user}")),
            trigger: None,
            state: Object::new(),
            because: Vec::new(),
        };
        let (occurred_at, recorded_at) = (self.now(), self.now());
        let contact = Some(self.user(user));
        self.push(Event {
            id: EventId::of_message(&format!("record {number}")),
            kind: Kind::JourneyEntered,
            contact,
            occurred_at,
            recorded_at,
            payload: serde_json::to_string(&record).expect("JSON"),
        });
    }
}

#[test]
fn a_run_stands_in_the_timeline_and_is_nothing_the_contact_did() {
    let mut world = World::new();
    world.record("u");
    world.say(r#"{"type":"track","event":"Old","userId":"old"}"#);
    world.record("old");
    world.say(r#"{"type":"alias","userId":"u","previousId":"old"}"#);
    world.record("old");
    let tables = world.folded(2);
    let contact = tables.contact(&world, world.user("u")).expect("there");
    let positions: Vec<i64> = tables
        .rows(&TIMELINE)
        .filter_map(|row| row[3].as_int())
        .collect();
    assert_eq!(positions.len(), 4, "nobody's run is in no timeline");
    assert_eq!(tables.timeline(&contact), ["Old", "-", "-", "-"]);
    assert_eq!((contact.event_count, contact.revision), (2, Position(4)));
}

#[test]
fn of_an_erased_run_where_it_went_stays() {
    let mut world = World::new();
    world.record("u");
    let payload = &world.log[0].event.payload;
    let buried = tombstone(payload);
    assert!(payload.contains("key of u") && !buried.contains("key of u"));
    let course = |payload: &str| {
        let record: Record = serde_json::from_str(payload).expect("still a record");
        record.run
    };
    assert_eq!(course(&buried), course(payload));
    assert_eq!(tombstone(&buried), buried, "once more changes nothing");
    assert!(Record::is_erased(&buried));
}
