//! What folds gather, one value per contact of the window.

use crate::columns::cell::Open;
use crate::columns::column::{Column, NO_INT};
use crate::columns::kernels::mask;
use crate::columns::pool::NO_TIME;

/// Which contact each row is of. `wrap` is one less than the number of contacts, which is a
/// whole block or one.
#[derive(Clone, Copy)]
pub struct Owners<'a> {
    pub slots: &'a [u16],
    pub wrap: usize,
}

impl Owners<'_> {
    pub fn flag(self, mask: &[u8], flags: &mut [u8]) {
        if self.wrap == 0 {
            flags[0] |= mask.iter().fold(0, |any, m| any | m);
            return;
        }
        let flags = &mut flags[..=self.wrap];
        self.each_slot(mask, |slot, passes| flags[slot & self.wrap] |= passes);
    }

    pub fn count(self, mask: &[u8], counts: &mut [i32]) {
        if self.wrap == 0 {
            counts[0] += passing(mask) as i32;
            return;
        }
        let counts = &mut counts[..=self.wrap];
        self.each_slot(mask, |slot, passes| {
            counts[slot & self.wrap] += i32::from(passes);
        });
    }

    /// Calls with the slot of each row that passes and 1; and perhaps of some that do not,
    /// and 0.
    fn each_slot(self, mask: &[u8], mut call: impl FnMut(usize, u8)) {
        let (slots, last_slots) = self.slots.as_chunks::<64>();
        let (mask, last_mask) = mask.as_chunks::<64>();
        for (slots, mask) in slots.iter().zip(mask) {
            let mut word = mask::pack_word(mask);
            if word == u64::MAX {
                slots.iter().for_each(|slot| call(usize::from(*slot), 1));
                continue;
            }
            while word != 0 {
                // Four at a time, whether there are so many or not: the end of a loop of few
                // steps is guessed wrong less often.
                for _ in 0..4 {
                    let slot = slots[word.trailing_zeros() as usize & 63];
                    call(usize::from(slot), u8::from(word != 0));
                    word &= word.wrapping_sub(1);
                }
            }
        }
        for (slot, m) in last_slots.iter().zip(last_mask) {
            call(usize::from(*slot), *m);
        }
    }

    /// Hands each passing number of a column to its contact, in the order of the rows.
    pub fn numbers(
        self,
        column: &Column,
        start: usize,
        mask: &[u8],
        mut add: impl FnMut(usize, f64),
    ) {
        let count = column.len().saturating_sub(start).min(mask.len());
        let mask = &mask[..count];
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

    fn each<T: Copy>(self, values: &[T], mask: &[u8], mut add: impl FnMut(usize, T)) {
        each_passing(mask, |row| {
            add(usize::from(self.slots[row]) & self.wrap, values[row]);
        });
    }
}

/// How many rows pass.
fn passing(mask: &[u8]) -> usize {
    let sums = mask.chunks(128).map(|bytes| bytes.iter().sum::<u8>());
    sums.map(usize::from).sum()
}

/// Calls for each row that passes, in order.
fn each_passing(mask: &[u8], mut call: impl FnMut(usize)) {
    let (whole, rest) = mask.as_chunks::<64>();
    for (at, bytes) in whole.iter().enumerate() {
        each_bit(mask::pack_word(bytes), |bit| call(at * 64 + bit));
    }
    for (row, m) in rest.iter().enumerate() {
        if *m != 0 {
            call(whole.len() * 64 + row);
        }
    }
}

fn each_bit(mut word: u64, mut call: impl FnMut(usize)) {
    while word != 0 {
        call(word.trailing_zeros() as usize);
        word &= word - 1;
    }
}

/// A fold's values, one per contact.
#[derive(Debug, Clone)]
pub enum Gathered {
    Flags(Vec<u8>),
    Counts(Vec<i32>),
    /// NaN is missing.
    Numbers(Vec<f64>),
    /// [`NO_TIME`] is missing.
    Times(Vec<i64>),
}

impl Gathered {
    pub fn open(&self, at: usize) -> Value {
        match self {
            Self::Flags(flags) => Value::Flag(flags[at] != 0),
            Self::Counts(counts) => Value::Number(f64::from(counts[at])),
            Self::Numbers(numbers) if numbers[at].is_nan() => Value::Missing,
            Self::Numbers(numbers) => Value::Number(numbers[at]),
            Self::Times(times) if times[at] == NO_TIME => Value::Missing,
            Self::Times(times) => Value::Time(times[at]),
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
        let some = prop::collection::vec((0..8u16, 0..2u8), 0..150);
        (some, 0..150usize).prop_map(|(mut rows, full)| {
            rows.iter_mut().take(full).for_each(|(_, m)| *m = 1);
            rows
        })
    }

    proptest! {
        /// Every passing row is told of, once and in order, to its contact.
        #[test]
        fn passing_rows_are_tallied(rows in rows()) {
            let (slots, mask): (Vec<u16>, Vec<u8>) = rows.into_iter().unzip();
            let owners = Owners { slots: &slots, wrap: 7 };
            let (mut flags, mut counts) = ([0; 8], [0; 8]);
            owners.flag(&mask, &mut flags);
            owners.count(&mask, &mut counts);
            let mut passed = Vec::new();
            each_passing(&mask, |row| passed.push(row));
            let wanted: Vec<usize> = (0..mask.len()).filter(|row| mask[*row] != 0).collect();
            prop_assert_eq!(&passed, &wanted);
            for slot in 0..8 {
                let count = wanted.iter().filter(|row| usize::from(slots[**row]) == slot).count();
                prop_assert_eq!(counts[slot], count as i32);
                prop_assert_eq!(flags[slot], u8::from(count > 0));
            }
        }
    }
}
