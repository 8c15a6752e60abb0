//! The numbers in keys: for each type and identifier one counter that only rises. A number that
//! was given is never given again, whatever became of its node.

use std::collections::HashMap;

use super::key::{Key, NUMBERS_MAX, Name};

/// How many numbers were given, for the names that are known.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    used: HashMap<Name, u16>,
    /// The page under way of names whose first 999 numbers are given; found anew when missing.
    pages: HashMap<Name, u32>,
}

/// Counters are the same if they give the same numbers.
impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |numbers: &Self, name: &Name| numbers.used(name) == other.used(name);
        self.used.keys().all(|name| is_same(self, name))
            && other.used.keys().all(|name| is_same(self, name))
    }
}

impl Numbers {
    pub fn with_capacity(names: usize) -> Self {
        Self {
            used: HashMap::with_capacity(names),
            pages: HashMap::new(),
        }
    }

    /// Makes room for further names at once.
    pub(super) fn reserve(&mut self, names: usize) {
        self.used.reserve(names);
    }

    pub fn used(&self, name: &Name) -> u16 {
        self.used.get(name).copied().unwrap_or(0)
    }

    pub fn all(&self) -> impl ExactSizeIterator<Item = (&Name, u16)> {
        self.used.iter().map(|(name, used)| (name, *used))
    }

    /// A counter as it was kept.
    pub fn set(&mut self, name: Name, used: u16) {
        self.used.insert(name, used.min(NUMBERS_MAX));
    }

    /// A key that was given: folding all of them brings the counters back.
    pub fn learn(&mut self, key: &Key) {
        let used = self.used.entry(key.name).or_default();
        *used = (*used).max(key.number());
    }

    /// The next key of a name. When a page is full, the identifier rolls on; a heading that is
    /// really called so counts on the same page.
    pub fn take(&mut self, name: Name) -> Key {
        let mut page = self.pages.get(&name).copied().unwrap_or(1);
        loop {
            let paged = paged(name, page);
            let used = self.used.entry(paged).or_default();
            if *used < NUMBERS_MAX {
                *used += 1;
                return Key::new(paged, *used);
            }
            page += 1;
            self.pages.insert(name, page);
        }
    }

    /// The counters that have to be known before keys are given to these names: load them, and
    /// ask again, until none is lacking.
    pub fn lacking(&self, asks: impl IntoIterator<Item = Name>) -> Vec<Name> {
        let mut counts: HashMap<Name, usize> = HashMap::new();
        for name in asks {
            *counts.entry(name).or_default() += 1;
        }
        let mut lacking: Vec<Name> = counts
            .into_iter()
            .filter_map(|(name, count)| self.first_unknown(name, count))
            .collect();
        lacking.sort_unstable();
        lacking.dedup();
        lacking
    }

    fn first_unknown(&self, name: Name, count: usize) -> Option<Name> {
        let mut wanted = count;
        for page in 1.. {
            let paged = paged(name, page);
            let Some(used) = self.used.get(&paged) else {
                return Some(paged);
            };
            let free = usize::from(NUMBERS_MAX - used);
            // Another name may roll onto the same page, so the last number is not relied on.
            if wanted < free {
                return None;
            }
            wanted -= free;
        }
        None
    }
}

fn paged(name: Name, page: u32) -> Name {
    match page {
        1 => name,
        page => Name {
            identifier: name.identifier.rolled(page),
            ..name
        },
    }
}
