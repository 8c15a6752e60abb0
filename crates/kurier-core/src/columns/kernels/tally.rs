//! What folds gather, one value per contact of the window.

use std::ops::AddAssign;

use crate::columns::block::BLOCK;
use crate::columns::cell::Open;
use crate::columns::column::{Column, NO_INT};
use crate::columns::kernels::lanes::{self, Kernel, Lanes};
use crate::columns::kernels::mask::Mask;
use crate::columns::pool::NO_TIME;

/// Which contact each row is of. `wrap` is one less than the number of contacts, which is a
/// whole block or one.
#[derive(Clone, Copy)]
pub struct Owners<'a> {
    pub slots: &'a [u16],
    pub wrap: usize,
}

/// What counts are kept in; there are never more rows than it can count.
pub trait Count: Copy + AddAssign + From<u8> {
    fn of(count: usize) -> Self;
}

impl Count for u16 {
    fn of(count: usize) -> Self {
        count as Self
    }
}

impl Count for i32 {
    fn of(count: usize) -> Self {
        count as Self
    }
}

impl Owners<'_> {
    pub fn flag(self, mask: &Mask, flags: &mut [u8]) {
        match flags.first_chunk_mut::<BLOCK>() {
            Some(flags) => self.each_slot(mask, |slot, passes| {
                flags[slot & (BLOCK - 1)] |= passes;
            }),
            None => flags[0] |= u8::from(!mask.is_empty()),
        }
    }

    pub fn count<T: Count>(self, mask: &Mask, counts: &mut [T]) {
        match counts.first_chunk_mut::<BLOCK>() {
            Some(counts) => self.each_slot(mask, |slot, passes| {
                counts[slot & (BLOCK - 1)] += T::from(passes);
            }),
            None => counts[0] += T::of(mask.count()),
        }
    }

    /// Calls with the slot of each row that passes and 1; and perhaps of some that do not,
    /// and 0.
    fn each_slot(self, mask: &Mask, call: impl FnMut(usize, u8)) {
        let (slots, rest) = self.slots.as_chunks::<64>();
        let words = mask.words();
        let mut kernel = EachSlot { slots, words, call };
        if let (false, Some(word)) = (rest.is_empty(), words.get(slots.len())) {
            let mut padded = [0; 64];
            padded[..rest.len()].copy_from_slice(rest);
            each_slot(&padded, *word, &mut kernel.call);
        }
        lanes::run(kernel);
    }

    /// Hands each passing number of a column to its contact, in the order of the rows.
    pub fn numbers(
        self,
        column: &Column,
        start: usize,
        mask: &Mask,
        mut add: impl FnMut(usize, f64),
    ) {
        let count = column.len().saturating_sub(start).min(mask.len());
        let rows = start..start + count;
        match column {
            _ if count == 0 => {}
            Column::Int(values) => self.each(&values[rows], mask, |at, value| {
                if value != NO_INT {
                    add(at, f64::from(value));
                }
            }),
            Column::Single(values) => self.each(&values[rows], mask, |at, value| {
                if !value.is_nan() {
                    add(at, f64::from(value));
                }
            }),
            Column::Double(values) => self.each(&values[rows], mask, |at, value| {
                if !value.is_nan() {
                    add(at, value);
                }
            }),
            Column::Mixed(cells) => self.each(&cells[rows], mask, |at, cell| {
                if let Open::Number(number) = cell.open() {
                    add(at, number);
                }
            }),
            _ => {}
        }
    }

    fn each<T: Copy>(self, values: &[T], mask: &Mask, mut add: impl FnMut(usize, T)) {
        mask.each(|row| {
            if let Some(value) = values.get(row) {
                add(usize::from(self.slots[row]) & self.wrap, *value);
            }
        });
    }
}

struct EachSlot<'a, F> {
    slots: &'a [[u16; 64]],
    words: &'a [u64],
    call: F,
}

