//! Numbers and instants between two bounds.

use crate::columns::cell::{Cell, Open};
use crate::columns::column::{Column, NO_BOOL, NO_INT};
use crate::columns::kernels::mask::Mask;
use crate::columns::pool::NO_TIME;
use crate::columns::times::{Times, first_offset, last_offset};

/// Keeps the values from `low` to `high`.
fn within<T: Copy + PartialOrd>(values: &[T], low: T, high: T, mask: &mut Mask) {
    mask.keep(values, |value| (value >= low) & (value <= high));
}

/// Keeps the values from `low` on.
fn at_least<T: Copy + PartialOrd>(values: &[T], low: T, mask: &mut Mask) {
    mask.keep(values, |value| value >= low);
}

/// Keeps the values below `low` or above `high`.
fn outside<T: Copy + PartialOrd>(values: &[T], low: T, high: T, mask: &mut Mask) {
    mask.keep(values, |value| (value < low) | (value > high));
}

/// A range of numbers; negated, what is outside of it.
#[derive(Clone, Copy)]
pub struct Numbers {
    pub low: f64,
    pub high: f64,
    pub negated: bool,
}

impl Numbers {
    fn holds(self, number: f64) -> bool {
        match self.negated {
            false => number >= self.low && number <= self.high,
            true => number < self.low || number > self.high,
        }
    }

    /// Keeps the numbers of a column from row `start` on.
    pub fn narrow(self, column: &Column, start: usize, mask: &mut Mask) {
        let count = column.len().saturating_sub(start).min(mask.len());
        mask.cut(count);
        let rows = start..start + count;
        match column {
            _ if count == 0 => {}
            Column::Int(values) => self.ints(&values[rows], mask),
            Column::Single(values) => self.singles(&values[rows], mask),
            Column::Double(values) => self.doubles(&values[rows], mask),
            Column::Mixed(cells) => {
                let holds =
                    |cell: Cell| matches!(cell.open(), Open::Number(number) if self.holds(number));
                mask.keep(&cells[rows], holds);
            }
            _ => mask.clear(),
        }
    }

    pub fn doubles(self, values: &[f64], mask: &mut Mask) {
        match self.negated {
            // What is missing is not a number, and so not at least anything.
            false if self.high == f64::INFINITY => at_least(values, self.low, mask),
            false => within(values, self.low, self.high, mask),
            true => outside(values, self.low, self.high, mask),
        }
    }

    /// The number of one contact.
    pub fn one(self, number: f64, mask: &mut Mask) {
        if !self.holds(number) {
            mask.clear();
        }
    }

    /// Counts are integers that are never missing.
    pub fn counts(self, values: &[i32], mask: &mut Mask) {
        self.ints(values, mask);
    }

    /// Counts of few events.
    pub fn few(self, values: &[u16], mask: &mut Mask) {
        let most = f64::from(u16::MAX);
        if self.negated {
            mask.keep(values, |value| self.holds(f64::from(value)));
        } else if self.low > most || self.high < 0.0 {
            mask.clear();
        } else {
            let (low, high) = (self.low.ceil().max(0.0), self.high.floor().min(most));
            match high as u16 {
                u16::MAX => at_least(values, low as u16, mask),
                high => within(values, low as u16, high, mask),
            }
        }
    }

    fn ints(self, values: &[i32], mask: &mut Mask) {
        let (least, most) = (f64::from(NO_INT) + 1.0, f64::from(i32::MAX));
        if self.negated {
            mask.keep(values, |value| {
                (value != NO_INT) & self.holds(f64::from(value))
            });
        } else if self.low > most || self.high < least {
            mask.clear();
        } else {
            let (low, high) = (self.low.ceil().max(least), self.high.floor().min(most));
            match high as i32 {
                i32::MAX => at_least(values, low as i32, mask),
                high => within(values, low as i32, high, mask),
            }
        }
    }

    fn singles(self, values: &[f32], mask: &mut Mask) {
        if self.negated {
            mask.keep(values, |value| self.holds(f64::from(value)));
            return;
        }
        // The nearest single may lie on the wrong side of the bound.
        let (low, high) = (self.low as f32, self.high as f32);
        let low = if f64::from(low) < self.low {
            low.next_up()
        } else {
            low
        };
        let high = if f64::from(high) > self.high {
            high.next_down()
        } else {
            high
        };
        match high == f32::INFINITY {
            true => at_least(values, low, mask),
            false => within(values, low, high, mask),
        }
    }
}

