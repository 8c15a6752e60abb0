//! Gathering evidence from the log, and publishing it as a version.

use kurier_core::bundle::{Entry, Gathered, Summary};
use kurier_core::event::{Event, Kind, Position};
use kurier_core::time::Timestamp;
use kurier_store::{Appended, Error, Result, Scope, Store};

use crate::clock;
use crate::operator::sign;

const READ_MAX: usize = 1_000;

/// What the log says of a time about messages and consent; the end of the time is not included.
pub async fn gather(
    store: &Store,
    scope: Scope,
    (from, to): (Timestamp, Timestamp),
) -> Result<Gathered> {
    let mut gathered = Gathered {
        from,
        to,
        entries: Vec::new(),
    };
    let head = store.log.head().await?;
    let mut after = Position(0);
    while after < head {
        let batch = store.log.read(after, READ_MAX).await?;
        let Some(last) = batch.last() else { break };
        after = last.position;
        let ours = batch.iter().filter(|it| it.workspace == scope.0);
        let ours = ours.filter(|it| (from..to).contains(&it.event.recorded_at));
        for entry in ours.filter_map(Entry::of) {
            if gathered.is_too_large() {
                return Ok(gathered);
            }
            gathered.entries.push(entry);
        }
    }
    Ok(gathered)
}

/// Makes a version of it; answers where that stands in the log.
pub async fn publish(store: &Store, scope: Scope, summary: &Summary) -> Result<Position> {
    let now = clock::now();
    let event = sign(Event {
        id: clock::fresh_event_id(),
        kind: Kind::EvidenceGathered,
        contact: None,
        occurred_at: now,
        recorded_at: now,
        payload: serde_json::to_string(summary).map_err(|e| Error::Damaged(e.to_string()))?,
    });
    match store.log.append(scope, vec![event]).await?.last() {
        Some(Appended::At(position)) => Ok(*position),
        _ => Err(Error::Damaged("a fresh event id was taken".into())),
    }
}
