//! Masks: one bit per row, 1 for the rows that still pass.

use super::lanes::{self, Kernel, Lanes};

/// The bits beyond the last row are 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mask {
    words: Vec<u64>,
    len: usize,
}

impl Mask {
    /// Makes it a mask of so many rows, all or none of which pass.
    pub fn refill(&mut self, len: usize, passes: bool) {
        self.words.clear();
        if passes && (1..=64).contains(&len) {
            // One contact seldom has more.
            self.words.push(u64::MAX >> (64 - len));
            self.len = len;
            return;
        }
        let word = if passes { u64::MAX } else { 0 };
        self.words.resize(len.div_ceil(64), word);
        self.len = len;
        self.trim(len);
    }

    /// Makes it a mask of so many rows, of which those pass that have a one in `words`.
    pub fn refill_from(&mut self, words: &[u64], len: usize) {
        let known = words.len().min(len.div_ceil(64));
        self.words.clear();
        self.words.extend_from_slice(&words[..known]);
        self.words.resize(len.div_ceil(64), 0);
        self.len = len;
        self.trim(len);
    }

    pub const fn len(&self) -> usize {
        self.len
    }

    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub fn get(&self, row: usize) -> bool {
        self.words[row / 64] >> (row % 64) & 1 != 0
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().fold(0, |any, word| any | word) == 0
    }

    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Takes away the rows from `count` on.
    pub fn cut(&mut self, count: usize) {
        if count < self.len {
            self.trim(count);
        }
    }

    /// Clears the bits from `count` on, those beyond the last row too.
    fn trim(&mut self, count: usize) {
        if count == self.words.len() * 64 {
            return;
        }
        let (whole, bits) = (count / 64, count % 64);
        self.words[whole] &= (1 << bits) - 1;
        self.words[whole + 1..].fill(0);
    }

    /// Adds the rows of another mask.
    pub fn unite(&mut self, other: &Self) {
        self.with(other, |own, other| own | other);
    }

    /// Takes away the rows of another mask.
    pub fn subtract(&mut self, other: &Self) {
        self.with(other, |own, other| own & !other);
    }

    /// Keeps the rows of another mask.
    pub fn intersect(&mut self, other: &Self) {
        self.with(other, |own, other| own & other);
    }

    fn with(&mut self, other: &Self, call: impl Fn(u64, u64) -> u64) {
        let both = self.words.iter_mut().zip(&other.words);
        both.for_each(|(own, other)| *own = call(*own, *other));
    }

    /// Keeps the rows of whose values `holds` says so; there are no values of those beyond.
    #[inline]
    pub fn keep<T: Copy>(&mut self, values: &[T], holds: impl Fn(T) -> bool) {
        self.cut(values.len());
        let (whole, rest) = values.as_chunks::<64>();
        if !whole.is_empty() {
            let words = &mut self.words;
            lanes::run(Keep {
                values: whole,
                words,
                holds: &holds,
            });
        }
        if !rest.is_empty() {
            self.words[whole.len()] &= bits(rest, &holds);
        }
    }

    /// Takes away the rows of whose values `holds` says so; those without a value stay.
    #[inline]
    pub fn remove<T: Copy>(&mut self, values: &[T], holds: impl Fn(T) -> bool) {
        let (whole, rest) = values.as_chunks::<64>();
        let words = &mut self.words;
        lanes::run(Keep {
            values: whole,
            words,
            holds: &|value| !holds(value),
        });
        if !rest.is_empty() {
            self.words[whole.len()] &= !bits(rest, &holds);
        }
    }

    /// Whether there is a row of whose value `holds` says so.
    #[inline]
    pub fn any<T: Copy>(&self, values: &[T], holds: impl Fn(T) -> bool) -> bool {
        let (whole, rest) = values.as_chunks::<64>();
        let words = &self.words;
        let any = lanes::run(Any {
            values: whole,
            words,
            holds: &holds,
        });
        let last = words.get(whole.len()).copied().unwrap_or(0);
        any || last & bits(rest, &holds) != 0
    }

