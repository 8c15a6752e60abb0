//! What time it is for the reactor, and when it next has something to do.

use std::time::Duration;

use kurier_core::engine::Engine;
use kurier_core::time::Timestamp;

use super::Reactor;
use crate::clock::Clock;

/// What was accepted is in the log by then, as a rule: a run's timeout waits for it, so that
/// an event that came in time is never overtaken by it.
pub const SETTLING_MICROS: i64 = 200_000;

impl Reactor {
    /// Time passes as this clock says.
    #[must_use]
    pub fn by(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    pub(super) fn until_due(&self) -> Duration {
        let due = self.engines().values().map(due).min();
        let micros = due.map_or(i64::MAX, |due| due.micros_since(self.clock.now()));
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }
}

/// When time alone next changes something. Instances move a little after their time.
fn due(engine: &Engine) -> Timestamp {
    let moves = engine.journeys().due();
    let moves = Timestamp::from_micros(moves.as_micros().saturating_add(SETTLING_MICROS));
    engine.realm().due().min(moves)
}
