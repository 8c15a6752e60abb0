//! The headers of this process: one tree, read by every request, extended from each source by
//! a task of its own.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use kurier_core::bundle::chain::{Chain, Tip, Tree};
use kurier_core::bundle::{Hash256, Known, Standing, Whereabouts, standing};
use kurier_core::time::Timestamp;
use tokio::sync::Notify;

use super::backoff;
use super::file::tree_of;
use super::range::Fault;
use super::source::{Address, Setting};
use super::sync::Source;
use crate::clock;
use crate::metrics as names;

/// However often someone asks for the newest, a source is asked once in this time.
const ASKED_EVERY_MS: u64 = 500;

pub struct Headers {
    chain: Chain,
    tree: RwLock<Option<Tree>>,
    sources: Vec<Watched>,
    /// A source is asked so often.
    every_ms: u64,
    /// A tip that was seen longer ago is not relied on.
    limit_ms: u64,
    /// When a source last told its tip and it was found good.
    fresh_ms: AtomicU64,
    disputed: AtomicBool,
    /// The tip when all sources were last weighed; who weighs them holds it.
    weighed: Mutex<Option<Tip>>,
    now: fn() -> Timestamp,
}

/// A source, and what is known of it.
struct Watched {
    source: Source,
    seen: Mutex<Seen>,
    wake: Notify,
}

/// What is known of a source.
#[derive(Debug, Clone, Default)]
struct Seen {
    tip: Option<Tip>,
    /// When its headers were last found good.
    at_ms: Option<u64>,
    asked_ms: u64,
    due_ms: u64,
    failures: u32,
    fault: Option<String>,
    /// Whether it has another chain than we believe in, and nobody can tell whose is right.
    is_opposed: bool,
}

/// A source, for people.
#[derive(Debug, Clone)]
pub struct SourceReport {
    pub address: String,
    pub tip: Option<Tip>,
    pub fault: Option<String>,
}

/// What the headers say about a transaction, all of one tip.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    pub standing: Standing,
    /// How long ago the tip was last found to be one.
    pub tip_age_ms: u64,
}

fn ms(now: Timestamp) -> u64 {
    u64::try_from(now.as_millis()).unwrap_or(0)
}

impl Headers {
    pub fn new(
        setting: &Setting,
        every: Duration,
        limit: Duration,
        now: fn() -> Timestamp,
    ) -> Result<Self, String> {
        let sources: Result<Vec<Source>, String> =
            setting.sources.iter().cloned().map(Source::new).collect();
        let sources = sources?.into_iter();
        Ok(Self {
            chain: setting.chain,
            tree: RwLock::new(None),
            sources: sources.map(Watched::new).collect(),
            every_ms: every.as_millis() as u64,
            limit_ms: limit.as_millis() as u64,
            fresh_ms: AtomicU64::new(0),
            disputed: AtomicBool::new(false),
            weighed: Mutex::default(),
            now,
        })
    }

    pub const fn chain(&self) -> Chain {
        self.chain
    }

    /// What the tip of now says. Everything in it is of one tip.
    pub fn look(&self, whereabouts: Whereabouts) -> Look {
        let (age, unstable) = self.calm();
        let standing = self.with_tree(|tree| match tree {
            Some(tree) => standing(tree, whereabouts),
            None => Standing {
                tip: self.told_tip(),
                ..Standing::without_headers(whereabouts)
            },
        });
        Look {
            standing: standing.shaken(unstable),
            tip_age_ms: age,
        }
    }

    /// How old what we know is, and whether that or a dispute makes it doubtful.
    pub fn calm(&self) -> (u64, bool) {
        let age = ms((self.now)()).saturating_sub(self.fresh_ms.load(Ordering::Acquire));
        let is_doubtful = age > self.limit_ms || self.disputed.load(Ordering::Acquire);
        (age, is_doubtful)
    }

    /// The tip of our headers; of a source that has nothing else, the one it tells.
    pub fn tip(&self) -> Option<Tip> {
        let of_tree = self.with_tree(|tree| tree.map(Tree::tip));
        of_tree.or_else(|| self.told_tip())
    }

