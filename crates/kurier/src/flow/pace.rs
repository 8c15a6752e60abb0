//! How fast read models are folded: as fast as it goes while nobody waits for anything else;
//! with rests while clients do. What was accepted is durable already, and they are waiting.

use std::time::Duration;

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
