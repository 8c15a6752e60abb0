//! Content: documents become events in the log, and are read back from what that is folded into.
//!
//! To read it, begin with `import`, then `decide`; `library` finds what is kept, `quote` and
//! `used` see to templates.

mod decide;
mod edge;
mod import;
mod library;
mod listing;
mod quote;
mod used;
mod withdraw;

pub use edge::ContentEdge;
pub use import::{Importer, Outcome, Standing};
pub use library::{Found, Held, Library};
pub use listing::{Listed, Listing, Wanted};
pub use quote::{Quoting, absence, explained, faults, gone, spoiled, target_of, too_long};
pub use used::{Used, used};
pub use withdraw::withdraw;

use std::collections::HashMap;

use kurier_core::content::Number;
use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{EventId, WorkspaceId};
use kurier_core::projection::{CONTENT_STATE, Need};
use kurier_store::{Appended, Scope, Store};
use serde::Serialize;

use crate::app::App;
use crate::clock;
use crate::operator::sign;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("`{0}` is there twice")]
    Twice(String),
    #[error("others import at the same time, again and again; nothing was changed")]
    Overtaken,
    #[error(transparent)]
    Store(#[from] kurier_store::Error),
}

pub type Result<T> = std::result::Result<T, Error>;

/// A document as it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What names it from outside: a path, or the id a client gave.
    pub id: String,
    pub text: String,
}

const SOURCE_ID_CHARS_MAX: usize = 500;

/// What is wrong with the name of a source, if anything is.
pub fn source_fault(id: &str) -> Option<String> {
    let fits = !id.trim().is_empty() && id.chars().count() <= SOURCE_ID_CHARS_MAX;
    let is_line = !id.contains(|c: char| c.is_control());
    (!(fits && is_line))
        .then(|| format!("a source is named by 1 to {SOURCE_ID_CHARS_MAX} characters on one line"))
}

/// Another may have been faster so often.
const TRIES_MAX: usize = 20;

/// What was said of content before is known from now on; however much is said meanwhile.
pub async fn catch_up(app: &App) -> kurier_store::Result<()> {
    let head = app.store.log.head().await?;
    while app.content.position() < head && app.content.step().await? > 0 {}
    Ok(())
}

/// The number of the last import or withdrawal. Who decides asks this first: whatever is read
/// later is at least as new, and if it is newer, the number is taken.
async fn last_number(store: &Store, scope: Scope) -> kurier_store::Result<Number> {
    let numbers = last_numbers(store, &[scope.0]).await?;
    Ok(numbers.get(&scope.0).copied().unwrap_or(0))
}

/// The same of several; those without any are left out.
async fn last_numbers(
    store: &Store,
    workspaces: &[WorkspaceId],
) -> kurier_store::Result<HashMap<WorkspaceId, Number>> {
    let keys = workspaces.iter().map(|workspace| vec![(*workspace).into()]);
    let need = Need::new(&CONTENT_STATE, keys.collect());
    let loaded = store.views.load(vec![need]).await?;
    let rows = loaded.iter().flat_map(|loaded| &loaded.rows);
    let numbers = rows.filter_map(|row| {
        let workspace = WorkspaceId::from_uuid(row.first()?.as_id()?);
        let imports = Number::try_from(row.get(1)?.as_int()?).ok()?;
        Some((workspace, imports))
    });
    Ok(numbers.collect())
}

/// Where the log has it now; `None` if another took the number.
async fn append(
    store: &Store,
    scope: Scope,
    id: EventId,
    kind: Kind,
    record: &(impl Serialize + Sync),
) -> kurier_store::Result<Option<Position>> {
    let now = clock::now();
    let payload = serde_json::to_string(record)
        .map_err(|error| kurier_store::Error::Damaged(error.to_string()))?;
    let event = sign(Event {
        id,
        kind,
        contact: None,
        occurred_at: now,
        recorded_at: now,
        payload,
    });
    let appended = store.log.append(scope, vec![event]).await?;
    Ok(match appended.first() {
        Some(Appended::At(position)) => Some(*position),
        _ => None,
    })
}
