//! The gate of a channel: how many messages may pass now. What it remembers is kept by the
//! store, so that it holds for all processes together. It stands before a channel as that was
//! set up once: set up otherwise, the channel has a new gate, which who goes by the old
//! settings does not pass and teaches nothing.

use serde::{Deserialize, Serialize};

use super::{Breaker, BreakerLimits, Bucket, Signal};
use crate::event::Position;
use crate::time::Timestamp;

/// What a gate is to hold to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GateLimits {
    /// When the channel was set up so.
    pub revision: Position,
    /// Messages a minute; any number if not said.
    pub per_minute: Option<u32>,
    pub breaker: BreakerLimits,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Gate {
    #[serde(default)]
    revision: Position,
    #[serde(default)]
    pub breaker: Breaker,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bucket: Option<Bucket>,
    /// The provider asked to be left alone until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rests_until: Option<Timestamp>,
}

/// Why nothing passes, and when to ask again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    pub by: GateReason,
    pub until: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateReason {
    CircuitOpen,
    RateLimit,
    RetryAfter,
}

impl GateReason {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CircuitOpen => "circuit_open",
            Self::RateLimit => "rate_limit",
            Self::RetryAfter => "retry_after",
        }
    }
}

impl Gate {
    /// Before a channel that was just set up.
    pub fn new(revision: Position) -> Self {
        Self {
            revision,
            ..Self::default()
        }
    }

    /// Whether this is the gate of who goes by settings of that revision. Newer settings make it new.
    fn serves(&mut self, revision: Position) -> bool {
        if self.revision < revision {
            *self = Self::new(revision);
        }
        self.revision == revision
    }

    /// How many of `want` may pass now. Who passes must report by `report_by`.
    pub fn admit(
        &mut self,
        want: usize,
        limits: GateLimits,
        (now, report_by): (Timestamp, Timestamp),
    ) -> usize {
        if !self.serves(limits.revision) || self.rests_until.is_some_and(|until| now < until) {
            return 0;
        }
        self.rests_until = None;
        let want = match limits.per_minute {
            Some(rate) => want.min(self.refilled(rate, now).tokens()),
            None => want,
        };
        if limits.per_minute.is_none() {
            self.bucket = None;
        }
        self.breaker.admit(want, now, report_by)
    }

    fn refilled(&mut self, rate: u32, now: Timestamp) -> &mut Bucket {
        let bucket = self.bucket.get_or_insert_with(|| Bucket::full(rate, now));
        bucket.refill(rate, now);
        bucket
    }

    /// So many passed of those that were admitted.
    pub fn passed(&mut self, count: usize) {
        if count == 0 {
            self.breaker.unused();
        }
        if let Some(bucket) = &mut self.bucket {
            bucket.take(count);
        }
    }

    /// What attempts said of the channel, and until when it wants to be left alone.
    pub fn learn(
        &mut self,
        signals: &[Signal],
        rests_until: Option<Timestamp>,
        limits: GateLimits,
        now: Timestamp,
    ) {
        if !self.serves(limits.revision) {
            return;
        }
        for signal in signals {
            self.breaker.note(*signal, limits.breaker, now);
        }
        self.rests_until = self.rests_until.max(rests_until);
    }

    /// Why nothing passes at this moment; `None` if something may, or if this is not the gate
    /// of who asks.
    pub fn closed(&self, limits: GateLimits, now: Timestamp) -> Option<Closed> {
        let closed = |by, until| Some(Closed { by, until });
        if self.revision != limits.revision {
            return None;
        }
        if let Some(until) = self.rests_until.filter(|until| now < *until) {
            return closed(GateReason::RetryAfter, until);
        }
        if let Some(until) = self.breaker.until().filter(|until| now < *until) {
            return closed(GateReason::CircuitOpen, until);
        }
        let rate = limits.per_minute?;
        let bucket = self.bucket.filter(|bucket| bucket.tokens() == 0)?;
        closed(GateReason::RateLimit, bucket.next_at(rate))
    }

    /// Whether reports of success would change nothing.
    pub fn is_calm(&self) -> bool {
        self.breaker == Breaker::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn limits(per_minute: u32) -> GateLimits {
        GateLimits {
            per_minute: Some(per_minute),
            ..GateLimits::default()
        }
    }

    #[test]
    fn what_was_admitted_and_not_used_is_not_spent() {
        let mut gate = Gate::default();
        assert_eq!(gate.admit(100, limits(60), (at(0), at(9))), 60);
        gate.passed(10);
        assert_eq!(gate.admit(100, limits(60), (at(0), at(9))), 50);
        gate.passed(50);
        assert_eq!(gate.admit(100, limits(60), (at(0), at(9))), 0);
        let closed = gate.closed(limits(60), at(0)).expect("empty");
        assert_eq!((closed.by, closed.until), (GateReason::RateLimit, at(1)));
    }

    #[test]
    fn an_open_breaker_spends_no_token() {
        let mut gate = Gate::default();
        assert_eq!(gate.admit(1, limits(60), (at(0), at(9))), 1);
        gate.passed(1);
        gate.learn(&[Signal::Down], None, limits(60), at(0));
        assert_eq!(gate.admit(9, limits(60), (at(1), at(9))), 0);
        gate.passed(0);
        assert_eq!(
            gate.closed(limits(60), at(1)).map(|it| it.by),
            Some(GateReason::CircuitOpen)
        );
        assert_eq!(gate.admit(9, limits(60), (at(60), at(69))), 1);
    }

    #[test]
    fn who_asks_to_be_left_alone_is() {
        let mut gate = Gate::default();
        gate.learn(&[], Some(at(120)), GateLimits::default(), at(0));
        assert_eq!(gate.admit(9, GateLimits::default(), (at(119), at(130))), 0);
        assert_eq!(gate.admit(9, GateLimits::default(), (at(120), at(130))), 9);
    }

    #[test]
    fn who_goes_by_old_settings_neither_passes_nor_teaches() {
        let of = |revision| GateLimits {
            revision: Position(revision),
            ..GateLimits::default()
        };
        let mut gate = Gate::default();
        gate.learn(&[Signal::Down], None, of(3), at(0));
        assert_eq!(gate.admit(9, of(3), (at(1), at(9))), 0);
        assert_eq!(gate.admit(9, of(7), (at(1), at(9))), 9, "set up anew");
        assert_eq!(gate.admit(9, of(3), (at(1), at(9))), 0);
        assert_eq!(gate.closed(of(3), at(1)), None, "it asks the wrong gate");
        gate.learn(&[Signal::Down], Some(at(120)), of(3), at(2));
        assert_eq!(gate, Gate::new(Position(7)));
    }

    #[test]
    fn is_kept_as_text_and_read_back() {
        let mut gate = Gate::default();
        gate.admit(1, limits(3), (at(0), at(9)));
        gate.learn(&[Signal::Down], None, limits(3), at(0));
        let text = serde_json::to_string(&gate).expect("JSON");
        assert_eq!(serde_json::from_str::<Gate>(&text).expect("read"), gate);
        assert_eq!(
            serde_json::from_str::<Gate>("{}").expect("read"),
            Gate::default()
        );
    }
}
