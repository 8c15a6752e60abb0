//! What was published, as versions that can be proven: each with what it came from, and all
//! that was shown for it.

mod row;
mod source;

pub use row::{Anchor, PublishedVersion, VersionProof, published_of_row, version_proof_of_row};

use std::collections::BTreeMap;

use super::table::ColumnKind::{Id, Int, Text};
use super::{
    Cell, Change, Column, Folded, Loaded, Need, Projection, Repeat, Row, Table, UnreadableRow,
};
use crate::bundle::{Digest, Kind as Artefact, Proving, Version};
use crate::event::{Kind, Recorded};
use crate::id::WorkspaceId;
use row::{head_of_row, proof_row, row_of};
use source::Source;

pub const PUBLISHED_VERSION: Table = Table {
    name: "published_version",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("id", Text),
        Column::new("kind", Text),
        Column::new("name", Text),
        Column::new("content_sha256", Text),
        Column::new("parents", Text),
        Column::new("anchor", Text),
        Column::new("published_at", Int),
        Column::new("changed_at", Int),
        Column::new("revision", Int),
    ],
};

/// The newest version of each artefact that others can come from.
pub const PUBLISHED_HEAD: Table = Table {
    name: "published_head",
    key: 3,
    columns: &[
        Column::new("workspace", Id),
        Column::new("kind", Text),
        Column::new("name", Text),
        Column::new("version", Text),
    ],
};

/// What was shown for a version: after a reorg its transaction may be in another block.
pub const VERSION_PROOF: Table = Table {
    name: "version_proof",
    key: 3,
    columns: &[
        Column::new("workspace", Id),
        Column::new("version", Text),
        Column::new("proof", Text),
        Column::new("commitment", Text),
        Column::new("tx", Text),
        Column::new("bump", Text),
        Column::new("header", Text),
        Column::new("attached_at", Int),
        Column::new("revision", Int),
    ],
};

/// The projection of [`PUBLISHED_VERSION`], [`PUBLISHED_HEAD`] and [`VERSION_PROOF`].
pub struct Versions;

impl Projection for Versions {
    fn name(&self) -> &'static str {
        "versions"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[&PUBLISHED_VERSION, &PUBLISHED_HEAD, &VERSION_PROOF]
    }

    fn folds(&self, kind: Kind) -> bool {
        kind == Kind::VersionProven || Source::is_told_by(kind)
    }

    /// What a journey came from depends on when it was published: told again later, it would
    /// seem to have come from other templates.
    fn repeat(&self) -> Repeat {
        Repeat::Remembered
    }

    fn needs(&self, events: &[Recorded]) -> Vec<Need> {
        let (mut heads, mut versions) = (Vec::new(), Vec::new());
        for recorded in events {
            let workspace = recorded.workspace;
            for source in Source::of(recorded).iter().flatten() {
                heads.extend(source.uses.iter().map(|used| head_key(workspace, used)));
            }
            if let Some(Ok(proving)) = proving_of(recorded) {
                let named = proving.versions.iter();
                versions.extend(named.map(|subject| version_key(workspace, &subject.version)));
            }
        }
        vec![
            Need::new(&PUBLISHED_HEAD, heads),
            Need::new(&PUBLISHED_VERSION, versions),
        ]
    }

    fn follows(&self, _: &[Loaded]) -> Vec<Need> {
        Vec::new()
    }

    fn fold(&self, loaded: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow> {
        let mut fold = Fold::default();
        for Loaded { table, rows } in loaded {
            for row in rows {
                let read = fold.know(table, &row);
                read.ok_or_else(|| UnreadableRow::new(table, &row))?;
            }
        }
        events.iter().for_each(|recorded| fold.event(recorded));
        Ok(fold.folded)
    }
}

/// An artefact by kind and name, whichever version of it.
type Named = (Artefact, String);

