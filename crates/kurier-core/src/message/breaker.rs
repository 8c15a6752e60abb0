//! The circuit breaker of a channel: one that keeps failing is left alone for a while.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// When a breaker opens, and how it closes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BreakerLimits {
    pub failure_threshold: u32,
    pub success_threshold: u32,
    pub timeout_seconds: u32,
}

impl Default for BreakerLimits {
    fn default() -> Self {
        Self {
            failure_threshold: 5,
            success_threshold: 2,
            timeout_seconds: 60,
        }
    }
}

/// What an attempt says of its channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// It answered: it took the message, or refused it for what it is.
    Good,
    Bad,
    /// It will not work until somebody mends it.
    Down,
    /// Nothing was learned.
    Silent,
}

/// Failures while closed and successes while half open are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Breaker {
    Closed {
        failures: u32,
    },
    Open {
        since: Timestamp,
        until: Timestamp,
    },
    /// One probe at a time may go; it is forgotten when it has not reported by `probe`.
    HalfOpen {
        successes: u32,
        probe: Option<Timestamp>,
    },
}

impl Default for Breaker {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

impl Breaker {
    /// How many of `want` may go; a probe must report by `report_by`.
    pub fn admit(&mut self, want: usize, now: Timestamp, report_by: Timestamp) -> usize {
        if let Self::Open { until, .. } = *self
            && until <= now
        {
            *self = Self::HalfOpen {
                successes: 0,
                probe: None,
            };
        }
        match self {
            Self::Closed { .. } => want,
            Self::Open { .. } => 0,
            Self::HalfOpen { probe, .. } if probe.is_some_and(|by| now < by) => 0,
            Self::HalfOpen { probe, .. } => {
                *probe = (want > 0).then_some(report_by);
                want.min(1)
            }
        }
    }

    /// Takes back an admission that nobody used.
    pub const fn unused(&mut self) {
        if let Self::HalfOpen { probe, .. } = self {
            *probe = None;
        }
    }

    pub fn note(&mut self, signal: Signal, limits: BreakerLimits, now: Timestamp) {
        match signal {
            Signal::Good => self.good(limits),
            Signal::Bad => self.bad(limits, now),
            Signal::Down => *self = Self::open(limits, now),
            Signal::Silent => self.unused(),
        }
    }

    fn good(&mut self, limits: BreakerLimits) {
        match self {
            Self::Closed { failures } => *failures = 0,
            // Reports of what was under way when it opened.
            Self::Open { .. } => {}
            Self::HalfOpen { successes, probe } => {
                *successes += 1;
                *probe = None;
                if *successes >= limits.success_threshold {
                    *self = Self::default();
                }
            }
        }
    }

    fn bad(&mut self, limits: BreakerLimits, now: Timestamp) {
        match self {
            Self::Closed { failures } => {
                *failures += 1;
                if *failures >= limits.failure_threshold {
                    *self = Self::open(limits, now);
                }
            }
            Self::Open { .. } => {}
            Self::HalfOpen { .. } => *self = Self::open(limits, now),
        }
    }

    fn open(limits: BreakerLimits, now: Timestamp) -> Self {
        Self::Open {
            since: now,
            until: now.shifted(i64::from(limits.timeout_seconds) * 1_000_000),
        }
    }

    /// When it is worth asking again; `None` if it lets everything pass.
    pub const fn until(&self) -> Option<Timestamp> {
        match self {
            Self::Closed { .. } => None,
            Self::Open { until, .. } => Some(*until),
            Self::HalfOpen { probe, .. } => *probe,
        }
    }

    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Closed { .. } => "closed",
            Self::Open { .. } => "open",
            Self::HalfOpen { .. } => "half_open",
        }
    }
}

#[cfg(test)]
mod tests;
