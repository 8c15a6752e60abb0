//! What operators did: one row for each of their acts, in the order of the log.

use serde::Deserialize;

use super::table::ColumnKind::{Id, Int, Text};
use super::{
    Cell, Change, Column, Folded, Loaded, Need, Projection, Repeat, Row, Table, UnreadableRow,
};
use crate::event::{Kind, Position, Recorded, Signed};
use crate::time::Timestamp;

pub const AUDIT: Table = Table {
    name: "audit",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("position", Int),
        Column::new("at", Int),
        Column::new("kind", Text),
        Column::new("subject", Text),
        Column::new("operator", Text),
    ],
};

/// An act of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub position: Position,
    pub at: Timestamp,
    pub kind: Kind,
    /// What it was done to: a contact's id where it was one, else a name or id.
    pub subject: Option<String>,
    /// Who did it: an API key by its id, or the command line.
    pub operator: Option<String>,
}

/// The projection of [`AUDIT`].
pub struct Audit;

impl Projection for Audit {
    fn name(&self) -> &'static str {
        "audit"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[&AUDIT]
    }

    fn folds(&self, kind: Kind) -> bool {
        kind.is_of_operator()
    }

    fn repeat(&self) -> Repeat {
        Repeat::EventRows
    }

    fn needs(&self, _: &[Recorded]) -> Vec<Need> {
        Vec::new()
    }

    fn follows(&self, _: &[Loaded]) -> Vec<Need> {
        Vec::new()
    }

    fn fold(&self, _: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow> {
        let mut folded = Folded::default();
        for act in events.iter().filter(|it| self.folds(it.event.kind)) {
            match row(act) {
                Ok(row) => folded.changes.push(Change::Put(&AUDIT, row)),
                Err(error) => folded.poison.push((act.position, error.to_string())),
            }
        }
        Ok(folded)
    }
}

fn row(recorded: &Recorded) -> serde_json::Result<Row> {
    let signed: Signed = serde_json::from_str(&recorded.event.payload)?;
    Ok(vec![
        recorded.workspace.into(),
        Cell::Int(recorded.position.0),
        recorded.event.recorded_at.into(),
        recorded.event.kind.as_str().into(),
        subject(recorded).into(),
        signed.by.into(),
    ])
}

/// Of what is a contact's only its id: the payload goes when the contact is erased.
fn subject(recorded: &Recorded) -> Option<String> {
    if let Some(contact) = recorded.event.contact {
        return Some(contact.to_string());
    }
    let about: About = serde_json::from_str(&recorded.event.payload).ok()?;
    let of_kind = about.email.or(about.name).or(about.segment);
    let of_kind = of_kind.or(about.journey);
    of_kind.or(about.template).or(about.channel).or(about.id)
}

/// Where the payloads of operators' acts say what they were done to.
#[derive(Default, Deserialize)]
#[serde(default)]
struct About {
    email: Option<String>,
    name: Option<String>,
    segment: Option<String>,
    journey: Option<String>,
    template: Option<String>,
    channel: Option<String>,
    id: Option<String>,
}

/// Reads a row of [`AUDIT`]; `None` if it is not one that this version wrote.
pub fn audit_of_row(row: &Row) -> Option<AuditEntry> {
    let text = |column: usize| row.get(column)?.as_text().map(str::to_owned);
    Some(AuditEntry {
        position: Position(row.get(1)?.as_int()?),
        at: Timestamp::from_micros(row.get(2)?.as_int()?),
        kind: row.get(3)?.as_text()?.parse().ok()?,
        subject: text(4),
        operator: text(5),
    })
}
