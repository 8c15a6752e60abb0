//! Read models: tables that projections fill, and the queries over them.

use async_trait::async_trait;
use kurier_core::contact::{Contact, Standing};
use kurier_core::event::{Kind, Position, Recorded};
use kurier_core::id::{AddressKey, ContactId};
use kurier_core::path::Path;
use kurier_core::projection::{Change, Folded, Loaded, Need, Projection, Writes, owns, settle};
use kurier_core::time::Timestamp;
use kurier_core::value::Value;

use crate::{Error, Result, Scope};

/// A batch of folded events, to be written with its checkpoint in one transaction.
pub struct Batch {
    projection: &'static dyn Projection,
    from: Position,
    to: Position,
    folded: Folded,
}

impl Batch {
    /// What a projection made of the events after `from` up to `to`.
    pub const fn new(
        projection: &'static dyn Projection,
        (from, to): (Position, Position),
        folded: Folded,
    ) -> Self {
        Self {
            projection,
            from,
            to,
            folded,
        }
    }

    pub const fn between(&self) -> (Position, Position) {
        (self.from, self.to)
    }

    pub fn changes(&self) -> &[Change] {
        &self.folded.changes
    }

    pub(crate) fn name(&self) -> &'static str {
        self.projection.name()
    }

    pub(crate) const fn folded(&self) -> &Folded {
        &self.folded
    }

    /// Takes the changes, as what is to be written. Whatever a projection says of a table that
    /// is not its own is refused: nothing of the batch is written.
    pub(crate) fn settle(&mut self) -> Result<Vec<Writes>> {
        let writes = settle(std::mem::take(&mut self.folded.changes));
        match writes.iter().find(|it| !owns(self.projection, it.table)) {
            Some(foreign) => Err(Error::Foreign {
                projection: self.name(),
                table: foreign.table.name,
            }),
            None => Ok(writes),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    Done,
    /// Another runner had moved the checkpoint: nothing was written.
    Overtaken,
}

/// Which contacts to list. All that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct ContactFilter {
    /// The e-mail address in its normal form.
    pub email: Option<String>,
    pub user_id: Option<String>,
    pub anonymous: Option<ContactId>,
    /// An e-mail address or user id begins with this.
    pub starts_with: Option<String>,
    /// The attribute has this value; `null` also when it is not there.
    pub attribute: Option<(Path, Value)>,
}

#[derive(Debug, Clone, Default)]
pub struct ContactQuery {
    pub filter: ContactFilter,
    /// Newest first, after this one.
    pub after: Option<(Timestamp, ContactId)>,
    pub limit: usize,
}

#[derive(Debug)]
pub struct ContactPage {
    pub contacts: Vec<Contact>,
    pub has_more: bool,
}

#[derive(Debug, Clone, Default)]
pub struct TimelineQuery {
    pub kind: Option<Kind>,
    pub title: Option<String>,
    /// Latest first, after this one.
    pub after: Option<(Timestamp, Position)>,
    pub limit: usize,
}

#[derive(Debug)]
pub struct TimelinePage {
    pub events: Vec<Recorded>,
    pub has_more: bool,
}

#[async_trait]
pub trait Views: Send + Sync {
    /// How far the named reader has come; 0 when it never ran.
    async fn checkpoint(&self, name: &str) -> Result<Position>;

    /// Notes how far a reader has come that writes nothing else.
    async fn set_checkpoint(&self, name: &str, position: Position) -> Result<()>;

    async fn load(&self, needs: Vec<Need>) -> Result<Vec<Loaded>>;

    /// Writes changes and checkpoint together, if the checkpoint still stands at `from`.
    async fn apply(&self, batch: Batch) -> Result<Applied>;

    async fn contact(&self, scope: Scope, id: ContactId) -> Result<Option<Standing>>;

    async fn contacts(&self, scope: Scope, query: &ContactQuery) -> Result<ContactPage>;

    /// The events of a contact and of those merged into it.
    async fn timeline(
        &self,
        scope: Scope,
        contacts: &[ContactId],
        query: &TimelineQuery,
    ) -> Result<TimelinePage>;

    /// Where the events in the timelines of these contacts stand in the log.
    async fn timeline_positions(&self, scope: Scope, ids: &[ContactId]) -> Result<Vec<Position>>;

    /// When this address was erased, if it was.
    async fn erased_at(&self, scope: Scope, address: AddressKey) -> Result<Option<Timestamp>>;

    /// How many events a projection has set aside.
    async fn poisoned(&self, projection: &str) -> Result<u64>;
}
