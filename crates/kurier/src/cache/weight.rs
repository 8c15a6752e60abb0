//! What a contact takes in memory, about.

use std::collections::{BTreeMap, BTreeSet};

use kurier_core::contact::{Contact, Standing};
use kurier_core::event::Recorded;
use kurier_core::value::Value;
use kurier_store::TimelinePage;

/// What a text or a number takes besides its letters.
const PIECE_BYTES: usize = 32;

pub(super) fn standing(standing: &Standing) -> usize {
    match standing {
        Standing::Live(contact) => size_of::<Contact>() + live(contact),
        Standing::Merged { .. } | Standing::Erased { .. } => PIECE_BYTES,
    }
}

pub(super) fn events(page: &TimelinePage) -> usize {
    let each = |recorded: &Recorded| size_of::<Recorded>() + recorded.event.payload.len();
    page.events.iter().map(each).sum()
}

fn live(contact: &Contact) -> usize {
    let sets = [
        &contact.anonymous_ids,
        &contact.former_user_ids,
        &contact.groups,
    ];
    contact.user_id.as_ref().map_or(0, |id| text(id))
        + sets.into_iter().map(texts).sum::<usize>()
        + contact.absorbed.len() * PIECE_BYTES
        + object(&contact.attributes)
}

const fn text(text: &str) -> usize {
    PIECE_BYTES + text.len()
}

fn texts(all: &BTreeSet<String>) -> usize {
    all.iter().map(|one| text(one)).sum()
}

fn object(object: &BTreeMap<String, Value>) -> usize {
    let field = |(name, held): (&String, &Value)| text(name) + value(held);
    object.iter().map(field).sum()
}

fn value(held: &Value) -> usize {
    match held {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => PIECE_BYTES,
        Value::Text(held) => text(held),
        Value::List(all) => PIECE_BYTES + all.iter().map(value).sum::<usize>(),
        Value::Object(fields) => PIECE_BYTES + object(fields),
    }
}