    fn told_tip(&self) -> Option<Tip> {
        let told = self.sources.iter().filter_map(|it| lock(&it.seen).tip);
        told.max_by_key(|tip| tip.height)
    }

    /// What there is to hold something against that is shown.
    pub fn with_known<T>(&self, read: impl FnOnce(&Known<'_>) -> T) -> T {
        let (chain, now) = (self.chain, self.now_s());
        self.with_tree(|tree| read(&Known { chain, tree, now }))
    }

    pub fn with_tree<T>(&self, read: impl FnOnce(Option<&Tree>) -> T) -> T {
        let tree = self.tree.read().unwrap_or_else(PoisonError::into_inner);
        read(tree.as_ref())
    }

    pub fn reports(&self) -> Vec<SourceReport> {
        let report = |watched: &Watched| {
            let seen = lock(&watched.seen).clone();
            SourceReport {
                address: watched.source.address.to_string(),
                tip: seen.tip,
                fault: seen.fault,
            }
        };
        self.sources.iter().map(report).collect()
    }

    /// How many sources there are; they are numbered from none on.
    pub fn sources(&self) -> usize {
        self.sources.len()
    }

    /// Says that there may be something new.
    pub fn wake(&self) {
        self.sources.iter().for_each(|it| it.wake.notify_one());
    }

    /// Waits until a source is due; someone who says that there is something new makes it due
    /// sooner.
    pub async fn rest(&self, number: usize) {
        let watched = &self.sources[number];
        loop {
            let now = ms((self.now)());
            let wait = lock(&watched.seen).due_ms.saturating_sub(now);
            if wait == 0 {
                return;
            }
            let waiting =
                tokio::time::timeout(Duration::from_millis(wait), watched.wake.notified());
            if waiting.await.is_ok() {
                lock(&watched.seen).hurry();
            }
        }
    }

    /// Sources that work are asked soon; those that failed are left alone as before.
    pub fn hurry(&self) {
        self.sources.iter().for_each(|it| lock(&it.seen).hurry());
    }

    /// Asks all sources that are due, side by side, and waits for all of them; what one of them
    /// has is used as soon as it is there. Answers whether one was found good.
    pub async fn refresh(&self) -> bool {
        let now = ms((self.now)());
        let is_due = |number: &usize| lock(&self.sources[*number].seen).due_ms <= now;
        let due = (0..self.sources.len()).filter(is_due);
        join_all(due.map(|number| self.ask(number)))
            .await
            .contains(&true)
    }

    /// Asks one source, however long that takes, and weighs anew what all of them said; answers
    /// whether it was found good.
    pub async fn ask(&self, number: usize) -> bool {
        let watched = &self.sources[number];
        let began = Instant::now();
        let answer = watched.source.sync(self).await;
        metrics::histogram!(names::HEADERS_FETCH).record(began.elapsed());
        let is_good = self.note(watched, answer);
        self.settle();
        is_good
    }

    fn note(&self, watched: &Watched, answer: Result<Tip, Fault>) -> bool {
        let now = ms((self.now)());
        let mut seen = lock(&watched.seen);
        match answer {
            Ok(tip) => seen.good(tip, now, self.every_ms),
            Err(Fault::OnlyTip(tip)) => seen.told(tip, now, self.every_ms),
            Err(fault) => self.failed(&watched.source, &mut seen, &fault, now),
        }
        seen.fault.is_none()
    }

    fn failed(&self, source: &Source, seen: &mut Seen, fault: &Fault, now: u64) {
        seen.failures = seen.failures.saturating_add(1);
        let [dice] = clock::random();
        let delay = backoff::delay(seen.failures, dice).as_millis() as u64;
        seen.due_ms = now + delay;
        let why = fault.to_string();
        if seen.fault.as_ref() != Some(&why) {
            tracing::warn!(source = %source.address, why, "headers cannot be had from a source");
        }
        metrics::counter!(names::HEADERS_FAULTS).increment(1);
        seen.fault = Some(why);
        seen.is_opposed = source.opposes(fault);
    }

    /// What all sources together mean.
    fn settle(&self) {
        // One after another, so that what is newer is not replaced by what is older.
        let mut weighed = self.weighed.lock().unwrap_or_else(PoisonError::into_inner);
        let sources = self.sources.iter();
        let seen: Vec<Seen> = sources.map(|it| lock(&it.seen).clone()).collect();
        let fresh = seen.iter().filter_map(|seen| seen.at_ms).max();
        self.fresh_ms.store(fresh.unwrap_or(0), Ordering::Release);
        let disputed = self.with_tree(|tree| {
            let Some(tree) = tree else { return false };
            let good = seen.iter().filter(|seen| seen.failures == 0);
            let mut tips = good.filter_map(|seen| seen.tip);
            let is_opposed = seen.iter().any(|seen| seen.is_opposed);
            is_opposed
                || tips.any(|tip| match tree.best_hash_at(tip.height) {
                    Some(best) => best != tip.hash,
                    None => tree.height_of(&tip.hash).is_some(),
                })
        });
        if self.disputed.swap(disputed, Ordering::AcqRel) != disputed && disputed {
            tracing::warn!("sources of headers disagree about the chain");
        }
        let tip = self.tip();
        if let Some(tip) = tip {
            metrics::gauge!(names::HEADERS_HEIGHT).set(f64::from(tip.height));
        }
        self.tell_reorg(std::mem::replace(&mut *weighed, tip));
    }

    fn tell_reorg(&self, old: Option<Tip>) {
        let Some(old) = old else { return };
        let replaced = self.with_tree(|tree| {
            tree.is_some_and(|tree| tree.best_hash_at(old.height) != Some(old.hash))
        });
        if replaced {
            let new = self.tip().map_or(0, |tip| tip.height);
            tracing::warn!(replaced = %old.hash, height = old.height, tip = new, "the chain was reorganised");
        }
    }
}

/// What a source's headers are put into.
impl Headers {
    pub(super) fn has_begun(&self) -> bool {
        self.with_tree(|tree| tree.is_some())
    }

