//! Markdown becomes HTML. Values are put in behind the reading, so whatever a value holds, it
//! cannot become markup.

use std::borrow::Cow;
use std::fmt;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, html};

use super::escape;
use super::limits::{CELLS_MAX, Limit, OUTPUT_BYTES_MAX};
use super::render::{SLOT_CLOSE, SLOT_OPEN, Slot};

/// The HTML of a Markdown text with its values.
pub fn to_html(source: &str, slots: &[Slot]) -> Result<String, Limit> {
    check_tables(source)?;
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let filling = Filling { slots };
    let events = Parser::new_ext(source, options).flat_map(|event| filling.event(event));
    let mut page = Page(String::new());
    html::write_html_fmt(&mut page, events).map_err(|_| Limit::Output)?;
    Ok(without_frames(page.0, slots))
}

/// What brings its own paragraphs stands in none.
fn without_frames(html: String, slots: &[Slot]) -> String {
    let blocks = slots.iter().filter(|slot| slot.is_block);
    blocks.fold(html, |html, slot| {
        html.replace(&format!("<p>{}</p>", slot.text), &slot.text)
    })
}

/// A row that is shorter than its table's head is filled up: many short rows under a long head
/// would take much more room than they are long.
fn check_tables(source: &str) -> Result<(), Limit> {
    let is_rule = |line: &str| {
        let line = line.trim_start_matches(['>', ' ', '*', '+']);
        line.contains('-')
            && line
                .chars()
                .all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
    };
    let widest = source.lines().filter(|line| is_rule(line));
    let widest = widest.map(|line| line.matches('|').count()).max();
    match widest.unwrap_or(0) * source.lines().count() > CELLS_MAX {
        true => Err(Limit::Cells),
        false => Ok(()),
    }
}

/// As long as a part may be.
struct Page(String);

impl fmt::Write for Page {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > OUTPUT_BYTES_MAX {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

struct Filling<'s> {
    slots: &'s [Slot],
}

/// A text between slots, or a slot.
enum Part<'t, 's> {
    Text(&'t str),
    Slot(&'s Slot),
}

impl<'s> Filling<'s> {
    fn event<'e>(&self, event: Event<'e>) -> Vec<Event<'e>>
    where
        's: 'e,
    {
        match event {
            Event::Text(text) if text.contains(SLOT_OPEN) => self.texts(&text),
            Event::Code(text) => vec![Event::Code(self.plain(text))],
            Event::Html(text) => vec![Event::Html(self.markup(text))],
            Event::InlineHtml(text) => vec![Event::InlineHtml(self.markup(text))],
            Event::Start(tag) => vec![Event::Start(self.tag(tag))],
            event => vec![event],
        }
    }

    fn texts<'e>(&self, text: &str) -> Vec<Event<'e>> {
        let parts = self.parts(text).into_iter().map(|part| match part {
            Part::Text(text) => Event::Text(text.to_owned().into()),
            Part::Slot(slot) if slot.is_html => Event::InlineHtml(slot.text.clone().into()),
            Part::Slot(slot) => Event::Text(slot.text.clone().into()),
        });
        parts.collect()
    }

    fn tag<'e>(&self, tag: Tag<'e>) -> Tag<'e> {
        match tag {
            Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            } => Tag::Link {
                link_type,
                dest_url: self.plain(dest_url),
                title: self.plain(title),
                id,
            },
            Tag::Image {
                link_type,
                dest_url,
                title,
                id,
            } => Tag::Image {
                link_type,
                dest_url: self.plain(dest_url),
                title: self.plain(title),
                id,
            },
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                Tag::CodeBlock(CodeBlockKind::Fenced(self.plain(info)))
            }
            tag => tag,
        }
    }

    /// Where the writer of HTML escapes.
    fn plain<'e>(&self, text: CowStr<'e>) -> CowStr<'e> {
        self.filled(text, |slot| Cow::Borrowed(&slot.text))
    }

    /// Where it does not.
    fn markup<'e>(&self, text: CowStr<'e>) -> CowStr<'e> {
        self.filled(text, |slot| match slot.is_html {
            true => Cow::Borrowed(&slot.text),
            false => Cow::Owned(escape::html_anywhere(&slot.text)),
        })
    }

    fn filled<'e>(&self, text: CowStr<'e>, fill: impl Fn(&'s Slot) -> Cow<'s, str>) -> CowStr<'e> {
        if !text.contains(SLOT_OPEN) {
            return text;
        }
        let mut filled = String::new();
        for part in self.parts(&text) {
            // What is longer is refused when it is written.
            if filled.len() > OUTPUT_BYTES_MAX {
                break;
            }
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Slot(slot) => filled.push_str(&fill(slot)),
            }
        }
        filled.into()
    }

    fn parts<'t>(&self, text: &'t str) -> Vec<Part<'t, 's>> {
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some(open) = rest.find(SLOT_OPEN) {
            parts.push(Part::Text(&rest[..open]));
            let behind = &rest[open + SLOT_OPEN.len_utf8()..];
            let end = behind.find(SLOT_CLOSE).unwrap_or(behind.len());
            let slot = behind[..end].parse::<usize>().ok();
            let slot = slot.and_then(|number| self.slots.get(number));
            parts.extend(slot.map(Part::Slot));
            rest = behind[end..].trim_start_matches(SLOT_CLOSE);
        }
        parts.push(Part::Text(rest));
        parts
    }
}
