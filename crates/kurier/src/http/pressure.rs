//! How much is in flight. Bodies are let in while there is room for them; beyond that the
//! answer is 503, and memory stays bounded whatever clients do.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::problem::Problem;
use crate::metrics as names;

/// Room for bodies and what is made of them.
const BYTES_MAX: usize = 128 * 1024 * 1024;

#[derive(Debug, Default)]
pub struct Pressure {
    bytes: AtomicUsize,
}

/// Room taken; given back when dropped.
pub struct Room<'a> {
    pressure: &'a Pressure,
    bytes: usize,
}

impl Pressure {
    pub fn enter(&self, bytes: usize) -> Result<Room<'_>, Problem> {
        let room = Room {
            pressure: self,
            bytes,
        };
        if self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > BYTES_MAX {
            metrics::counter!(names::REFUSED).increment(1);
            return Err(Problem::busy(
                "too many events are in flight; send this again in a second",
            ));
        }
        Ok(room)
    }

    /// Whether anyone is being served right now.
    pub fn is_busy(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > 0
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
        let first = pressure.enter(BYTES_MAX).expect("there is room");
        assert!(pressure.enter(1).is_err());
        drop(first);
        assert!(!pressure.is_busy());
        assert!(pressure.enter(1).is_ok());
    }
}
