//! Durations as they are written in definitions: `30s`, `15m`, `12h`, `7d`, `2w`.

use std::time::Duration;

/// A wait, a timeout or an interval is at most this long: ten years.
pub const DURATION_MAX: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Reads a duration of at least a second.
pub fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3_600),
        "d" => Some(86_400),
        "w" => Some(7 * 86_400),
        _ => None,
    };
    let number = digits.trim().parse::<u64>().ok();
    let (Some(number), Some(seconds)) = (number, seconds) else {
        return Err(format!(
            "`{text}` is not a duration; write 30s, 15m, 12h, 7d or 2w"
        ));
    };
    let duration = Duration::from_secs(number.saturating_mul(seconds));
    if duration.is_zero() || duration > DURATION_MAX {
        return Err("must be between 1s and ten years".to_owned());
    }
    Ok(duration)
}

/// The shortest way to write it.
pub fn print(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let units = [
        (7 * 86_400, 'w'),
        (86_400, 'd'),
        (3_600, 'h'),
        (60, 'm'),
        (1, 's'),
    ];
    let fits = units
        .iter()
        .find(|(size, _)| seconds != 0 && seconds.is_multiple_of(*size));
    let (size, unit) = fits.unwrap_or(&(1, 's'));
    format!("{}{unit}", seconds / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_printed() {
        for text in ["30s", "90m", "12h", "8d", "2w"] {
            assert_eq!(print(parse(text).expect("good")), text);
        }
        for text in ["", "5", "h", "0s", "-1h", "1.5h", "5x", "9999999999w"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
