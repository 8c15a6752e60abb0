//! The way in: what a client sent becomes an event, or a list of everything wrong with it.

mod envelope;
mod field;

pub use envelope::{Envelope, Unreadable, envelope};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::contact::normal_email;
use crate::event::{Event, Kind};
use crate::id::{ContactId, EventId, IdentityKey};
use crate::time::Timestamp;
use crate::value::{Value, member};
use field::Fields;

/// An event's size limit, after decompression.
pub const EVENT_BYTES_MAX: usize = 32 * 1024;
/// Ids and names may be this long.
pub const NAME_BYTES_MAX: usize = 512;

/// One thing wrong with an item, at a JSON pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub pointer: String,
    pub detail: String,
}

impl Problem {
    pub fn new(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            detail: detail.into(),
        }
    }
}

/// How and when an item reached us.
pub struct Reception<'a> {
    pub key: &'a IdentityKey,
    pub received_at: Timestamp,
    /// The batch's `sentAt`; an item's own comes first.
    pub sent_at: Option<Timestamp>,
    /// The kind the address named; in a batch the item names it.
    pub kind: Option<Kind>,
    /// An id for an item that has no `messageId`.
    pub fresh_id: &'a dyn Fn() -> EventId,
}

/// An item as it was sent.
#[derive(Debug)]
pub struct Item<'a> {
    pub text: &'a str,
    /// Its fields, if they were read before.
    read: Option<RawItem<'a>>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RawItem<'a> {
    #[serde(borrow)]
    r#type: Option<&'a RawValue>,
    #[serde(borrow)]
    message_id: Option<&'a RawValue>,
    #[serde(borrow)]
    user_id: Option<&'a RawValue>,
    #[serde(borrow)]
    anonymous_id: Option<&'a RawValue>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    category: Option<&'a RawValue>,
    #[serde(borrow)]
    group_id: Option<&'a RawValue>,
    #[serde(borrow)]
    previous_id: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    original_timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    sent_at: Option<&'a RawValue>,
    #[serde(borrow)]
    properties: Option<&'a RawValue>,
    #[serde(borrow)]
    traits: Option<&'a RawValue>,
    #[serde(borrow)]
    context: Option<&'a RawValue>,
    /// Of one that is a whole body.
    #[serde(borrow)]
    write_key: Option<&'a RawValue>,
}

/// Turns one item into an event, or says everything that is wrong with it.
pub fn accept(raw: &str, reception: &Reception<'_>) -> Result<Event, Vec<Problem>> {
    Item::of(raw).accept(reception)
}

impl<'a> Item<'a> {
    const fn of(text: &'a str) -> Self {
        Self { text, read: None }
    }

    /// None if its fields cannot be read.
    fn read(text: &'a str) -> Option<Self> {
        let read = RawItem::parse(text).ok();
        read.is_some().then_some(Self { text, read })
    }

    /// Its `sentAt` and its `writeKey`.
    fn around(&self) -> (Option<&'a RawValue>, Option<&'a RawValue>) {
        let read = self.read.as_ref();
        read.map_or((None, None), |read| (read.sent_at, read.write_key))
    }

    /// Turns it into an event, or says everything that is wrong with it.
    pub fn accept(&self, reception: &Reception<'_>) -> Result<Event, Vec<Problem>> {
        let length = self.text.len();
        if length > EVENT_BYTES_MAX {
            let detail = format!("is {length} bytes long; an event has at most {EVENT_BYTES_MAX}");
            return Err(vec![Problem::new("", detail)]);
        }
        match &self.read {
            Some(read) => read.accept(reception),
            None => RawItem::parse(self.text)?.accept(reception),
        }
    }
}

impl<'a> RawItem<'a> {
    fn parse(text: &'a str) -> Result<Self, Vec<Problem>> {
        let problem = |e| Problem::new("", format!("is not an event: {e}"));
        serde_json::from_str(text).map_err(|e| vec![problem(e)])
    }

