//! Which ids may have been seen: a "no" is certain. Grows by layers, each twice the one before, so
//! that few are asked however many ids there are.

use fastbloom::BloomFilter;
use kurier_core::id::EventId;

/// Of ids that were not seen, about one in two thousand is taken for one that was.
const BITS_PER_ID: usize = 16;
const FIRST_LAYER_IDS: usize = 65_536;

#[derive(Default)]
pub struct Filter {
    layers: Vec<Layer>,
    len: usize,
}

struct Layer {
    bloom: BloomFilter,
    room: usize,
}

impl Layer {
    fn of(ids: usize) -> Self {
        Self {
            bloom: BloomFilter::with_num_bits(ids * BITS_PER_ID).expected_items(ids),
            room: ids,
        }
    }
}

impl Filter {
    /// Workspaces are not told apart: the same id in two of them is asked for once too often.
    pub fn add(&mut self, id: EventId) {
        if self.layers.last().is_none_or(|layer| layer.room == 0) {
            self.layers
                .push(Layer::of(FIRST_LAYER_IDS << self.layers.len()));
        }
        if let Some(layer) = self.layers.last_mut() {
            layer.bloom.insert(&id);
            layer.room -= 1;
            self.len += 1;
        }
    }

    pub fn may_have(&self, id: EventId) -> bool {
        self.layers.iter().any(|layer| layer.bloom.contains(&id))
    }

    /// How many were added, some of them more than once.
    pub const fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> EventId {
        EventId::of_message(&number.to_string())
    }

    #[test]
    fn whoever_was_added_is_found_and_few_others_are() {
        let mut filter = Filter::default();
        assert!(!filter.may_have(id(0)));
        let count = 3 * FIRST_LAYER_IDS + 1;
        (0..count).for_each(|number| filter.add(id(number)));
        assert_eq!((filter.layers.len(), filter.len()), (3, count));
        assert!((0..count).all(|number| filter.may_have(id(number))));
        let strangers = count..2 * count;
        let taken = strangers.filter(|number| filter.may_have(id(*number)));
        let taken = taken.count();
        assert!(taken < count / 500, "{taken} of {count}");
    }
}