/// A range of instants in microseconds; negated, what is outside of it.
#[derive(Clone, Copy)]
pub struct Instants {
    pub low: i64,
    pub high: i64,
    pub negated: bool,
}

impl Instants {
    pub fn narrow(self, times: &Times, start: usize, mask: &mut Mask) {
        match times {
            Times::Micros(micros) => self.micros(&micros[start..start + mask.len()], mask),
            Times::Seconds { base, offsets } => {
                self.offsets(&offsets[start..start + mask.len()], *base, mask);
            }
        }
    }

    fn offsets(self, offsets: &[i32], base: i64, mask: &mut Mask) {
        let (low, high) = (first_offset(base, self.low), last_offset(base, self.high));
        let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
        let is_none = low > most || high < least || low > high;
        match (is_none, self.negated) {
            (true, true) => {}
            (true, false) => mask.clear(),
            (false, false) if high >= most => at_least(offsets, low.max(least) as i32, mask),
            (false, false) => within(offsets, low.max(least) as i32, high as i32, mask),
            (false, true) => outside(offsets, low.max(least) as i32, high.min(most) as i32, mask),
        }
    }

    /// Instants of which some may be missing.
    pub fn micros(self, micros: &[i64], mask: &mut Mask) {
        mask.keep(micros, |time| self.holds(time));
    }

    pub fn holds(self, micros: i64) -> bool {
        let is_within = (micros >= self.low) & (micros <= self.high);
        (micros != NO_TIME) & (is_within != self.negated)
    }
}

/// The first instant from `from` on among the rows of a mask, if it is before `below`.
pub fn first_time(
    times: &Times,
    start: usize,
    (from, below): (i64, i64),
    mask: &Mask,
) -> Option<i64> {
    let rows = start..start + mask.len();
    match times {
        Times::Micros(micros) => first_micros(&micros[rows], from, mask),
        Times::Seconds { base, offsets } => {
            let offsets = &offsets[rows];
            let least = i32::try_from(first_offset(*base, from).max(i64::from(i32::MIN))).ok()?;
            // Seldom is there one, and that there is none is found out faster than which.
            if let Ok(end) = i32::try_from(first_offset(*base, below))
                && !mask.any(offsets, |offset| (offset >= least) & (offset < end))
            {
                return None;
            }
            let first = first_offset_from(offsets, least, mask)?;
            Some(base + i64::from(first) * 1_000_000)
        }
    }
}

pub fn first_micros(micros: &[i64], from: i64, mask: &Mask) -> Option<i64> {
    let mut first = None;
    mask.each(|row| match micros.get(row) {
        Some(time) if *time >= from && *time != NO_TIME => {
            first = Some(first.map_or(*time, |first: i64| first.min(*time)));
        }
        _ => {}
    });
    first
}

fn first_offset_from(offsets: &[i32], from: i32, mask: &Mask) -> Option<i32> {
    let mut first = None;
    mask.each(|row| {
        if offsets[row] >= from {
            first = Some(first.map_or(offsets[row], |first: i32| first.min(offsets[row])));
        }
    });
    first
}

/// Keeps the booleans that are (not) `value`.
pub fn flags(column: &Column, start: usize, value: bool, negated: bool, mask: &mut Mask) {
    let wanted = u8::from(value != negated);
    each_cell(column, start, mask, |open| open == Open::Bool(wanted != 0));
}