    fn accept(&self, reception: &Reception<'_>) -> Result<Event, Vec<Problem>> {
        let mut fields = Fields::default();
        let kind = kind(self, reception, &mut fields);
        let draft = Draft::read(self, reception, &mut fields);
        let kind = fields.finish(kind)?;
        require(kind, &draft)?;
        Ok(draft.into_event(kind, reception))
    }
}

fn kind(item: &RawItem<'_>, reception: &Reception<'_>, fields: &mut Fields) -> Option<Kind> {
    if reception.kind.is_some() {
        return reception.kind;
    }
    let text = fields.text("type", item.r#type);
    let kind = text
        .as_ref()
        .and_then(|text| text.value.parse::<Kind>().ok());
    let known = kind.filter(|kind| kind.is_from_client());
    if known.is_none() {
        let detail = "must be one of identify, track, page, screen, group, alias";
        fields.problem("type", detail);
    }
    known
}

/// What each kind cannot do without.
fn require(kind: Kind, draft: &Draft<'_>) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    let mut need = |missing: bool, pointer: &str, detail: &str| {
        if missing {
            problems.push(Problem::new(pointer, detail));
        }
    };
    let nobody = draft.user_id.is_none() && draft.anonymous_id.is_none();
    need(
        nobody,
        "/userId",
        "is missing: an event needs a userId or an anonymousId",
    );
    need(
        kind == Kind::Track && draft.event.is_none(),
        "/event",
        "is missing: what was tracked?",
    );
    need(
        kind == Kind::Group && draft.group_id.is_none(),
        "/groupId",
        "is missing: which group?",
    );
    if kind == Kind::Alias {
        need(
            draft.previous_id.is_none(),
            "/previousId",
            "is missing: which contact was it before?",
        );
        need(
            draft.user_id.is_none(),
            "/userId",
            "is missing: which contact is it now?",
        );
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
}

/// An item whose fields have been read and found good.
struct Draft<'a> {
    message_id: Option<field::Text<'a>>,
    user_id: Option<field::Text<'a>>,
    anonymous_id: Option<field::Text<'a>>,
    event: Option<field::Text<'a>>,
    name: Option<field::Text<'a>>,
    category: Option<field::Text<'a>>,
    group_id: Option<field::Text<'a>>,
    previous_id: Option<field::Text<'a>>,
    timestamp: Option<field::Text<'a>>,
    occurred_at: Timestamp,
    properties: Option<field::Json<'a>>,
    traits: Option<field::Json<'a>>,
    context: Option<field::Json<'a>>,
}

impl<'a> Draft<'a> {
    fn read(item: &RawItem<'a>, reception: &Reception<'_>, fields: &mut Fields) -> Self {
        let (at, raw_time) = match item.timestamp {
            Some(raw) => ("timestamp", Some(raw)),
            None => ("originalTimestamp", item.original_timestamp),
        };
        let timestamp = fields.text(at, raw_time);
        let claimed = fields.time(at, timestamp.as_ref());
        let sent_at = fields.text("sentAt", item.sent_at);
        let sent_at = fields
            .time("sentAt", sent_at.as_ref())
            .or(reception.sent_at);
        Self {
            message_id: fields.text("messageId", item.message_id),
            user_id: fields.text("userId", item.user_id),
            anonymous_id: fields.text("anonymousId", item.anonymous_id),
            event: fields.text("event", item.event),
            name: fields.text("name", item.name),
            category: fields.text("category", item.category),
            group_id: fields.text("groupId", item.group_id),
            previous_id: fields.text("previousId", item.previous_id),
            occurred_at: corrected(claimed, sent_at, reception.received_at),
            timestamp,
            properties: fields.object("properties", item.properties),
            traits: fields.object("traits", item.traits),
            context: fields.object("context", item.context),
        }
    }

    fn into_event(self, kind: Kind, reception: &Reception<'_>) -> Event {
        let key = reception.key;
        let user = self
            .user_id
            .as_ref()
            .map(|id| key.contact_of_user(&id.value));
        let anonymous = self
            .anonymous_id
            .as_ref()
            .map(|id| key.contact_of_anonymous(&id.value));
        let id = match &self.message_id {
            Some(message_id) => EventId::of_message(&message_id.value),
            None => (reception.fresh_id)(),
        };
        let joins = self.joins(kind, user.and(anonymous), key);
        Event {
            id,
            kind,
            contact: user.or(anonymous),
            occurred_at: self.occurred_at,
            recorded_at: reception.received_at,
            payload: self.payload(kind, &joins, key),
        }
    }

