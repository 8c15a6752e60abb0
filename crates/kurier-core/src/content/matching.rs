//! Which node of a document's new text is which of its old one: first by the exact text, then,
//! between nodes that stayed, by what they are called and their order. Never more than a
//! bounded amount of work for each node.

use std::hash::Hash;

use super::queues::{Queues, place};
use super::subsequence::{common_subsequence, longest_rising};

/// What a node is found again by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Likeness<T, N> {
    /// Its type and text.
    pub exact: T,
    /// Its type and identifier.
    pub called: N,
}

const NONE: u32 = u32::MAX;

/// For each new node the place of the old one that it is, if it is one.
pub fn matched<T, N>(old: &[Likeness<T, N>], new: &[Likeness<T, N>]) -> Vec<Option<u32>>
where
    T: Copy + Eq + Hash,
    N: Copy + Eq + Hash,
{
    let shorter = old.len().min(new.len());
    let is_same = |(old, new): &(&Likeness<T, N>, &Likeness<T, N>)| old.exact == new.exact;
    let front = old.iter().zip(new).take_while(is_same).count();
    let back = old[front..].iter().rev().zip(new[front..].iter().rev());
    let back = back.take_while(is_same).count().min(shorter - front);
    let mut found = vec![NONE; new.len()];
    for (at, found) in found.iter_mut().enumerate().take(front) {
        *found = place(at);
    }
    for at in 1..=back {
        found[new.len() - at] = place(old.len() - at);
    }
    let middle = Middle {
        old: &old[front..old.len() - back],
        new: &new[front..new.len() - back],
    };
    let end = new.len() - back;
    middle.matched(&mut found[front..end], front);
    found
        .into_iter()
        .map(|at| (at != NONE).then_some(at))
        .collect()
}

/// What lies between the first and the last difference.
struct Middle<'a, T, N> {
    old: &'a [Likeness<T, N>],
    new: &'a [Likeness<T, N>],
}

impl<T: Copy + Eq + Hash, N: Copy + Eq + Hash> Middle<'_, T, N> {
    fn matched(&self, found: &mut [u32], offset: usize) {
        if self.old.is_empty() || self.new.is_empty() {
            return;
        }
        let mut is_taken = vec![false; self.old.len()];
        self.exact(found, &mut is_taken);
        self.between(found, &is_taken);
        for at in found.iter_mut().filter(|at| **at != NONE) {
            *at += place(offset);
        }
    }

    /// The same text is the same node, wherever it moved; of several, the first is the first.
    fn exact(&self, found: &mut [u32], is_taken: &mut [bool]) {
        let mut queues = Queues::new(self.old.iter().map(|node| node.exact));
        for (at, node) in self.new.iter().enumerate() {
            if let Some(old) = queues.next(&node.exact) {
                found[at] = old;
                is_taken[old as usize] = true;
            }
        }
    }

    /// In each gap between nodes that stayed in order, those that are called the same.
    fn between(&self, found: &mut [u32], is_taken: &[bool]) {
        let (mut old_from, mut new_from) = (0, 0);
        let end = (self.old.len(), self.new.len());
        let kept = found.iter().enumerate().filter(|(_, old)| **old != NONE);
        let kept: Vec<_> = kept.map(|(at, old)| (*old as usize, at)).collect();
        for (old_to, new_to) in longest_rising(&kept).into_iter().chain([end]) {
            let old: Vec<usize> = (old_from..old_to).filter(|at| !is_taken[*at]).collect();
            let new: Vec<usize> = (new_from..new_to).filter(|at| found[*at] == NONE).collect();
            let called_old: Vec<N> = old.iter().map(|at| self.old[*at].called).collect();
            let called_new: Vec<N> = new.iter().map(|at| self.new[*at].called).collect();
            for (at_old, at_new) in common_subsequence(&called_old, &called_new) {
                found[new[at_new]] = place(old[at_old]);
            }
            (old_from, new_from) = (old_to + 1, new_to + 1);
        }
    }
}
