//! Random logs, and what the projection makes of them.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::accept::{Reception, accept};
use crate::columns::{Touched, World};
use crate::contact::{Contact, Standing};
use crate::event::{Erasure, Event, Kind, Position, Recorded};
use crate::expr::generate::{Makes, makes, object};
use crate::expr::{ContactField, EventFact, EventField, Facts, Subject};
use crate::id::{ContactId, EventId, IdentityKey, WorkspaceId};
use crate::projection::{
    CONTACT, Cell, Change, Contacts, Projection as _, TIMELINE, contact_standing,
};
use crate::time::Timestamp;
use crate::value::{Object, Value};

/// 2026-06-15T12:00:00Z
pub const NOW: Timestamp = Timestamp::from_micros(1_781_524_800_000_000);

#[derive(Debug, Clone)]
pub enum Step {
    Say(String),
    Erase(String),
    Seal,
    /// What is written and read again is the same world.
    Reload,
}

pub struct Ground {
    key: IdentityKey,
    pub log: Vec<Recorded>,
}

impl Default for Ground {
    fn default() -> Self {
        Self {
            key: IdentityKey::new([1; 32]),
            log: Vec::new(),
        }
    }
}

impl Ground {
    pub fn play(&mut self, steps: &[Step]) -> World {
        self.play_in(World::new(), steps)
    }

    pub fn play_in(&mut self, mut world: World, steps: &[Step]) -> World {
        for step in steps {
            self.step(step, &mut world);
        }
        world
    }

    /// What the step touched, if it was an event.
    pub fn step(&mut self, step: &Step, world: &mut World) -> Option<Touched> {
        let event = match step {
            Step::Say(raw) => Some(self.accepted(raw)),
            Step::Erase(user) => self.erasure(user),
            Step::Seal => {
                world.seal();
                None
            }
            Step::Reload => {
                *world = reloaded(world);
                None
            }
        };
        let recorded = Recorded {
            position: Position(self.log.len() as i64 + 1),
            workspace: WorkspaceId::from_bytes([1; 16]),
            event: event?.into(),
        };
        let touched = world.fold(&recorded);
        self.log.push(recorded);
        Some(touched)
    }

    fn now(&self) -> Timestamp {
        NOW.shifted(self.log.len() as i64 * 1_000_000 - 100_000_000)
    }

    fn accepted(&self, raw: &str) -> Event {
        let number = self.log.len();
        let reception = Reception {
            key: &self.key,
            received_at: self.now(),
            sent_at: None,
            kind: None,
            fresh_id: &|| EventId::of_message(&number.to_string()),
        };
        accept(raw, &reception).unwrap_or_else(|problems| panic!("{raw}: {problems:?}"))
    }

    /// An erasure as the product writes it: the contact and all that were merged into it.
    fn erasure(&self, user: &str) -> Option<Event> {
        let tables = Tables::of(&self.log);
        let contact = tables.live(self.key.contact_of_user(user))?;
        let payload = serde_json::to_string(&Erasure {
            contacts: contact.ids(),
            addresses: Vec::new(),
            positions: Vec::new(),
            seen: Position(0),
        });
        Some(Event {
            id: EventId::of_message(&format!("erase {}", self.log.len())),
            kind: Kind::ContactErased,
            contact: Some(contact.id),
            occurred_at: self.now(),
            recorded_at: self.now(),
            payload: payload.expect("JSON"),
        })
    }
}

/// The same world, written down and read again.
pub fn reloaded(world: &World) -> World {
    let mut bytes = Vec::new();
    world.write(&mut bytes).expect("written");
    let again = World::read(&mut bytes.as_slice()).expect("read");
    let again = again.with_limits(world.limits);
    let mut bytes_again = Vec::new();
    again.write(&mut bytes_again).expect("written");
    assert_eq!(bytes, bytes_again);
    again
}

/// What the projection has written.
#[derive(Default)]
struct Tables {
    contacts: BTreeMap<ContactId, Standing>,
    /// Whose timeline an event stands in, by position.
    timeline: BTreeMap<i64, ContactId>,
}

