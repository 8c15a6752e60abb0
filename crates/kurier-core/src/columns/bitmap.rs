//! A set of contact numbers, one bit each.

use std::sync::atomic::{AtomicU64, Ordering};

use super::block::BLOCK;
use super::kernels::lanes::{self, Kernel, Lanes};
use super::kernels::mask;

/// The bits beyond the last word are 0.
#[derive(Debug, Clone, Default)]
pub struct Bitmap {
    words: Vec<u64>,
}

impl Bitmap {
    pub const fn new() -> Self {
        Self { words: Vec::new() }
    }

    /// How many numbers are in it.
    pub fn len(&self) -> u64 {
        lanes::run(Count(&self.words))
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub fn contains(&self, number: u32) -> bool {
        let word = self.words.get(number as usize / 64);
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Puts a number in or takes it out; says whether that changed anything.
    pub fn set(&mut self, number: u32, is_in: bool) -> bool {
        let at = number as usize / 64;
        if self.words.len() <= at {
            if !is_in {
                return false;
            }
            self.words.resize(at + 1, 0);
        }
        let (bit, old) = (1 << (number % 64), self.words[at]);
        self.words[at] = if is_in { old | bit } else { old & !bit };
        self.words[at] != old
    }

    /// The numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        ones(self.words.iter().copied())
    }

    /// The numbers, in order, all at once: faster than one by one.
    pub fn numbers(&self) -> Vec<u32> {
        let count = self.len() as usize;
        let mut numbers = vec![0; count + 64];
        lanes::run(Write {
            words: &self.words,
            numbers: &mut numbers,
            are_few: count < self.words.len(),
        });
        numbers.truncate(count);
        numbers
    }

    /// The numbers that are in just one of two sets.
    pub fn difference<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u32> + 'a {
        let len = self.words.len().max(other.words.len());
        let word = |words: &[u64], at: usize| words.get(at).copied().unwrap_or(0);
        ones((0..len).map(move |at| word(&self.words, at) ^ word(&other.words, at)))
    }

    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub const fn from_words(words: Vec<u64>) -> Self {
        Self { words }
    }

    pub fn bytes(&self) -> usize {
        self.words.capacity() * 8
    }
}

/// A bitmap that several threads write, each its own blocks.
pub(super) struct Shared {
    words: Vec<AtomicU64>,
}

impl Shared {
    pub fn new(numbers: usize) -> Self {
        let words = (0..numbers.div_ceil(64)).map(|_| AtomicU64::new(0));
        Self {
            words: words.collect(),
        }
    }

    /// Puts in the bits of the block that begins at `first`. Blocks fill words, or lie in one.
    pub fn put(&self, first: usize, words: &[u64]) {
        let own = self.words[first / 64..].iter().zip(words);
        match first % 64 {
            // Nobody else writes here, and a plain store is many times faster.
            0 if words.len() * 64 == BLOCK => {
                own.for_each(|(own, word)| own.store(*word, Ordering::Relaxed));
            }
            shift => own.for_each(|(own, word)| {
                own.fetch_or(word << shift, Ordering::Relaxed);
            }),
        }
    }

    pub fn finish(self) -> Bitmap {
        let words = self.words.into_iter().map(AtomicU64::into_inner);
        Bitmap::from_words(words.collect())
    }
}

impl PartialEq for Bitmap {
    fn eq(&self, other: &Self) -> bool {
        self.difference(other).next().is_none()
    }
}

impl Eq for Bitmap {}

impl FromIterator<u32> for Bitmap {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut bitmap = Self::new();
        for number in numbers {
            bitmap.set(number, true);
        }
        bitmap
    }
}

struct Count<'a>(&'a [u64]);

impl Kernel for Count<'_> {
    type Output = u64;
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> u64 {
        let ones = self.0.iter().map(|word| u64::from(word.count_ones()));
        ones.sum()
    }
}

/// Writes the numbers of a bitmap, with room for 64 more.
struct Write<'a> {
    words: &'a [u64],
    numbers: &'a mut [u32],
    are_few: bool,
}

impl Kernel for Write<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let (groups, rest) = self.words.as_chunks::<64>();
        let mut room = self.numbers;
        for (at, words) in groups.iter().enumerate() {
            // Words that are not empty are looked for among many at once, like numbers in them.
            let filled = match self.are_few {
                true => mask::word(words, lanes, &|word| word != 0),
                false => u64::MAX,
            };
            room = write_words(words, filled, (at * 64) as u32, room);
        }
        let mut words = [0; 64];
        words[..rest.len()].copy_from_slice(rest);
        write_words(&words, u64::MAX, (groups.len() * 64) as u32, room);
    }
}

/// Writes the numbers of those words that are not empty; gives the room that is left.
#[inline(always)]
fn write_words<'a>(
    words: &[u64; 64],
    mut filled: u64,
    first: u32,
    mut room: &'a mut [u32],
) -> &'a mut [u32] {
    while filled != 0 {
        let at = filled.trailing_zeros();
        filled &= filled - 1;
        let word = words[at as usize & 63];
        if let Some(numbers) = room.first_chunk_mut::<64>() {
            write_ones(word, (first + at) * 64, numbers);
        }
        room = room.split_at_mut(word.count_ones() as usize).1;
    }
    room
}

/// Writes where a word has ones, from `first` on; some are written at a time, whether there
/// are so many or not: a branch for each would often be guessed wrong.
#[inline(always)]
fn write_ones(mut word: u64, first: u32, room: &mut [u32; 64]) {
    for some in room.as_chunks_mut::<4>().0 {
        for number in some {
            *number = first + word.trailing_zeros();
            word &= word.wrapping_sub(1);
        }
        if word == 0 {
            break;
        }
    }
}

fn ones(words: impl Iterator<Item = u64>) -> impl Iterator<Item = u32> {
    words.enumerate().flat_map(|(at, mut word)| {
        std::iter::from_fn(move || {
            let bit = word.trailing_zeros();
            word &= word.wrapping_sub(1);
            (bit < 64).then_some(at as u32 * 64 + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_in_and_out() {
        let mut bitmap: Bitmap = [3, 64, 700].into_iter().collect();
        assert_eq!(bitmap.iter().collect::<Vec<_>>(), [3, 64, 700]);
        assert_eq!(bitmap.numbers(), [3, 64, 700]);
        assert!(bitmap.contains(64) && !bitmap.contains(65) && !bitmap.contains(9_999));
        assert!(bitmap.set(64, false) && !bitmap.set(64, false) && !bitmap.set(9_999, false));
        assert_eq!(bitmap.len(), 2);
        let other: Bitmap = [3, 5].into_iter().collect();
        assert_eq!(bitmap.difference(&other).collect::<Vec<_>>(), [5, 700]);
        bitmap.set(700, false);
        assert_eq!(bitmap, [3].into_iter().collect());
    }

    proptest::proptest! {
        #[test]
        fn all_at_once_is_one_by_one(words in proptest::collection::vec(word(), 0..200)) {
            let bitmap = Bitmap::from_words(words);
            proptest::prop_assert_eq!(bitmap.numbers(), bitmap.iter().collect::<Vec<_>>());
        }
    }

    fn word() -> impl proptest::strategy::Strategy<Value = u64> {
        use proptest::prelude::*;
        let few = prop::collection::vec(0..64u32, 0..6)
            .prop_map(|bits| bits.iter().fold(0, |word, bit| word | 1 << bit));
        prop_oneof![few, any::<u64>(), Just(u64::MAX)]
    }
}
