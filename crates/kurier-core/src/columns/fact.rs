//! An event as expressions see it: its type, its time and its properties.

use crate::event::{Kind, Recorded, Said};
use crate::expr::EventFact;
use crate::value::{Object, Value};

/// What an event is called in expressions.
pub(super) fn event_type<'s>(kind: Kind, said: &'s Said<'_>) -> &'s str {
    match kind {
        Kind::Track => said.event.as_deref().unwrap_or("track"),
        kind => kind.as_str(),
    }
}

/// A client's event as expressions see it when it is in scope.
pub fn fact(recorded: &Recorded) -> Option<EventFact> {
    let kind = recorded.event.kind;
    let said = recorded.said().ok().filter(|said| !said.erased)?;
    if !kind.is_from_client() {
        return None;
    }
    Some(EventFact {
        event_type: event_type(kind, &said).to_owned(),
        event_time: recorded.event.occurred_at,
        properties: properties(kind, &said).ok()?,
    })
}

/// The properties of an event, with what its kind says beside them.
pub(super) fn properties(kind: Kind, said: &Said<'_>) -> Result<Object, serde_json::Error> {
    let mut properties = match said.properties {
        Some(properties) => serde_json::from_str(properties.get())?,
        None => Object::new(),
    };
    let beside = match kind {
        Kind::Page | Kind::Screen => [("name", &said.name), ("category", &said.category)],
        Kind::Group => [("groupId", &said.group_id), ("groupId", &said.group_id)],
        _ => return Ok(properties),
    };
    for (name, text) in beside {
        if let Some(text) = text {
            properties.insert(name.to_owned(), Value::Text(text.clone().into_owned()));
        }
    }
    Ok(properties)
}