impl Tables {
    fn of(log: &[Recorded]) -> Self {
        let mut tables = Self::default();
        for change in Contacts.fold(Vec::new(), log).expect("no rows").changes {
            tables.write(&change);
        }
        tables
    }

    fn write(&mut self, change: &Change) {
        let id = |cell: &Cell| ContactId::from_uuid(cell.as_id().expect("an id"));
        match change {
            Change::Put(table, row) if *table == &CONTACT => {
                let (_, id, standing) = contact_standing(row).expect("a contact's row");
                self.contacts.insert(id, standing);
            }
            Change::Put(table, row) if *table == &TIMELINE => {
                let position = row[3].as_int().expect("a position");
                self.timeline.insert(position, id(&row[1]));
            }
            Change::Drop(_, prefix) => self.timeline.retain(|_, owner| *owner != id(&prefix[1])),
            Change::Put(..) => {}
        }
    }

    fn live(&self, id: ContactId) -> Option<&Contact> {
        match self.contacts.get(&id)? {
            Standing::Live(contact) => Some(contact),
            Standing::Merged { into } => self.live(*into),
            Standing::Erased { .. } => None,
        }
    }
}

/// Every live contact as plain facts.
pub fn reference(log: &[Recorded]) -> BTreeMap<ContactId, Facts> {
    let tables = Tables::of(log);
    let live = tables
        .contacts
        .values()
        .filter_map(|standing| match standing {
            Standing::Live(contact) => Some(contact),
            _ => None,
        });
    live.map(|contact| (contact.id, facts(contact, &tables, log)))
        .collect()
}

fn facts(contact: &Contact, tables: &Tables, log: &[Recorded]) -> Facts {
    let ids = contact.ids();
    let own = tables
        .timeline
        .iter()
        .filter(|(_, owner)| ids.contains(owner));
    Facts {
        id: Some(contact.id.to_string()),
        user_id: contact.user_id.clone(),
        created_at: Some(contact.created_at),
        attributes: contact.attributes.clone(),
        journey: Object::new(),
        events: own
            .map(|(at, _)| event_fact(&log[*at as usize - 1]))
            .collect(),
    }
}

fn event_fact(recorded: &Recorded) -> EventFact {
    let said = recorded.said().expect("readable");
    let parsed = said
        .properties
        .map(|raw| serde_json::from_str::<Object>(raw.get()));
    let mut properties = parsed.map_or_else(Object::new, |parsed| parsed.expect("an object"));
    let mut put = |name: &str, text: &Option<std::borrow::Cow<'_, str>>| {
        if let Some(text) = text {
            properties.insert(name.to_owned(), Value::Text(text.to_string()));
        }
    };
    if matches!(recorded.event.kind, Kind::Page | Kind::Screen) {
        put("name", &said.name);
        put("category", &said.category);
    }
    if recorded.event.kind == Kind::Group {
        put("groupId", &said.group_id);
    }
    let name = match recorded.event.kind {
        Kind::Track => said.event.as_deref().expect("a track is named"),
        kind => kind.as_str(),
    };
    EventFact {
        event_type: name.to_owned(),
        event_time: recorded.event.occurred_at,
        properties,
    }
}

/// What the numbers at `a` of a contact's events of some types add up to.
pub fn sum(facts: &Facts, filter: &str) -> f64 {
    let quoted = |event: &&EventFact| filter.contains(&format!("'{}'", event.event_type));
    let passing = facts
        .events
        .iter()
        .filter(|event| filter == "TRUE" || quoted(event));
    let numbers = passing.filter_map(|event| match event.properties.get("a") {
        Some(Value::Int(number)) => Some(*number as f64),
        Some(Value::Float(number)) => Some(*number),
        _ => None,
    });
    numbers.fold(0.0, |sum, number| sum + number)
}

fn paths() -> impl Iterator<Item = Vec<String>> {
    let dotted = [
        "a", "b", "c", "a.a", "a.b", "b.a", "b.b", "c.a", "name", "category", "groupId",
    ];
    dotted
        .into_iter()
        .map(|path| path.split('.').map(str::to_owned).collect())
}