fn head_key(workspace: WorkspaceId, (kind, name): &Named) -> Vec<Cell> {
    vec![workspace.into(), kind.as_str().into(), name.as_str().into()]
}

fn version_key(workspace: WorkspaceId, id: &Digest) -> Vec<Cell> {
    vec![workspace.into(), id.to_string().into()]
}

fn proving_of(recorded: &Recorded) -> Option<serde_json::Result<Proving>> {
    let is_one = recorded.event.kind == Kind::VersionProven;
    is_one.then(|| serde_json::from_str(&recorded.event.payload))
}

#[derive(Default)]
struct Fold {
    heads: BTreeMap<(WorkspaceId, Named), Digest>,
    versions: BTreeMap<(WorkspaceId, Digest), PublishedVersion>,
    folded: Folded,
}

impl Fold {
    fn know(&mut self, table: &'static Table, row: &Row) -> Option<()> {
        if table == &PUBLISHED_HEAD {
            let (workspace, named, id) = head_of_row(row)?;
            self.heads.insert((workspace, named), id);
        } else {
            let (workspace, known) = published_of_row(row)?;
            self.versions.insert((workspace, known.id), known);
        }
        Some(())
    }

    fn event(&mut self, recorded: &Recorded) {
        let told = match proving_of(recorded) {
            Some(proving) => proving
                .map_err(|error| error.to_string())
                .and_then(|proving| self.proven(recorded, &proving)),
            None => self.published(recorded),
        };
        if let Err(reason) = told {
            self.folded.poison.push((recorded.position, reason));
        }
    }

    fn published(&mut self, recorded: &Recorded) -> Result<(), String> {
        let sources = Source::of(recorded)?;
        let published = sources.into_iter().map(|it| self.version(recorded, it));
        published.collect()
    }

    fn version(&mut self, recorded: &Recorded, source: Source) -> Result<(), String> {
        let workspace = recorded.workspace;
        let parents = source.uses.iter();
        let parents = parents.filter_map(|used| self.heads.get(&(workspace, used.clone())));
        let parents = parents.copied().collect();
        let version = Version::new(source.kind, &source.title, &source.content, parents);
        let version = version.map_err(|fault| fault.to_string())?;
        let at = recorded.event.recorded_at;
        let known = PublishedVersion {
            id: version.id(),
            version,
            anchor: Anchor::None,
            published_at: at,
            changed_at: at,
            revision: recorded.position,
        };
        for named in source.heads {
            self.put_head(workspace, named, known.id);
        }
        self.put(workspace, known);
        Ok(())
    }

    fn proven(&mut self, recorded: &Recorded, proving: &Proving) -> Result<(), String> {
        let workspace = recorded.workspace;
        let mut unknown = 0;
        for subject in &proving.versions {
            let Some(known) = self.versions.get(&(workspace, subject.version)) else {
                unknown += 1;
                continue;
            };
            let mut known = known.clone();
            known.anchor = known.anchor.max(Anchor::of(proving));
            known.changed_at = recorded.event.recorded_at;
            known.revision = recorded.position;
            self.put(workspace, known);
            let row = proof_row(recorded, subject, proving);
            self.folded.changes.push(Change::Put(&VERSION_PROOF, row));
        }
        match unknown {
            0 => Ok(()),
            count => Err(format!("{count} of its versions were never published")),
        }
    }

    fn put(&mut self, workspace: WorkspaceId, known: PublishedVersion) {
        let row = row_of(workspace, &known);
        let change = Change::Put(&PUBLISHED_VERSION, row);
        self.folded.changes.push(change);
        self.versions.insert((workspace, known.id), known);
    }

    fn put_head(&mut self, workspace: WorkspaceId, named: Named, id: Digest) {
        let mut row = head_key(workspace, &named);
        row.push(id.to_string().into());
        self.folded.changes.push(Change::Put(&PUBLISHED_HEAD, row));
        self.heads.insert((workspace, named), id);
    }
}

#[cfg(test)]
mod tests;
