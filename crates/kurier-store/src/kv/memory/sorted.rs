//! The sorted set: ordered by score, then by the bytes of the member, as in Redis.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use crate::kv::{Order, ScoreRange, Scored};

/// What a member costs besides its bytes, in both of the trees that share them.
const ITEM_BYTES: usize = 112;

type Place = (Score, Arc<[u8]>);

#[derive(Default)]
pub(super) struct Sorted {
    places: BTreeSet<Place>,
    scores: BTreeMap<Arc<[u8]>, Score>,
    bytes: usize,
}

/// A score with a total order. Never NaN, which `Command` refuses, and never -0, which would
/// come before 0 although the two are equal.
#[derive(Clone, Copy, PartialEq)]
struct Score(f64);

impl Score {
    fn new(score: f64) -> Self {
        Self(if score == 0.0 { 0.0 } else { score })
    }
}

impl Eq for Score {}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Sorted {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn score(&self, member: &[u8]) -> Option<f64> {
        self.scores.get(member).map(|score| score.0)
    }

    /// Adds the member or moves it. Whether it is new.
    pub(super) fn insert(&mut self, scored: Scored) -> bool {
        let score = Score::new(scored.score);
        let existed = self.remove(&scored.member);
        let member: Arc<[u8]> = Arc::from(scored.member);
        self.bytes += ITEM_BYTES + member.len();
        self.places.insert((score, Arc::clone(&member)));
        self.scores.insert(member, score);
        !existed
    }

    pub(super) fn remove(&mut self, member: &[u8]) -> bool {
        let Some((member, score)) = self.scores.remove_entry(member) else {
            return false;
        };
        self.bytes -= ITEM_BYTES + member.len();
        self.places.remove(&(score, member));
        true
    }

    /// Walks to the rank, which Redis need not: fine for the ends of a set, where ranks are read.
    pub(super) fn range(&self, start: i64, stop: i64, order: Order) -> Vec<Scored> {
        let Some((skip, take)) = ranks(self.len(), start, stop) else {
            return Vec::new();
        };
        match order {
            Order::Ascending => collect(self.places.iter().skip(skip).take(take)),
            Order::Descending => collect(self.places.iter().rev().skip(skip).take(take)),
        }
    }

    pub(super) fn range_by_score(&self, range: &ScoreRange) -> Vec<Scored> {
        let Some(bounds) = place_bounds(range) else {
            return Vec::new();
        };
        let places = self.places.range(bounds);
        let limit = usize::try_from(range.limit).unwrap_or(usize::MAX);
        match range.order {
            Order::Ascending => collect(places.take(limit)),
            Order::Descending => collect(places.rev().take(limit)),
        }
    }
}

fn collect<'a>(places: impl Iterator<Item = &'a Place>) -> Vec<Scored> {
    places
        .map(|(score, member)| Scored {
            member: member.to_vec(),
            score: score.0,
        })
        .collect()
}

/// How many to skip and to take for Redis ranks: inclusive, and from the end when negative.
fn ranks(len: usize, start: i64, stop: i64) -> Option<(usize, usize)> {
    let len = i64::try_from(len).ok()?;
    let from_front = |rank: i64| {
        if rank < 0 {
            rank.saturating_add(len)
        } else {
            rank
        }
    };
    let first = from_front(start).max(0);
    let last = from_front(stop).min(len - 1);
    if first > last {
        return None;
    }
    let take = usize::try_from(last - first).ok()? + 1;
    Some((usize::try_from(first).ok()?, take))
}

/// The score bounds as bounds on places, or `None` when nothing lies between them (for which a
/// tree panics). A place with no bytes comes before all others of its score, so "after every
/// member of this score" is the empty place of the next score.
fn place_bounds(range: &ScoreRange) -> Option<(Bound<Place>, Bound<Place>)> {
    let first_of = |score: f64| (Score::new(score), Arc::<[u8]>::from([]));
    let first_after = |score: f64| (score < f64::INFINITY).then(|| first_of(score.next_up()));
    let low = match range.min {
        Bound::Included(score) => Some(first_of(score)),
        Bound::Excluded(score) => Some(first_after(score)?),
        Bound::Unbounded => None,
    };
    let high = match range.max {
        Bound::Included(score) => first_after(score),
        Bound::Excluded(score) => Some(first_of(score)),
        Bound::Unbounded => None,
    };
    if let (Some(low), Some(high)) = (&low, &high)
        && low >= high
    {
        return None;
    }
    Some((
        low.map_or(Bound::Unbounded, Bound::Included),
        high.map_or(Bound::Unbounded, Bound::Excluded),
    ))
}
