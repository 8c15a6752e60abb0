//! Read models as pure folds of the log. A projection declares the tables it owns, says
//! which rows a batch of events needs, and turns rows and events into changes. It cannot
//! append, read a clock or see a table of another.

mod audit;
mod contacts;
mod content;
mod daily;
mod digest;
mod draft;
mod health;
mod journeys;
mod messages;
mod segments;
mod settle;
#[cfg(test)]
mod simulation;
mod slack_workspaces;
mod table;
mod templates;
mod versions;

pub use audit::{AUDIT, Audit, AuditEntry, audit_of_row};
pub use contacts::{CONTACT, Contacts, ERASURE, TIMELINE, contact_of_row, contact_standing};
pub use content::{
    CONTENT_BODY, CONTENT_COUNTER, CONTENT_DOCUMENT, CONTENT_IMPORT, CONTENT_NODE, CONTENT_STATE,
    Content, ContentBody, ContentDocument, ContentImport, ContentNode, content_body_of_row,
    content_document_of_row, content_import_of_row, content_node_of_row, content_used_of_row,
};
pub use daily::{DAILY_COUNT, Daily, DailyCount, daily_of_row};
pub use digest::{Difference, Digest, Sample};
pub use draft::Draft;
pub use health::{CHANNEL_HEALTH, ChannelHealth, Health, health_of_row};
pub use journeys::{
    CountKey, InstanceSummary, JOURNEY, JOURNEY_COUNT, JOURNEY_INSTANCE, JOURNEY_PATH,
    JOURNEY_VERSION, JourneyCount, JourneyStanding, JourneySummary, JourneyVersion, Journeys,
    Passage, PathHop, count_of_row, instance_of_row, journey_of_row, passage_of_row,
};
pub use messages::{Attempt, MESSAGE, MessageSummary, Messages, Told, message_of_row};
pub use segments::{MEMBER, SEGMENT, SEGMENT_SIZE, SegmentSummary, Segments, segment_of_row};
pub use settle::{Writes, settle};
pub use slack_workspaces::{SLACK_WORKSPACE, SlackWorkspaces, slack_workspace_of_row};
pub use table::{Cell, Column, ColumnKind, Row, Table};
pub use templates::{
    TEMPLATE, TEMPLATE_VERSION, TemplateSummary, TemplateVersion, Templates, template_of_row,
    template_version_of_row,
};
pub use versions::{
    Anchor, PUBLISHED_HEAD, PUBLISHED_VERSION, PublishedVersion, VERSION_PROOF, VersionProof,
    Versions, published_of_row, version_proof_of_row,
};

use crate::event::{Kind, Position, Recorded};
use crate::id::{EventId, WorkspaceId};

/// Every projection there is.
pub const ALL: &[&dyn Projection] = &[
    &Audit,
    &Health,
    &Contacts,
    &Content,
    &Daily,
    &Journeys,
    &Messages,
    &Segments,
    &SlackWorkspaces,
    &Templates,
    &Versions,
];

/// The projection of that name.
pub fn named(name: &str) -> Option<&'static dyn Projection> {
    let mut all = ALL.iter().copied();
    all.find(|projection| projection.name() == name)
}

pub trait Projection: Send + Sync {
    fn name(&self) -> &'static str;

    /// The tables only this projection writes.
    fn tables(&self) -> &'static [&'static Table];

    /// The keys of the rows that folding `events` may read.
    fn needs(&self, events: &[Recorded]) -> Vec<Need>;

    /// Further keys, found in rows that were loaded; asked again until there are none.
    fn follows(&self, loaded: &[Loaded]) -> Vec<Need>;

    /// Whether an event of this kind may change a row. Others need not be shown to it.
    fn folds(&self, _: Kind) -> bool {
        true
    }

    /// Why an event that is told twice changes nothing the second time.
    fn repeat(&self) -> Repeat {
        Repeat::Upsert
    }

    /// Folds a batch. A loaded row that cannot be read stops it: taking the row for absent
    /// would overwrite what it holds.
    fn fold(&self, loaded: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow>;
}

/// The three ways in which a projection may be told the same event again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Each entity has one row, written whole, which knows how far it has come.
    Upsert,
    /// Rows count. Which events were counted is remembered in `processed_events`, and the
    /// runner leaves those out.
    Remembered,
    /// Each event has a row of its own.
    EventRows,
}

impl Repeat {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Upsert => "upsert",
            Self::Remembered => "processed_events",
            Self::EventRows => "event_rows",
        }
    }
}

/// A read model holds a row that this version did not write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a row of {table} cannot be read: {row}")]
pub struct UnreadableRow {
    pub table: &'static str,
    /// Its key; what it holds may be personal.
    pub row: String,
}

impl UnreadableRow {
    pub fn new(table: &'static Table, row: &Row) -> Self {
        let key = row.iter().take(table.key).map(|cell| format!("{cell:?}"));
        Self {
            table: table.name,
            row: key.collect::<Vec<_>>().join(", "),
        }
    }
}

