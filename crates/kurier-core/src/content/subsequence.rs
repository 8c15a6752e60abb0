//! What two lists have in common, in order.

use std::collections::HashMap;
use std::hash::Hash;

use super::queues::Queues;

/// Up to so many pairs are all compared.
const PAIRS_MAX: usize = 1 << 16;

/// Pairs of places of equal things, rising in both lists.
pub fn common_subsequence<N: Copy + Eq + Hash>(old: &[N], new: &[N]) -> Vec<(usize, usize)> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    match old.len().saturating_mul(new.len()) <= PAIRS_MAX {
        true => longest(old, new),
        false => between_fixed_points(old, new),
    }
}

/// The longest one.
fn longest<N: Eq>(old: &[N], new: &[N]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    // How long the subsequence of what lies behind two places is.
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i * width + j] = match old[i] == new[j] {
                true => lengths[(i + 1) * width + j + 1] + 1,
                false => lengths[(i + 1) * width + j].max(lengths[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// A long one with little work: what both have exactly once are fixed points, as far as they
/// rise; between them the longest one, where that is cheap.
fn between_fixed_points<N: Copy + Eq + Hash>(old: &[N], new: &[N]) -> Vec<(usize, usize)> {
    let fixed = longest_rising(&unique_pairs(old, new));
    between(&fixed, old, new, in_order)
}

/// Where nothing is fixed, of each kind the first is the first, the second the second, as far as
/// they rise.
fn in_order<N: Copy + Eq + Hash>(old: &[N], new: &[N]) -> Vec<(usize, usize)> {
    let mut queues = Queues::new(old.iter().copied());
    let pairs = new.iter().enumerate();
    let pairs = pairs.filter_map(|(at, thing)| Some((queues.next(thing)? as usize, at)));
    let fixed = longest_rising(&pairs.collect::<Vec<_>>());
    between(&fixed, old, new, |_, _| Vec::new())
}

/// Fixed pairs with what is common between them: of a long gap as much as `long` finds.
fn between<N: Eq>(
    fixed: &[(usize, usize)],
    old: &[N],
    new: &[N],
    long: impl Fn(&[N], &[N]) -> Vec<(usize, usize)>,
) -> Vec<(usize, usize)> {
    let (mut pairs, mut from) = (Vec::with_capacity(fixed.len()), (0, 0));
    let end = (old.len(), new.len());
    for to in fixed.iter().copied().chain([end]) {
        let (gap_old, gap_new) = (&old[from.0..to.0], &new[from.1..to.1]);
        let within = match gap_old.len().saturating_mul(gap_new.len()) {
            0 => Vec::new(),
            1..=PAIRS_MAX => longest(gap_old, gap_new),
            _ => long(gap_old, gap_new),
        };
        let within = within.into_iter();
        pairs.extend(within.map(|(i, j)| (from.0 + i, from.1 + j)));
        if to != end {
            pairs.push(to);
        }
        from = (to.0 + 1, to.1 + 1);
    }
    pairs
}

/// The places of what both have exactly once.
fn unique_pairs<N: Copy + Eq + Hash>(old: &[N], new: &[N]) -> Vec<(usize, usize)> {
    let (in_old, in_new) = (single(old), single(new));
    let pairs = new.iter().enumerate().filter_map(|(at, thing)| {
        in_new.get(thing)?.as_ref()?;
        Some((in_old.get(thing).copied()??, at))
    });
    pairs.collect()
}

/// The places of things that are there once; nothing for those that are there more often.
fn single<N: Copy + Eq + Hash>(things: &[N]) -> HashMap<N, Option<usize>> {
    let mut places = HashMap::with_capacity(things.len());
    for (at, thing) in things.iter().enumerate() {
        let place = places.entry(*thing).or_insert(Some(at));
        *place = place.filter(|place| *place == at);
    }
    places
}

/// Of pairs whose second places rise, the most whose first places rise as well: by patience.
pub fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // Where the best subsequence of each length ends, and what came before each.
    let mut ends: Vec<usize> = Vec::new();
    let mut before = vec![usize::MAX; pairs.len()];
    for (at, (first, _)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].0 < *first);
        if length > 0 {
            before[at] = ends[length - 1];
        }
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let step = |at: &usize| Some(before[*at]).filter(|before| *before != usize::MAX);
    let chain = std::iter::successors(ends.last().copied(), step);
    let mut rising: Vec<(usize, usize)> = chain.map(|at| pairs[at]).collect();
    rising.reverse();
    rising
}
