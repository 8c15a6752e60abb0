//! Long paragraphs in pieces: between sentences, else between words, never within a link, a
//! code or an emphasis.

use std::ops::Range;

use pulldown_cmark::{BrokenLink, Event, Parser};

use super::outline::OPTIONS;
use super::references::References;

/// A place where a piece may begin.
struct Place {
    at: usize,
    /// The characters before it.
    chars: usize,
    is_sentence: bool,
}

/// The pieces of a paragraph, in order and without gaps. One has more characters than asked for
/// only where there is no place to part it.
pub fn pieces(paragraph: &str, references: &References, chars_max: usize) -> Vec<Range<usize>> {
    let places = places(paragraph, references);
    let whole = paragraph.chars().count();
    let (mut pieces, mut start, mut before, mut next) = (Vec::new(), 0, 0, 0);
    while whole - before > chars_max {
        let ahead = &places[next..];
        let within = ahead.partition_point(|place| place.chars <= before + chars_max);
        let sentence = ahead[..within].iter().rposition(|place| place.is_sentence);
        let chosen = sentence.unwrap_or(within.saturating_sub(1));
        let Some(place) = ahead.get(chosen) else {
            break;
        };
        pieces.push(start..place.at);
        (start, before, next) = (place.at, place.chars, next + chosen + 1);
    }
    pieces.push(start..paragraph.len());
    pieces
}

fn places(paragraph: &str, references: &References) -> Vec<Place> {
    let mut resolve = |link: BrokenLink<'_>| references.resolve(&link);
    let parser = Parser::new_with_broken_link_callback(paragraph, OPTIONS, Some(&mut resolve));
    let (mut places, mut depth) = (Vec::new(), 0);
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::Text(_) if depth == 1 => within(paragraph, range, &mut places),
            Event::SoftBreak if depth == 1 => add(paragraph, range.end, &mut places),
            _ => {}
        }
    }
    count(paragraph, &mut places);
    places
}

fn count(paragraph: &str, places: &mut [Place]) {
    let (mut at, mut chars) = (0, 0);
    for place in places {
        chars += paragraph[at..place.at].chars().count();
        (at, place.chars) = (place.at, chars);
    }
}

fn within(paragraph: &str, range: Range<usize>, places: &mut Vec<Place>) {
    let text = &paragraph[range.clone()];
    for (at, character) in text.char_indices() {
        let behind = range.start + at + character.len_utf8();
        let is_end = matches!(character, '。' | '！' | '？');
        if (character == ' ' || is_end) && behind < range.end {
            add(paragraph, behind, places);
        }
    }
}

/// What follows must read as text at the begin of a line too.
fn add(paragraph: &str, at: usize, places: &mut Vec<Place>) {
    let next = paragraph[at..].chars().next();
    if !next.is_some_and(char::is_alphabetic) {
        return;
    }
    let before = paragraph[..at].trim_end().chars().next_back();
    let is_sentence = matches!(before, Some('.' | '!' | '?' | '…' | '。' | '！' | '？'));
    if places.last().is_none_or(|place| place.at < at) {
        places.push(Place {
            at,
            chars: 0,
            is_sentence,
        });
    }
}

/// What of a piece can be read.
pub fn visible(piece: &str, references: &References) -> String {
    let mut resolve = |link: BrokenLink<'_>| references.resolve(&link);
    let parser = Parser::new_with_broken_link_callback(piece, OPTIONS, Some(&mut resolve));
    let mut text = String::with_capacity(piece.len());
    for event in parser {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    text
}