    /// The contacts this event joins to its own: the anonymous one that came along with a
    /// userId, and for an alias whoever went by the previous id.
    fn joins(&self, kind: Kind, anonymous: Option<ContactId>, key: &IdentityKey) -> Vec<ContactId> {
        let mut joins: Vec<ContactId> = anonymous.into_iter().collect();
        if let (Kind::Alias, Some(previous)) = (kind, &self.previous_id) {
            joins.push(key.contact_of_user(&previous.value));
            joins.push(key.contact_of_anonymous(&previous.value));
        }
        joins
    }

    fn payload(&self, kind: Kind, joins: &[ContactId], key: &IdentityKey) -> String {
        let texts = [
            ("messageId", &self.message_id),
            ("userId", &self.user_id),
            ("anonymousId", &self.anonymous_id),
            ("event", &self.event),
            ("name", &self.name),
            ("category", &self.category),
            ("groupId", &self.group_id),
            ("previousId", &self.previous_id),
            ("timestamp", &self.timestamp),
        ];
        let objects = [
            ("properties", &self.properties),
            ("traits", &self.traits),
            ("context", &self.context),
        ];
        let texts = texts.map(|(name, text)| (name, text.as_ref().map(|text| text.json.as_ref())));
        let objects = objects.map(|(name, object)| (name, object.as_deref()));
        let parts = || texts.iter().chain(&objects);
        let mut json = ObjectText::with_room_for(parts());
        for (name, part) in parts() {
            json.push(name, *part);
        }
        if !joins.is_empty() {
            let list: Vec<String> = joins.iter().map(|id| format!("\"{id}\"")).collect();
            json.push("joins", Some(&format!("[{}]", list.join(","))));
        }
        if let Some(email) = self.email(kind) {
            json.push("address", Some(&format!("\"{}\"", key.address(&email))));
        }
        json.close()
    }

    /// The e-mail address an identify brings, in its normal form.
    fn email(&self, kind: Kind) -> Option<String> {
        if kind != Kind::Identify {
            return None;
        }
        let email = |traits: &str| {
            let email: Value = serde_json::from_str(member(traits, "email")?.get()).ok()?;
            (email != Value::Null).then_some(email)
        };
        let own = self.traits.as_deref().and_then(email);
        let of_context = || email(member(self.context.as_deref()?, "traits")?.get());
        let email = own.or_else(of_context)?;
        normal_email(email.as_text()?)
    }
}

/// The client's time, moved by how far its clock was off when it sent.
fn corrected(
    claimed: Option<Timestamp>,
    sent_at: Option<Timestamp>,
    received_at: Timestamp,
) -> Timestamp {
    match (claimed, sent_at) {
        (None, _) => received_at,
        (Some(claimed), None) => claimed,
        (Some(claimed), Some(sent_at)) => claimed.shifted(received_at.micros_since(sent_at)),
    }
}

/// JSON object text put together from parts that are JSON already.
struct ObjectText(String);

impl ObjectText {
    /// Just enough: an event is kept for a while.
    fn with_room_for<'p>(parts: impl Iterator<Item = &'p (&'p str, Option<&'p str>)>) -> Self {
        let around = r#"{"":}"#.len();
        let room = parts.filter_map(|(name, json)| Some(around + name.len() + (*json)?.len()));
        Self(String::with_capacity(room.sum()))
    }

    fn push(&mut self, name: &str, json: Option<&str>) {
        let Some(json) = json else { return };
        let before = if self.0.is_empty() { "{\"" } else { ",\"" };
        for part in [before, name, "\":", json] {
            self.0.push_str(part);
        }
    }

    fn close(mut self) -> String {
        if self.0.is_empty() {
            self.0.push('{');
        }
        self.0.push('}');
        self.0
    }
}

#[cfg(test)]
mod tests;
