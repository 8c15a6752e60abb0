//! Folds a projection anew from the first event, into shadow tables beside the live ones,
//! which go on serving; then the shadow takes their place, or is compared with them.

mod build;
mod verify;
mod work;
mod works;

use std::time::Duration;

use kurier_core::event::Position;
use kurier_core::projection::{self, Projection};
use kurier_store::{Error, Result, Store, Swap, Swapped};
use tokio::sync::watch;
use uuid::Uuid;

use crate::{clock, fault};
use build::Build;
pub use build::Portion;
pub use verify::{TableCheck, Verified, verify};
pub use work::{Stage, Work};
pub use works::{Ending, Order, Task, Works};

const LEASE: &str = "rebuild";
const TERM: Duration = Duration::from_secs(30);

/// Builds a projection anew and swaps it in. Answers how far it was folded.
pub async fn rebuild(
    store: &Store,
    projection: &'static dyn Projection,
    work: &watch::Sender<Work>,
) -> Result<Position> {
    rebuild_in(Portion::default(), store, projection, work).await
}

/// As [`rebuild`], in portions of a size.
pub async fn rebuild_in(
    portion: Portion,
    store: &Store,
    projection: &'static dyn Projection,
    work: &watch::Sender<Work>,
) -> Result<Position> {
    let turn = Turn::take(store).await?;
    let mut build = Build::open(store, projection, work, (turn.holder, portion)).await?;
    fault::point("rebuild", "opened");
    let built = swap_in(store, &mut build, work).await;
    turn.end(store, projection).await?;
    built
}

async fn swap_in(
    store: &Store,
    build: &mut Build<'_>,
    work: &watch::Sender<Work>,
) -> Result<Position> {
    loop {
        let head = store.log.head().await?;
        build.fold_to(head).await?;
        fault::point("rebuild", "folded");
        build.write().await?;
        fault::point("rebuild", "written");
        work.send_modify(|work| work.stage = Stage::Swapping);
        let swap = Swap {
            projection: build.projection(),
            at: build.position(),
            set_aside: build.set_aside(),
        };
        match store.projections.swap(swap).await? {
            Swapped::Done => {
                fault::point("rebuild", "swapped");
                return Ok(build.position());
            }
            // The live tables went on meanwhile: so do we.
            Swapped::Behind(_) => {}
        }
    }
}

/// The right to use the shadow tables: one at a time has it, in all processes.
struct Turn {
    holder: Uuid,
}

impl Turn {
    async fn take(store: &Store) -> Result<Self> {
        let holder = Uuid::from_bytes(clock::random());
        let fence = store.reactions.lease(LEASE, holder, TERM).await?;
        let taken = "another rebuild or verification is under way; try again when it has ended";
        fence.ok_or_else(|| Error::Busy(taken.into()))?;
        Ok(Self { holder })
    }

    async fn end(self, store: &Store, projection: &'static dyn Projection) -> Result<()> {
        store.projections.drop_shadow(projection).await?;
        store.reactions.release(LEASE, self.holder).await
    }
}

/// Drops what a rebuild left behind that was killed: it may hold what is to be erased.
pub async fn sweep(store: &Store) -> Result<()> {
    if !store.projections.has_shadows().await? {
        return Ok(());
    }
    let holder = Uuid::from_bytes(clock::random());
    let fence = store.reactions.lease(LEASE, holder, TERM).await?;
    if fence.is_none() {
        return Ok(());
    }
    for projection in projection::ALL {
        store.projections.drop_shadow(*projection).await?;
    }
    store.reactions.release(LEASE, holder).await
}
