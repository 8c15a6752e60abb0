//! The clock and the randomness of the benchmark.

use std::time::{SystemTime, UNIX_EPOCH};

use kurier_core::time::Timestamp;

pub fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// SplitMix64: cheap, and no two draws of one seed are alike for long enough.
pub struct Random(u64);

impl Random {
    /// A stream of its own for every `number`, different in every run.
    pub fn new(number: u64) -> Self {
        let time = now().as_micros().unsigned_abs();
        let mut seed = Self(time ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93));
        Self(seed.draw() ^ number)
    }

    /// The same stream for the same seed.
    pub const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// One of `count` numbers from 0.
    pub fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.draw() % count as u64).unwrap_or(0)
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
