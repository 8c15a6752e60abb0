//! Read models as pure folds of the log. A projection declares the tables it owns, says
//! which rows a batch of events needs, and turns rows and events into changes. It cannot
//! append, read a clock or see a table of another.

mod contacts;
mod journeys;
mod messages;
mod segments;
#[cfg(test)]
mod simulation;
mod slack_workspaces;
mod table;
mod templates;

pub use contacts::{CONTACT, Contacts, ERASURE, TIMELINE, contact_of_row, contact_standing};
pub use journeys::{
    CountKey, InstanceSummary, JOURNEY, JOURNEY_COUNT, JOURNEY_INSTANCE, JOURNEY_PATH,
    JOURNEY_VERSION, JourneyCount, JourneyStanding, JourneySummary, JourneyVersion, Journeys,
    Passage, PathHop, count_of_row, instance_of_row, journey_of_row, passage_of_row,
};
pub use messages::{Attempt, MESSAGE, MessageSummary, Messages, message_of_row};
pub use segments::{MEMBER, SEGMENT, SEGMENT_SIZE, SegmentSummary, Segments, segment_of_row};
pub use slack_workspaces::{SLACK_WORKSPACE, SlackWorkspaces, slack_workspace_of_row};
pub use table::{Cell, Column, ColumnKind, Row, Table};
pub use templates::{
    TEMPLATE, TEMPLATE_VERSION, TemplateSummary, TemplateVersion, Templates, template_of_row,
    template_version_of_row,
};

use crate::event::{Position, Recorded};

/// Every projection there is.
pub const ALL: &[&dyn Projection] = &[
    &Contacts,
    &Journeys,
    &Messages,
    &Segments,
    &SlackWorkspaces,
    &Templates,
];

pub trait Projection: Send + Sync {
    fn name(&self) -> &'static str;

    /// The tables only this projection writes.
    fn tables(&self) -> &'static [&'static Table];

    /// The keys of the rows that folding `events` may read.
    fn needs(&self, events: &[Recorded]) -> Vec<Need>;

    /// Further keys, found in rows that were loaded; asked again until there are none.
    fn follows(&self, loaded: &[Loaded]) -> Vec<Need>;

    /// Folds a batch. A loaded row that cannot be read stops it: taking the row for absent
    /// would overwrite what it holds.
    fn fold(&self, loaded: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow>;
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
}

#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Writes a whole row, whether it was there or not.
    Put(&'static Table, Row),
    /// Removes the rows whose key begins with these cells.
    Drop(&'static Table, Vec<Cell>),
}