impl<F: FnMut(usize, u8)> Kernel for EachSlot<'_, F> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(mut self, _: L) {
        for (slots, word) in self.slots.iter().zip(self.words) {
            each_slot(slots, *word, &mut self.call);
        }
    }
}

#[inline(always)]
fn each_slot(slots: &[u16; 64], mut word: u64, call: &mut impl FnMut(usize, u8)) {
    if word == u64::MAX {
        slots.iter().for_each(|slot| call(usize::from(*slot), 1));
        return;
    }
    while word != 0 {
        // Four at a time, whether there are so many or not: the end of a loop of few steps is
        // guessed wrong less often.
        for _ in 0..4 {
            let slot = slots[word.trailing_zeros() as usize & 63];
            call(usize::from(slot), u8::from(word != 0));
            word &= word.wrapping_sub(1);
        }
    }
}

/// A fold's values, one per contact.
#[derive(Debug, Clone)]
pub enum Gathered {
    Flags(Mask),
    Few(Vec<u16>),
    Counts(Vec<i32>),
    /// NaN is missing.
    Numbers(Vec<f64>),
    /// [`NO_TIME`] is missing.
    Times(Vec<i64>),
    /// Of one contact: whether there is an event, and how many.
    Flag(bool),
    Count(i32),
}

impl Gathered {
    pub fn open(&self, at: usize) -> Value {
        match self {
            Self::Flags(flags) => Value::Flag(flags.get(at)),
            Self::Few(counts) => Value::Number(f64::from(counts[at])),
            Self::Counts(counts) => Value::Number(f64::from(counts[at])),
            Self::Numbers(numbers) if numbers[at].is_nan() => Value::Missing,
            Self::Numbers(numbers) => Value::Number(numbers[at]),
            Self::Times(times) if times[at] == NO_TIME => Value::Missing,
            Self::Times(times) => Value::Time(times[at]),
            Self::Flag(flag) => Value::Flag(*flag),
            Self::Count(count) => Value::Number(f64::from(*count)),
        }
    }
}

/// One value of a fold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    Missing,
    Flag(bool),
    Number(f64),
    Time(i64),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rows of a block, more than a word of them; some words are full.
    fn rows() -> impl Strategy<Value = Vec<(u16, u8)>> {
        let some = prop::collection::vec((0..BLOCK as u16, 0..2u8), 0..150);
        (some, 0..150usize).prop_map(|(mut rows, full)| {
            rows.iter_mut().take(full).for_each(|(_, m)| *m = 1);
            rows
        })
    }

    proptest! {
        /// Every passing row is told of, once and in order, to its contact.
        #[test]
        fn passing_rows_are_tallied(rows in rows()) {
            let (slots, passes): (Vec<u16>, Vec<u8>) = rows.into_iter().unzip();
            let mut mask = Mask::default();
            mask.refill(slots.len(), true);
            mask.keep(&passes, |m| m != 0);
            let owners = Owners { slots: &slots, wrap: BLOCK - 1 };
            let (mut flags, mut few, mut counts) = ([0; BLOCK], [0u16; BLOCK], [0i32; BLOCK]);
            owners.flag(&mask, &mut flags);
            owners.count(&mask, &mut few);
            owners.count(&mask, &mut counts);
            let wanted: Vec<usize> = (0..mask.len()).filter(|row| passes[*row] != 0).collect();
            let numbers = Column::Int((0..mask.len() as i32).collect());
            let mut passed = Vec::new();
            owners.numbers(&numbers, 0, &mask, |at, number| passed.push((at, number)));
            let told = wanted.iter().map(|row| (usize::from(slots[*row]), *row as f64));
            prop_assert_eq!(&passed, &told.collect::<Vec<_>>());
            for slot in 0..BLOCK {
                let count = wanted.iter().filter(|row| usize::from(slots[**row]) == slot).count();
                prop_assert_eq!((counts[slot], few[slot]), (count as i32, count as u16));
                prop_assert_eq!(flags[slot], u8::from(count > 0));
            }
        }
    }
}
