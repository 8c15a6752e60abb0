//! What is shown for versions, as events in the log; and committing to many of them at once.

use std::collections::BTreeMap;

use kurier_core::bundle::chain::Tree;
use kurier_core::bundle::{
    BATCH_MAX, Batch, Commitment, Digest, Evidence, EvidenceFault, Proving, Shown, State, Subject,
    Whereabouts, leaf, standing,
};
use kurier_core::event::{Event, Kind, Position};
use kurier_core::projection::{Anchor, PublishedVersion, VersionProof};
use kurier_store::{Appended, Error, Result, Scope, Store, VersionQuery};

use crate::bundle::chosen;
use crate::clock;
use crate::headers::Headers;
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
    headers: Option<&Headers>,
) -> Result<Showing> {
    let Some(version) = find(store, scope, &subject.version).await? else {
        return Ok(Showing::NoSuchVersion);
    };
    let root = subject.root(&scope.0.to_string(), &version.version.content_sha256);
    let evidence = root.and_then(|root| read(shown, &root, headers));
    let evidence = match evidence {
        Ok(evidence) => evidence,
        Err(fault) => return Ok(Showing::Faulty(fault)),
    };
    let position = tell(store, scope, vec![evidence.proving(vec![subject])]).await?;
    Ok(Showing::Done { position, evidence })
}

/// Reads what is shown, by the headers of now.
pub fn read(
    shown: &Shown,
    root: &Digest,
    headers: Option<&Headers>,
) -> std::result::Result<Evidence, EvidenceFault> {
    match headers {
        Some(headers) => headers.with_known(|known| shown.read(root, Some(known))),
        None => shown.read(root, None),
    }
}

/// Versions that no transaction commits to, or none that is in a block, as one batch.
pub struct Unanchored {
    pub versions: Vec<PublishedVersion>,
    batch: Batch,
}

impl Unanchored {
    /// Those that no transaction commits to; none if there are none.
    pub async fn gather(store: &Store, scope: Scope) -> Result<Option<Self>> {
        let versions = anchored_so(store, scope, Some(Anchor::None)).await?;
        Ok(Self::of(scope, versions))
    }

    /// These, and those whose transaction is in no block of the best branch: it may be lost.
    /// Without headers nobody can tell of one that was in a block once.
    pub async fn gather_again(
        store: &Store,
        scope: Scope,
        headers: Option<&Headers>,
    ) -> Result<Option<Self>> {
        let mut versions = anchored_so(store, scope, Some(Anchor::None)).await?;
        versions.extend(anchored_so(store, scope, Some(Anchor::Committed)).await?);
        if let Some(headers) = headers {
            for known in anchored_so(store, scope, Some(Anchor::Mined)).await? {
                let proofs = store.versions.version_proofs(scope, &known.id).await?;
                if headers.with_tree(|tree| is_off_chain(tree?, &proofs)) == Some(true) {
                    versions.push(known);
                }
            }
        }
        versions.truncate(BATCH_MAX);
        Ok(Self::of(scope, versions))
    }

    fn of(scope: Scope, versions: Vec<PublishedVersion>) -> Option<Self> {
        let tenant = scope.0.to_string();
        let leaves: Vec<Digest> = versions
            .iter()
            .map(|it| leaf(&tenant, &it.id, &it.version.content_sha256))
            .collect();
        Batch::new(&leaves).map(|batch| Self { versions, batch })
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

/// Versions that are anchored so far.
async fn anchored_so(
    store: &Store,
    scope: Scope,
    anchor: Option<Anchor>,
) -> Result<Vec<PublishedVersion>> {
    let query = VersionQuery {
        anchor,
        limit: BATCH_MAX,
        ..VersionQuery::default()
    };
    Ok(store.versions.published(scope, &query).await?.versions)
}

/// How many have a transaction that was never shown in a block.
pub async fn waiting(store: &Store, scope: Scope) -> Result<usize> {
    let waiting = anchored_so(store, scope, Some(Anchor::Committed)).await?;
    Ok(waiting.len())
}

/// Whether the best of what was shown is in a block that was replaced.
fn is_off_chain(tree: &Tree, proofs: &[VersionProof]) -> Option<bool> {
    let (bump, header) = chosen(Some(tree), proofs)?.block.as_ref()?;
    let block = Whereabouts::Block {
        height: bump.height(),
        hash: header.hash(),
    };
    Some(standing(tree, block).state == State::OffChain)
}

/// What came of showing one transaction for all that it commits to.
#[derive(Debug)]
pub enum ShowingBatch {
    Done {
        versions: usize,
        evidence: Evidence,
    },
    /// No version is known to be committed to by it.
    NotCommitted,
    /// It commits to some, and does not hold.
    Faulty(EvidenceFault),
}

/// Attaches what is shown to all versions that were committed to by the same root before: a
/// transaction commits to many, and its proof comes later, or from another block.
pub async fn show_batch(
    store: &Store,
    scope: Scope,
    shown: &Shown,
    headers: Option<&Headers>,
) -> Result<ShowingBatch> {
    let mut fault = None;
    for (root, subjects) in committed(store, scope).await? {
        match read(shown, &root, headers) {
            Ok(evidence) => {
                let chunks = subjects.chunks(SUBJECTS_MAX);
                let provings = chunks.map(|chunk| evidence.proving(chunk.to_vec()));
                tell(store, scope, provings.collect()).await?;
                let versions = subjects.len();
                return Ok(ShowingBatch::Done { versions, evidence });
            }
            Err(EvidenceFault::NotCommitted(_)) => {}
            Err(other) => fault = Some(other),
        }
    }
    Ok(fault.map_or(ShowingBatch::NotCommitted, ShowingBatch::Faulty))
}

/// All roots that were shown, each with the versions that lead to it.
async fn committed(store: &Store, scope: Scope) -> Result<BTreeMap<Digest, Vec<Subject>>> {
    let mut roots: BTreeMap<Digest, Vec<Subject>> = BTreeMap::new();
    let tenant = scope.0.to_string();
    let versions = anchored_so(store, scope, None).await?;
    for known in versions.iter().filter(|it| it.anchor != Anchor::None) {
        let proofs = store.versions.version_proofs(scope, &known.id).await?;
        for proof in proofs {
            let subject = Subject {
                version: known.id,
                commitment: proof.commitment,
            };
            let Ok(root) = subject.root(&tenant, &known.version.content_sha256) else {
                continue;
            };
            let subjects = roots.entry(root).or_default();
            if !subjects.contains(&subject) {
                subjects.push(subject);
            }
        }
    }
    Ok(roots)
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