    /// Keeps the rows whose contact passes.
    pub fn keep_owners(&mut self, slots: &[u16], wrap: usize, passes: &Self) {
        for (word, slots) in self.words.iter_mut().zip(slots.chunks(64)) {
            if *word != 0 {
                *word &= bits(slots, &|slot| passes.get(usize::from(slot) & wrap));
            }
        }
    }

    /// Asks each row that still passes.
    pub fn retain(&mut self, mut holds: impl FnMut(usize) -> bool) {
        for (at, word) in self.words.iter_mut().enumerate() {
            let asked = *word;
            each_bit(asked, |bit| {
                *word &= !(u64::from(!holds(at * 64 + bit)) << bit);
            });
        }
    }

    /// Calls for each row that passes, in order.
    #[inline]
    pub fn each(&self, mut call: impl FnMut(usize)) {
        for (at, word) in self.words.iter().enumerate() {
            each_bit(*word, |bit| call(at * 64 + bit));
        }
    }

    /// How many rows pass.
    pub fn count(&self) -> usize {
        let ones = self.words.iter().map(|word| word.count_ones() as usize);
        ones.sum()
    }
}

#[inline]
fn each_bit(mut word: u64, mut call: impl FnMut(usize)) {
    while word != 0 {
        call(word.trailing_zeros() as usize);
        word &= word - 1;
    }
}

/// What holds of at most 64 values, as bits.
#[inline(always)]
fn bits<T: Copy>(values: &[T], holds: &impl Fn(T) -> bool) -> u64 {
    let last_first = values.iter().rev();
    last_first.fold(0, |bits, value| bits << 1 | u64::from(holds(*value)))
}

/// What holds of 64 values, as bits.
#[inline(always)]
pub fn word<T: Copy, L: Lanes>(values: &[T; 64], lanes: L, holds: &impl Fn(T) -> bool) -> u64 {
    let mut bytes = [0; 64];
    for (byte, value) in bytes.iter_mut().zip(values) {
        *byte = u8::from(holds(*value)).wrapping_neg();
    }
    lanes.bits(bytes)
}

struct Keep<'a, T, F> {
    values: &'a [[T; 64]],
    words: &'a mut [u64],
    holds: &'a F,
}

impl<T: Copy, F: Fn(T) -> bool> Kernel for Keep<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        for (values, own) in self.values.iter().zip(self.words) {
            *own &= word(values, lanes, self.holds);
        }
    }
}

struct Any<'a, T, F> {
    values: &'a [[T; 64]],
    words: &'a [u64],
    holds: &'a F,
}

