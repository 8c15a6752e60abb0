//! The token bucket of a channel: so many messages a minute, and no more at once.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// A token in the bucket's own measure: a bucket of one a minute gains one part each
/// microsecond.
const TOKEN: i64 = 60_000_000;
/// A clock that is behind by less than this is another machine's; by more, it was set back.
const SKEW_MICROS: i64 = 5_000_000;

/// What is in a bucket, and when it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    parts: i64,
    at: Timestamp,
}

impl Bucket {
    /// A full bucket.
    pub fn full(per_minute: u32, now: Timestamp) -> Self {
        Self {
            parts: i64::from(per_minute) * TOKEN,
            at: now,
        }
    }

    /// How many may go now.
    pub const fn tokens(&self) -> usize {
        (self.parts / TOKEN) as usize
    }

    /// Lets time pass. Two machines' clocks differ a little: the earlier one changes nothing.
    /// A clock that was set back far is followed, without a burst and without waiting for it
    /// to come back.
    pub fn refill(&mut self, per_minute: u32, now: Timestamp) {
        let rate = i64::from(per_minute);
        let elapsed = now.as_micros() - self.at.as_micros();
        if elapsed < 0 {
            if elapsed < -SKEW_MICROS {
                self.at = now;
            }
            return;
        }
        let gained = elapsed.saturating_mul(rate);
        self.parts = self.parts.saturating_add(gained).min(rate * TOKEN);
        self.at = now;
    }

    pub const fn take(&mut self, tokens: usize) {
        self.parts -= tokens as i64 * TOKEN;
    }

    /// When there will be a token again.
    pub fn next_at(&self, per_minute: u32) -> Timestamp {
        let missing = (TOKEN - self.parts).max(0);
        let rate = i64::from(per_minute).max(1);
        self.at.shifted((missing + rate - 1) / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: i64 = 1_000_000;

    #[test]
    fn seed_4_2_capacity_is_the_rate_of_a_minute() {
        let start = Timestamp::from_micros(0);
        let mut bucket = Bucket::full(60, start);
        assert_eq!(bucket.tokens(), 60);
        bucket.take(60);
        bucket.refill(60, start.shifted(1_500_000));
        assert_eq!(bucket.tokens(), 1);
        bucket.refill(60, start.shifted(3_600 * SECOND));
        assert_eq!(bucket.tokens(), 60);
    }

    #[test]
    fn the_next_token_comes_when_it_says() {
        let start = Timestamp::from_micros(0);
        let mut bucket = Bucket::full(7, start);
        bucket.take(7);
        let next = bucket.next_at(7);
        bucket.refill(7, next.shifted(-1));
        assert_eq!(bucket.tokens(), 0);
        bucket.refill(7, next);
        assert_eq!(bucket.tokens(), 1);
    }

    #[test]
    fn a_clock_set_back_brings_no_burst_and_no_stall() {
        let start = Timestamp::from_micros(7_200 * SECOND);
        let mut bucket = Bucket::full(100, start);
        bucket.take(100);
        bucket.refill(100, start.shifted(-3_600 * SECOND));
        assert_eq!(bucket.tokens(), 0);
        bucket.refill(100, start.shifted(-3_599 * SECOND));
        assert_eq!(bucket.tokens(), 1);
    }

    proptest! {
        /// Against the plainest model: what went in any stretch is at most the capacity and
        /// what the stretch brought.
        #[test]
        fn never_more_than_capacity_and_rate(rate in 1_u32..500, steps in proptest::collection::vec((0_i64..5_000_000, 0_usize..50), 1..80)) {
            let mut now = Timestamp::from_micros(0);
            let mut bucket = Bucket::full(rate, now);
            let mut taken = vec![];
            for (micros, want) in steps {
                now = now.shifted(micros);
                bucket.refill(rate, now);
                let granted = want.min(bucket.tokens());
                bucket.take(granted);
                taken.push((now, granted as i64));
            }
            for (from, (start, _)) in taken.iter().enumerate() {
                let mut sum = 0;
                for (end, granted) in &taken[from..] {
                    sum += granted;
                    let stretch = end.as_micros() - start.as_micros();
                    prop_assert!(sum * TOKEN <= i64::from(rate) * (TOKEN + stretch));
                }
            }
        }
    }
}
