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
const BUSY_REQUESTS: usize = 8;
/// Who had much to do has more soon. Clients that wait for the same commit are all answered at
/// once: in the moment after it nobody seems to wait.
const RECENT_MS: u64 = 250;
/// What is made of a body takes about this many times its bytes.
const ROOM_FACTOR: usize = 4;

#[derive(Debug, Default)]
pub struct Pressure {
    bytes: AtomicUsize,
    requests: AtomicUsize,
    /// When clients were last waiting in numbers, in ms.
    busy_at: AtomicU64,
    /// When somebody last sent anything, in ms.
    used_at: AtomicU64,
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
        is_recent(&self.busy_at)
    }

    /// Whether anybody sends events.
    pub fn is_used(&self) -> bool {
        is_recent(&self.used_at)
    }

    /// Whether there is much to decide or to deliver: that comes before read models.
    pub fn is_working(&self) -> bool {
        is_recent(&self.much_at)
    }

    /// Says that there was much to decide or to deliver just now.
    pub fn note_much(&self) {
        self.much_at.store(clock::now_ms(), Ordering::Relaxed);
    }

    /// Says that so many bytes of so many requests are in flight.
    fn note_flight(&self, bytes: usize, requests: usize) {
        let now = clock::now_ms();
        self.used_at.store(now, Ordering::Relaxed);
        if bytes > BUSY_BYTES || requests >= BUSY_REQUESTS {
            self.busy_at.store(now, Ordering::Relaxed);
        }
    }
}

fn is_recent(at: &AtomicU64) -> bool {
    clock::now_ms().saturating_sub(at.load(Ordering::Relaxed)) < RECENT_MS
}

impl Room<'_> {
    /// Takes what this many more bytes of a body need, if there is so much.
    pub fn grow(&mut self, body_bytes: usize) -> Result<(), Problem> {
        let more = body_bytes * ROOM_FACTOR;
        let first = usize::from(self.bytes == 0 && more > 0);
        self.bytes += more;
        let bytes = self.pressure.bytes.fetch_add(more, Ordering::Relaxed) + more;
        let requests = self.pressure.requests.fetch_add(first, Ordering::Relaxed) + first;
        self.pressure.note_flight(bytes, requests);
        if bytes > BYTES_MAX {
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
        let one = usize::from(self.bytes > 0);
        self.pressure.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.pressure.requests.fetch_sub(one, Ordering::Relaxed);
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
        assert!(pressure.room().grow(1).is_ok());
        assert_eq!(pressure.bytes.load(Ordering::Relaxed), 0);
        assert_eq!(pressure.requests.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn many_small_requests_are_busy_also_just_after_they_were_answered() {
        let pressure = Pressure::default();
        let mut rooms: Vec<_> = (0..BUSY_REQUESTS).map(|_| pressure.room()).collect();
        for room in &mut rooms[1..] {
            room.grow(1).expect("there is room");
        }
        assert!(!pressure.is_busy());
        rooms[0].grow(1).expect("there is room");
        assert!(pressure.is_busy());
        drop(rooms);
        assert!(pressure.is_busy());
    }
}
