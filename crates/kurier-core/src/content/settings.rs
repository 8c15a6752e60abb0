//! What a workspace may choose about identifiers and chunks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The language of number words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    #[default]
    De,
    En,
}

impl Language {
    /// The language of a tag such as `de`, `de-AT` or `en_US`, if its numbers are known here.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default().trim();
        match primary {
            tag if tag.eq_ignore_ascii_case("de") => Some(Self::De),
            tag if tag.eq_ignore_ascii_case("en") => Some(Self::En),
            _ => None,
        }
    }
}

/// How numbers stand in identifiers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Numerals {
    /// Up to 9999 as words that fit: `fuenf_strategien`.
    #[default]
    Words,
    /// `nr_5_strategien`: a year in words leaves little room for others.
    Digits,
}

/// Where the identifier of a chunk ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// After 30 characters, within a word if need be.
    #[default]
    Hard,
    /// After the last word that fits.
    WholeWords,
}

/// A part of what an import is told, so that the same import gives the same keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// For documents that do not name one.
    pub lang: Language,
    pub numbers: Numerals,
    pub cut: Cut,
    /// Beside VaR and ROI: what an abbreviation, as it is written, stands for.
    pub abbreviations: BTreeMap<String, String>,
    /// Beside the German and English ones.
    pub stop_words: Vec<String>,
    /// Paragraphs that are longer become several chunks.
    pub max_chars: Option<u32>,
}

const ENTRIES_MAX: usize = 1_000;
const ABBREVIATION_CHARS_MAX: usize = 16;
const FULL_FORM_CHARS_MAX: usize = 100;
const MAX_CHARS_MIN: u32 = 100;

impl Settings {
    /// All that is wrong with them, one sentence each.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.abbreviations.len() > ENTRIES_MAX || self.stop_words.len() > ENTRIES_MAX {
            faults.push(format!("lists have at most {ENTRIES_MAX} entries"));
        }
        for (short, full) in &self.abbreviations {
            faults.extend(abbreviation_fault(short, full));
        }
        let bad = |word: &&String| word.is_empty() || !word.chars().all(char::is_alphanumeric);
        for word in self.stop_words.iter().filter(bad) {
            faults.push(format!("stop_words: {word:?} is not one word"));
        }
        if self.max_chars.is_some_and(|max| max < MAX_CHARS_MIN) {
            faults.push(format!("max_chars is at least {MAX_CHARS_MIN}"));
        }
        faults
    }
}

fn abbreviation_fault(short: &str, full: &str) -> Option<String> {
    let is_word = !short.is_empty()
        && short.chars().count() <= ABBREVIATION_CHARS_MAX
        && short.chars().all(char::is_alphanumeric);
    if !is_word {
        return Some(format!(
            "abbreviations: {short:?} is not one word of at most {ABBREVIATION_CHARS_MAX} characters"
        ));
    }
    let is_said =
        full.chars().any(char::is_alphanumeric) && full.chars().count() <= FULL_FORM_CHARS_MAX;
    (!is_said).then(|| {
        format!(
            "abbreviations: {short} has no full form of at most {FULL_FORM_CHARS_MAX} characters"
        )
    })
}
