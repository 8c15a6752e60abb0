//! Proves that a read model is what the log says.
//!
//! The live tables are looked at as they stand at one moment, and the log is folded in the
//! shadow up to just that position; so nothing has to stop. What differs is looked at again: an
//! erasure that is under way makes a difference for a moment, a wrong row stays one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use kurier_core::event::Position;
use kurier_core::projection::{Cell, Difference, Digest, Projection, Row, Sample, Table};
use kurier_store::{Error, Result, Side, Store};
use tokio::sync::watch;

use super::Turn;
use super::build::{Build, Portion};
use super::work::{Stage, Work};

/// So often a difference is looked at before it is believed.
const LOOKS: usize = 3;
/// Of more differing rows than this only the first are named.
const NAMED_MAX: usize = 20;
/// So many rows of a table are held to find those that differ.
const SAMPLE_MAX: usize = 100_000;

/// What a verification found.
#[derive(Debug)]
pub struct Verified {
    /// Both sides were folded up to here.
    pub position: Position,
    pub tables: Vec<TableCheck>,
    /// The first rows that differ; none if the read model is what the log says.
    pub differences: Vec<Difference>,
}

#[derive(Debug)]
pub struct TableCheck {
    pub table: &'static str,
    pub rows: u64,
    pub digest: String,
    pub is_equal: bool,
}

impl Verified {
    pub fn is_equal(&self) -> bool {
        self.tables.iter().all(|table| table.is_equal)
    }
}

pub async fn verify(
    store: &Store,
    projection: &'static dyn Projection,
    work: &watch::Sender<Work>,
) -> Result<Verified> {
    let turn = Turn::take(store).await?;
    let mut build = Build::open(store, projection, work, (turn.holder, Portion::default())).await?;
    let verified = compare(store, &mut build, work).await;
    turn.end(store, projection).await?;
    verified
}

async fn compare(
    store: &Store,
    build: &mut Build<'_>,
    work: &watch::Sender<Work>,
) -> Result<Verified> {
    for _ in 0..LOOKS {
        let look = Look::take(store, build, work).await?;
        let is_equal = look.live == look.shadow;
        let differences = match is_equal {
            true => Vec::new(),
            false => look.differences(store, build).await?,
        };
        if is_equal || !differences.is_empty() {
            return Ok(look.verified(differences));
        }
    }
    let reason = "what differs is another row each time; try again when less is erased";
    Err(Error::Busy(reason.into()))
}

/// Both sides at one position.
struct Look {
    position: Position,
    live: Digests,
    shadow: Digests,
}

impl Look {
    async fn take(
        store: &Store,
        build: &mut Build<'_>,
        work: &watch::Sender<Work>,
    ) -> Result<Self> {
        let projection = build.projection();
        let (position, live) = digests(store, Side::Live, projection).await?;
        build.fold_to(position).await?;
        build.write().await?;
        work.send_modify(|work| work.stage = Stage::Comparing);
        let (_, shadow) = digests(store, Side::Shadow, projection).await?;
        Ok(Self {
            position,
            live,
            shadow,
        })
    }

    /// The first rows that differ. The live side may have moved on, so both are looked at
    /// again at one position, but only where they differed.
    async fn differences(&self, store: &Store, build: &mut Build<'_>) -> Result<Vec<Difference>> {
        let projection = build.projection();
        let both = self.live.iter().zip(&self.shadow);
        let samples = both.map(|((table, live), (_, shadow))| (*table, live.unlike(shadow)));
        let samples: Vec<(&'static str, Sample)> = samples.collect();
        let (position, live) = sampled(store, Side::Live, projection, &samples).await?;
        build.fold_to(position).await?;
        build.write().await?;
        let (_, shadow) = sampled(store, Side::Shadow, projection, &samples).await?;
        Ok(differences(projection, &live, &shadow))
    }

    fn verified(&self, differences: Vec<Difference>) -> Verified {
        let both = self.live.iter().zip(&self.shadow);
        let tables = both.map(|((table, live), (_, shadow))| TableCheck {
            table,
            rows: live.rows(),
            digest: live.text(),
            is_equal: live == shadow,
        });
        Verified {
            position: self.position,
            tables: tables.collect(),
            differences,
        }
    }
}

type Digests = Vec<(&'static str, Digest)>;

async fn digests(
    store: &Store,
    side: Side,
    projection: &'static dyn Projection,
) -> Result<(Position, Digests)> {
    let names = projection.tables().iter();
    let empty: Digests = names.map(|table| (table.name, Digest::default())).collect();
    let all = Arc::new(Mutex::new(empty));
    let seen = all.clone();
    let visit = Box::new(move |table: &'static Table, row: Row| {
        let mut all = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = all.iter_mut().find(|(name, _)| *name == table.name);
        if let Some((_, digest)) = digest {
            digest.add(table, &row);
        }
    });
    let position = store.projections.survey(side, projection, visit).await?;
    let digests = std::mem::take(&mut *all.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((position, digests))
}

type Rows = BTreeMap<(&'static str, Vec<Cell>), Row>;

async fn sampled(
    store: &Store,
    side: Side,
    projection: &'static dyn Projection,
    samples: &[(&'static str, Sample)],
) -> Result<(Position, Rows)> {
    let rows = Arc::new(Mutex::new(Rows::new()));
    let (held, samples) = (rows.clone(), samples.to_vec());
    let visit = Box::new(move |table: &'static Table, row: Row| {
        let sample = samples.iter().find(|(name, _)| *name == table.name);
        let is_wanted = sample.is_some_and(|(_, sample)| sample.holds(table, &row));
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        if is_wanted && held.len() < SAMPLE_MAX {
            held.insert((table.name, row[..table.key].to_vec()), row);
        }
    });
    let position = store.projections.survey(side, projection, visit).await?;
    let rows = std::mem::take(&mut *rows.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((position, rows))
}

fn differences(projection: &dyn Projection, live: &Rows, shadow: &Rows) -> Vec<Difference> {
    let mut keys: Vec<_> = live.keys().chain(shadow.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let unlike = keys.into_iter().filter_map(|key| {
        let mut tables = projection.tables().iter();
        let table = tables.find(|table| table.name == key.0)?;
        Difference::between(table, live.get(key), shadow.get(key))
    });
    unlike.take(NAMED_MAX).collect()
}
