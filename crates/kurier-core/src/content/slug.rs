//! From a text to its identifier: always the same, always a valid one.

use std::collections::HashSet;

use super::abbreviations::{Abbreviations, said};
use super::digest::Digest;
use super::identifier::{IDENTIFIER_BYTES_MAX, Identifier};
use super::key::NodeType;
use super::nfc;
use super::number_words::{SPELLED_BELOW, spelled};
use super::settings::{Cut, Language, Numerals, Settings};
use super::words::{self, Reach, Reading, Short, Wish};

const CHUNK_WORDS_MAX: usize = 5;
const SHORT_BELOW: usize = 3;
/// A word that ended before the last so many bytes ends there whatever follows.
const PROBE_MARGIN: usize = 64;

/// The German and English ones.
const fn is_common(word: &[u8]) -> bool {
    matches!(
        word,
        b"a" | b"an"
            | b"and"
            | b"are"
            | b"at"
            | b"auf"
            | b"bei"
            | b"by"
            | b"das"
            | b"dem"
            | b"den"
            | b"der"
            | b"des"
            | b"die"
            | b"ein"
            | b"eine"
            | b"einem"
            | b"einen"
            | b"einer"
            | b"eines"
            | b"for"
            | b"fuer"
            | b"in"
            | b"is"
            | b"ist"
            | b"mit"
            | b"oder"
            | b"of"
            | b"on"
            | b"or"
            | b"over"
            | b"sind"
            | b"the"
            | b"to"
            | b"ueber"
            | b"und"
            | b"under"
            | b"unter"
            | b"von"
            | b"with"
            | b"zu"
            | b"zum"
            | b"zur"
    )
}

/// Gives texts their identifiers, as a workspace's settings want it.
#[derive(Debug, Clone)]
pub struct Slugger {
    settings: Settings,
    abbreviations: Abbreviations,
    stop_words: HashSet<Box<[u8]>>,
}

impl Slugger {
    pub fn new(settings: &Settings) -> Self {
        let mut slugger = Self {
            settings: settings.clone(),
            abbreviations: Abbreviations::new(settings),
            stop_words: HashSet::new(),
        };
        for word in &settings.stop_words {
            words::read(&nfc::composed(word), None, |word| {
                slugger.stop_words.insert(word.into());
                Wish::More
            });
        }
        slugger
    }

    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What a node of this type with this visible text is called.
    pub fn identifier(&self, text: &str, node_type: NodeType, language: Language) -> Identifier {
        let text = nfc::composed(text);
        self.cleaned(&text, node_type, language)
            .unwrap_or_else(|| fallback(&text))
    }

    /// What a category, an author or a tag is called: as a heading, but two letters are enough.
    pub fn name(&self, text: &str, language: Language) -> Identifier {
        let composed = nfc::composed(text);
        let (joined, _) = self.joined(&composed, NodeType::Ch, language, None);
        match joined.as_bytes() {
            [first, _] if first.is_ascii_lowercase() => Identifier::cut(joined.as_bytes()),
            _ => None,
        }
        .unwrap_or_else(|| self.identifier(&composed, NodeType::Ch, language))
    }

    /// The identifier, if it is the same whatever follows this beginning of a text.
    pub(super) fn probe(
        &self,
        beginning: &str,
        node_type: NodeType,
        language: Language,
    ) -> Option<Identifier> {
        let text = nfc::composed(beginning);
        let (joined, reading) = self.joined(&text, node_type, language, None);
        match reading.reach {
            // Whether an abbreviation is written out depends on the rest of the text.
            Reach::Stopped(at) if at + PROBE_MARGIN <= text.len() && !reading.is_expanded => {
                joined.finished()
            }
            _ => None,
        }
    }

    fn cleaned(&self, text: &str, node_type: NodeType, language: Language) -> Option<Identifier> {
        let (joined, reading) = self.joined(text, node_type, language, None);
        if !reading.is_expanded {
            return joined.finished();
        }
        let said = said(text);
        let (joined, _) = self.joined(text, node_type, language, Some(&said));
        joined.finished()
    }

    fn joined(
        &self,
        text: &str,
        node_type: NodeType,
        language: Language,
        said: Option<&str>,
    ) -> (Joined, Reading) {
        let mut slug = Slug {
            slugger: self,
            language,
            is_chunk: node_type == NodeType::Chunk,
            all: Joined::default(),
            meaningful: Joined::default(),
            words: 0,
            read: 0,
        };
        let short = Short {
            table: &self.abbreviations,
            said,
        };
        let reading = words::read(text, Some(short), |word| slug.word(word));
        (slug.chosen(), reading)
    }

