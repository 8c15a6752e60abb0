//! What folds gather, one value per contact of the window.

use crate::columns::cell::Open;
use crate::columns::column::{Column, NO_INT};
use crate::columns::pool::NO_TIME;

/// Fewer than one row in so many passing is few: they are looked up one by one.
const FEW: usize = 6;

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
        if are_few(mask) {
            return each_passing(mask, |row| {
                flags[usize::from(self.slots[row]) & self.wrap] = 1
            });
        }
        for (slot, m) in self.slots.iter().zip(mask) {
            flags[usize::from(*slot) & self.wrap] |= m;
        }
    }

    pub fn count(self, mask: &[u8], counts: &mut [i32]) {
        if self.wrap == 0 {
            counts[0] += passing(mask) as i32;
            return;
        }
        let counts = &mut counts[..=self.wrap];
        if are_few(mask) {
            return each_passing(mask, |row| {
                counts[usize::from(self.slots[row]) & self.wrap] += 1
            });
        }
        for (slot, m) in self.slots.iter().zip(mask) {
            counts[usize::from(*slot) & self.wrap] += i32::from(*m);
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

fn are_few(mask: &[u8]) -> bool {
    passing(mask) * FEW < mask.len()
}

/// How many rows pass.
fn passing(mask: &[u8]) -> usize {
    let sums = mask.chunks(128).map(|bytes| bytes.iter().sum::<u8>());
    sums.map(usize::from).sum()
}

/// Calls for each row that passes, in order, without a branch per row.
fn each_passing(mask: &[u8], mut call: impl FnMut(usize)) {
    let mut passing = [0u16; 64];
    for (at, bytes) in mask.chunks(64).enumerate() {
        let mut count = 0;
        for (row, m) in bytes.iter().enumerate() {
            passing[count & 63] = row as u16;
            count += usize::from(*m);
        }
        for row in &passing[..count] {
            call(at * 64 + usize::from(*row));
        }
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
