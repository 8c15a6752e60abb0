//! HTML, by the parser's own writer, from events in which nothing is dangerous any more.

use std::fmt;

use pulldown_cmark::{CowStr, Event, Tag, TagEnd, html};

use super::{Leads, OUTPUT_BYTES_MAX, leads};
use crate::content::Error;

pub fn written<'e>(events: impl Iterator<Item = Event<'e>>) -> Result<String, Error> {
    let mut safe = Safe::default();
    let events = events.filter_map(move |event| safe.event(event));
    let mut page = Page(String::new());
    html::write_html_fmt(&mut page, events).map_err(|_| Error::OutputTooLong)?;
    page.0.truncate(page.0.trim_end().len());
    Ok(page.0)
}

/// As long as it may be.
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

#[derive(Default)]
struct Safe {
    /// For each link and image under way, whether it is kept.
    kept: Vec<bool>,
    is_in_comment: bool,
    /// A block of raw HTML, to be shown as text.
    raw: String,
}

impl Safe {
    fn event<'e>(&mut self, event: Event<'e>) -> Option<Event<'e>> {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(TagEnd::Link | TagEnd::Image) => {
                self.kept.pop().unwrap_or(false).then_some(event)
            }
            Event::End(TagEnd::HtmlBlock) => self.shown(),
            Event::Html(html) => self.raw(&html),
            Event::InlineHtml(html) if html.starts_with("<!--") => None,
            Event::InlineHtml(html) => Some(Event::Text(html)),
            Event::TaskListMarker(is_done) => Some(Event::Text(mark(is_done))),
            event => Some(event),
        }
    }

    fn start<'e>(&mut self, tag: Tag<'e>) -> Option<Event<'e>> {
        let tag = match tag {
            // Attributes would be written as they are.
            Tag::Heading { level, .. } => Tag::Heading {
                level,
                id: None,
                classes: Vec::new(),
                attrs: Vec::new(),
            },
            Tag::Link { ref dest_url, .. } | Tag::Image { ref dest_url, .. } => {
                let is_kept = leads(dest_url) != Leads::Nowhere;
                self.kept.push(is_kept);
                return is_kept.then_some(Event::Start(tag));
            }
            Tag::HtmlBlock => {
                (self.is_in_comment, self.raw) = (false, String::new());
                return None;
            }
            tag => tag,
        };
        Some(Event::Start(tag))
    }

    /// A line of raw HTML, without comments.
    fn raw<'e>(&mut self, html: &str) -> Option<Event<'e>> {
        let mut rest = html;
        while !rest.is_empty() {
            let mark = if self.is_in_comment { "-->" } else { "<!--" };
            let (before, behind) = rest.split_once(mark).unwrap_or((rest, ""));
            if !self.is_in_comment {
                self.raw.push_str(before);
            }
            let is_found = before.len() < rest.len();
            self.is_in_comment ^= is_found;
            rest = behind;
        }
        None
    }

    fn shown<'e>(&mut self) -> Option<Event<'e>> {
        let raw = std::mem::take(&mut self.raw);
        let shown = (!raw.trim().is_empty()).then(|| raw.trim().to_owned() + "\n");
        shown.map(|shown| Event::Text(shown.into()))
    }
}

fn mark<'e>(is_done: bool) -> CowStr<'e> {
    CowStr::Borrowed(if is_done { "☑ " } else { "☐ " })
}
