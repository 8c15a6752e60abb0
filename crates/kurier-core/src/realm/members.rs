//! A set of contacts by number: a bit each.

#[derive(Debug, Clone, Default)]
pub struct Members {
    words: Vec<u64>,
    count: usize,
}

impl Members {
    /// Puts a contact in or takes it out; answers whether that changed anything.
    pub fn set(&mut self, number: u32, is_member: bool) -> bool {
        let (word, bit) = (number as usize / 64, 1u64 << (number % 64));
        if self.words.len() <= word {
            if !is_member {
                return false;
            }
            self.words.resize(word + 1, 0);
        }
        let was_member = self.words[word] & bit != 0;
        if was_member == is_member {
            return false;
        }
        self.words[word] ^= bit;
        if is_member {
            self.count += 1
        } else {
            self.count -= 1
        }
        true
    }

    pub fn contains(&self, number: u32) -> bool {
        let word = self.words.get(number as usize / 64).copied().unwrap_or(0);
        word & (1 << (number % 64)) != 0
    }

    pub const fn len(&self) -> usize {
        self.count
    }

    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(index, word)| bits(index, *word))
    }

    /// What differs from `before`: a contact, and whether it is a member now.
    pub fn difference<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = (u32, bool)> + 'a {
        let words = self.words.len().max(before.words.len());
        (0..words).flat_map(move |index| {
            let now = self.words.get(index).copied().unwrap_or(0);
            let then = before.words.get(index).copied().unwrap_or(0);
            bits(index, now ^ then).map(|number| (number, self.contains(number)))
        })
    }
}

/// Equal sets are equal however much room they have.
impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        self.difference(other).next().is_none()
    }
}

/// The numbers of the bits that are set in the word at `index`.
fn bits(index: usize, mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        (word != 0).then(|| {
            word &= word - 1;
            index as u32 * 64 + bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_kept_by_number() {
        let mut members = Members::default();
        assert!(members.set(130, true) && !members.set(130, true) && !members.set(5, false));
        assert!(members.set(3, true));
        assert_eq!(members.iter().collect::<Vec<_>>(), [3, 130]);
        let mut later = members.clone();
        later.set(3, false);
        later.set(700, true);
        assert_eq!(
            later.difference(&members).collect::<Vec<_>>(),
            [(3, false), (700, true)]
        );
        assert_eq!(
            (later.len(), later.contains(130), later.contains(3)),
            (2, true, false)
        );
        later.set(700, false);
        later.set(3, true);
        assert_eq!(later, members);
    }
}
