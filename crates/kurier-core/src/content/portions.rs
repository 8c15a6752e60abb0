//! A long document is parsed a portion at a time: the parser's own tree then stays small, whatever
//! the document's length. A portion ends before a heading that stands behind a blank line, which
//! ends every block but two; where one of these is open there, it begins the next portion.
//!
//! What is defined in one place and used in another (references, footnotes) needs the whole: a
//! document that may define such a thing is one portion.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::Error;
use super::outline::OPTIONS;
use super::walk::Walk;
use super::walked::Walked;

/// So long a portion is at least.
pub const BYTES: usize = 128 * 1024;

/// Whether anything in a text may be meant by another place in it.
pub fn has_definitions(text: &str) -> bool {
    text.contains("]:")
}

/// All of a text from a place on, in portions of at least so many bytes; a long one by two at
/// once, of which the second begins at a heading and is thrown away if that is none.
pub fn walked(walk: Walk<'_>, begin: usize, bytes: usize) -> Result<Walked, Error> {
    let text = walk.text();
    let middle = middle(text, begin, bytes);
    if middle == text.len() {
        return rest(walk, begin, bytes);
    }
    let behind = walk.anew();
    std::thread::scope(|scope| {
        let behind = move || rest(behind, middle, bytes);
        let Ok(behind) = std::thread::Builder::new().spawn_scoped(scope, behind) else {
            // No thread can be had: then one after the other.
            return rest(walk, begin, bytes);
        };
        let mut walk = walk;
        let reached = walk_through(&mut walk, begin..middle, bytes)?;
        let behind = behind.join().expect("walking does not panic");
        if reached < middle {
            return rest(walk, reached, bytes);
        }
        let above = walk.above();
        walk.finish()?.with(behind?, above)
    })
}

/// A heading of a node about in the middle; the end where a text is not worth two.
fn middle(text: &str, begin: usize, bytes: usize) -> usize {
    let half = (text.len() - begin) / 2;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if half < bytes.saturating_mul(2) || cores < 2 {
        return text.len();
    }
    let mut at = end(text, begin, half);
    while at < text.len() && text[at..].starts_with("####") {
        at = end(text, at, 1);
    }
    at
}

fn rest(mut walk: Walk<'_>, begin: usize, bytes: usize) -> Result<Walked, Error> {
    let whole = begin..walk.text().len();
    walk_through(&mut walk, whole, bytes)?;
    walk.finish()
}

/// Walks through a stretch; answers how far that leads, which is to its end unless a block goes
/// on behind it.
fn walk_through(walk: &mut Walk<'_>, place: Range<usize>, bytes: usize) -> Result<usize, Error> {
    let (mut at, mut wanted) = (place.start, bytes);
    while at < place.end {
        let end = end(&walk.text()[..place.end], at, wanted);
        let next = portion(walk, at..end)?;
        if next == at && end == place.end {
            break;
        }
        // A block that is longer than the portion: with more of it, it ends somewhere.
        wanted = if next == at {
            wanted.saturating_mul(2)
        } else {
            bytes
        };
        at = next;
    }
    Ok(at)
}

/// Where the next portion begins.
fn portion(walk: &mut Walk<'_>, place: Range<usize>) -> Result<usize, Error> {
    let text = walk.text();
    let part = &text[place.clone()];
    let is_last = place.end == text.len();
    let whole = part.trim_ascii_end().len();
    walk.begin_at(place.start);
    for (event, range) in Parser::new_ext(part, OPTIONS).into_offset_iter() {
        let may_go_on = !is_last && walk.is_between_blocks() && range.end >= whole;
        if may_go_on && goes_on(&event, &part[range.clone()]) {
            return Ok(place.start + line_start(part, range.start));
        }
        walk.event(event, range)?;
    }
    Ok(place.end)
}

/// Whether a block may go on behind a blank line and a heading.
fn goes_on(event: &Event<'_>, block: &str) -> bool {
    match event {
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => !is_closed(block),
        Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::FootnoteDefinition(_)) => true,
        _ => false,
    }
}

/// Whether the last line of fenced code is the end of it: behind such a fence the parser takes
/// nothing but spaces.
fn is_closed(block: &str) -> bool {
    let mut lines = block.trim_end_matches([' ', '\n']).lines();
    let (Some(first), Some(last)) = (lines.next(), lines.next_back()) else {
        return false;
    };
    let fence = |byte: &u8| first.as_bytes().first() == Some(byte);
    let length = first.bytes().take_while(|byte| fence(byte)).count();
    let end = last.trim_start_matches(' ');
    last.len() - end.len() < 4 && end.len() >= length && end.bytes().all(|byte| fence(&byte))
}

fn line_start(part: &str, at: usize) -> usize {
    part[..at].rfind('\n').map_or(0, |end| end + 1)
}

fn end(text: &str, from: usize, wanted: usize) -> usize {
    let mut at = from.saturating_add(wanted);
    if at >= text.len() {
        return text.len();
    }
    at = text.ceil_char_boundary(at);
    while let Some(found) = text[at..].find("\n\n#") {
        at += found + 2;
        if is_heading(&text.as_bytes()[at..]) {
            return at;
        }
    }
    text.len()
}

fn is_heading(line: &[u8]) -> bool {
    let level = line.iter().take_while(|byte| **byte == b'#').count();
    level <= 6 && matches!(line.get(level), Some(b' ' | b'\t' | b'\n'))
}
