//! What is shown for versions, as events in the log; and committing to many of them at once.

use kurier_core::bundle::chain::Header;
use kurier_core::bundle::{
    Batch, Commitment, Digest, Evidence, EvidenceFault, Proving, Shown, Subject, leaf,
};
use kurier_core::event::{Event, Kind, Position};
use kurier_core::projection::{Anchor, PublishedVersion};
use kurier_store::{Appended, Error, Result, Scope, Store, VersionQuery};

use crate::clock;
use crate::operator::sign;

/// More versions than this are told of in several events.
pub const SUBJECTS_MAX: usize = 500;

/// What came of showing something.
#[derive(Debug)]
pub enum Showing {
    Done {
        position: Position,
        evidence: Evidence,
    },
    NoSuchVersion,
    Faulty(EvidenceFault),
}

/// A version by its id.
pub async fn find(store: &Store, scope: Scope, id: &Digest) -> Result<Option<PublishedVersion>> {
    let mut found = store.versions.published_among(scope, &[*id]).await?;
    Ok(found.pop())
}

/// Attaches what is shown for a version, once all of it was found to hold.
pub async fn show(
    store: &Store,
    scope: Scope,
    subject: Subject,
    shown: &Shown,
    best_at: impl Fn(u32) -> Option<Header>,
) -> Result<Showing> {
    let Some(version) = find(store, scope, &subject.version).await? else {
        return Ok(Showing::NoSuchVersion);
    };
    let root = subject.root(&scope.0.to_string(), &version.version.content_sha256);
    let evidence = root.and_then(|root| shown.read(&root, best_at));
    let evidence = match evidence {
        Ok(evidence) => evidence,
        Err(fault) => return Ok(Showing::Faulty(fault)),
    };
    let position = tell(store, scope, vec![evidence.proving(vec![subject])]).await?;
    Ok(Showing::Done { position, evidence })
}

/// Versions that no transaction commits to, as one batch.
pub struct Unanchored {
    pub versions: Vec<PublishedVersion>,
    batch: Batch,
}

impl Unanchored {
    /// None if there are none.
    pub async fn gather(store: &Store, scope: Scope) -> Result<Option<Self>> {
        let query = VersionQuery {
            anchor: Some(Anchor::None),
            limit: kurier_core::bundle::BATCH_MAX,
            ..VersionQuery::default()
        };
        let versions = store.versions.published(scope, &query).await?.versions;
        let tenant = scope.0.to_string();
        let leaves: Vec<Digest> = versions
            .iter()
            .map(|it| leaf(&tenant, &it.id, &it.version.content_sha256))
            .collect();
        Ok(Batch::new(&leaves).map(|batch| Self { versions, batch }))
    }

    /// What a transaction is to carry.
    pub fn root(&self) -> Digest {
        self.batch.root()
    }

    /// Tells of a transaction that carries the root.
    pub async fn anchored(
        &self,
        store: &Store,
        scope: Scope,
        evidence: &Evidence,
    ) -> Result<Position> {
        let subjects = self.versions.iter().enumerate().filter_map(|(index, it)| {
            let commitment = Commitment::Batch(self.batch.path(index)?);
            let version = it.id;
            Some(Subject {
                version,
                commitment,
            })
        });
        let subjects: Vec<Subject> = subjects.collect();
        let chunks = subjects.chunks(SUBJECTS_MAX);
        let provings = chunks.map(|chunk| evidence.proving(chunk.to_vec()));
        tell(store, scope, provings.collect()).await
    }
}

/// Where the last of it stands.
async fn tell(store: &Store, scope: Scope, provings: Vec<Proving>) -> Result<Position> {
    let events: Result<Vec<Event>> = provings.iter().map(event).collect();
    match store.log.append(scope, events?).await?.last() {
        Some(Appended::At(position)) => Ok(*position),
        _ => Err(Error::Damaged("a fresh event id was taken".into())),
    }
}

fn event(proving: &Proving) -> Result<Event> {
    let now = clock::now();
    Ok(sign(Event {
        id: clock::fresh_event_id(),
        kind: Kind::VersionProven,
        contact: None,
        occurred_at: now,
        recorded_at: now,
        payload: serde_json::to_string(proving).map_err(|e| Error::Damaged(e.to_string()))?,
    }))
}
