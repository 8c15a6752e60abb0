//! How fast events come, by the times at which they were recorded.

use kurier_core::time::Timestamp;

/// More events a second than this are a flood.
const RATE: usize = if cfg!(test) { 12 } else { 5_000 };
const SECOND: i64 = 1_000_000;

pub struct Flood {
    /// The second that is being counted began here.
    since: Option<Timestamp>,
    events: usize,
    is_on: bool,
}

impl Default for Flood {
    fn default() -> Self {
        Self {
            since: None,
            events: 0,
            // Until the contrary is known: who has just started has other things to do.
            is_on: true,
        }
    }
}

impl Flood {
    /// Counts, and tells whether it is a flood.
    pub fn count(&mut self, events: usize, at: Timestamp) -> bool {
        let span = at.micros_since(*self.since.get_or_insert(at));
        if span >= SECOND {
            let per_second = self.events as f64 * SECOND as f64 / span as f64;
            self.is_on = per_second > RATE as f64;
        }
        // A clock may be set back.
        if !(0..SECOND).contains(&span) {
            (self.since, self.events) = (Some(at), 0);
        }
        self.events += events;
        self.is_on |= self.events > RATE;
        self.is_on
    }

    pub const fn is_on(&self) -> bool {
        self.is_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn it_begins_when_enough_has_come_and_ends_with_the_first_calm_second() {
        let mut flood = Flood::default();
        assert!(flood.count(1, at(0)), "nobody knows yet");
        assert!(!flood.count(RATE, at(1_000)), "one in a second");
        assert!(flood.count(1, at(1_100)), "more than a second's worth");
        assert!(flood.count(RATE, at(2_000)), "the last second counts");
        assert!(!flood.count(1, at(3_000)));
        assert!(!flood.count(RATE - 1, at(3_999)));
    }

    #[test]
    fn a_clock_that_is_set_back_begins_anew() {
        let mut flood = Flood::default();
        flood.count(1, at(10_000));
        assert!(!flood.count(RATE, at(11_000)));
        assert!(!flood.count(RATE, at(5_000)));
        assert!(flood.count(1, at(5_001)));
    }
}
