//! Importing: what is already there as it is given is left alone; the rest is decided in one
//! piece and appended as one event, or not at all.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kurier_core::content::{Diff, Digest, Import, Imported, Key, Number, Numbers};
use kurier_core::event::{Kind, Position};
use kurier_core::id::DocumentId;
use kurier_core::projection::ContentDocument;
use kurier_store::Scope;

use super::decide::{Decided, Work, decide};
use super::{Error, Result, Source, TRIES_MAX, append, catch_up, last_number};
use crate::app::App;
use crate::fault;

/// What became of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub source_id: String,
    pub standing: Standing,
    /// Its own key, where it has one.
    pub key: Option<Key>,
    pub diff: Diff,
    /// Why its front matter could not be read.
    pub warning: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    New,
    Changed,
    /// It is there just so: nothing is written.
    Unchanged,
    /// It cannot be taken.
    Refused(String),
}

/// Imports documents, a portion at a time.
pub struct Importer<'a> {
    app: &'a App,
    scope: Scope,
    /// Nothing is written; what would be given is remembered here for the portions to come.
    dry: Option<Numbers>,
    /// The last event that was appended.
    pub position: Option<Position>,
}

impl<'a> Importer<'a> {
    pub fn new(app: &'a App, scope: Scope, is_dry: bool) -> Self {
        Self {
            app,
            scope,
            dry: is_dry.then(Numbers::default),
            position: None,
        }
    }

    /// Takes documents in, all of them together; answers what became of each.
    pub async fn take(&mut self, sources: Vec<Source>) -> Result<Vec<Outcome>> {
        let mut seen = BTreeSet::new();
        if let Some(twice) = sources.iter().find(|source| !seen.insert(&source.id)) {
            return Err(Error::Twice(twice.id.clone()));
        }
        let sources = Arc::new(sources);
        for _ in 0..TRIES_MAX {
            catch_up(self.app).await?;
            if let Some(outcomes) = self.once(&sources).await? {
                return Ok(outcomes);
            }
        }
        Err(Error::Overtaken)
    }

    /// `None` if another was faster.
    async fn once(&mut self, sources: &Arc<Vec<Source>>) -> Result<Option<Vec<Outcome>>> {
        let number = last_number(&self.app.store, self.scope).await? + 1;
        let known = self.known(sources).await?;
        let fresh = self.fresh(sources, &known).await?;
        if fresh.is_empty() {
            return Ok(Some(outcomes(sources, &known, Vec::new())));
        }
        let work = Work {
            store: self.app.store.clone(),
            scope: self.scope,
            sources: sources.clone(),
            settings: self.app.content_settings.clone(),
            fresh,
            numbers: self.dry.clone().unwrap_or_default(),
        };
        let (decided, numbers) = decide(work).await?;
        fault::point("content", "decided");
        let is_done = match &mut self.dry {
            Some(dry) => {
                *dry = numbers;
                true
            }
            None => self.append(number, &decided).await?,
        };
        fault::point("content", "appended");
        Ok(is_done.then(|| outcomes(sources, &known, decided)))
    }

    /// What is kept of these sources.
    async fn known(&self, sources: &[Source]) -> Result<HashMap<DocumentId, ContentDocument>> {
        let ids: Vec<DocumentId> = sources
            .iter()
            .map(|source| DocumentId::of_source(&source.id))
            .collect();
        let known = self.app.library.known(self.scope, &ids).await?;
        Ok(known.into_iter().map(|known| (known.id, known)).collect())
    }

    /// The places of those that are not there just so.
    async fn fresh(
        &self,
        sources: &Arc<Vec<Source>>,
        known: &HashMap<DocumentId, ContentDocument>,
    ) -> Result<Vec<usize>> {
        let settings = &self.app.content_settings;
        let held: Vec<Option<Digest>> = sources
            .iter()
            .map(|source| {
                let known = known.get(&DocumentId::of_source(&source.id))?;
                (known.settings == *settings).then_some(known.sha256)
            })
            .collect();
        let sources = sources.clone();
        let compare = move || {
            let same = |(source, held): (&Source, &Option<Digest>)| {
                held.is_some_and(|held| held == Digest::of_bytes(source.text.as_bytes()))
            };
            let each = sources.iter().zip(&held).enumerate();
            each.filter(|(_, pair)| !same(*pair))
                .map(|(at, _)| at)
                .collect()
        };
        let compared = tokio::task::spawn_blocking(compare).await;
        compared.map_err(|error| kurier_store::Error::Unavailable(error.to_string()).into())
    }

    async fn append(&mut self, number: Number, decided: &[Decided]) -> Result<bool> {
        let changed = decided.iter().filter_map(|it| it.imported.as_ref());
        let documents: Vec<Imported> = changed.cloned().collect();
        if documents.is_empty() {
            return Ok(true);
        }
        let import = Import::new(number, documents);
        let id = import.event_id(self.scope.0);
        let store = &self.app.store;
        let told = append(store, self.scope, id, Kind::ContentImported, &import).await?;
        self.position = told.or(self.position);
        Ok(told.is_some())
    }
}

fn outcomes(
    sources: &[Source],
    known: &HashMap<DocumentId, ContentDocument>,
    decided: Vec<Decided>,
) -> Vec<Outcome> {
    let mut decided: HashMap<usize, Decided> =
        decided.into_iter().map(|it| (it.place, it)).collect();
    let each = sources.iter().enumerate();
    each.map(|(at, source)| {
        let known = known.get(&DocumentId::of_source(&source.id));
        match decided.remove(&at) {
            Some(decided) => of_decided(source, known, decided),
            None => Outcome {
                source_id: source.id.clone(),
                standing: Standing::Unchanged,
                key: known.map(|known| known.key),
                diff: Diff {
                    kept: known.map_or(0, |known| known.nodes),
                    ..Diff::default()
                },
                warning: None,
            },
        }
    })
    .collect()
}

fn of_decided(source: &Source, known: Option<&ContentDocument>, decided: Decided) -> Outcome {
    let standing = match (decided.refused, &decided.imported, known) {
        (Some(reason), ..) => Standing::Refused(reason),
        (None, None, _) => Standing::Unchanged,
        (None, Some(_), Some(_)) => Standing::Changed,
        (None, Some(_), None) => Standing::New,
    };
    let document = decided.imported.as_ref().map(|it| &it.document);
    let key = document.and_then(|document| document.key());
    Outcome {
        source_id: source.id.clone(),
        standing,
        key: key.or(known.map(|known| known.key)),
        diff: decided.diff,
        warning: document.and_then(|document| document.front.fault.clone()),
    }
}
