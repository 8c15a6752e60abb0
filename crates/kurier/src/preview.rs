//! Who would be in a segment: found by looking at everyone, or remembered from the last look.
//! What is remembered carries the position it was found at, and counts only while nothing
//! that the expression reads has changed since: it is never older than a fresh look.

use std::sync::Arc;
use std::time::Duration;

use kurier_core::expr::Checked;
use kurier_core::id::WorkspaceId;
use kurier_core::keys::{self, Key, Ttls};
use kurier_core::realm::Realm;
use kurier_core::segment::Preview;
use kurier_core::time::Timestamp;
use kurier_store::kv::{Kv, KvExt as _};

use crate::flow::Reactor;

/// So many contacts are shown of those found.
const SAMPLE: usize = 10;
/// Up to this many contacts are looked at sooner than anyone could be asked.
const CONTACTS_MIN: usize = 100_000;
/// Looking takes milliseconds: a keyspace that is slower, or away, is not waited for.
const PATIENCE: Duration = Duration::from_millis(50);

pub struct Previews {
    reactor: Arc<Reactor>,
    keyspace: Arc<dyn Kv>,
    ttls: Ttls,
    contacts_min: usize,
}

impl Previews {
    pub fn new(reactor: Arc<Reactor>, keyspace: Arc<dyn Kv>, ttls: Ttls) -> Self {
        Self {
            reactor,
            keyspace,
            ttls,
            contacts_min: CONTACTS_MIN,
        }
    }

    /// Remembers also what a few contacts have to say.
    #[must_use]
    pub fn with_contacts_min(self, contacts_min: usize) -> Self {
        Self {
            contacts_min,
            ..self
        }
    }

    /// Who is in it now.
    pub async fn now(
        &self,
        workspace: WorkspaceId,
        checked: Checked,
        now: Timestamp,
    ) -> Result<Preview, tokio::task::JoinError> {
        if self.contacts(workspace) < self.contacts_min {
            return self.at(workspace, checked, now).await;
        }
        let key = keys::preview(workspace, &checked, &self.ttls);
        if let Some(known) = self.remembered(workspace, &key, &checked, now).await {
            return Ok(known);
        }
        let found = self.at(workspace, checked, now).await?;
        self.remember(&key, &found).await;
        Ok(found)
    }

    /// Who is in it at an instant.
    pub async fn at(
        &self,
        workspace: WorkspaceId,
        checked: Checked,
        now: Timestamp,
    ) -> Result<Preview, tokio::task::JoinError> {
        let reactor = self.reactor.clone();
        let look = move || match reactor.engines().get(&workspace) {
            Some(engine) => look(engine.realm(), &checked, now),
            None => look(&Realm::default(), &checked, now),
        };
        tokio::task::spawn_blocking(look).await
    }

    fn contacts(&self, workspace: WorkspaceId) -> usize {
        let engines = self.reactor.engines();
        let engine = engines.get(&workspace);
        engine.map_or(0, |engine| engine.realm().world().live())
    }

    async fn remembered(
        &self,
        workspace: WorkspaceId,
        key: &Key<Preview>,
        checked: &Checked,
        now: Timestamp,
    ) -> Option<Preview> {
        let asked = tokio::time::timeout(PATIENCE, self.keyspace.get(key.text())).await;
        let known = key.decode(&asked.ok()?.ok()??)?;
        let engines = self.reactor.engines();
        let realm = engines.get(&workspace)?.realm();
        let last_change = realm.last_change(&checked.plan.reads());
        known.is_true(last_change, now).then_some(known)
    }

    /// Only speed is lost if this fails.
    async fn remember(&self, key: &Key<Preview>, found: &Preview) {
        let set = self
            .keyspace
            .set(key.text(), key.encode(found), key.ttl_ms());
        match tokio::time::timeout(PATIENCE, set).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "a preview is not remembered"),
            Err(_) => tracing::debug!("a preview is not remembered: the keyspace is slow"),
        }
    }
}

fn look(realm: &Realm, checked: &Checked, now: Timestamp) -> Preview {
    let scan = realm.preview(checked, now);
    let sample = scan.members.iter().take(SAMPLE);
    Preview {
        count: scan.members.len(),
        sample: sample
            .map(|number| realm.world().contact_id(number))
            .collect(),
        last_calculated: now,
        position: realm.world().position(),
        until: scan.until,
    }
}
