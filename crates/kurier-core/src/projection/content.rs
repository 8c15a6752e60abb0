//! The documents of a workspace, whose key is whose, the counters that numbers come from, and
//! the imports that it all came with. Whatever an event says is written as it is: none of these
//! rows has to be known before.

mod row;

pub use row::{
    ContentBody, ContentDocument, ContentImport, ContentNode, content_body_of_row,
    content_document_of_row, content_import_of_row, content_node_of_row, content_used_of_row,
};

use super::table::ColumnKind::{Id, Int, Text};
use super::{Cell, Change, Column, Folded, Loaded, Need, Projection, Table, UnreadableRow};
use crate::content::{Import, Imported, Key, Withdrawal};
use crate::event::{Kind, Recorded, Signed};
use row::{Told, body_row, counter_row, document_row, import_row, node_row};

/// What is known of each document without reading it.
pub const CONTENT_DOCUMENT: Table = Table {
    name: "content_document",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("id", Id),
        Column::new("source_id", Text),
        Column::new("key", Text),
        Column::new("title", Text),
        Column::new("nodes", Int),
        Column::new("sha256", Text),
        Column::new("settings", Text),
        Column::new("collections", Text),
        Column::new("import", Int),
        Column::new("changed_at", Int),
        Column::new("revision", Int),
    ],
};

/// A document with all its nodes and its source, as JSON, which can hold any character.
pub const CONTENT_BODY: Table = Table {
    name: "content_body",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("id", Id),
        Column::new("body", Text),
    ],
};

/// Every key that was ever given.
pub const CONTENT_NODE: Table = Table {
    name: "content_node",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("key", Text),
        Column::new("document", Id),
        Column::new("gone_at", Int),
        Column::new("gone_by", Int),
    ],
};

/// How many numbers were given.
pub const CONTENT_COUNTER: Table = Table {
    name: "content_counter",
    key: 3,
    columns: &[
        Column::new("workspace", Id),
        Column::new("node_type", Text),
        Column::new("identifier", Text),
        Column::new("used", Int),
    ],
};

pub const CONTENT_IMPORT: Table = Table {
    name: "content_import",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("number", Int),
        Column::new("at", Int),
        Column::new("operator", Text),
        Column::new("documents", Int),
        Column::new("given", Int),
        Column::new("gone", Int),
    ],
};

/// The number of the last import.
pub const CONTENT_STATE: Table = Table {
    name: "content_state",
    key: 1,
    columns: &[Column::new("workspace", Id), Column::new("imports", Int)],
};

/// The projection of all tables of content.
pub struct Content;

impl Projection for Content {
    fn name(&self) -> &'static str {
        "content"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[
            &CONTENT_DOCUMENT,
            &CONTENT_BODY,
            &CONTENT_NODE,
            &CONTENT_COUNTER,
            &CONTENT_IMPORT,
            &CONTENT_STATE,
        ]
    }

    fn needs(&self, _: &[Recorded]) -> Vec<Need> {
        Vec::new()
    }

    fn follows(&self, _: &[Loaded]) -> Vec<Need> {
        Vec::new()
    }

    fn folds(&self, kind: Kind) -> bool {
        matches!(kind, Kind::ContentImported | Kind::ContentWithdrawn)
    }

    fn fold(&self, _: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow> {
        let mut fold = Fold::default();
        events.iter().for_each(|recorded| fold.event(recorded));
        Ok(fold.folded)
    }
}

#[derive(Default)]
struct Fold {
    folded: Folded,
}

impl Fold {
    fn event(&mut self, recorded: &Recorded) {
        let result = match recorded.event.kind {
            Kind::ContentImported => self.imported(recorded),
            Kind::ContentWithdrawn => self.withdrawn(recorded),
            _ => Ok(()),
        };
        if let Err(error) = result {
            let reason = (recorded.position, error.to_string());
            self.folded.poison.push(reason);
        }
    }

    fn imported(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let import: Import = serde_json::from_str(&recorded.event.payload)?;
        let told = Told::new(recorded, import.number, operator(recorded));
        self.number(&told, &import.documents, 0);
        for imported in &import.documents {
            let id = imported.document.id();
            self.put(&CONTENT_DOCUMENT, document_row(&told, &imported.document));
            self.put(&CONTENT_BODY, body_row(&told, imported)?);
            for key in &imported.given {
                self.put(&CONTENT_NODE, node_row(&told, *key, id, false));
                self.put(&CONTENT_COUNTER, counter_row(&told, *key));
            }
            self.gone(&told, id, &imported.gone);
        }
        Ok(())
    }

    fn withdrawn(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let withdrawal: Withdrawal = serde_json::from_str(&recorded.event.payload)?;
        let told = Told::new(recorded, withdrawal.number, operator(recorded));
        self.number(&told, &[], withdrawal.gone.len());
        let key: Vec<Cell> = vec![told.workspace.into(), Cell::Id(withdrawal.id.as_uuid())];
        for table in [&CONTENT_DOCUMENT, &CONTENT_BODY] {
            self.folded.changes.push(Change::Drop(table, key.clone()));
        }
        self.gone(&told, withdrawal.id, &withdrawal.gone);
        Ok(())
    }

    /// The keys stay, to answer that they are gone.
    fn gone(&mut self, told: &Told, document: crate::id::DocumentId, keys: &[Key]) {
        for key in keys {
            self.put(&CONTENT_NODE, node_row(told, *key, document, true));
        }
    }

    fn number(&mut self, told: &Told, documents: &[Imported], gone: usize) {
        let row = import_row(told, documents, gone);
        self.put(&CONTENT_IMPORT, row);
        let state = vec![told.workspace.into(), i64::from(told.number).into()];
        self.put(&CONTENT_STATE, state);
    }

    fn put(&mut self, table: &'static Table, row: super::Row) {
        self.folded.changes.push(Change::Put(table, row));
    }
}

fn operator(recorded: &Recorded) -> Option<String> {
    let signed = serde_json::from_str::<Signed>(&recorded.event.payload);
    signed.ok()?.by
}

#[cfg(test)]
mod tests;
