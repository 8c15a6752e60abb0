//! The request body around the items: one item, or a batch of them.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Item;
use crate::time::Timestamp;

/// A body taken apart, its items not yet read.
#[derive(Debug)]
pub struct Envelope<'a> {
    pub items: Vec<Item<'a>>,
    pub sent_at: Option<Timestamp>,
    pub write_key: Option<Cow<'a, str>>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("the body is not JSON: {0}")]
    NotJson(String),
    #[error("the body must be a JSON object")]
    NotObject,
    #[error("`batch` must be a list of events")]
    NotBatch,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawEnvelope<'a> {
    #[serde(borrow, default)]
    batch: Option<&'a RawValue>,
    #[serde(borrow, default)]
    sent_at: Option<&'a RawValue>,
    #[serde(borrow, default)]
    write_key: Option<Cow<'a, str>>,
}

/// Takes a body apart. `batch` says whether the address asked for a list of events.
pub fn envelope(body: &str, batch: bool) -> Result<Envelope<'_>, Unreadable> {
    let body = body.strip_prefix('\u{feff}').unwrap_or(body).trim();
    if !body.starts_with('{') {
        let read = serde_json::from_str::<serde::de::IgnoredAny>(body);
        return Err(read.map_or_else(
            |e| Unreadable::NotJson(e.to_string()),
            |_| Unreadable::NotObject,
        ));
    }
    // One event is read along with what is around it. What is wrong with it, it says itself.
    if let Some(item) = Some(body).filter(|_| !batch).and_then(Item::read) {
        return single(item);
    }
    let raw: RawEnvelope<'_> = serde_json::from_str(body).map_err(not_json)?;
    let items = if batch {
        items(raw.batch)?
    } else {
        vec![Item::of(body)]
    };
    Ok(Envelope {
        items,
        sent_at: time(raw.sent_at),
        write_key: raw.write_key,
    })
}

fn not_json(error: serde_json::Error) -> Unreadable {
    Unreadable::NotJson(error.to_string())
}

fn single(item: Item<'_>) -> Result<Envelope<'_>, Unreadable> {
    let (sent_at, write_key) = item.around();
    let write_key = write_key.map(|raw| serde_json::from_str::<Option<Cow<'_, str>>>(raw.get()));
    Ok(Envelope {
        sent_at: time(sent_at),
        write_key: write_key.transpose().map_err(not_json)?.flatten(),
        items: vec![item],
    })
}

/// A malformed time only costs the skew correction: the items are still good.
fn time(raw: Option<&RawValue>) -> Option<Timestamp> {
    serde_json::from_str(raw?.get()).ok()
}

fn items(batch: Option<&RawValue>) -> Result<Vec<Item<'_>>, Unreadable> {
    let list = batch.ok_or(Unreadable::NotBatch)?.get();
    let items: Vec<&RawValue> = serde_json::from_str(list).map_err(|_| Unreadable::NotBatch)?;
    Ok(items.into_iter().map(|raw| Item::of(raw.get())).collect())
}
