//! Content in the keyspace, where its documented keys are read without Kurier. It follows the read
//! model one step behind: what the generation of a tenant tells is compared with what is true, and
//! each document that differs is swapped in by itself. So whatever was lost is put back in the
//! same way as what is new.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use kurier_core::content::{Document, Keyspace, Manifest, Number, Siblings, Slugger};
use kurier_core::id::{DocumentId, WorkspaceId};
use kurier_core::keys::{CONTENT, Entry, Form, Key, Lifetime, Tenant, aside};
use kurier_store::documents::{Swap, Swapped, Taken, UPTO, swap};
use kurier_store::kv::{Command, Kv, KvExt as _, Reply};
use kurier_store::{Scope, Store};
use tokio::sync::Notify;

use super::last_numbers;
use super::library::{Held, Library};
use crate::clock;
use crate::config;
use crate::flow::edge::{Error, Result};
use crate::metrics as names;

/// How often to look whether something is new, or was lost.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A keyspace that does not answer is left alone, longer each time.
const REST_MIN: Duration = Duration::from_millis(100);
const REST_MAX: Duration = Duration::from_secs(5);
/// A document that changes while it is written is looked at again so often.
const TRIES_MAX: usize = 20;
const MODULE: &str = "content";
/// The field of a generation that says how the keys are written.
const MANNER: &str = "manner";
/// The revision of a document that does not stand there in this manner, and up to which import
/// all is there as long as there is such a one.
const NOT_YET: i64 = -1;

pub struct ContentEdge {
    store: Store,
    library: Arc<Library>,
    keyspace: Arc<dyn Kv>,
    form: Form,
    siblings: Siblings,
    wake: Notify,
}

impl ContentEdge {
    pub fn new(
        store: Store,
        library: Arc<Library>,
        keyspace: Arc<dyn Kv>,
        config: &config::Content,
    ) -> Self {
        Self {
            store,
            library,
            keyspace,
            form: config.form,
            siblings: config.siblings,
            wake: Notify::new(),
        }
    }

    /// Runs until the task is dropped.
    pub async fn run(&self) {
        let mut rest = REST_MIN;
        loop {
            match self.reconcile_all().await {
                Ok(()) => rest = REST_MIN,
                Err(error) => {
                    self.failed(&error, rest);
                    tokio::time::sleep(rest).await;
                    rest = (rest * 2).min(REST_MAX);
                    continue;
                }
            }
            let _ = tokio::time::timeout(LOOK_EVERY, self.wake.notified()).await;
        }
    }

    /// Only what is read without Kurier is missing while it stands still.
    fn failed(&self, error: &Error, rest: Duration) {
        metrics::counter!(names::EDGE_FAULTS, "module" => MODULE).increment(1);
        if rest == REST_MIN {
            tracing::warn!(module = MODULE, %error, "the edge stands still, will try again");
        }
    }

    /// Says that there is something new.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Makes the keyspace say what is true, of all workspaces.
    pub async fn reconcile_all(&self) -> Result<()> {
        for (workspace, number) in self.behind().await? {
            self.reconcile(workspace, number).await?;
        }
        Ok(())
    }

    /// Whether keys can be written in this manner: what is refused at the start is never begun.
    pub async fn check(&self) -> Result<()> {
        self.workspaces().await.map(drop)
    }

    /// Bare keys do not say whose they are, so there can be only one who has any.
    async fn workspaces(&self) -> Result<Vec<WorkspaceId>> {
        let workspaces = self.store.access.workspaces().await?;
        match self.form {
            Form::Bare if workspaces.len() > 1 => Err(Error::Shared(workspaces.len())),
            _ => Ok(workspaces.iter().map(|it| it.id).collect()),
        }
    }

    /// The workspaces whose generation does not tell of their last import, and that.
    async fn behind(&self) -> Result<Vec<(WorkspaceId, Number)>> {
        let ids = self.workspaces().await?;
        // Before the documents: they are at least as new.
        let numbers = last_numbers(&self.store, &ids).await?;
        let told = ids.iter().flat_map(|id| {
            let key = CONTENT.generation(&Tenant::from(*id)).into_text();
            [UPTO, MANNER].map(|field| Command::HashGet {
                key: key.clone(),
                field: field.to_owned(),
            })
        });
        let mut told = self.keyspace.run(told.collect()).await?.into_iter();
        let mut behind = Vec::new();
        for id in ids {
            let upto = told.next().map(Reply::value).transpose()?.flatten();
            let manner = told.next().map(Reply::value).transpose()?.flatten();
            let number = numbers.get(&id).copied().unwrap_or(0);
            let upto = upto.as_deref().and_then(number_of);
            let is_told = upto == Some(i64::from(number))
                && manner.as_deref() == Some(self.manner().as_bytes());
            if !is_told && (upto.is_some() || number > 0) {
                behind.push((id, number));
            }
        }
        Ok(behind)
    }

    async fn reconcile(&self, workspace: WorkspaceId, number: Number) -> Result<()> {
        let (scope, tenant) = (Scope(workspace), Tenant::from(workspace));
        let generation = CONTENT.generation(&tenant).into_text();
        let told = self.keyspace.hash_get_all(&generation).await?;
        let documents = self.library.documents(scope).await?;
        let mut known: HashMap<String, i64> = told
            .iter()
            .filter_map(|(field, text)| Some((field.clone(), number_of(text)?)))
            .filter(|(field, _)| field.parse::<DocumentId>().is_ok())
            .collect();
        if told.get(MANNER).map(Vec::as_slice) != Some(self.manner().as_bytes()) {
            self.turn(&generation, &mut known).await?;
        }
        for document in &documents {
            let held = known.remove(&document.id.to_string());
            let is_there = held == Some(document.revision.0);
            if !is_there && let Some(held) = self.library.held(scope, document).await? {
                self.swap(scope, number, document.id, Some(&held)).await?;
            }
        }
        // What is left of what stands there is true no more.
        for id in known.keys().filter_map(|id| id.parse().ok()) {
            self.swap(scope, number, id, None).await?;
        }
        self.tell(generation, number).await
    }

