//! Composed characters: one text, however it was typed. Almost all texts are composed already,
//! which a look at their bytes shows.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

pub fn composed(text: &str) -> Cow<'_, str> {
    match is_surely_composed(text) {
        true => Cow::Borrowed(text),
        false => composed_slowly(text),
    }
}

/// Below U+0300 and among Han characters nothing combines. The first byte of a character tells.
pub fn is_surely_composed(text: &str) -> bool {
    let combines = |byte: u8| (0xcc..=0xe3).contains(&byte) || byte >= 0xea;
    !text
        .bytes()
        .fold(false, |found, byte| found | combines(byte))
}

fn composed_slowly(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfc().collect()),
    }
}
