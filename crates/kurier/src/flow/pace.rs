//! How fast read models are folded: as fast as it goes while nobody waits for anything else;
//! with rests while clients do. What was accepted is durable already, and they are waiting.

use std::time::{Duration, Instant};

use kurier_core::event::Position;

use crate::http::Pressure;

/// On SQLite a batch has the writer to itself while it is written: whoever waits for it is not
/// to wait long.
const BATCH_MAX: usize = 500;
/// A commit waits for what others write at the same time: who sends an event now and then is
/// not to feel that much is being caught up with.
const LIGHT_MAX: usize = 2_000;
/// Who has much to catch up with while nobody waits for anything folds more at a time.
const CATCH_UP_MAX: usize = 10_000;
const REST_MAX: Duration = Duration::from_millis(1_000);
/// Events that come so many times as fast as they could be folded are a flood.
const FLOOD: f64 = 2.0;
/// In a flood folding rests so many times as long: it falls behind all the same, and what it does
/// not take makes the flood pass sooner.
const FLOOD_REST: u32 = 4;

/// While there is much to take in, to decide or to deliver, folding rests `times` as long as it
/// worked, and never less than `min`: every commit wakes everyone, and looking costs something
/// too.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    times: u32,
    min: Duration,
}

impl Pace {
    /// Members are few and eagerly awaited.
    pub const EAGER: Self = Self::new(0, 10);
    /// What operators change: seldom, and they wait for it.
    pub const ATTENTIVE: Self = Self::new(0, 50);
    /// What grows with every event.
    pub const PATIENT: Self = Self::new(9, 50);

    const fn new(times: u32, min_ms: u64) -> Self {
        Self {
            times,
            min: Duration::from_millis(min_ms),
        }
    }

    pub fn rest(self, worked: Duration) -> Duration {
        (worked * self.times).clamp(self.min, REST_MAX)
    }

    /// How long to rest after a turn.
    pub fn rest_after(self, turn: &Turn) -> Duration {
        let times = match turn.is_flood(self.times) {
            true => FLOOD_REST,
            false => 1,
        };
        self.rest(turn.worked * times)
    }
}

/// When a projection had its last turn, and how far the log had come then.
#[derive(Debug, Default)]
pub struct Turns {
    last: Option<(Instant, Position)>,
}

impl Turns {
    /// Notes a turn that ends now.
    pub fn note(&mut self, began: Instant, folded: usize, newest: Position) -> Turn {
        let now = Instant::now();
        let (before, position) = self.last.replace((now, newest)).unwrap_or((began, newest));
        Turn {
            worked: now - began,
            folded,
            since: now - before,
            came: newest.0 - position.0,
        }
    }
}

/// What a projection did, and what came since it did so before.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    pub worked: Duration,
    pub folded: usize,
    pub since: Duration,
    pub came: i64,
}

impl Turn {
    /// Whether more comes than this could keep up with at its pace, by far: one that can must go
    /// on, or it would never be done.
    fn is_flood(&self, times: u32) -> bool {
        let paced = self.worked.as_secs_f64() * f64::from(times + 1);
        let could_fold = self.folded as f64 * self.since.as_secs_f64();
        self.folded > 0 && self.came as f64 * paced > could_fold * FLOOD
    }
}

/// Whether somebody waits for what comes before read models.
pub fn is_awaited(pressure: &Pressure) -> bool {
    pressure.is_busy() || pressure.is_working()
}

/// How many events are folded at a time, and whether that is as many as it goes.
pub fn batch_max(pressure: &Pressure) -> (usize, bool) {
    if is_awaited(pressure) {
        (BATCH_MAX, false)
    } else if pressure.is_used() {
        (LIGHT_MAX, true)
    } else {
        (CATCH_UP_MAX, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: Turn = Turn {
        worked: Duration::from_millis(20),
        folded: 500,
        since: Duration::from_millis(200),
        came: 500,
    };

    #[test]
    fn who_keeps_up_rests_by_what_it_worked() {
        assert_eq!(Pace::PATIENT.rest_after(&TURN), Duration::from_millis(180));
        assert_eq!(Pace::EAGER.rest_after(&TURN), Duration::from_millis(10));
        let quick = Turn {
            worked: Duration::from_millis(1),
            ..TURN
        };
        assert_eq!(Pace::PATIENT.rest_after(&quick), Duration::from_millis(50));
    }

    #[test]
    fn in_a_flood_there_is_more_rest_and_it_is_a_flood_however_long_the_rest() {
        let flood = Turn {
            came: 1_001,
            ..TURN
        };
        assert_eq!(Pace::PATIENT.rest_after(&flood), Duration::from_millis(720));
        let rested = Turn {
            since: Duration::from_millis(740),
            came: 3_704,
            ..TURN
        };
        assert!(rested.is_flood(9));
        // What it can keep up with is none, however long it has rested.
        let passed = Turn {
            came: 2_000,
            ..rested
        };
        assert!(!passed.is_flood(9));
        assert_eq!(Pace::EAGER.rest_after(&flood), Duration::from_millis(10));
    }

    #[test]
    fn who_had_nothing_to_fold_is_in_no_flood() {
        let nothing = Turn {
            folded: 0,
            came: 100_000,
            ..TURN
        };
        assert_eq!(
            Pace::PATIENT.rest_after(&nothing),
            Duration::from_millis(180)
        );
    }
}
