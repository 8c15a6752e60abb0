//! How many messages of one channel a contact gets in a while.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// At most `max` in a window that begins with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContactLimit {
    pub max: u32,
    pub window_seconds: u32,
    #[serde(default)]
    pub then: Over,
}

/// What becomes of a message that is one too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// It waits for the window's end.
    #[default]
    Wait,
    /// It is not sent.
    Skip,
}

/// What a contact has had in its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub since: Timestamp,
    pub count: u32,
}

impl ContactLimit {
    pub fn ends(&self, window: Window) -> Timestamp {
        window
            .since
            .shifted(i64::from(self.window_seconds) * 1_000_000)
    }

    /// Grants up to `want`, and says what stands then. A window that is over, or that lies in
    /// the future because a clock was set back, is a new one.
    pub fn grant(&self, window: Option<Window>, want: u32, now: Timestamp) -> (u32, Window) {
        let current = window.filter(|window| window.since <= now && now < self.ends(*window));
        let window = current.unwrap_or(Window {
            since: now,
            count: 0,
        });
        let granted = want.min(self.max.saturating_sub(window.count));
        let count = window.count + granted;
        (granted, Window { count, ..window })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: ContactLimit = ContactLimit {
        max: 3,
        window_seconds: 60,
        then: Over::Wait,
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn seed_4_2_so_many_in_a_window_that_begins_with_the_first() {
        let (granted, window) = LIMIT.grant(None, 2, at(10));
        assert_eq!((granted, window.count), (2, 2));
        let (granted, window) = LIMIT.grant(Some(window), 2, at(69));
        assert_eq!((granted, window.count, LIMIT.ends(window)), (1, 3, at(70)));
        assert_eq!(LIMIT.grant(Some(window), 1, at(69)).0, 0);
        assert_eq!(
            LIMIT.grant(Some(window), 1, at(70)),
            (
                1,
                Window {
                    since: at(70),
                    count: 1
                }
            )
        );
    }

    #[test]
    fn resolution_nobody_is_blocked_for_ever() {
        let (_, window) = LIMIT.grant(None, 3, at(7_200));
        assert_eq!(LIMIT.grant(Some(window), 1, at(0)).0, 1);
    }
}
