//! How long a source that failed is left alone.

use std::time::Duration;

const FIRST_MS: u64 = 1_000;
const LONGEST_MS: u64 = 300_000;

/// Twice as long after each failure, and up to a fifth more or less, so that many processes
/// do not come back together. The longest is the longest, whatever the dice say.
pub fn delay(failures: u32, dice: u8) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    let plain = (FIRST_MS << doublings).min(LONGEST_MS);
    let percent = 80 + u64::from(dice) * 40 / 255;
    Duration::from_millis((plain * percent / 100).min(LONGEST_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_with_jitter_and_ends() {
        let ms = |failures, dice| delay(failures, dice).as_millis();
        assert_eq!([ms(1, 0), ms(1, 128), ms(1, 255)], [800, 1_000, 1_200]);
        assert_eq!([ms(2, 0), ms(4, 255)], [1_600, 9_600]);
        assert_eq!(
            [ms(9, 128), ms(40, 255), ms(u32::MAX, 0)],
            [256_000, 300_000, 240_000]
        );
    }
}
