//! What is folded: of each contact how much it did, and how often each event happened.

use std::collections::HashMap;

use kurier_core::event::{Kind, Position, Recorded};
use kurier_core::id::{ContactId, WorkspaceId};
use kurier_core::projection::{
    Cell, Change, Column, ColumnKind, Folded, Loaded, Need, Projection, Repeat, Row, Table,
    UnreadableRow,
};
use serde::Deserialize;

pub const SUMMARY: Table = Table {
    name: "bench_summary",
    key: 2,
    columns: &[
        Column::new("workspace", ColumnKind::Id),
        Column::new("contact", ColumnKind::Id),
        Column::new("event_count", ColumnKind::Int),
        Column::new("amount", ColumnKind::Int),
        Column::new("last_type", ColumnKind::Text),
        Column::new("revision", ColumnKind::Int),
    ],
};

pub const COUNT: Table = Table {
    name: "bench_count",
    key: 2,
    columns: &[
        Column::new("workspace", ColumnKind::Id),
        Column::new("event_type", ColumnKind::Text),
        Column::new("total", ColumnKind::Int),
        Column::new("revision", ColumnKind::Int),
    ],
};

/// The same tables, kept right in one of two ways.
pub struct Summaries(pub Repeat);

/// Rows know how far they have come.
pub static UPSERTED: Summaries = Summaries(Repeat::Upsert);
/// Which events were counted is remembered.
pub static REMEMBERED: Summaries = Summaries(Repeat::Remembered);

/// What of an event is folded.
#[derive(Deserialize)]
pub struct Deed<'a> {
    pub event: &'a str,
    pub properties: Properties,
}

#[derive(Deserialize)]
pub struct Properties {
    pub amount: i64,
}

/// A contact's row, or an event's.
#[derive(Default, Clone)]
pub struct Sum {
    pub count: i64,
    pub amount: i64,
    pub last: String,
    revision: Position,
}

impl Projection for Summaries {
    fn name(&self) -> &'static str {
        "bench"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[&SUMMARY, &COUNT]
    }

    fn folds(&self, kind: Kind) -> bool {
        kind == Kind::Track
    }

    fn repeat(&self) -> Repeat {
        self.0
    }

    fn needs(&self, events: &[Recorded]) -> Vec<Need> {
        let deeds = events.iter().filter_map(deed);
        let (contacts, kinds): (Vec<_>, Vec<_>) = deeds
            .map(|(workspace, contact, deed)| {
                let contact: Vec<Cell> = vec![workspace.into(), contact.into()];
                (contact, vec![workspace.into(), deed.event.into()])
            })
            .unzip();
        vec![Need::new(&SUMMARY, contacts), Need::new(&COUNT, kinds)]
    }

    fn follows(&self, _: &[Loaded]) -> Vec<Need> {
        Vec::new()
    }

    fn fold(&self, loaded: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow> {
        let mut fold = Fold::new(loaded);
        for recorded in events {
            if let Some((workspace, contact, deed)) = deed(recorded) {
                fold.take(recorded.position, (workspace, contact), &deed);
            }
        }
        Ok(fold.finish())
    }
}

pub fn deed(recorded: &Recorded) -> Option<(WorkspaceId, ContactId, Deed<'_>)> {
    let deed = serde_json::from_str(&recorded.event.payload).ok()?;
    Some((recorded.workspace, recorded.event.contact?, deed))
}

#[derive(Default)]
struct Fold {
    contacts: HashMap<(WorkspaceId, ContactId), Sum>,
    kinds: HashMap<(WorkspaceId, String), Sum>,
}

impl Fold {
    fn new(loaded: Vec<Loaded>) -> Self {
        let mut fold = Self::default();
        for row in loaded.into_iter().flat_map(|loaded| loaded.rows) {
            fold.know(&row);
        }
        fold
    }

    fn know(&mut self, row: &Row) -> Option<()> {
        let workspace = WorkspaceId::from_uuid(row[0].as_id()?);
        if let Some(kind) = row[1].as_text() {
            let sum = Sum {
                count: row[2].as_int()?,
                revision: Position(row[3].as_int()?),
                ..Sum::default()
            };
            self.kinds.insert((workspace, kind.to_owned()), sum);
            return Some(());
        }
        let sum = Sum {
            count: row[2].as_int()?,
            amount: row[3].as_int()?,
            last: row[4].as_text()?.to_owned(),
            revision: Position(row[5].as_int()?),
        };
        let contact = ContactId::from_uuid(row[1].as_id()?);
        self.contacts.insert((workspace, contact), sum);
        Some(())
    }

    fn take(&mut self, at: Position, of: (WorkspaceId, ContactId), deed: &Deed<'_>) {
        self.contacts.entry(of).or_default().take(at, deed);
        let kind = (of.0, deed.event.to_owned());
        self.kinds.entry(kind).or_default().take(at, deed);
    }

    fn finish(self) -> Folded {
        let contacts = self
            .contacts
            .into_iter()
            .map(|((workspace, contact), sum)| {
                let key = [workspace.into(), contact.into()].into_iter();
                let values = [sum.count.into(), sum.amount.into(), sum.last.into()];
                let values = values.into_iter().chain([sum.revision.0.into()]);
                Change::put(&UPSERTED, &SUMMARY, key.chain(values).collect())
            });
        let kinds = self.kinds.into_iter().map(|((workspace, kind), sum)| {
            let row = vec![workspace.into(), kind.into(), sum.count.into()];
            let row = [row, vec![sum.revision.0.into()]].concat();
            Change::put(&UPSERTED, &COUNT, row)
        });
        Folded {
            changes: contacts.chain(kinds).collect(),
            ..Folded::default()
        }
    }
}

impl Sum {
    /// An event that was taken before changes nothing.
    fn take(&mut self, at: Position, deed: &Deed<'_>) {
        if at <= self.revision {
            return;
        }
        self.count += 1;
        self.amount += deed.properties.amount;
        deed.event.clone_into(&mut self.last);
        self.revision = at;
    }
}