    /// How the keys are written: what stands there in another manner is written anew.
    fn manner(&self) -> String {
        format!("{:?} {:?}", self.form, self.siblings).to_lowercase()
    }

    /// Tells how keys are written from now on, and that no document is yet: each tells by
    /// itself when it is, so that nothing is done twice whatever comes in between.
    async fn turn(&self, generation: &str, known: &mut HashMap<String, i64>) -> Result<()> {
        known.values_mut().for_each(|revision| *revision = NOT_YET);
        let documents = known.iter();
        let mut fields: Vec<(String, Vec<u8>)> = documents
            .map(|(id, revision)| (id.clone(), revision.to_string().into_bytes()))
            .collect();
        let not_yet = NOT_YET.to_string().into_bytes();
        fields.push((UPTO.to_owned(), not_yet));
        fields.push((MANNER.to_owned(), self.manner().into_bytes()));
        self.write(generation.to_owned(), fields).await
    }

    async fn tell(&self, generation: String, number: Number) -> Result<()> {
        let upto = number.to_string().into_bytes();
        self.write(generation, vec![(UPTO.to_owned(), upto)]).await
    }

    async fn write(&self, generation: String, fields: Vec<(String, Vec<u8>)>) -> Result<()> {
        let told = Command::HashSet {
            key: generation,
            fields,
        };
        for reply in self.keyspace.run(vec![told]).await? {
            reply.integer()?;
        }
        Ok(())
    }

    /// Puts a document in the place of what stands there of it; or only takes that away.
    async fn swap(
        &self,
        scope: Scope,
        number: Number,
        id: DocumentId,
        held: Option<&Arc<Held>>,
    ) -> Result<()> {
        for tried in 0..TRIES_MAX {
            let swapping = self.planned(scope, number, id, held).await?;
            // Another has written just this meanwhile.
            if tried > 0 && held.is_some() && swapping.seen == Some(swapping.revision) {
                return Ok(());
            }
            match swap(self.keyspace.as_ref(), swapping).await? {
                Swapped::Done => {
                    metrics::counter!(names::EDGE_OPERATIONS, "module" => MODULE).increment(1);
                    return Ok(());
                }
                // Whoever wrote it knows more, and goes on.
                Swapped::Older => return Ok(()),
                Swapped::Changed => {}
            }
        }
        Err(Error::Restless(1))
    }

    async fn planned(
        &self,
        scope: Scope,
        number: Number,
        id: DocumentId,
        held: Option<&Arc<Held>>,
    ) -> Result<Swap> {
        let tenant = Tenant::from(scope.0);
        let key: Key<Entry<Manifest>> =
            CONTENT.entry(&tenant, &id.to_string(), Lifetime::FOREVER)?;
        let before = self.keyspace.run(vec![Command::Get {
            key: key.text().to_owned(),
        }]);
        let before = before.await?.into_iter().next();
        let before = before.map(Reply::value).transpose()?;
        let before = before.flatten().and_then(|bytes| key.decode(&bytes));
        let seen = before.as_ref().map(|entry| entry.revision.0);
        let taken = before.and_then(|entry| entry.value);
        let revision = held.map(|held| held.known.revision);
        let now = held.map(|held| Entry {
            revision: held.known.revision,
            as_of: None,
            value: Some(self.manifest(held)),
        });
        Ok(Swap {
            value: now.map(|now| key.encode(&now)),
            entry: key.into_text(),
            generation: CONTENT.generation(&tenant).into_text(),
            field: id.to_string(),
            revision: revision.map_or_else(|| seen.unwrap_or(0), |revision| revision.0),
            seen,
            number,
            aside: aside(&tenant, id, u64::from_le_bytes(clock::random())),
            taken: taken.map_or_else(Taken::default, |it| taken_of(&it, &tenant)),
            written: held.map_or_else(Vec::new, |held| self.written(&tenant, held)),
        })
    }

    fn manifest(&self, held: &Held) -> Manifest {
        Manifest::new(&held.body.document, &held.known.collections, self.form)
    }

    /// All keys of a document with what stands there.
    fn written(&self, tenant: &Tenant, held: &Held) -> Vec<kurier_core::content::Entry> {
        let document: &Document = &held.body.document;
        let slugger = Slugger::new(&document.settings);
        let keyspace = Keyspace::new(document, &held.body.source, self.siblings);
        let prefix = self.form.prefix(tenant);
        let entries = keyspace.entries(&slugger).map(|mut entry| {
            entry.key.insert_str(0, &prefix);
            entry
        });
        entries.collect()
    }
}

/// What to take away. A key that never was is no harm.
fn taken_of(manifest: &Manifest, tenant: &Tenant) -> Taken {
    let prefix = manifest.form.prefix(tenant);
    let placed = |key: &str| format!("{prefix}{key}");
    let members = manifest.members().into_iter().map(|(key, members)| {
        let members = members.iter().map(ToString::to_string);
        (placed(&key), members.collect())
    });
    Taken {
        keys: manifest.keys().map(|key| placed(&key)).collect(),
        members: members.collect(),
    }
}

fn number_of(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
