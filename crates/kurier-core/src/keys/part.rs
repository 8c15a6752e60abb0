//! What people name, as a part of a key.

use std::borrow::Cow;
use std::fmt::Write as _;

/// So many bytes a part may have before it is escaped.
pub const PART_BYTES_MAX: usize = 256;

/// Why a text cannot become part of a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("a part of a key must not be empty")]
    Empty,
    #[error("a part of a key has at most {max} bytes")]
    Long { max: usize },
    #[error("`{character}` must not stand in {what}")]
    Character { what: &'static str, character: char },
}

/// A text as one part of a key: what is neither a letter, a digit nor one of `-._~` is written
/// as `%` and two hex digits for each byte. So no name ends a part, opens a hash tag or becomes a
/// pattern, and two names never become one.
pub fn escaped(text: &str) -> Result<Cow<'_, str>, Refused> {
    checked_size(text)?;
    // As ids are, and most names.
    if text.bytes().all(is_plain) {
        return Ok(Cow::Borrowed(text));
    }
    let mut part = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            part.push(char::from(byte));
        } else {
            write!(part, "%{byte:02X}").expect("text takes any text");
        }
    }
    Ok(Cow::Owned(part))
}

/// The text that was [`escaped`]; `None` if nothing escapes to this.
pub fn unescaped(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next()?)? << 4 | hex(rest.next()?)?,
            plain => plain,
        });
    }
    let text = String::from_utf8(bytes).ok()?;
    (escaped(&text).as_deref() == Ok(part)).then_some(text)
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

/// A text of letters, digits and `-._` alone, or the reason why it is none.
pub(super) fn plain(what: &'static str, text: &str) -> Result<(), Refused> {
    checked_size(text)?;
    let odd = text
        .chars()
        .find(|&c| !(c.is_ascii_alphanumeric() || "-._".contains(c)));
    odd.map_or(Ok(()), |character| {
        Err(Refused::Character { what, character })
    })
}

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

const fn checked_size(text: &str) -> Result<(), Refused> {
    match text.len() {
        0 => Err(Refused::Empty),
        1..=PART_BYTES_MAX => Ok(()),
        _ => Err(Refused::Long {
            max: PART_BYTES_MAX,
        }),
    }
}