    /// Of a header that we have, on whatever branch.
    pub(super) fn height_of(&self, hash: &Hash256) -> Option<u32> {
        self.with_tree(|tree| tree?.height_of(hash))
    }

    /// From which height to which our best branch goes.
    pub(super) fn reach(&self) -> (u32, u32) {
        self.with_tree(|tree| tree.map_or((0, 0), |tree| (tree.start(), tree.tip().height)))
    }

    pub(super) fn begin(&self, from: &Address, bytes: &[u8]) -> Result<(), Fault> {
        let place = (from.start, from.checkpoint.as_ref());
        let tree = tree_of(self.chain, place, bytes, self.now_s()).map_err(Fault::Refused)?;
        let mut own = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        // Another source may have been faster.
        own.get_or_insert(tree);
        Ok(())
    }

    pub(super) fn extend(&self, bytes: Vec<u8>) -> Result<(), Fault> {
        let now = self.now_s();
        let mut tree = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        match tree.as_mut() {
            Some(tree) => tree.extend(&bytes, now).map(drop).map_err(Fault::Refused),
            None => Err(Fault::Empty),
        }
    }

    fn now_s(&self) -> i64 {
        (self.now)().as_millis() / 1_000
    }
}

impl Watched {
    fn new(source: Source) -> Self {
        Self {
            source,
            seen: Mutex::default(),
            wake: Notify::new(),
        }
    }
}

impl Seen {
    /// A source that works is asked soon.
    fn hurry(&mut self) {
        if self.failures == 0 {
            self.due_ms = self.due_ms.min(self.asked_ms + ASKED_EVERY_MS);
        }
    }

    fn good(&mut self, tip: Tip, now: u64, every_ms: u64) {
        *self = Self {
            tip: Some(tip),
            at_ms: Some(now),
            asked_ms: now,
            due_ms: now + every_ms,
            failures: 0,
            fault: None,
            is_opposed: false,
        };
    }

    /// A tip without headers: it can be shown and disputed, and proves nothing.
    fn told(&mut self, tip: Tip, now: u64, every_ms: u64) {
        *self = Self {
            tip: Some(tip),
            asked_ms: now,
            due_ms: now + every_ms,
            fault: Some(Fault::TipOnly.to_string()),
            ..Self::default()
        };
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}
