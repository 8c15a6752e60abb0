//! Folding, whatever the fold does.

use std::panic::{AssertUnwindSafe, catch_unwind};

use kurier_core::event::{Position, Recorded};
use kurier_core::projection::{Folded, Loaded, Projection};
use kurier_store::{Error, Result};

/// A fold that panics is a failure like others: told, and tried again.
pub fn fold(
    projection: &dyn Projection,
    loaded: Vec<Loaded>,
    events: &[Recorded],
) -> Result<Folded> {
    let fold = AssertUnwindSafe(|| projection.fold(loaded, events));
    let folded = catch_unwind(fold).map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        let first = events.first().map_or(Position(0), |it| it.position);
        let said = said.unwrap_or("nothing is said");
        Error::Damaged(format!(
            "folding the events from {first} on panicked: {said}"
        ))
    })?;
    folded.map_err(|e| Error::Damaged(e.to_string()))
}
