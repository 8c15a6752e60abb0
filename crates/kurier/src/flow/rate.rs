//! How fast a position moves, measured over the last seconds.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kurier_core::event::Position;

const OVER: Duration = Duration::from_secs(10);
const EVERY: Duration = Duration::from_secs(1);

/// Where something stood at some moments of the last seconds.
#[derive(Default)]
pub struct Rate(Mutex<VecDeque<(Instant, Position)>>);

impl Rate {
    /// Something stands at `position` now.
    pub fn note(&self, now: Instant, position: Position) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = |(at, _): &(Instant, Position)| now.duration_since(*at) >= EVERY;
        if seen.back().is_none_or(is_due) {
            seen.push_back((now, position));
        }
        // The first is the last one that is old enough.
        while seen.len() > 2 && now.duration_since(seen[1].0) >= OVER {
            seen.pop_front();
        }
    }

    /// Events per second, up to now.
    pub fn per_second(&self, now: Instant, position: Position) -> f64 {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((at, from)) = seen.front() else {
            return 0.0;
        };
        per_second((position.0 - from.0).max(0), now.duration_since(*at))
    }
}

/// So many events in so much time, with one digit behind the point.
pub fn per_second(events: i64, taken: Duration) -> f64 {
    if taken.is_zero() {
        return 0.0;
    }
    (events as f64 / taken.as_secs_f64() * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_mean_of_the_last_seconds() {
        let (rate, began) = (Rate::default(), Instant::now());
        let at = |tenths: u64| began + Duration::from_millis(100 * tenths);
        assert_eq!(rate.per_second(at(0), Position(5)), 0.0, "never looked");
        // What was there when it was first looked at did not come just now.
        rate.note(at(0), Position(1_000));
        assert_eq!(rate.per_second(at(0), Position(1_000)), 0.0);
        for tenths in 1..=50 {
            rate.note(at(tenths), Position(1_000 + tenths as i64));
        }
        assert_eq!(rate.per_second(at(50), Position(1_050)), 10.0);
        // When nothing comes any more, it goes down to nothing.
        for tenths in 51..=160 {
            rate.note(at(tenths), Position(1_050));
        }
        assert_eq!(rate.per_second(at(160), Position(1_050)), 0.0);
    }
}
