//! How projections stand, and building one anew in shadow tables beside the live ones.

use std::collections::HashSet;

use async_trait::async_trait;
use kurier_core::event::Position;
use kurier_core::id::{EventId, WorkspaceId};
use kurier_core::projection::{Loaded, Need, Projection, Row, Table, Writes};
use kurier_core::time::Timestamp;

use crate::Result;

/// How a reader of the log stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    pub position: Position,
    pub is_paused: bool,
    /// What stops it, and since when.
    pub failure: Option<(Timestamp, String)>,
    /// What stopped it last, whether it still does or not.
    pub last_failure: Option<(Timestamp, String)>,
}

/// An event that a projection could not fold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    pub position: Position,
    pub reason: String,
}

/// Which of the two sets of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Live,
    Shadow,
}

/// Shadow tables that are whole, to take the place of the live ones.
pub struct Swap {
    pub projection: &'static dyn Projection,
    /// How far they were folded.
    pub at: Position,
    pub set_aside: Vec<SetAside>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swapped {
    Done,
    /// The live tables have come further: nothing was changed.
    Behind(Position),
}

/// Is shown every row of a projection's tables.
pub type Visit = Box<dyn FnMut(&'static Table, Row) + Send>;

#[async_trait]
pub trait Projections: Send + Sync {
    async fn progress(&self, name: &str) -> Result<Progress>;

    /// A projection that is paused folds nothing until it is resumed, in every process.
    async fn pause(&self, name: &str, is_paused: bool) -> Result<()>;

    /// Notes what stops a projection, or that nothing does any more: what did last stays known.
    async fn note_failure(&self, name: &str, failure: Option<(Timestamp, String)>) -> Result<()>;

    /// The events a projection could not fold, the first of them first.
    async fn set_aside(&self, name: &str, limit: usize) -> Result<Vec<SetAside>>;

    /// Which of these events a projection has counted.
    async fn processed(
        &self,
        name: &str,
        events: &[(WorkspaceId, EventId)],
    ) -> Result<HashSet<(WorkspaceId, EventId)>>;

    /// Makes empty shadow tables; what an earlier attempt left is gone.
    async fn open_shadow(&self, projection: &'static dyn Projection) -> Result<()>;

    async fn load_shadow(&self, needs: Vec<Need>) -> Result<Vec<Loaded>>;

    async fn write_shadow(&self, writes: Vec<Writes>) -> Result<()>;

    /// Adds the rows that are put, whose keys are not there yet, as fast as the database can.
    async fn fill_shadow(&self, rows: Writes) -> Result<()>;

    /// Remembers events as counted by the shadow of a projection.
    async fn process_shadow(
        &self,
        projection: &'static dyn Projection,
        events: Vec<(WorkspaceId, EventId)>,
    ) -> Result<()>;

    /// In one transaction the shadow tables become the live ones, with their checkpoint.
    async fn swap(&self, swap: Swap) -> Result<Swapped>;

    /// Whether any projection has a shadow.
    async fn has_shadows(&self) -> Result<bool>;

    async fn drop_shadow(&self, projection: &'static dyn Projection) -> Result<()>;

    /// Shows every row of one side to `visit`, as all of them stand at one moment. Answers the
    /// checkpoint of the live side at that moment.
    async fn survey(
        &self,
        side: Side,
        projection: &'static dyn Projection,
        visit: Visit,
    ) -> Result<Position>;
}

/// The name under which a shadow remembers what it counted.
pub(crate) fn shadow_of(name: &str) -> String {
    format!("shadow_{name}")
}

impl Side {
    /// What a table is called on this side.
    pub(crate) fn name(self, table: &Table) -> String {
        match self {
            Self::Live => table.name.to_owned(),
            Self::Shadow => shadow_of(table.name),
        }
    }
}
