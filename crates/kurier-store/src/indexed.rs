//! What an index of ids has, known without looking into it: nearly all ids are new, and a tree
//! takes as long to say so as to take one in.

use kurier_core::id::EventId;

use crate::filter::Filter;

/// More are not kept in a filter (100 MB): then the index is asked for each.
const FILTER_IDS_MAX: usize = 50_000_000;
/// Who has asked for so many ids will ask for more, and reads all of them instead.
const ASKED_MAX: usize = if cfg!(test) { 10 } else { 10_000 };

#[derive(Default)]
pub struct Indexed {
    filter: Filter,
    is_whole: Whole,
    asked: usize,
}

/// Whether the filter has all ids that are in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Whole {
    Yes,
    #[default]
    NotYet,
    /// There are too many.
    Never,
}

impl Indexed {
    /// Of an index in which nothing is.
    pub fn nothing() -> Self {
        Self {
            is_whole: Whole::Yes,
            ..Self::default()
        }
    }

    /// Whether the index has to be asked for an id.
    pub fn must_ask(&mut self, id: EventId) -> bool {
        let must = self.is_whole != Whole::Yes || self.filter.may_have(id);
        self.asked += usize::from(must);
        must
    }

    /// An id is in the index.
    pub fn add(&mut self, id: EventId) {
        match self.is_whole {
            Whole::Never => {}
            _ if self.filter.len() >= FILTER_IDS_MAX => {
                self.filter = Filter::default();
                self.is_whole = Whole::Never;
            }
            _ => self.filter.add(id),
        }
    }

    /// Whether all of the index should be read, and added.
    pub fn is_worth_reading(&self) -> bool {
        self.is_open() && self.asked >= ASKED_MAX
    }

    /// Whether reading it is of use.
    pub fn is_open(&self) -> bool {
        self.is_whole == Whole::NotYet
    }

    /// All of the index was added.
    pub fn filled(&mut self) {
        if self.is_open() {
            self.is_whole = Whole::Yes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_much_reads_the_index_once_and_asks_no_more() {
        let [old, new] = ["old", "new"].map(EventId::of_message);
        let mut indexed = Indexed::default();
        for _ in 0..ASKED_MAX / 2 {
            assert!(!indexed.is_worth_reading());
            assert!(indexed.must_ask(old) && indexed.must_ask(new));
        }
        assert!(indexed.is_worth_reading());
        indexed.add(old);
        assert!(indexed.must_ask(new), "there may be more");
        indexed.filled();
        assert!(indexed.must_ask(old) && !indexed.must_ask(new));
        assert!(!indexed.is_worth_reading());
    }

    #[test]
    fn nothing_is_known_to_have_nothing() {
        let [old, new] = ["old", "new"].map(EventId::of_message);
        let mut indexed = Indexed::nothing();
        indexed.add(old);
        assert!(indexed.must_ask(old) && !indexed.must_ask(new));
    }
}
