//! Deciding about documents takes a while and a core or two, so it is done beside the others.

use std::collections::HashMap;
use std::sync::Arc;

use kurier_core::content::{
    self, Decision, Diff, Document, Imported, Name, Numbers, Outline, Plan, Settings, Slugger,
};
use kurier_core::id::DocumentId;
use kurier_core::projection::{
    CONTENT_BODY, CONTENT_COUNTER, Need, content_body_of_row, content_used_of_row,
};
use kurier_store::{Result, Scope, Store};
use tokio::runtime::Handle;

use super::Source;
use super::library::{document_keys, unreadable};

/// What is to be decided.
pub(super) struct Work {
    pub store: Store,
    pub scope: Scope,
    pub sources: Arc<Vec<Source>>,
    pub settings: Settings,
    /// The places of the sources that it is about.
    pub fresh: Vec<usize>,
    /// Counters that are known already.
    pub numbers: Numbers,
}

/// What was decided about one of them.
pub(super) struct Decided {
    pub place: usize,
    /// Nothing, if nothing is to be written.
    pub imported: Option<Imported>,
    pub diff: Diff,
    pub refused: Option<String>,
}

pub(super) async fn decide(work: Work) -> Result<(Vec<Decided>, Numbers)> {
    let handle = Handle::current();
    let deciding = tokio::task::spawn_blocking(move || work.decide(&handle));
    let unavailable =
        |error: tokio::task::JoinError| kurier_store::Error::Unavailable(error.to_string());
    deciding.await.map_err(unavailable)?
}

type Outlined<'a> = (usize, std::result::Result<Outline<'a>, content::Error>);

impl Work {
    fn decide(mut self, handle: &Handle) -> Result<(Vec<Decided>, Numbers)> {
        let mut numbers = std::mem::take(&mut self.numbers);
        let slugger = Slugger::new(&self.settings);
        let old = handle.block_on(self.old())?;
        let mut all = Vec::with_capacity(self.fresh.len());
        for (place, outline) in self.outlines(&slugger) {
            let source = &self.sources[place];
            let outline = match outline {
                Ok(outline) => outline,
                Err(error) => {
                    all.push(refused(place, &error));
                    continue;
                }
            };
            let old = old.get(&DocumentId::of_source(&source.id));
            let plan = Plan::new(&source.id, old, &outline);
            handle.block_on(self.count(&plan, &mut numbers))?;
            let decision = plan.decide(&mut numbers);
            all.push(decided(place, source, old, decision));
        }
        Ok((all, numbers))
    }

    /// Reads the documents, on as many cores as there are.
    fn outlines<'a>(&'a self, slugger: &'a Slugger) -> Vec<Outlined<'a>> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let cores = cores.min(self.fresh.len());
        let read = |place: usize| {
            let source = &self.sources[place];
            (
                place,
                Outline::read(&source.text, Some(&source.id), slugger),
            )
        };
        if cores < 2 {
            return self.fresh.iter().map(|place| read(*place)).collect();
        }
        let mut all: Vec<Outlined<'_>> = std::thread::scope(|scope| {
            let share = |core: usize| self.fresh.iter().skip(core).step_by(cores);
            let readers: Vec<_> = (0..cores)
                .map(|core| {
                    let work = move || share(core).map(|place| read(*place)).collect::<Vec<_>>();
                    let reader = std::thread::Builder::new().spawn_scoped(scope, work);
                    // No thread can be had: then it is done here.
                    reader.map_err(|_| work())
                })
                .collect();
            let joined = readers.into_iter();
            joined
                .flat_map(|reader| match reader {
                    Ok(reader) => reader.join().expect("reading does not panic"),
                    Err(done) => done,
                })
                .collect()
        });
        all.sort_unstable_by_key(|(place, _)| *place);
        all
    }

    /// What was kept of them before.
    async fn old(&self) -> Result<HashMap<DocumentId, Document>> {
        let ids = self.fresh.iter();
        let ids: Vec<DocumentId> = ids
            .map(|place| DocumentId::of_source(&self.sources[*place].id))
            .collect();
        let need = Need::new(&CONTENT_BODY, document_keys(self.scope, &ids));
        let loaded = self.store.views.load(vec![need]).await?;
        let rows = loaded.iter().flat_map(|loaded| &loaded.rows);
        rows.map(|row| {
            let body = content_body_of_row(row).ok_or_else(|| unreadable(&CONTENT_BODY))?;
            Ok((body.document.id(), body.document))
        })
        .collect()
    }

    /// Loads the counters that new keys come from.
    async fn count(&self, plan: &Plan<'_>, numbers: &mut Numbers) -> Result<()> {
        loop {
            let lacking = numbers.lacking(plan.asks());
            if lacking.is_empty() {
                return Ok(());
            }
            let key = |name: &Name| {
                vec![
                    self.scope.0.into(),
                    name.node_type.as_str().into(),
                    name.identifier.as_str().into(),
                ]
            };
            let need = Need::new(&CONTENT_COUNTER, lacking.iter().map(key).collect());
            let loaded = self.store.views.load(vec![need]).await?;
            // What nobody has kept was never used.
            lacking.iter().for_each(|name| numbers.set(*name, 0));
            for row in loaded.iter().flat_map(|loaded| &loaded.rows) {
                let read = content_used_of_row(row);
                let (name, used) = read.ok_or_else(|| unreadable(&CONTENT_COUNTER))?;
                numbers.set(name, used);
            }
        }
    }
}

fn refused(place: usize, error: &content::Error) -> Decided {
    Decided {
        place,
        imported: None,
        diff: Diff::default(),
        refused: Some(error.to_string()),
    }
}

fn decided(place: usize, source: &Source, old: Option<&Document>, decision: Decision) -> Decided {
    let (imported, diff) = match decision {
        Decision::Unchanged => {
            let kept = old.map_or(0, |old| old.nodes.len());
            let diff = Diff {
                kept,
                ..Diff::default()
            };
            (None, diff)
        }
        Decision::Changed(change) => {
            let diff = Diff::new(old, &change);
            let imported = Imported {
                document: change.document,
                source: source.text.clone(),
                given: change.given,
                gone: change.gone,
            };
            (Some(imported), diff)
        }
    };
    Decided {
        place,
        imported,
        diff,
        refused: None,
    }
}
