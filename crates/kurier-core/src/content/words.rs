//! A text as words of `a-z0-9`: templates' delimiters, abbreviations, symbols, capital letters,
//! umlauts and other scripts, in this order at every place. Nothing is copied but the word
//! under way.

use any_ascii::any_ascii_char;

use super::abbreviations::Abbreviations;

/// Longer words are taken up to here: nobody looks further.
const WORD_BYTES_MAX: usize = 64;

/// What a template's code stands between.
const DELIMITERS: [&str; 6] = ["{{<", "{{%", "{%", ">}}", "%}}", "%}"];

/// Whether further words are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    More,
    Enough,
}

/// How a reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    End,
    /// Nothing from this byte on was looked at.
    Stopped(usize),
}

/// What is written out.
#[derive(Clone, Copy)]
pub struct Short<'t> {
    pub table: &'t Abbreviations,
    /// What the text says by itself, where that is known: it is not written out again.
    pub said: Option<&'t str>,
}

/// What came of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    pub reach: Reach,
    /// Whether an abbreviation was written out.
    pub is_expanded: bool,
}

/// Hands the words of a composed text on, one by one, until no more are wanted.
pub fn read(text: &str, short: Option<Short<'_>>, hand: impl FnMut(&[u8]) -> Wish) -> Reading {
    let mut reader = Reader {
        text,
        short,
        hand,
        word: [0; WORD_BYTES_MAX],
        length: 0,
        is_cut: false,
        is_expanded: false,
        wish: Wish::More,
    };
    let reach = reader.run();
    Reading {
        reach,
        is_expanded: reader.is_expanded,
    }
}

struct Reader<'t, F> {
    text: &'t str,
    short: Option<Short<'t>>,
    hand: F,
    word: [u8; WORD_BYTES_MAX],
    length: usize,
    /// The word under way was handed on already, as far as it is looked at.
    is_cut: bool,
    is_expanded: bool,
    wish: Wish,
}

