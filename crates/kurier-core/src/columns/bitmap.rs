//! A set of contact numbers, one bit each.

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
        let ones = self.words.iter().map(|word| u64::from(word.count_ones()));
        ones.sum()
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

    /// Adds bits from `first` on; `first` begins a block.
    pub(super) fn put(&mut self, first: usize, words: &[u64]) {
        if first.is_multiple_of(64) {
            let own = self.words[first / 64..].iter_mut();
            own.zip(words).for_each(|(own, word)| *own |= word);
        } else {
            for bit in ones(words.iter().copied()) {
                self.set(first as u32 + bit, true);
            }
        }
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
        assert!(bitmap.contains(64) && !bitmap.contains(65) && !bitmap.contains(9_999));
        assert!(bitmap.set(64, false) && !bitmap.set(64, false) && !bitmap.set(9_999, false));
        assert_eq!(bitmap.len(), 2);
        let other: Bitmap = [3, 5].into_iter().collect();
        assert_eq!(bitmap.difference(&other).collect::<Vec<_>>(), [5, 700]);
        bitmap.set(700, false);
        assert_eq!(bitmap, [3].into_iter().collect());
    }
}