    fn is_stop_word(&self, word: &[u8]) -> bool {
        is_common(word) || (!self.stop_words.is_empty() && self.stop_words.contains(word))
    }
}

/// Words on their way to an identifier.
struct Slug<'s> {
    slugger: &'s Slugger,
    language: Language,
    is_chunk: bool,
    all: Joined,
    /// Of chunks: without stop words.
    meaningful: Joined,
    words: usize,
    /// Words with those that are left out.
    read: usize,
}

impl Slug<'_> {
    fn word(&mut self, word: &[u8]) -> Wish {
        let number = self.number(word);
        let word = number.as_ref().map_or(word, String::as_bytes);
        if !self.is_chunk {
            self.all.add(word);
            return self.all.wish();
        }
        let whole = self.slugger.settings.cut == Cut::WholeWords;
        if self.read < CHUNK_WORDS_MAX && !self.all.is_over(word, whole) {
            self.all.add(word);
        }
        self.read += 1;
        if self.slugger.is_stop_word(word) {
            return Wish::More;
        }
        if self.meaningful.is_over(word, whole) {
            return Wish::Enough;
        }
        self.meaningful.add(word);
        self.words += 1;
        match self.words == CHUNK_WORDS_MAX {
            true => Wish::Enough,
            false => self.meaningful.wish(),
        }
    }

    /// The word of a number that has one that fits.
    fn number(&self, word: &[u8]) -> Option<String> {
        let has_word = word.len() <= 4
            && word.iter().all(u8::is_ascii_digit)
            && (word.len() == 1 || word[0] != b'0')
            && self.slugger.settings.numbers == Numerals::Words;
        if !has_word {
            return None;
        }
        let digits = word.iter().map(|digit| u16::from(digit - b'0'));
        let number = digits.fold(0, |number, digit| 10 * number + digit);
        debug_assert!(number < SPELLED_BELOW);
        Some(spelled(number, self.language)).filter(|word| word.len() <= IDENTIFIER_BYTES_MAX)
    }

    fn chosen(self) -> Joined {
        match self.meaningful.length {
            0 => self.all,
            _ => self.meaningful,
        }
    }
}

/// Words with `_` between, as far as they fit.
#[derive(Default)]
struct Joined {
    bytes: [u8; IDENTIFIER_BYTES_MAX],
    length: usize,
}

impl Joined {
    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn add(&mut self, word: &[u8]) {
        if self.length > 0 {
            self.push(b"_");
        }
        self.push(word);
    }

    fn push(&mut self, bytes: &[u8]) {
        let taken = bytes.len().min(IDENTIFIER_BYTES_MAX - self.length);
        self.bytes[self.length..self.length + taken].copy_from_slice(&bytes[..taken]);
        self.length += taken;
    }

    /// Whether a further word would be cut, where words are to stay whole.
    fn is_over(&self, word: &[u8], whole: bool) -> bool {
        let lead = match self.as_bytes().first() {
            Some(first) if first.is_ascii_digit() => NUMBER_LEAD.len(),
            _ => 0,
        };
        whole && self.length > 0 && lead + self.length + 1 + word.len() > IDENTIFIER_BYTES_MAX
    }

    const fn wish(&self) -> Wish {
        match self.length >= IDENTIFIER_BYTES_MAX {
            true => Wish::Enough,
            false => Wish::More,
        }
    }

    /// Nothing, if there is no word at all.
    fn finished(&self) -> Option<Identifier> {
        let lead: &[u8] = match self.as_bytes().first()? {
            first if first.is_ascii_lowercase() => b"",
            _ => NUMBER_LEAD,
        };
        let mut led = Self::default();
        led.push(lead);
        led.push(self.as_bytes());
        let identifier = Identifier::cut(led.as_bytes())?;
        match identifier.as_str().len() < SHORT_BELOW {
            true => Identifier::cut(format!("short_content_{identifier}").as_bytes()),
            false => Some(identifier),
        }
    }
}

/// An identifier begins with a letter.
const NUMBER_LEAD: &[u8] = b"nr_";

/// For a text without words.
fn fallback(text: &str) -> Identifier {
    let text = text.trim();
    let name = match text.is_empty() {
        true => "empty_content".to_owned(),
        false => {
            let hash = Digest::of_text(text).to_string();
            let hash = &hash[..8];
            format!("special_chars_only_{hash}")
        }
    };
    Identifier::cut(name.as_bytes()).expect("a fallback is a name")
}
