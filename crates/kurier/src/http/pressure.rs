//! How much is in flight. Bodies are let in while there is room for them; beyond that the
//! answer is 503, and memory stays bounded whatever clients do.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::problem::Problem;
use crate::clock;
use crate::metrics as names;

/// Room for bodies and what is made of them.
const BYTES_MAX: usize = 128 * 1024 * 1024;
/// More than a few small requests at once.
const BUSY_BYTES: usize = 32 * 1024;
/// Who had much to do has more soon.
const WORKING_MS: u64 = 250;
/// What is made of a body takes about this many times its bytes.
const ROOM_FACTOR: usize = 4;

#[derive(Debug, Default)]
pub struct Pressure {
    bytes: AtomicUsize,
    /// When there was last much to do, in ms.
    much_at: AtomicU64,
}

/// Room taken; given back when dropped.
#[derive(Debug)]
pub struct Room<'a> {
    pressure: &'a Pressure,
    bytes: usize,
}

impl Pressure {
    /// No room yet, to be grown as a body arrives.
    pub const fn room(&self) -> Room<'_> {
        Room {
            pressure: self,
            bytes: 0,
        }
    }

    /// Whether clients are waiting in numbers: then what can wait should.
    pub fn is_busy(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > BUSY_BYTES
    }

    /// Whether there is much to decide or to deliver: that comes before read models.
    pub fn is_working(&self) -> bool {
        let much_at = self.much_at.load(Ordering::Relaxed);
        clock::now_ms().saturating_sub(much_at) < WORKING_MS
    }

    /// Says that there was much to decide or to deliver just now.
    pub fn note_much(&self) {
        self.much_at.store(clock::now_ms(), Ordering::Relaxed);
    }
}

impl Room<'_> {
    /// Takes what this many more bytes of a body need, if there is so much.
    pub fn grow(&mut self, body_bytes: usize) -> Result<(), Problem> {
        let more = body_bytes * ROOM_FACTOR;
        self.bytes += more;
        if self.pressure.bytes.fetch_add(more, Ordering::Relaxed) + more > BYTES_MAX {
            metrics::counter!(names::REFUSED).increment(1);
            return Err(Problem::busy(
                "too many events are in flight; send this again in a second",
            ));
        }
        Ok(())
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.pressure.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_and_room_comes_back() {
        let pressure = Pressure::default();
        let (mut first, mut second) = (pressure.room(), pressure.room());
        assert!(!pressure.is_busy());
        first.grow(BYTES_MAX / ROOM_FACTOR).expect("there is room");
        assert!(second.grow(1).is_err());
        drop((first, second));
        assert!(!pressure.is_busy());
        assert!(pressure.room().grow(1).is_ok());
    }
}