/// All that is known of an event, as text.
pub fn told<S: Subject>(subject: &S, event: S::Event) -> String {
    let fields = [EventField::Type, EventField::Time]
        .into_iter()
        .chain(paths().map(EventField::Property));
    format!(
        "{:?}",
        fields
            .map(|field| shown(&subject.event(event, &field)))
            .collect::<Vec<_>>()
    )
}

/// All that is known of a contact, as text.
pub fn known<S: Subject>(subject: &S) -> String {
    let fields = [
        ContactField::Id,
        ContactField::UserId,
        ContactField::CreatedAt,
    ]
    .into_iter()
    .chain(paths().map(ContactField::Attribute));
    format!(
        "{:?}",
        fields
            .map(|field| shown(&subject.contact(&field)))
            .collect::<Vec<_>>()
    )
}

/// Numbers in lists are all the same kind of number to an expression.
fn shown(datum: &crate::expr::Datum<'_>) -> String {
    let crate::expr::Datum::List(values) = datum else {
        return format!("{datum:?}");
    };
    let item = |value: &Value| match value {
        Value::Int(number) => format!("{:?}", *number as f64),
        Value::Float(number) => format!("{number:?}"),
        Value::Object(_) | Value::List(_) => "opaque".to_owned(),
        value => format!("{value:?}"),
    };
    format!("{:?}", values.iter().map(item).collect::<Vec<_>>())
}

/// Whom an event is of: a user, a guest, or a guest who turns out to be a user.
fn who() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[p-t]".prop_map(|u| format!(r#""userId":"{u}""#)),
        3 => "[p-t]".prop_map(|a| format!(r#""anonymousId":"{a}""#)),
        1 => ("[p-t]", "[p-t]").prop_map(|(u, a)| format!(r#""userId":"{u}","anonymousId":"{a}""#)),
    ]
}

/// When it happened: mostly on a whole second, sometimes late, equal, or still to come.
fn when() -> impl Strategy<Value = String> {
    (0..40i64, prop_oneof![6 => Just(0), 1 => 0..3i64]).prop_map(|(halves, micros)| {
        let time = NOW.shifted((halves - 30) * 43_200_000_000 + micros);
        format!(r#""timestamp":"{time}""#)
    })
}

fn json(object: &Object) -> String {
    serde_json::to_string(object).expect("JSON")
}

fn track(makes: Makes) -> impl Strategy<Value = String> {
    ("[a-c]", who(), when(), object(makes)).prop_map(|(event, who, when, properties)| {
        format!(
            r#"{{"type":"track","event":"{event}",{who},{when},"properties":{}}}"#,
            json(&properties)
        )
    })
}

fn identify(makes: Makes) -> impl Strategy<Value = String> {
    (who(), when(), object(makes), object(makes), any::<bool>()).prop_map(
        |(who, when, traits, more, in_context)| {
            let context = format!(r#","context":{{"traits":{}}}"#, json(&more));
            let context = if in_context { context.as_str() } else { "" };
            format!(
                r#"{{"type":"identify",{who},{when},"traits":{}{context}}}"#,
                json(&traits)
            )
        },
    )
}

fn other() -> impl Strategy<Value = String> {
    prop_oneof![
        ("page|screen", who(), "[a-c]").prop_map(|(kind, who, name)| format!(
            r#"{{"type":"{kind}",{who},"name":"{name}","category":"x","properties":{{"a":1}}}}"#
        )),
        (who(), "[a-c]")
            .prop_map(|(who, g)| format!(r#"{{"type":"group",{who},"groupId":"{g}"}}"#)),
        ("[p-t]", "[p-t]")
            .prop_map(|(u, p)| format!(r#"{{"type":"alias","userId":"{u}","previousId":"{p}"}}"#)),
    ]
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    (makes(), makes()).prop_flat_map(|(own, theirs)| {
        let step = prop_oneof![
            14 => track(theirs).prop_map(Step::Say),
            6 => identify(own).prop_map(Step::Say),
            3 => other().prop_map(Step::Say),
            1 => "[p-t]".prop_map(Step::Erase),
            1 => Just(Step::Seal),
            1 => Just(Step::Reload),
        ];
        prop::collection::vec(step, 0..50)
    })
}
