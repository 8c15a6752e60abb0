//! The journeys of a workspace, their versions, every run through them with its path, and how
//! often each way was taken.
//!
//! Texts that are JSON stand in columns of text: nobody looks into them, and they come back
//! as they were.

mod fold;
mod instance;
mod passage;
mod row;

pub use instance::{InstanceSummary, instance_of_row};
pub use passage::{Passage, PathHop, passage_of_row};
pub use row::{
    CountKey, JourneyCount, JourneyStanding, JourneySummary, JourneyVersion, count_of_row,
    journey_of_row,
};

use serde::Deserialize;

use super::table::ColumnKind::{Id, Int, Text};
use super::{Cell, Column, Folded, Loaded, Need, Projection, Table, UnreadableRow};
use crate::event::{Erasure, Kind, Recorded};
use crate::id::{InstanceId, JourneyId, WorkspaceId};
use crate::journey::{Course, Standing};
use fold::Fold;

pub const JOURNEY: Table = Table {
    name: "journey",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("id", Id),
        Column::new("name", Text),
        Column::new("draft", Text),
        Column::new("version", Int),
        Column::new("standing", Text),
        Column::new("segments", Text),
        Column::new("created_at", Int),
        Column::new("changed_at", Int),
    ],
};

pub const JOURNEY_VERSION: Table = Table {
    name: "journey_version",
    key: 3,
    columns: &[
        Column::new("workspace", Id),
        Column::new("journey", Id),
        Column::new("version", Int),
        Column::new("definition", Text),
        Column::new("published_at", Int),
    ],
};

pub const JOURNEY_INSTANCE: Table = Table {
    name: "journey_instance",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("id", Id),
        Column::new("journey", Id),
        Column::new("version", Int),
        CONTACT,
        Column::new("run_key", Text),
        Column::new("begun_by", Id),
        Column::new("status", Text),
        Column::new("ending", Text),
        Column::new("node", Text),
        Column::new("held", Int),
        Column::new("awaits", Text),
        Column::new("wake", Int),
        Column::new("seq", Int),
        Column::new("steps", Int),
        Column::new("entered_at", Int),
        Column::new("moved_at", Int),
        Column::new("ended_at", Int),
        Column::new("message", Id),
        Column::new("message_node", Text),
        Column::new("state", Text),
    ],
};

const CONTACT: Column = Column::new("contact", Id);

/// The index of [`JOURNEY_INSTANCE`] by contact.
const BY_CONTACT: &[Column] = &[Column::new("workspace", Id), CONTACT];

/// What each decision about a run did: rows are added, and never written again.
pub const JOURNEY_PATH: Table = Table {
    name: "journey_path",
    key: 3,
    columns: &[
        Column::new("workspace", Id),
        Column::new("instance", Id),
        Column::new("seq", Int),
        Column::new("moved_at", Int),
        Column::new("hops", Text),
        Column::new("omitted", Int),
        Column::new("messages", Text),
    ],
};

/// A way is an edge of the graph; or the way in, which begins at no node; or an ending, which
/// leads to none.
pub const JOURNEY_COUNT: Table = Table {
    name: "journey_count",
    key: 6,
    columns: &[
        Column::new("workspace", Id),
        Column::new("journey", Id),
        Column::new("version", Int),
        Column::new("node", Text),
        Column::new("way", Text),
        Column::new("target", Text),
        Column::new("times", Int),
    ],
};

/// The projection of these tables.
pub struct Journeys;

impl Projection for Journeys {
    fn name(&self) -> &'static str {
        "journeys"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[
            &JOURNEY,
            &JOURNEY_VERSION,
            &JOURNEY_INSTANCE,
            &JOURNEY_PATH,
            &JOURNEY_COUNT,
        ]
    }

    fn folds(&self, kind: Kind) -> bool {
        is_about_journey(kind) || is_about_run(kind) || kind == Kind::ContactErased
    }

    fn needs(&self, events: &[Recorded]) -> Vec<Need> {
        let mut wanted = Wanted::default();
        events.iter().for_each(|recorded| wanted.event(recorded));
        vec![
            Need::new(&JOURNEY, wanted.journeys),
            Need::new(&JOURNEY_INSTANCE, wanted.instances),
            Need::by(&JOURNEY_INSTANCE, BY_CONTACT, wanted.contacts),
            Need::new(&JOURNEY_COUNT, wanted.counts),
        ]
    }

    fn follows(&self, _: &[Loaded]) -> Vec<Need> {
        Vec::new()
    }

    fn fold(&self, loaded: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow> {
        let mut fold = Fold::new(loaded)?;
        events.iter().for_each(|recorded| fold.event(recorded));
        Ok(fold.finish())
    }
}

/// The keys of the rows that a batch may read.
#[derive(Default)]
struct Wanted {
    journeys: Vec<Vec<Cell>>,
    instances: Vec<Vec<Cell>>,
    contacts: Vec<Vec<Cell>>,
    counts: Vec<Vec<Cell>>,
}

impl Wanted {
    /// What cannot be read is set aside when it is folded.
    fn event(&mut self, recorded: &Recorded) {
        let payload = &recorded.event.payload;
        match recorded.event.kind {
            kind if is_about_journey(kind) => {
                if let Ok(Standing { journey }) = serde_json::from_str(payload) {
                    let key = journey_key(recorded.workspace, journey);
                    self.journeys.push(key);
                }
            }
            kind if is_about_run(kind) => {
                if let Ok(Recording { run }) = serde_json::from_str(payload) {
                    let key = instance_key(recorded.workspace, run.instance);
                    self.instances.push(key);
                    let counts = row::ways(&run).into_iter();
                    self.counts
                        .extend(counts.map(|(key, _)| key.cells(recorded.workspace)));
                }
            }
            Kind::ContactErased => {
                let erasure = serde_json::from_str::<Erasure>(payload);
                let contacts = erasure.map(|erasure| erasure.contacts).unwrap_or_default();
                let keys = contacts.into_iter();
                self.contacts
                    .extend(keys.map(|id| vec![recorded.workspace.into(), id.into()]));
            }
            _ => {}
        }
    }
}

/// What of a [`crate::journey::Record`] says which rows it changes.
#[derive(Deserialize)]
struct Recording {
    run: Course,
}

const fn is_about_journey(kind: Kind) -> bool {
    use Kind::{JourneyDrafted, JourneyPaused, JourneyPublished, JourneyResumed, JourneyRetired};
    matches!(
        kind,
        JourneyDrafted | JourneyPublished | JourneyPaused | JourneyResumed | JourneyRetired
    )
}

const fn is_about_run(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::JourneyEntered | Kind::JourneyMoved | Kind::JourneyFinished
    )
}

fn journey_key(workspace: WorkspaceId, journey: JourneyId) -> Vec<Cell> {
    vec![workspace.into(), Cell::Id(journey.as_uuid())]
}

fn instance_key(workspace: WorkspaceId, instance: InstanceId) -> Vec<Cell> {
    vec![workspace.into(), Cell::Id(instance.as_uuid())]
}

#[cfg(test)]
mod tests;
