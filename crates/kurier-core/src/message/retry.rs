//! When a message that was refused is tried again.

/// So many failures end a message, unless its channel says otherwise.
pub const RETRIES_DEFAULT: u32 = 5;

const BASE_SECONDS: i64 = 60;
const CAP_SECONDS: i64 = 86_400;
const MICROS: i64 = 1_000_000;
/// The delay is spread by a fifth to either side, so that what failed together does not come
/// back together.
const SPREAD_PERCENT: i64 = 20;

/// How long to wait, in microseconds, after the `failures`th failure: a minute, doubled each
/// time, and what the provider asked for if that is longer. Never more than a day, whatever
/// the chance brings: the cap comes last. `chance` is any number; all of its bits count.
pub fn delay(failures: u32, retry_after: Option<u64>, chance: u64) -> i64 {
    let doublings = failures.saturating_sub(1).min(11);
    let plain = (BASE_SECONDS << doublings) * MICROS;
    let spread = plain / 100 * SPREAD_PERCENT;
    let offset = (i128::from(chance) * i128::from(2 * spread + 1)) >> 64;
    let jittered = plain - spread + offset as i64;
    let asked = retry_after.map_or(0, |seconds| seconds.min(CAP_SECONDS as u64) as i64 * MICROS);
    jittered.max(asked).min(CAP_SECONDS * MICROS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: i64 = MICROS;

    #[test]
    fn seed_4_3_doubles_from_a_minute_and_stops_at_a_day() {
        let middle = |failures| delay(failures, None, 1 << 63) / SECOND;
        let plain: Vec<i64> = [1, 2, 3, 4, 5, 6].map(middle).to_vec();
        assert_eq!(plain, [60, 120, 240, 480, 960, 1_920]);
        assert_eq!(middle(12), 86_400);
        assert_eq!(middle(u32::MAX), 86_400);
    }

    #[test]
    fn seed_4_3_spreads_by_a_fifth_to_either_side() {
        assert_eq!(delay(1, None, 0), 48 * SECOND);
        assert_eq!(delay(1, None, u64::MAX), 72 * SECOND);
        let chances = (0..10_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mean = chances.map(|chance| delay(3, None, chance)).sum::<i64>() / 10_000;
        assert!((mean - 240 * SECOND).abs() < 240 * SECOND / 50, "{mean}");
    }

    #[test]
    fn what_the_provider_asks_for_is_honoured() {
        assert_eq!(delay(1, Some(120), u64::MAX), 120 * SECOND);
        assert_eq!(delay(4, Some(1), 0), 384 * SECOND);
        assert_eq!(delay(1, Some(u64::MAX), 0), 86_400 * SECOND);
    }

    proptest! {
        #[test]
        fn resolution_the_cap_is_applied_last(failures in 0_u32..40, asked in proptest::option::of(0_u64..200_000), chance: u64) {
            let delay = delay(failures, asked, chance);
            prop_assert!((48 * SECOND..=86_400 * SECOND).contains(&delay));
        }
    }
}