/// Rows wanted from one table, by what stands in some of its columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    pub table: &'static Table,
    /// The columns that `keys` are the values of: the table's key, or an index of it.
    pub columns: &'static [Column],
    pub keys: Vec<Vec<Cell>>,
}

impl Need {
    /// Each key once: asking twice costs twice.
    pub fn new(table: &'static Table, keys: Vec<Vec<Cell>>) -> Self {
        Self::by(table, table.key_columns(), keys)
    }

    /// All rows that have these values in these columns.
    pub fn by(table: &'static Table, columns: &'static [Column], mut keys: Vec<Vec<Cell>>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        Self {
            table,
            columns,
            keys,
        }
    }
}

/// Rows found in one table. A key that was asked for and is not here does not exist.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub table: &'static Table,
    pub rows: Vec<Row>,
}

/// What a batch of events makes of the read models, to be written in order.
#[derive(Debug, Default, PartialEq)]
pub struct Folded {
    pub changes: Vec<Change>,
    /// Events that could not be folded, set aside with the reason.
    pub poison: Vec<(Position, String)>,
    /// What was decided about contacts before it was known that they had been erased, and
    /// written behind that: it is to be erased as well.
    pub belated: Vec<Position>,
    /// Events to remember as counted: see [`Repeat::Remembered`].
    pub processed: Vec<(WorkspaceId, EventId)>,
}

impl Folded {
    /// Whether the read models stay as they are.
    pub const fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.poison.is_empty()
            && self.belated.is_empty()
            && self.processed.is_empty()
    }
}

/// What becomes of rows. Outside this crate only a projection makes one, of a table it declares.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Writes a whole row, whether it was there or not.
    #[non_exhaustive]
    Put(&'static Table, Row),
    /// Removes the rows whose key begins with these cells.
    #[non_exhaustive]
    Drop(&'static Table, Vec<Cell>),
}

impl Change {
    /// # Panics
    ///
    /// If the table is not one that the projection declares.
    pub fn put(by: &dyn Projection, table: &'static Table, row: Row) -> Self {
        assert_owned(by, table);
        Self::Put(table, row)
    }

    /// # Panics
    ///
    /// If the table is not one that the projection declares.
    pub fn drop(by: &dyn Projection, table: &'static Table, prefix: Vec<Cell>) -> Self {
        assert_owned(by, table);
        Self::Drop(table, prefix)
    }

    /// The row that is written, if one is.
    pub const fn as_put(&self) -> Option<(&'static Table, &Row)> {
        match self {
            Self::Put(table, row) => Some((table, row)),
            Self::Drop(..) => None,
        }
    }

    /// What the keys of the rows that go begin with, if some go.
    pub const fn as_drop(&self) -> Option<(&'static Table, &Vec<Cell>)> {
        match self {
            Self::Drop(table, prefix) => Some((table, prefix)),
            Self::Put(..) => None,
        }
    }
}

#[track_caller]
fn assert_owned(by: &dyn Projection, table: &Table) {
    assert!(
        owns(by, table),
        "{} does not declare {}",
        by.name(),
        table.name
    );
}

/// Whether a table is one of those that only this projection writes.
pub fn owns(projection: &dyn Projection, table: &Table) -> bool {
    projection.tables().contains(&table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::id::ContactId;
    use crate::time::Timestamp;

    /// Nobody can read it: who looks at its kind says so.
    fn unreadable(kind: Kind) -> Recorded {
        Recorded {
            position: Position(1),
            workspace: WorkspaceId::from_uuid(uuid::Uuid::nil()),
            event: Event {
                id: EventId::of_message("unreadable"),
                kind,
                contact: Some(ContactId::from_bytes([1; 16])),
                occurred_at: Timestamp::default(),
                recorded_at: Timestamp::default(),
                payload: "{".to_owned(),
            }
            .into(),
        }
    }

    #[test]
    fn every_table_has_one_projection_that_writes_it() {
        let tables = ALL.iter().flat_map(|projection| projection.tables());
        for table in tables {
            let owners = ALL.iter().filter(|projection| owns(**projection, table));
            assert_eq!(owners.count(), 1, "{}", table.name);
        }
    }

    #[test]
    #[should_panic(expected = "segments does not declare contact")]
    fn a_change_is_made_for_a_table_of_its_projection_alone() {
        Change::put(&Segments, &CONTACT, Row::new());
    }

    #[test]
    fn what_a_projection_does_not_fold_changes_nothing_and_needs_nothing() {
        for projection in ALL {
            for kind in Kind::ALL.iter().filter(|kind| !projection.folds(**kind)) {
                let event = [unreadable(*kind)];
                let needs = projection.needs(&event);
                assert!(
                    needs.iter().all(|need| need.keys.is_empty()),
                    "{} needs rows for {kind:?}",
                    projection.name()
                );
                let folded = projection.fold(Vec::new(), &event).expect("no rows");
                assert!(
                    folded.is_empty(),
                    "{} folds {kind:?}, and says it does not",
                    projection.name()
                );
            }
        }
    }
}
