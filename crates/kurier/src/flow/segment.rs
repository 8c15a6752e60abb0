//! What an operator says of a segment, as events in the log.

use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{ContactId, SegmentId};
use kurier_core::segment::{Definition, Edit, Membership};
use kurier_store::{Appended, Error, Result, Scope, Store};
use serde::Serialize;

use crate::clock;
use crate::operator::sign;

/// So many contacts are given or taken by one event.
pub const EDIT_MAX: usize = 1_000;

/// Makes a segment or changes it; answers where that stands.
pub async fn define(
    store: &Store,
    scope: Scope,
    kind: Kind,
    definition: &Definition,
) -> Result<Position> {
    append(store, scope, vec![event(kind, definition)?]).await
}

/// Deletes a segment with its history.
pub async fn delete(store: &Store, scope: Scope, segment: SegmentId) -> Result<Position> {
    let event = event(Kind::SegmentDeleted, &Membership { segment })?;
    append(store, scope, vec![event]).await
}

/// Gives members to a static segment and takes them from it, all at once.
pub async fn edit(
    store: &Store,
    scope: Scope,
    segment: SegmentId,
    add: &[ContactId],
    remove: &[ContactId],
) -> Result<Position> {
    let edit = |add: &[ContactId], remove: &[ContactId]| Edit {
        segment,
        add: add.to_vec(),
        remove: remove.to_vec(),
    };
    let given = add.chunks(EDIT_MAX).map(|part| edit(part, &[]));
    let taken = remove.chunks(EDIT_MAX).map(|part| edit(&[], part));
    let events = given
        .chain(taken)
        .map(|edit| event(Kind::SegmentEdited, &edit));
    append(store, scope, events.collect::<Result<_>>()?).await
}

fn event(kind: Kind, payload: &impl Serialize) -> Result<Event> {
    let now = clock::now();
    Ok(sign(Event {
        id: clock::fresh_event_id(),
        kind,
        contact: None,
        occurred_at: now,
        recorded_at: now,
        payload: serde_json::to_string(payload).map_err(|e| Error::Damaged(e.to_string()))?,
    }))
}

/// Where the last of them stands.
async fn append(store: &Store, scope: Scope, events: Vec<Event>) -> Result<Position> {
    match store.log.append(scope, events).await?.last() {
        Some(Appended::At(position)) => Ok(*position),
        _ => Err(Error::Damaged("a fresh event id was taken".into())),
    }
}