/// Keeps what is missing, or with `negated` what is there.
pub fn nulls(column: &Column, start: usize, negated: bool, mask: &mut Mask) {
    let count = column.len().saturating_sub(start).min(mask.len());
    if negated {
        mask.cut(count);
    }
    if count == 0 {
        return;
    }
    let rows = start..start + count;
    match column {
        Column::Bool(values) => nulls_of(&values[rows], |value| value == NO_BOOL, negated, mask),
        Column::Int(values) => nulls_of(&values[rows], |value| value == NO_INT, negated, mask),
        Column::Single(values) => nulls_of(&values[rows], f32::is_nan, negated, mask),
        Column::Double(values) => nulls_of(&values[rows], f64::is_nan, negated, mask),
        Column::Text8(codes) => nulls_of(&codes[rows], |code| code == 0, negated, mask),
        Column::Text16(codes) => nulls_of(&codes[rows], |code| code == 0, negated, mask),
        Column::Text32(codes) | Column::List(codes) => {
            nulls_of(&codes[rows], |code| code == 0, negated, mask);
        }
        Column::Mixed(cells) => nulls_of(&cells[rows], |cell| cell.is_missing(), negated, mask),
    }
}

fn nulls_of<T: Copy>(values: &[T], is_null: impl Fn(T) -> bool, negated: bool, mask: &mut Mask) {
    mask.remove(values, |value| is_null(value) == negated);
}

/// Asks each cell that still passes.
pub fn each_cell(column: &Column, start: usize, mask: &mut Mask, holds: impl Fn(Open) -> bool) {
    mask.retain(|row| holds(column.get(start + row).open()));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number() -> impl Strategy<Value = f64> {
        let odd = [
            0.7,
            0.1,
            f64::from(0.7f32),
            f64::from(0.1f32),
            16_777_217.0,
            4e9,
            -4e9,
        ];
        let all = odd
            .into_iter()
            .chain([0.0, -0.0, 1e300, f64::from(i32::MAX), -2_147_483_647.0]);
        prop_oneof![
            2 => (-3..3i32).prop_map(f64::from),
            1 => (-9..9i32).prop_map(|n| f64::from(n) / 4.0),
            1 => prop::sample::select(all.collect::<Vec<_>>()),
        ]
    }

    proptest! {
        /// Whatever form a column has, its kernel says what its values say one by one.
        #[test]
        fn numbers_are_kept_whatever_the_form(
            numbers in prop::collection::vec(prop::option::of(number()), 1..9),
            bounds in (number(), number()),
            ends in (0..3u8, any::<bool>(), any::<bool>()),
            start in 0..4usize,
        ) {
            let cell = |number: &Option<f64>| number.map_or(Cell::MISSING, Cell::number);
            let mut column = Column::for_cell(numbers.iter().find_map(|n| *n).map_or(Cell::MISSING, Cell::number));
            numbers.iter().enumerate().for_each(|(row, number)| column.set(row, cell(number)));
            let (low, high) = match ends {
                (0, ..) => bounds,
                (1, ..) => (f64::NEG_INFINITY, if ends.1 { bounds.1.next_down() } else { bounds.1 }),
                _ => (if ends.1 { bounds.0.next_up() } else { bounds.0 }, f64::INFINITY),
            };
            let range = Numbers { low, high, negated: ends.2 };
            let mut mask = Mask::default();
            mask.refill(9, true);
            range.narrow(&column, start, &mut mask);
            for row in 0..mask.len() {
                let number = numbers.get(start + row).copied().flatten();
                let holds = number.is_some_and(|n| (n >= low && n <= high) != ends.2);
                prop_assert_eq!(mask.get(row), holds, "row {} of {:?}", row, column);
            }
        }

        /// The first instant of a window is found, unless it is too late to matter.
        #[test]
        fn the_first_instant_is_found(
            rows in prop::collection::vec((-40..40i64, 0..2u8), 1..600),
            (from, below) in (-45_000..45_000i64, -45_000..45_000i64),
            unit in prop::sample::select(vec![1_000_000i64, 1_000]),
        ) {
            let mut times = Times::default();
            rows.iter().for_each(|(time, _)| times.push(time * unit));
            let passes: Vec<u8> = rows.iter().map(|(_, m)| *m).collect();
            let mut mask = Mask::default();
            mask.refill(rows.len(), true);
            mask.keep(&passes, |m| m != 0);
            let (from, below) = (from * unit / 1_000, below * unit / 1_000);
            let passing = rows.iter().filter(|(_, m)| *m != 0).map(|(time, _)| time * unit);
            let first = passing.filter(|time| *time >= from).min();
            let found = first_time(&times, 0, (from, below), &mask);
            if found != first {
                prop_assert!(found.is_none() && first.is_some_and(|first| first >= below));
            }
        }
    }
}
