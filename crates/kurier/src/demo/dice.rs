//! Chance that is the same each time: whatever is made of the same seed is the same.

/// A stream of numbers (SplitMix64).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub const fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below another.
    pub const fn below(&mut self, end: u64) -> u64 {
        self.roll() % end
    }

    /// Whether it happens, in so many of a hundred cases.
    pub const fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    /// An instant within a span, both in microseconds.
    pub fn within(&mut self, from: i64, to: i64) -> i64 {
        let span = u64::try_from(to - from).unwrap_or(0).max(1);
        from + i64::try_from(self.below(span)).unwrap_or(0)
    }
}
