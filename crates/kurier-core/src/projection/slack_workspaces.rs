//! The Slack workspaces of a workspace, those that were archived among them.

use std::collections::BTreeMap;

use super::table::ColumnKind::{Id, Int, Text};
use super::{Cell, Change, Column, Folded, Loaded, Need, Projection, Row, Table, UnreadableRow};
use crate::event::{Kind, Position, Recorded};
use crate::id::{SlackWorkspaceId, WorkspaceId};
use crate::slack_workspace::{Archival, Definition, SlackWorkspace, Stated};
use crate::time::Timestamp;

pub const SLACK_WORKSPACE: Table = Table {
    name: "slack_workspace",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("id", Id),
        Column::new("name", Text),
        Column::new("category", Text),
        Column::new("default_channel", Text),
        Column::new("secrets", Text),
        Column::new("sealed", Text),
        Column::new("created_at", Int),
        Column::new("changed_at", Int),
        Column::new("archived_at", Int),
        Column::new("revision", Int),
    ],
};

/// The projection of [`SLACK_WORKSPACE`].
pub struct SlackWorkspaces;

impl Projection for SlackWorkspaces {
    fn name(&self) -> &'static str {
        "slack_workspaces"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[&SLACK_WORKSPACE]
    }

    fn folds(&self, kind: Kind) -> bool {
        is_about_one(kind)
    }

    fn needs(&self, events: &[Recorded]) -> Vec<Need> {
        let named = events.iter().filter_map(|recorded| {
            let id = named_in(recorded)?;
            Some(vec![recorded.workspace.into(), Cell::Id(id.as_uuid())])
        });
        vec![Need::new(&SLACK_WORKSPACE, named.collect())]
    }

    fn follows(&self, _: &[Loaded]) -> Vec<Need> {
        Vec::new()
    }

    fn fold(&self, loaded: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow> {
        let mut fold = Fold::default();
        for Loaded { table, rows } in loaded {
            for row in rows {
                let read = slack_workspace_of_row(&row);
                let (workspace, known, _) = read.ok_or_else(|| UnreadableRow::new(table, &row))?;
                fold.known.insert((workspace, known.id), known);
            }
        }
        events.iter().for_each(|recorded| fold.event(recorded));
        Ok(fold.folded)
    }
}

/// The one an event is about; all three kinds say which in the same way.
fn named_in(recorded: &Recorded) -> Option<SlackWorkspaceId> {
    if !is_about_one(recorded.event.kind) {
        return None;
    }
    let read = serde_json::from_str::<Archival>(&recorded.event.payload);
    Some(read.ok()?.id)
}

const fn is_about_one(kind: Kind) -> bool {
    use Kind::{SlackWorkspaceArchived, SlackWorkspaceCreated, SlackWorkspaceUpdated};
    matches!(
        kind,
        SlackWorkspaceCreated | SlackWorkspaceUpdated | SlackWorkspaceArchived
    )
}

#[derive(Default)]
struct Fold {
    known: BTreeMap<(WorkspaceId, SlackWorkspaceId), SlackWorkspace>,
    folded: Folded,
}

impl Fold {
    fn event(&mut self, recorded: &Recorded) {
        let result = match recorded.event.kind {
            Kind::SlackWorkspaceCreated | Kind::SlackWorkspaceUpdated => self.stated(recorded),
            Kind::SlackWorkspaceArchived => self.archived(recorded),
            _ => Ok(()),
        };
        if let Err(error) = result {
            let reason = (recorded.position, error.to_string());
            self.folded.poison.push(reason);
        }
    }

    fn stated(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let stated: Stated = serde_json::from_str(&recorded.event.payload)?;
        let at = recorded.event.recorded_at;
        let known = self.known.get(&(recorded.workspace, stated.id));
        let now = SlackWorkspace {
            id: stated.id,
            definition: stated.definition,
            secrets: stated.secrets,
            created_at: known.map_or(at, |known| known.created_at),
            changed_at: at,
            archived_at: None,
            revision: recorded.position,
        };
        self.put(recorded.workspace, now, stated.sealed);
        Ok(())
    }

    /// Its secrets go: nothing is sent there any more.
    fn archived(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let archival: Archival = serde_json::from_str(&recorded.event.payload)?;
        let known = self.known.get(&(recorded.workspace, archival.id));
        if let Some(known) = known.filter(|known| known.archived_at.is_none()).cloned() {
            let at = recorded.event.recorded_at;
            let now = SlackWorkspace {
                secrets: Vec::new(),
                changed_at: at,
                archived_at: Some(at),
                revision: recorded.position,
                ..known
            };
            self.put(recorded.workspace, now, None);
        }
        Ok(())
    }

    fn put(&mut self, workspace: WorkspaceId, now: SlackWorkspace, sealed: Option<String>) {
        let row = row_of(workspace, &now, sealed);
        self.folded.changes.push(Change::Put(&SLACK_WORKSPACE, row));
        self.known.insert((workspace, now.id), now);
    }
}

