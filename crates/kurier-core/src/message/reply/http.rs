//! HTTP statuses, and how long a server wants to be left alone.

use super::words::by_words;
use super::{Refusal, refusal};
use crate::message::Blame::{self, Channel, Message};
use crate::message::Category::{self, Permanent, Temporary};
use crate::time::Timestamp;

/// Nobody is asked to wait longer than a day.
const RETRY_AFTER_MAX: u64 = 86_400;

/// An answer that is not a success.
#[derive(Debug, Clone, Copy)]
pub struct Status<'a> {
    pub status: u16,
    /// What `Retry-After` says, in seconds.
    pub retry_after: Option<u64>,
    /// The body, or the start of it.
    pub text: &'a str,
}

/// From a status up to another, read from the top.
#[rustfmt::skip]
pub(super) const STATUSES: &[(u16, u16, Category, Blame, &str)] = &[
    (300, 399, Permanent, Channel, "redirects are not followed"),
    (400, 400, Permanent, Message, "the request is faulty"),
    (401, 407, Permanent, Channel, "the key, the place or the method is wrong"),
    (408, 408, Temporary, Channel, "the server was tired of waiting"),
    (409, 409, Temporary, Message, "it is being worked on"),
    (410, 410, Permanent, Channel, "the endpoint is gone"),
    (413, 413, Permanent, Message, "the message is too big"),
    (421, 421, Temporary, Channel, "the connection leads elsewhere"),
    (423, 425, Temporary, Channel, "it is not possible now"),
    (429, 429, Temporary, Channel, "too much at once"),
    (411, 499, Permanent, Message, "the message is not taken"),
    (501, 501, Permanent, Channel, "the server cannot do this"),
    (505, 505, Permanent, Channel, "the server speaks another HTTP"),
    (500, 599, Temporary, Channel, "the server has a fault"),
];

/// What an answer that is not a success means. A provider that says 400 or 422 to everything
/// is understood by its words.
pub fn http(answer: &Status<'_>) -> Refusal {
    let Status { status, text, .. } = *answer;
    let told = matches!(status, 400 | 422)
        .then(|| by_words(text))
        .flatten();
    let verdict = told.unwrap_or_else(|| by_status(status));
    let code = match status {
        410 => "gone".to_owned(),
        _ => format!("http {status}"),
    };
    let detail = if text.trim().is_empty() {
        meaning(status)
    } else {
        text
    };
    Refusal {
        retry_after: answer.retry_after,
        ..refusal(verdict, code, detail)
    }
}

fn row(status: u16) -> Option<&'static (u16, u16, Category, Blame, &'static str)> {
    let mut table = STATUSES.iter();
    table.find(|row| (row.0..=row.1).contains(&status))
}

fn by_status(status: u16) -> (Category, Blame) {
    row(status).map_or((Permanent, Channel), |row| (row.2, row.3))
}

fn meaning(status: u16) -> &'static str {
    row(status).map_or("the answer is none of HTTP's", |row| row.4)
}

/// Reads `Retry-After`: seconds, or a date.
pub fn retry_after(value: &str, now: Timestamp) -> Option<u64> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(
            value
                .parse()
                .unwrap_or(RETRY_AFTER_MAX)
                .min(RETRY_AFTER_MAX),
        );
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new()
        .parse_timestamp(value)
        .ok()?;
    let micros = date.as_microsecond().saturating_sub(now.as_micros());
    // A second too late is better than one too early.
    let seconds = u64::try_from(micros).unwrap_or(0).div_ceil(1_000_000);
    Some(seconds.min(RETRY_AFTER_MAX))
}
