//! Instants in a column: seconds from a base while that loses nothing, else microseconds.

use std::io;
use std::ops::Range;

use super::column::{push, reordered};
use super::snapshot::{Sink, SnapshotError, Source};

const SECOND: i64 = 1_000_000;

#[derive(Debug, Clone)]
pub enum Times {
    /// Whole seconds after (or before) `base`.
    Seconds {
        base: i64,
        offsets: Vec<i32>,
    },
    Micros(Vec<i64>),
}

impl Default for Times {
    fn default() -> Self {
        Self::Seconds {
            base: 0,
            offsets: Vec::new(),
        }
    }
}

impl Times {
    pub fn len(&self) -> usize {
        match self {
            Self::Seconds { offsets, .. } => offsets.len(),
            Self::Micros(micros) => micros.len(),
        }
    }

    pub fn get(&self, row: usize) -> i64 {
        match self {
            Self::Seconds { base, offsets } => base + i64::from(offsets[row]) * SECOND,
            Self::Micros(micros) => micros[row],
        }
    }

    pub fn push(&mut self, micros: i64) {
        if let Self::Seconds { base, offsets } = self {
            if offsets.is_empty() {
                *base = micros;
            }
            if let Some(offset) = offset(*base, micros) {
                push(offsets, offset);
                return;
            }
            *self = Self::Micros((0..self.len()).map(|row| self.get(row)).collect());
        }
        if let Self::Micros(all) = self {
            push(all, micros);
        }
    }

    pub fn reorder(&mut self, order: &[u32], more: usize) {
        match self {
            Self::Seconds { offsets, .. } => *offsets = reordered(offsets, order, more),
            Self::Micros(micros) => *micros = reordered(micros, order, more),
        }
    }

    pub fn remove(&mut self, rows: Range<usize>) {
        match self {
            Self::Seconds { offsets, .. } => drop(offsets.drain(rows)),
            Self::Micros(micros) => drop(micros.drain(rows)),
        }
    }

    /// Puts instants in before `row`.
    pub fn insert(&mut self, row: usize, times: &[i64]) {
        times.iter().for_each(|micros| self.push(*micros));
        match self {
            Self::Seconds { offsets, .. } => offsets[row..].rotate_right(times.len()),
            Self::Micros(micros) => micros[row..].rotate_right(times.len()),
        }
    }

    pub fn write(&self, sink: &mut Sink<'_>) -> io::Result<()> {
        match self {
            Self::Seconds { base, offsets } => {
                sink.values(&[*base])?;
                sink.values(offsets)
            }
            Self::Micros(micros) => {
                sink.values::<i64>(&[])?;
                sink.values(micros)
            }
        }
    }

    pub fn read(source: &mut Source<'_>) -> Result<Self, SnapshotError> {
        let base: Vec<i64> = source.values()?;
        Ok(match base.first() {
            Some(base) => Self::Seconds {
                base: *base,
                offsets: source.values()?,
            },
            None => Self::Micros(source.values()?),
        })
    }

    pub fn bytes(&self) -> usize {
        match self {
            Self::Seconds { offsets, .. } => offsets.capacity() * 4,
            Self::Micros(micros) => micros.capacity() * 8,
        }
    }
}

fn offset(base: i64, micros: i64) -> Option<i32> {
    let apart = micros.checked_sub(base)?;
    (apart % SECOND == 0).then(|| i32::try_from(apart / SECOND).ok())?
}

/// The first offset that stands for an instant not before `micros`.
pub fn first_offset(base: i64, micros: i64) -> i64 {
    match micros.checked_sub(base) {
        Some(apart) => apart.div_euclid(SECOND) + i64::from(apart.rem_euclid(SECOND) != 0),
        None => last_offset(base, micros) + 1,
    }
}

/// The last offset that stands for an instant not after `micros`.
pub fn last_offset(base: i64, micros: i64) -> i64 {
    match micros.checked_sub(base) {
        Some(apart) => apart.div_euclid(SECOND),
        // Far beyond what an offset can say, and a little less far is far enough.
        None => (micros / SECOND).saturating_sub(base / SECOND),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn instants_come_back(
            times in prop::collection::vec(prop_oneof![
                8 => (-9..9i64).prop_map(|n| 7 + n * SECOND),
                1 => any::<i64>(),
            ], 1..9),
        ) {
            let mut column = Times::default();
            times.iter().for_each(|time| column.push(*time));
            column.insert(1, &[3, 7]);
            let mut plain = times;
            plain.splice(1..1, [3, 7]);
            let found: Vec<i64> = (0..column.len()).map(|row| column.get(row)).collect();
            prop_assert_eq!(found, plain);
        }

        #[test]
        fn offsets_bound_what_they_stand_for(base in any::<i32>(), micros in any::<i64>()) {
            let base = i64::from(base);
            let value = |offset: i64| i128::from(base) + i128::from(offset) * i128::from(SECOND);
            let (first, last) = (first_offset(base, micros), last_offset(base, micros));
            let micros = i128::from(micros);
            let is_far = micros.abs_diff(i128::from(base)) > u128::from(u64::MAX) / 4;
            prop_assert!(is_far || value(first) >= micros && value(first - 1) < micros);
            prop_assert!(is_far || value(last) <= micros && value(last + 1) > micros);
            // Far away it is only known on which side.
            prop_assert!(!is_far || (last > i64::from(i32::MAX)) == (micros > 0));
        }
    }
}
