//! The templates of a workspace and all their versions.

mod row;

pub use row::{TemplateSummary, TemplateVersion, template_of_row, template_version_of_row};

use std::collections::BTreeMap;

use super::table::ColumnKind::{Id, Int, Text};
use super::{Cell, Change, Column, Folded, Loaded, Need, Projection, Table, UnreadableRow};
use crate::event::{Kind, Recorded};
use crate::id::{TemplateId, WorkspaceId};
use crate::template::{Publication, Retirement};
use row::{row_of, version_row};

pub const TEMPLATE: Table = Table {
    name: "template",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("id", Id),
        Column::new("name", Text),
        Column::new("version", Int),
        Column::new("topic", Text),
        Column::new("hash", Text),
        Column::new("reads", Text),
        Column::new("created_at", Int),
        Column::new("changed_at", Int),
        Column::new("retired_at", Int),
    ],
};

pub const TEMPLATE_VERSION: Table = Table {
    name: "template_version",
    key: 3,
    columns: &[
        Column::new("workspace", Id),
        Column::new("template", Id),
        Column::new("version", Int),
        Column::new("document", Text),
        Column::new("hash", Text),
        Column::new("published_at", Int),
    ],
};

/// The projection of [`TEMPLATE`] and [`TEMPLATE_VERSION`].
pub struct Templates;

impl Projection for Templates {
    fn name(&self) -> &'static str {
        "templates"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[&TEMPLATE, &TEMPLATE_VERSION]
    }

    fn folds(&self, kind: Kind) -> bool {
        matches!(kind, Kind::TemplatePublished | Kind::TemplateRetired)
    }

    fn needs(&self, events: &[Recorded]) -> Vec<Need> {
        let named = events.iter().filter_map(|recorded| {
            let template = template_of(recorded)?;
            Some(key(recorded.workspace, template))
        });
        vec![Need::new(&TEMPLATE, named.collect())]
    }

    fn follows(&self, _: &[Loaded]) -> Vec<Need> {
        Vec::new()
    }

    fn fold(&self, loaded: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow> {
        let mut fold = Fold::default();
        for Loaded { table, rows } in loaded {
            for row in rows {
                let read = template_of_row(&row);
                let (workspace, template) = read.ok_or_else(|| UnreadableRow::new(table, &row))?;
                fold.templates.insert((workspace, template.id), template);
            }
        }
        events.iter().for_each(|recorded| fold.event(recorded));
        Ok(fold.folded)
    }
}

/// The template an event is about, if it is about one.
fn template_of(recorded: &Recorded) -> Option<TemplateId> {
    let payload = &recorded.event.payload;
    match recorded.event.kind {
        // Both say which one in the same way.
        Kind::TemplatePublished | Kind::TemplateRetired => {
            Some(serde_json::from_str::<Retirement>(payload).ok()?.id)
        }
        _ => None,
    }
}

fn key(workspace: WorkspaceId, template: TemplateId) -> Vec<Cell> {
    vec![workspace.into(), Cell::Id(template.as_uuid())]
}

#[derive(Default)]
struct Fold {
    templates: BTreeMap<(WorkspaceId, TemplateId), TemplateSummary>,
    folded: Folded,
}

impl Fold {
    fn event(&mut self, recorded: &Recorded) {
        let result = match recorded.event.kind {
            Kind::TemplatePublished => self.published(recorded),
            Kind::TemplateRetired => self.retired(recorded),
            _ => Ok(()),
        };
        if let Err(error) = result {
            let reason = (recorded.position, error.to_string());
            self.folded.poison.push(reason);
        }
    }

    fn published(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let published: Publication = serde_json::from_str(&recorded.event.payload)?;
        let at = recorded.event.recorded_at;
        let version = version_row(recorded.workspace, &published, at);
        let known = self.templates.get(&(recorded.workspace, published.id));
        let template = TemplateSummary {
            id: published.id,
            name: published.name,
            version: published.version,
            topic: published.topic,
            hash: published.hash,
            reads: published.reads,
            created_at: known.map_or(at, |known| known.created_at),
            changed_at: at,
            retired_at: None,
        };
        self.folded
            .changes
            .push(Change::Put(&TEMPLATE_VERSION, version));
        self.put(recorded.workspace, template);
        Ok(())
    }

    fn retired(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let retired: Retirement = serde_json::from_str(&recorded.event.payload)?;
        let known = self.templates.get(&(recorded.workspace, retired.id));
        if let Some(mut template) = known.cloned() {
            let at = recorded.event.recorded_at;
            (template.retired_at, template.changed_at) = (Some(at), at);
            self.put(recorded.workspace, template);
        }
        Ok(())
    }

    fn put(&mut self, workspace: WorkspaceId, template: TemplateSummary) {
        let row = row_of(workspace, &template);
        self.folded.changes.push(Change::Put(&TEMPLATE, row));
        self.templates.insert((workspace, template.id), template);
    }
}

#[cfg(test)]
mod tests;