impl<T: Copy, F: Fn(T) -> bool> Kernel for Any<'_, T, F> {
    type Output = bool;
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> bool {
        let mut any = 0;
        for (values, own) in self.values.iter().zip(self.words) {
            any |= own & word(values, lanes, self.holds);
        }
        any != 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::columns::kernels::lanes::Baseline;

    fn mask_of(rows: &[bool]) -> Mask {
        let mut mask = Mask::default();
        mask.refill(rows.len(), true);
        mask.keep(rows, |row| row);
        mask
    }

    fn rows_of(mask: &Mask) -> Vec<bool> {
        (0..mask.len()).map(|row| mask.get(row)).collect()
    }

    proptest! {
        /// What is kept is what was there and holds; the values may end before the rows.
        #[test]
        fn rows_are_kept(
            rows in prop::collection::vec((any::<bool>(), 0..9i32), 1..300),
            (low, high) in (0..9i32, 0..9i32),
            values in 0..300usize,
        ) {
            let (own, numbers): (Vec<bool>, Vec<i32>) = rows.iter().copied().unzip();
            let values = &numbers[..values.min(numbers.len())];
            let holds = |n| (n >= low) & (n <= high);
            let wanted: Vec<bool> = own.iter().enumerate()
                .map(|(row, own)| *own && values.get(row).is_some_and(|n| holds(*n)))
                .collect();
            let mut mask = mask_of(&own);
            prop_assert_eq!(rows_of(&mask), &own[..]);
            prop_assert_eq!(mask.any(values, holds), wanted.contains(&true));
            let mut others = mask.clone();
            mask.keep(values, holds);
            prop_assert_eq!(rows_of(&mask), &wanted[..]);
            others.remove(values, holds);
            let stay: Vec<bool> = own.iter().zip(&wanted).map(|(own, kept)| *own && !kept).collect();
            prop_assert_eq!(rows_of(&others), stay);
            prop_assert_eq!(mask.count(), wanted.iter().filter(|row| **row).count());
            let mut passing = Vec::new();
            mask.each(|row| passing.push(row));
            let rows = (0..wanted.len()).filter(|row| wanted[*row]);
            prop_assert_eq!(passing, rows.collect::<Vec<_>>());
            mask.retain(|row| row % 3 != 0);
            let rest: Vec<bool> = (0..wanted.len()).map(|row| wanted[row] && row % 3 != 0).collect();
            prop_assert_eq!(rows_of(&mask), rest);
        }

        /// With wide vectors and without, the same comes out.
        #[test]
        fn lanes_agree(values in prop::collection::vec(0..4u8, 640), wanted in 0..4u8) {
            let (values, _) = values.as_chunks::<64>();
            let (mut wide, mut plain) = ([u64::MAX; 10], [u64::MAX; 10]);
            let holds = &|value| value == wanted;
            lanes::run(Keep { values, words: &mut wide, holds });
            Keep { values, words: &mut plain, holds }.run(Baseline);
            prop_assert_eq!(wide, plain);
            let ones = plain.iter().map(|word| word.count_ones()).sum::<u32>();
            let found = values.as_flattened().iter().filter(|value| **value == wanted);
            prop_assert_eq!(ones as usize, found.count());
        }

        #[test]
        fn masks_are_sets(rows in prop::collection::vec((any::<bool>(), any::<bool>()), 1..200)) {
            let (a, b): (Vec<bool>, Vec<bool>) = rows.iter().copied().unzip();
            let (a, b) = (mask_of(&a), mask_of(&b));
            let done = |call: fn(&mut Mask, &Mask)| {
                let mut own = a.clone();
                call(&mut own, &b);
                rows_of(&own)
            };
            let wanted = |call: fn(bool, bool) -> bool| -> Vec<bool> {
                rows.iter().map(|(a, b)| call(*a, *b)).collect()
            };
            prop_assert_eq!(done(Mask::unite), wanted(|a, b| a | b));
            prop_assert_eq!(done(Mask::subtract), wanted(|a, b| a & !b));
            prop_assert_eq!(done(Mask::intersect), wanted(|a, b| a & b));
            prop_assert_eq!(a.is_empty(), !rows.iter().any(|(a, _)| *a));
        }

        /// A row passes when its owner does.
        #[test]
        fn rows_go_with_their_owners(
            rows in prop::collection::vec((any::<bool>(), 0..8u16), 1..200),
            passes in prop::collection::vec(any::<bool>(), 8),
        ) {
            let (own, slots): (Vec<bool>, Vec<u16>) = rows.iter().copied().unzip();
            let mut mask = mask_of(&own);
            mask.keep_owners(&slots, 7, &mask_of(&passes));
            let wanted = rows.iter().map(|(own, slot)| *own && passes[usize::from(*slot)]);
            prop_assert_eq!(rows_of(&mask), wanted.collect::<Vec<_>>());
        }
    }

    #[test]
    fn words_become_rows_and_no_more_than_there_are() {
        let mut mask = Mask::default();
        mask.refill_from(&[u64::MAX, 0b101], 67);
        assert_eq!(
            (mask.count(), mask.get(64), mask.get(65)),
            (66, true, false)
        );
        mask.refill_from(&[u64::MAX], 130);
        assert_eq!((mask.count(), mask.words().len()), (64, 3));
        mask.refill(70, true);
        assert_eq!((mask.count(), mask.words()), (70, &[u64::MAX, 63][..]));
        mask.cut(64);
        assert_eq!(mask.words(), [u64::MAX, 0]);
    }
}
