//! The one place that reads the clock and draws randomness; everything else is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use kurier_core::id::EventId;
use kurier_core::time::Timestamp;

pub fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// What time it is for a flow: that of this machine, or the time it is told.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    #[default]
    Machine,
    Told(Arc<AtomicI64>),
}

impl Clock {
    pub fn told(at: Timestamp) -> Self {
        Self::Told(Arc::new(AtomicI64::new(at.as_micros())))
    }

    pub fn now(&self) -> Timestamp {
        match self {
            Self::Machine => now(),
            Self::Told(at) => Timestamp::from_micros(at.load(Ordering::Relaxed)),
        }
    }

    /// Says what time it is; the machine's clock does not listen.
    pub fn tell(&self, now: Timestamp) {
        if let Self::Told(at) = self {
            at.store(now.as_micros(), Ordering::Relaxed);
        }
    }
}

/// Milliseconds since 1970, as the keyspace counts time to live.
pub fn now_ms() -> u64 {
    u64::try_from(now().as_millis()).unwrap_or(0)
}

/// Random bytes from the operating system, good enough for secrets.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

pub fn fresh_event_id() -> EventId {
    EventId::new(now(), random())
}