impl<F: FnMut(&[u8]) -> Wish> Reader<'_, F> {
    fn run(&mut self) -> Reach {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            at += match bytes[at] {
                byte if byte.is_ascii_alphanumeric() => self.run_of_letters(at),
                byte if byte.is_ascii() => self.sign(at, byte),
                _ => self.other_script(at),
            };
            if self.wish == Wish::Enough {
                return Reach::Stopped(at);
            }
        }
        self.end_word();
        Reach::End
    }

    /// Letters and digits; an abbreviation, if it is one.
    fn run_of_letters(&mut self, at: usize) -> usize {
        if let Some(taken) = self.abbreviation(at) {
            return taken;
        }
        let rest = &self.text.as_bytes()[at..];
        let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric());
        // A word may be as long as the text: who wants no more is not kept waiting.
        let taken = end.unwrap_or(rest.len()).min(WORD_BYTES_MAX);
        self.push_all(&rest[..taken]);
        taken
    }

    fn abbreviation(&mut self, at: usize) -> Option<usize> {
        let Short { table, said } = self.short?;
        if !table.may_begin_with(self.text.as_bytes()[at]) || self.is_letter_before(at) {
            return None;
        }
        let (full, length) = table.at_start(&self.text[at..])?;
        if said.is_some_and(|said| said.contains(full)) {
            return None;
        }
        self.is_expanded = true;
        for byte in full.trim().bytes() {
            match byte {
                b' ' => self.end_word(),
                byte => self.push(byte),
            }
        }
        Some(length)
    }

    fn is_letter_before(&self, at: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        before.is_some_and(char::is_alphanumeric)
    }

    /// How many bytes a sign of ASCII takes, and what becomes of it.
    fn sign(&mut self, at: usize, byte: u8) -> usize {
        match byte {
            b' ' | b'\t'..=b'\r' | b'_' | b'/' | b'-' => self.gap(1),
            b'.' | b',' if self.is_between_digits(at) => self.gap(1),
            b'{' | b'%' | b'>' => self.delimiter_or_symbol(at, byte),
            b'&' => self.ampersand(at),
            byte => self.symbol(byte),
        }
    }

    fn gap(&mut self, length: usize) -> usize {
        self.end_word();
        length
    }

    fn is_between_digits(&self, at: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        let after = self.text[at + 1..].chars().next();
        before.is_some_and(char::is_numeric) && after.is_some_and(char::is_numeric)
    }

    /// What a template's code stands between is no text; the words within are.
    fn delimiter_or_symbol(&mut self, at: usize, byte: u8) -> usize {
        let rest = &self.text.as_bytes()[at..];
        let found = DELIMITERS
            .iter()
            .find(|delimiter| rest.starts_with(delimiter.as_bytes()));
        match found {
            Some(delimiter) => self.gap(delimiter.len()),
            None => self.symbol(byte),
        }
    }

    /// Between words it only lists them; within one it is a word of its own.
    fn ampersand(&mut self, at: usize) -> usize {
        let (before, after) = (&self.text[..at], &self.text[at + 1..]);
        let is_free_before = before.chars().next_back().is_none_or(char::is_whitespace)
            || DELIMITERS.iter().any(|it| before.ends_with(it));
        let is_free_after = after.chars().next().is_none_or(char::is_whitespace)
            || DELIMITERS.iter().any(|it| after.starts_with(it));
        if !(is_free_before && is_free_after) {
            self.whole_word("and");
        }
        self.gap(1)
    }

    fn symbol(&mut self, byte: u8) -> usize {
        match byte {
            b'%' => self.whole_word("prozent"),
            b'$' => self.whole_word("dollar"),
            b'@' => self.whole_word("at"),
            b'#' => self.whole_word("hash"),
            b'+' => self.whole_word("plus"),
            b'=' => self.whole_word("equals"),
            b'<' => self.two_words("less", "than"),
            b'>' => self.two_words("greater", "than"),
            _ => {}
        }
        1
    }

    fn whole_word(&mut self, word: &str) {
        self.end_word();
        word.bytes().for_each(|byte| self.push(byte));
        self.end_word();
    }

    fn two_words(&mut self, first: &str, second: &str) {
        self.whole_word(first);
        self.whole_word(second);
    }

    /// The character at this place, which is not of ASCII.
    fn other_script(&mut self, at: usize) -> usize {
        let Some(character) = self.text[at..].chars().next() else {
            return 1;
        };
        if self.short.is_some()
            && let Some(taken) = self.abbreviation(at)
        {
            return taken;
        }
        match character {
            'ä' | 'Ä' => self.letters("ae"),
            'ö' | 'Ö' => self.letters("oe"),
            'ü' | 'Ü' => self.letters("ue"),
            'ß' | 'ẞ' => self.letters("ss"),
            '€' => self.whole_word("euro"),
            character if character.is_whitespace() || is_dash(character) => self.end_word(),
            character if character.is_alphanumeric() => self.transliterated(character),
            _ => {}
        }
        character.len_utf8()
    }

    fn letters(&mut self, letters: &str) {
        letters.bytes().for_each(|byte| self.push(byte));
    }

    fn transliterated(&mut self, character: char) {
        for lower in character.to_lowercase() {
            for byte in any_ascii_char(lower).bytes() {
                match byte {
                    b' ' | b'/' | b'-' | b'_' => self.end_word(),
                    byte if byte.is_ascii_alphanumeric() => self.push(byte.to_ascii_lowercase()),
                    _ => {}
                }
            }
        }
    }

    fn push_all(&mut self, letters: &[u8]) {
        let end = self.length + letters.len();
        match self.word.get_mut(self.length..end) {
            Some(room) => {
                room.copy_from_slice(letters);
                room.make_ascii_lowercase();
                self.length = end;
            }
            None => letters
                .iter()
                .for_each(|byte| self.push(byte.to_ascii_lowercase())),
        }
    }

    fn push(&mut self, byte: u8) {
        if self.length < WORD_BYTES_MAX {
            self.word[self.length] = byte;
            self.length += 1;
        } else if !self.is_cut {
            self.is_cut = true;
            self.hand_on();
        }
    }

    fn end_word(&mut self) {
        if self.length > 0 && !self.is_cut {
            self.hand_on();
        }
        (self.length, self.is_cut) = (0, false);
    }

    fn hand_on(&mut self) {
        if self.wish == Wish::More {
            self.wish = (self.hand)(&self.word[..self.length]);
        }
    }
}

/// Unicode's dash punctuation, but for `-`.
const fn is_dash(character: char) -> bool {
    matches!(
        character,
        '\u{58a}' | '\u{5be}' | '\u{1400}' | '\u{1806}' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2e17}'
                | '\u{2e1a}'
                | '\u{2e3a}'
                | '\u{2e3b}'
                | '\u{2e40}'
                | '\u{2e5d}'
                | '\u{301c}'
                | '\u{3030}'
                | '\u{30a0}'
                | '\u{fe31}'
                | '\u{fe32}'
                | '\u{fe58}'
                | '\u{fe63}'
                | '\u{ff0d}'
                | '\u{10d6e}'
                | '\u{10ead}'
    )
}
