//! What an operator says of templates, as events in the log; and what they are rendered for.

use kurier_core::contact::Contact;
use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{EventId, TemplateId};
use kurier_core::projection::TemplateSummary;
use kurier_core::template::{Compiled, Publication, Retirement, as_kept, gather, hash_of};
use kurier_core::value::{Object, Value};
use kurier_store::{Appended, Error, Result, Scope, Store};
use serde::Serialize;

use crate::clock;
use crate::operator::sign;

/// What came of publishing.
#[derive(Debug)]
pub enum Publishing {
    Done {
        position: Position,
        version: u32,
    },
    /// The current version is just that.
    Unchanged {
        version: u32,
    },
    /// Somebody else published that version in the same moment.
    Overtaken,
}

pub async fn find(store: &Store, scope: Scope, name: &str) -> Result<Option<TemplateSummary>> {
    let id = TemplateId::of_name(name);
    store.templates.template(scope, id).await
}

/// A version's document; the newest if none is named.
pub async fn document(
    store: &Store,
    scope: Scope,
    template: &TemplateSummary,
    version: Option<u32>,
) -> Result<Option<Value>> {
    let version = version.unwrap_or(template.version);
    let found = store
        .templates
        .template_version(scope, template.id, version)
        .await?;
    let read = found.map(|found| serde_json::from_str(&found.document));
    read.transpose().map_err(|e| Error::Damaged(e.to_string()))
}

/// Publishes a document that was found good as the next version of its template. The read
/// model must have been brought up to date.
pub async fn publish(
    store: &Store,
    scope: Scope,
    compiled: &Compiled,
    document: Value,
) -> Result<Publishing> {
    let before = find(store, scope, &compiled.name).await?;
    if let Some(before) = &before
        && before.retired_at.is_none()
        && before.hash == hash_of(&document)
    {
        let version = before.version;
        return Ok(Publishing::Unchanged { version });
    }
    let version = before.map_or(0, |before| before.version) + 1;
    let publication = Publication::new(compiled, version, document);
    let id = publication.event_id();
    let event = event(id, Kind::TemplatePublished, &publication)?;
    match store.log.append(scope, vec![event]).await?.first() {
        Some(Appended::At(position)) => Ok(Publishing::Done {
            position: *position,
            version,
        }),
        _ => Ok(Publishing::Overtaken),
    }
}

/// Retires a template: no journey can be published with it, and those that name it go on.
pub async fn retire(store: &Store, scope: Scope, template: &TemplateSummary) -> Result<Position> {
    let retirement = Retirement {
        id: template.id,
        name: template.name.clone(),
    };
    let cause = EventId::from_uuid(template.id.as_uuid());
    let id = EventId::derived("template:retire", cause, template.version);
    let event = event(id, Kind::TemplateRetired, &retirement)?;
    match store.log.append(scope, vec![event]).await?.first() {
        Some(Appended::At(position)) => Ok(*position),
        // Somebody said so already.
        _ => store.log.head().await,
    }
}

fn event(id: EventId, kind: Kind, payload: &impl Serialize) -> Result<Event> {
    let now = clock::now();
    Ok(sign(Event {
        id,
        kind,
        contact: None,
        occurred_at: now,
        recorded_at: now,
        payload: serde_json::to_string(payload).map_err(|e| Error::Damaged(e.to_string()))?,
    }))
}

/// What a template would be handed: of the contact what it reads, and the rest as it is given.
pub fn inputs(
    compiled: &Compiled,
    contact: Option<&Contact>,
    journey: Object,
    data: Object,
) -> Object {
    let reads = compiled.reads();
    let reads = reads.iter().map(String::as_str);
    let mut inputs = gather(reads, |root, names| match (root, contact) {
        ("contact", Some(contact)) => of_contact(contact, names),
        _ => None,
    });
    inputs.insert("journey".into(), Value::Object(journey));
    inputs.insert("data".into(), Value::Object(data));
    inputs
}

fn of_contact(contact: &Contact, names: &[String]) -> Option<Value> {
    let words: Vec<&str> = names.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["id"] => Some(Value::Text(contact.id.to_string())),
        ["user_id"] => contact.user_id.clone().map(Value::Text),
        ["created_at"] => Some(Value::Text(contact.created_at.to_string())),
        _ => {
            let path: kurier_core::path::Path = names.join(".").parse().ok()?;
            path.find(&contact.attributes).cloned().map(as_kept)
        }
    }
}
