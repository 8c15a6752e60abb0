//! Wrong passwords are counted: after a few of them the next try has to wait, each time
//! longer. Counted is before the password is looked at, so that trying many at once gains nothing.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use kurier_core::time::Timestamp;

/// So many tries nobody waits for.
const FREE: u32 = 5;
/// Nobody waits longer than this; who knows the password gets in the same minute.
const WAIT_S_MAX: u32 = 60;
/// Tries are forgotten after so long.
const FORGOTTEN_MICROS: i64 = 15 * 60 * 1_000_000;
/// More addresses are not counted at a time: the one that was tried longest ago is forgotten.
/// Refusing the others instead would let one who tries many addresses lock everybody out.
const COUNTED_MAX: usize = 10_000;

#[derive(Default)]
pub struct Attempts(Mutex<HashMap<String, Tally>>);

struct Tally {
    count: u32,
    free_at: Timestamp,
    forgotten_at: Timestamp,
}

impl Attempts {
    /// Counts a try for an address, or says how many seconds it has to wait.
    pub fn begin(&self, email: &str, now: Timestamp) -> Result<(), u32> {
        let mut tallies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tallies.len() >= COUNTED_MAX && !tallies.contains_key(email) {
            forget_oldest(&mut tallies);
        }
        let fresh = || Tally {
            count: 0,
            free_at: now,
            forgotten_at: now,
        };
        let tally = tallies.entry(email.to_owned()).or_insert_with(fresh);
        if tally.forgotten_at <= now {
            *tally = fresh();
        }
        tally.count_one(now)
    }

    /// The password was right.
    pub fn succeeded(&self, email: &str) {
        let mut tallies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tallies.remove(email);
    }
}

fn forget_oldest(tallies: &mut HashMap<String, Tally>) {
    let oldest = tallies.iter().min_by_key(|(_, tally)| tally.forgotten_at);
    if let Some(email) = oldest.map(|(email, _)| email.clone()) {
        tallies.remove(&email);
    }
}

impl Tally {
    fn count_one(&mut self, now: Timestamp) -> Result<(), u32> {
        let wait = self.free_at.as_micros() - now.as_micros();
        if wait > 0 {
            let seconds = u32::try_from(wait.div_euclid(1_000_000)).unwrap_or(WAIT_S_MAX);
            return Err(seconds.saturating_add(1).min(WAIT_S_MAX));
        }
        self.count += 1;
        let wait_s = match self.count.checked_sub(FREE) {
            Some(beyond) => 2_u32.saturating_pow(beyond + 1).min(WAIT_S_MAX),
            None => 0,
        };
        self.free_at = now.shifted(i64::from(wait_s) * 1_000_000);
        self.forgotten_at = now.shifted(FORGOTTEN_MICROS);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn after_a_few_tries_the_next_one_waits_longer_and_longer() {
        let attempts = Attempts::default();
        for _ in 0..5 {
            assert_eq!(attempts.begin("a", at(0)), Ok(()));
        }
        assert_eq!(attempts.begin("a", at(0)), Err(3));
        assert_eq!(attempts.begin("b", at(0)), Ok(()), "others do not wait");
        assert_eq!(attempts.begin("a", at(3)), Ok(()));
        assert_eq!(attempts.begin("a", at(3)), Err(5));
        attempts.succeeded("a");
        assert_eq!(attempts.begin("a", at(3)), Ok(()));
    }

    #[test]
    fn nobody_waits_for_ever() {
        let attempts = Attempts::default();
        let mut now = 0;
        for _ in 0..40 {
            if let Err(seconds) = attempts.begin("a", at(now)) {
                assert!(seconds <= 60);
                now += i64::from(seconds);
            }
        }
        for _ in 0..5 {
            assert_eq!(attempts.begin("a", at(now + 1_000)), Ok(()), "forgotten");
        }
    }

    #[test]
    fn what_is_counted_is_bounded() {
        let attempts = Attempts::default();
        for number in 0..COUNTED_MAX {
            let seconds = number as i64 / 1_000;
            assert_eq!(attempts.begin(&number.to_string(), at(seconds)), Ok(()));
        }
        assert_eq!(attempts.begin("one more", at(10)), Ok(()));
        let counted = attempts.0.lock().expect("nobody panicked");
        assert_eq!(counted.len(), COUNTED_MAX);
        assert!(counted.contains_key("one more") && counted.contains_key("9999"));
    }
}
