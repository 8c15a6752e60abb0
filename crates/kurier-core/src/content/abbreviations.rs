//! Abbreviations that are written out, if their full form does not stand in the text anyway.

use std::collections::HashMap;

use super::nfc;
use super::settings::Settings;
use super::words::{self, Wish};

const KNOWN: [(&str, &str); 2] = [("VaR", "value at risk"), ("ROI", "return on investment")];

/// By the word as it is written: its full form, as words of an identifier, each between spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abbreviations {
    full: HashMap<Box<str>, Box<str>>,
    first_bytes: [bool; 256],
    longest: usize,
}

impl Abbreviations {
    pub fn new(settings: &Settings) -> Self {
        let own = settings.abbreviations.iter();
        let own = own.map(|(short, full)| (short.as_str(), full.as_str()));
        let mut table = Self {
            full: HashMap::new(),
            first_bytes: [false; 256],
            longest: 0,
        };
        KNOWN
            .into_iter()
            .chain(own)
            .for_each(|entry| table.add(entry));
        table
    }

    fn add(&mut self, (short, full): (&str, &str)) {
        let (short, full) = (nfc::composed(short), said(full));
        let Some(first) = short.bytes().next() else {
            return;
        };
        self.first_bytes[usize::from(first)] = true;
        self.longest = self.longest.max(short.len());
        self.full.insert(short.as_ref().into(), full.into());
    }

    pub const fn may_begin_with(&self, byte: u8) -> bool {
        self.first_bytes[byte as usize]
    }

    /// The full form of the word that a text begins with, and how long that word is.
    pub fn at_start(&self, text: &str) -> Option<(&str, usize)> {
        let is_in = |(_, character): &(usize, char)| character.is_alphanumeric();
        let mut characters = text.char_indices().take_while(is_in);
        let within = characters.by_ref().take_while(|(at, _)| *at < self.longest);
        let end = within
            .last()
            .map(|(at, character)| at + character.len_utf8())?;
        let is_whole = text[end..]
            .chars()
            .next()
            .is_none_or(|next| !next.is_alphanumeric());
        let full = is_whole.then(|| self.full.get(&text[..end])).flatten()?;
        Some((full, end))
    }
}

/// The words of a text, each between spaces.
pub fn said(text: &str) -> String {
    format!(" {} ", cleaned(text))
}

fn cleaned(text: &str) -> String {
    let text = nfc::composed(text);
    let mut cleaned = String::new();
    words::read(&text, None, |word| {
        if !cleaned.is_empty() {
            cleaned.push(' ');
        }
        cleaned.extend(word.iter().copied().map(char::from));
        Wish::More
    });
    cleaned
}