fn row_of(workspace: WorkspaceId, now: &SlackWorkspace, sealed: Option<String>) -> Row {
    let secrets = serde_json::to_string(&now.secrets).expect("a list of texts serialises");
    vec![
        workspace.into(),
        Cell::Id(now.id.as_uuid()),
        now.definition.name.as_str().into(),
        now.definition.category.clone().into(),
        now.definition.default_channel.clone().into(),
        secrets.into(),
        sealed.into(),
        now.created_at.into(),
        now.changed_at.into(),
        now.archived_at.into(),
        now.revision.0.into(),
    ]
}

/// Reads a row of [`SLACK_WORKSPACE`], its sealed secrets apart; `None` if it is not one that
/// this version wrote.
pub fn slack_workspace_of_row(row: &Row) -> Option<(WorkspaceId, SlackWorkspace, Option<String>)> {
    let time = |column: usize| row.get(column)?.as_int().map(Timestamp::from_micros);
    let text = |column: usize| row.get(column)?.as_text().map(str::to_owned);
    let now = SlackWorkspace {
        id: SlackWorkspaceId::from_uuid(row.get(1)?.as_id()?),
        definition: Definition {
            name: text(2)?,
            category: text(3),
            default_channel: text(4),
        },
        secrets: serde_json::from_str(row.get(5)?.as_text()?).ok()?,
        created_at: time(7)?,
        changed_at: time(8)?,
        archived_at: time(9),
        revision: Position(row.get(10)?.as_int()?),
    };
    let workspace = WorkspaceId::from_uuid(row.first()?.as_id()?);
    Some((workspace, now, text(6)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::id::EventId;

    const W: WorkspaceId = WorkspaceId::from_bytes([1; 16]);

    fn at(position: i64, kind: Kind, payload: &str) -> Recorded {
        let time = Timestamp::from_micros(position * 1_000_000);
        Recorded {
            position: Position(position),
            workspace: W,
            event: Event {
                id: EventId::of_message(&position.to_string()),
                kind,
                contact: None,
                occurred_at: time,
                recorded_at: time,
                payload: payload.to_owned(),
            }
            .into(),
        }
    }

    fn history() -> Vec<Recorded> {
        let id = SlackWorkspaceId::from_bytes([2; 16]);
        let stated = format!(
            r#"{{"id":"{id}","name":"A","category":"c","sealed":"c2Vj","secrets":["bot_token"]}}"#
        );
        let updated = format!(r#"{{"id":"{id}","name":"B"}}"#);
        let archived = format!(r#"{{"id":"{id}"}}"#);
        vec![
            at(1, Kind::SlackWorkspaceCreated, &stated),
            at(2, Kind::SlackWorkspaceUpdated, &updated),
            at(3, Kind::SlackWorkspaceArchived, &archived),
            at(4, Kind::SlackWorkspaceArchived, &archived),
            at(5, Kind::SlackWorkspaceUpdated, "{}"),
        ]
    }

    /// Folds in batches of this size, with rows kept between.
    fn folded(size: usize) -> (Vec<Row>, usize) {
        let (mut rows, mut poison) = (BTreeMap::new(), 0);
        for events in history().chunks(size) {
            let loaded = vec![Loaded {
                table: &SLACK_WORKSPACE,
                rows: rows.values().cloned().collect(),
            }];
            let folded = SlackWorkspaces.fold(loaded, events).expect("readable");
            poison += folded.poison.len();
            for change in folded.changes {
                let Change::Put(_, row) = change else {
                    panic!("nothing is dropped")
                };
                rows.insert(row[1].clone(), row);
            }
        }
        (rows.into_values().collect(), poison)
    }

    #[test]
    fn in_batches_of_any_size_the_last_word_counts_and_secrets_go_with_the_archival() {
        let (rows, poison) = folded(9);
        let (_, now, sealed) = slack_workspace_of_row(&rows[0]).expect("readable");
        assert_eq!((rows.len(), poison, sealed), (1, 1, None));
        assert_eq!(now.definition.name, "B");
        assert_eq!(now.definition.category, None);
        assert_eq!(now.revision, Position(3), "archived once");
        assert_eq!(now.created_at, Timestamp::from_micros(1_000_000));
        for size in 1..=4 {
            assert_eq!(folded(size), (rows.clone(), 1), "batches of {size}");
        }
    }

    #[test]
    fn what_is_sealed_is_kept_apart_from_what_is_shown() {
        let first = &history()[..1];
        let folded = SlackWorkspaces.fold(Vec::new(), first).expect("readable");
        let Change::Put(_, row) = &folded.changes[0] else {
            panic!("a row")
        };
        let (workspace, now, sealed) = slack_workspace_of_row(row).expect("readable");
        assert_eq!((workspace, sealed.as_deref()), (W, Some("c2Vj")));
        assert_eq!(now.secrets, ["bot_token"]);
        assert!(!serde_json::to_string(&now).expect("JSON").contains("c2Vj"));
    }
}
