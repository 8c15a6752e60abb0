//! A document's bytes become text, and its text becomes what the parser reads: of the same
//! length behind the mark that some editors put in front, so that places in it are exact.

use std::borrow::Cow;

use super::Error;

pub const SOURCE_BYTES_MAX: usize = 256 * 1024 * 1024;
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What happens to bytes that are not UTF-8.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    /// The document is refused.
    #[default]
    Strict,
    /// They become U+FFFD.
    Lossy,
}

pub fn decode(bytes: &[u8], encoding: Encoding) -> Result<Cow<'_, str>, Error> {
    if bytes.len() > SOURCE_BYTES_MAX {
        return Err(Error::TooLong { bytes: bytes.len() });
    }
    match encoding {
        Encoding::Lossy => Ok(String::from_utf8_lossy(bytes)),
        Encoding::Strict => {
            str::from_utf8(bytes)
                .map(Cow::Borrowed)
                .map_err(|error| Error::NotUtf8 {
                    at: error.valid_up_to(),
                })
        }
    }
}

/// How long the byte order mark in front of a text is.
pub(super) fn mark_length(text: &str) -> usize {
    match text.starts_with(BYTE_ORDER_MARK) {
        true => BYTE_ORDER_MARK.len_utf8(),
        false => 0,
    }
}

/// A carriage return alone ends a line; the parser takes only `\n` and `\r\n` for ends.
pub(super) fn with_line_ends(text: &str) -> Cow<'_, str> {
    let is_lone = |(at, _): &(usize, &str)| text.as_bytes().get(at + 1) != Some(&b'\n');
    let mut lone = text.match_indices('\r').filter(is_lone).peekable();
    if lone.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let (mut mended, mut from) = (String::with_capacity(text.len()), 0);
    for (at, _) in lone {
        mended.push_str(&text[from..at]);
        mended.push('\n');
        from = at + 1;
    }
    mended.push_str(&text[from..]);
    Cow::Owned(mended)
}

/// Whether a text is handed on as it is.
pub(super) fn is_plain(text: &str) -> bool {
    // Without a way out this is done for many bytes at once.
    let is_odd = |odd, byte| odd | matches!(byte, b'\r' | b'\0');
    !text.bytes().fold(false, is_odd)
}

/// A piece of a document as it is handed on: lines end with `\n`, and NUL, which no database
/// keeps in a text, is U+FFFD.
pub(super) fn mended(piece: &str) -> Cow<'_, str> {
    if is_plain(piece) {
        return Cow::Borrowed(piece);
    }
    let mended = piece.replace("\r\n", "\n").replace('\r', "\n");
    Cow::Owned(mended.replace('\0', "\u{fffd}"))
}
