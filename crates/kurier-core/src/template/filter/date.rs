//! Times for people. What is no time stays as it is.

use std::borrow::Cow;

use super::super::limits::Limit;
use super::{Bench, text_arg};
use crate::time::Timestamp;
use crate::value::Value;

/// What is wrong with a format.
pub fn check(format: &str) -> Option<String> {
    match Timestamp::default().formatted(format, 0) {
        Some(_) => None,
        None => Some(format!(
            "`{format}` is not a format of a time, such as %d.%m.%Y %H:%M"
        )),
    }
}

pub fn apply<'a>(
    input: Cow<'a, Value>,
    args: &[Cow<'a, Value>],
    bench: &mut Bench<'_>,
) -> Result<Cow<'a, Value>, Limit> {
    let format = text_arg(args, 0, bench)?.unwrap_or_default();
    let offset = text_arg(args, 1, bench)?;
    let Some(time) = time(&input, bench.now) else {
        return Ok(input);
    };
    let offset = offset.as_deref().and_then(offset_seconds).unwrap_or(0);
    let Some(text) = time.formatted(&format, offset) else {
        return Ok(input);
    };
    bench.budget.text(text.len())?;
    Ok(Cow::Owned(Value::Text(text)))
}

/// A time as RFC 3339 or as seconds since 1970; `now` is when it is rendered.
fn time(value: &Value, now: Timestamp) -> Option<Timestamp> {
    match value {
        Value::Text(text) if text == "now" => Some(now),
        Value::Text(text) => text.parse().ok(),
        Value::Int(seconds) => Some(Timestamp::from_micros(seconds.checked_mul(1_000_000)?)),
        _ => None,
    }
}

/// `+01:00`, `-0530` or `Z`.
fn offset_seconds(text: &str) -> Option<i32> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'Z' | b'z' => return Some(0),
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let digits: String = rest.chars().filter(|c| *c != ':').collect();
    if digits.len() != 4 {
        return None;
    }
    let (hours, minutes): (i32, i32) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}
