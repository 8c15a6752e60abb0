//! Text without markup, or with marks of a few characters.

use pulldown_cmark::{Event, Tag, TagEnd};

use super::style::{Link, Style};
use super::{Leads, OUTPUT_BYTES_MAX, leads};
use crate::content::Error;
use crate::content::visible::Visible;

/// Deeper ones are written at this depth.
const PREFIXES_MAX: usize = 16;

pub fn written<'e>(
    events: impl Iterator<Item = Event<'e>>,
    style: &Style,
) -> Result<String, Error> {
    let mut sheet = Sheet::new(style);
    for event in events {
        sheet.event(event);
        if sheet.text.len() > OUTPUT_BYTES_MAX {
            return Err(Error::OutputTooLong);
        }
    }
    sheet.text.truncate(sheet.text.trim_end().len());
    Ok(sheet.text)
}

/// What stands at the begin of lines.
enum Prefix {
    Quote,
    /// An item's mark on its first line, room on the others.
    Item {
        mark: Option<String>,
        width: usize,
    },
}

struct Sheet<'s> {
    style: &'s Style,
    text: String,
    /// Line ends that come before what comes next, if anything does.
    breaks: usize,
    prefixes: Vec<Prefix>,
    /// The fewest quotes that were open since the last line.
    quotes: usize,
    /// The numbers of ordered lists; none for others.
    lists: Vec<Option<u64>>,
    /// Where links begin, and where they lead, if they lead anywhere.
    links: Vec<(usize, Option<String>)>,
    html: Visible,
    is_in_heading: bool,
    is_verbatim: bool,
    has_cell: bool,
}

impl<'s> Sheet<'s> {
    const fn new(style: &'s Style) -> Self {
        Self {
            style,
            text: String::new(),
            breaks: 0,
            prefixes: Vec::new(),
            quotes: 0,
            lists: Vec::new(),
            links: Vec::new(),
            html: Visible::Text,
            is_in_heading: false,
            is_verbatim: false,
            has_cell: false,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.say(&text),
            Event::Code(code) => self.code(&code),
            Event::SoftBreak => self.say(" "),
            Event::HardBreak => self.line(),
            Event::Rule => self.rule(),
            Event::Html(html) => self.raw(&html),
            Event::InlineHtml(html) if html.starts_with("<br") => self.line(),
            Event::FootnoteReference(label) => self.say(&format!("[{label}]")),
            Event::TaskListMarker(is_done) => self.say(if is_done { "[x] " } else { "[ ] " }),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::Table(_) => self.block(),
            Tag::Heading { .. } => self.start_heading(),
            Tag::BlockQuote(_) => self.start_quote(),
            Tag::CodeBlock(_) => self.start_code(),
            Tag::HtmlBlock => self.start_html(),
            Tag::List(first) => self.start_list(first),
            Tag::Item => self.start_item(),
            Tag::TableHead | Tag::TableRow => self.start_row(),
            Tag::TableCell => self.start_cell(),
            Tag::FootnoteDefinition(label) => self.start_footnote(&label),
            Tag::Emphasis => self.mark(self.style.emphasis),
            Tag::Strong if !self.is_in_heading => self.mark(self.style.strong),
            Tag::Strikethrough => self.mark(self.style.strike),
            Tag::Link { dest_url, .. } => self.start_link(&dest_url),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Table | TagEnd::HtmlBlock => self.block(),
            TagEnd::Heading(_) => self.end_heading(),
            TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition => self.end_quote(),
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => self.end_list(),
            TagEnd::Item => self.end_item(),
            TagEnd::Emphasis => self.mark(self.style.emphasis),
            TagEnd::Strong if !self.is_in_heading => self.mark(self.style.strong),
            TagEnd::Strikethrough => self.mark(self.style.strike),
            TagEnd::Link => self.end_link(),
            _ => {}
        }
    }

    fn block(&mut self) {
        let gap = if self.lists.is_empty() {
            self.style.gap
        } else {
            1
        };
        self.breaks = self.breaks.max(gap);
    }

    fn line(&mut self) {
        self.breaks = self.breaks.max(1);
    }

    /// Ends lines that are to end, and begins a new one.
    fn flush(&mut self) {
        let is_first = self.text.is_empty();
        if !is_first && self.breaks == 0 {
            return;
        }
        if !is_first {
            self.text.truncate(self.text.trim_end_matches(' ').len());
            for left in (0..self.breaks).rev() {
                self.text.push('\n');
                if left > 0 {
                    self.blank_line();
                }
            }
        }
        self.breaks = 0;
        self.line_start();
        self.quotes = self.open_quotes();
    }

    /// A quote goes on over a blank line.
    fn blank_line(&mut self) {
        let quotes = self.style.quote.repeat(self.quotes.min(PREFIXES_MAX));
        self.text.push_str(quotes.trim_end());
    }

    fn open_quotes(&self) -> usize {
        let is_quote = |prefix: &&Prefix| matches!(prefix, Prefix::Quote);
        let innermost = self.prefixes.iter().rev().take(PREFIXES_MAX);
        innermost.filter(is_quote).count()
    }

    fn line_start(&mut self) {
        let skipped = self.prefixes.len().saturating_sub(PREFIXES_MAX);
        for prefix in self.prefixes.iter_mut().skip(skipped) {
            match prefix {
                Prefix::Quote => self.text.push_str(self.style.quote),
                Prefix::Item { mark, width } => match mark.take() {
                    Some(mark) => self.text.push_str(&mark),
                    None => self.text.extend(std::iter::repeat_n(' ', *width)),
                },
            }
        }
    }

    fn say(&mut self, text: &str) {
        let mut lines = text.split('\n');
        self.piece(lines.next().unwrap_or_default());
        for line in lines {
            // A code's blank lines stay.
            self.breaks += 1;
            self.piece(line);
        }
    }

    fn piece(&mut self, piece: &str) {
        let is_gap = piece.trim().is_empty() && !self.is_verbatim;
        if piece.is_empty() || (is_gap && (self.breaks > 0 || self.text.is_empty())) {
            return;
        }
        self.flush();
        for character in piece.chars() {
            match (self.style.replaced)(character) {
                Some(replaced) => self.text.push_str(replaced),
                None if character.is_control() && character != '\t' => {}
                None => self.text.push(character),
            }
        }
    }

    fn mark(&mut self, mark: &str) {
        if !mark.is_empty() {
            self.flush();
            self.text.push_str(mark);
        }
    }

    fn code(&mut self, code: &str) {
        self.mark(self.style.code);
        self.say(code);
        self.mark(self.style.code);
    }

    fn rule(&mut self) {
        self.block();
        self.mark(self.style.rule);
        self.block();
    }

    fn raw(&mut self, line: &str) {
        let mut html = self.html;
        html.feed(line, |piece| {
            let words: Vec<&str> = piece.split_whitespace().collect();
            self.say(&words.join(" "));
            if piece.ends_with(char::is_whitespace) && !self.text.ends_with([' ', '\n']) {
                self.say(" ");
            }
        });
        self.html = html;
    }

    fn start_html(&mut self) {
        self.html = Visible::Text;
        self.block();
    }

    fn start_heading(&mut self) {
        self.block();
        self.mark(self.style.heading);
        self.is_in_heading = true;
    }

    fn end_heading(&mut self) {
        self.is_in_heading = false;
        self.mark(self.style.heading);
        self.block();
    }

    fn start_quote(&mut self) {
        self.block();
        self.prefixes.push(Prefix::Quote);
    }

    fn end_quote(&mut self) {
        self.prefixes.pop();
        self.quotes = self.quotes.min(self.open_quotes());
        self.block();
    }

    fn start_footnote(&mut self, label: &str) {
        self.block();
        let mark = Some(format!("[{label}] "));
        self.prefixes.push(Prefix::Item { mark, width: 0 });
    }

    fn start_code(&mut self) {
        self.block();
        self.is_verbatim = true;
        self.mark(self.style.fence);
        if !self.style.fence.is_empty() {
            self.line();
        }
    }

    fn end_code(&mut self) {
        self.is_verbatim = false;
        self.breaks = self.breaks.min(1);
        self.mark(self.style.fence);
        self.block();
    }

    fn start_list(&mut self, first: Option<u64>) {
        self.block();
        self.lists.push(first);
    }

    fn end_list(&mut self) {
        self.lists.pop();
        self.block();
    }

    fn start_item(&mut self) {
        self.line();
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => self.style.bullet.to_owned(),
        };
        self.prefixes.push(Prefix::Item {
            mark: Some(mark),
            width: 2,
        });
    }

    fn end_item(&mut self) {
        self.prefixes.pop();
        self.line();
    }

    fn start_row(&mut self) {
        self.line();
        self.has_cell = false;
    }

    fn start_cell(&mut self) {
        if self.has_cell {
            self.mark(" | ");
        }
        self.has_cell = true;
    }

    fn start_link(&mut self, address: &str) {
        self.flush();
        let address = match address.contains('@') && !address.contains([':', '/']) {
            true => format!("mailto:{address}"),
            false => address.to_owned(),
        };
        let leads = Some(address).filter(|address| leads(address) == Leads::Away);
        self.links.push((self.text.len(), leads));
    }

    fn end_link(&mut self) {
        let Some((start, Some(address))) = self.links.pop() else {
            return;
        };
        let start = start.min(self.text.len());
        let said = self.text[start..].to_owned();
        let bare = address.strip_prefix("mailto:").unwrap_or(&address);
        let is_said = said.trim() == bare || said.trim().is_empty();
        match (self.style.link, is_said) {
            (Link::Around, _) => {
                self.text.truncate(start);
                self.text.push_str(&around(&address, &said, is_said));
            }
            (_, true) if said.trim().is_empty() => self.text.push_str(&printable(bare)),
            (_, true) => {}
            (Link::Behind, false) => self.text.push_str(&format!(" ({})", printable(bare))),
            (Link::Colon, false) => self.text.push_str(&format!(": {}", printable(bare))),
        }
    }
}

fn printable(address: &str) -> String {
    let is_shown = |c: &char| !c.is_control() && !c.is_whitespace();
    address.chars().filter(is_shown).collect()
}

/// In Slack's markup these would end the address.
fn around(address: &str, said: &str, is_said: bool) -> String {
    let mut escaped = String::with_capacity(address.len());
    for character in printable(address).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("%3C"),
            '>' => escaped.push_str("%3E"),
            '|' => escaped.push_str("%7C"),
            character => escaped.push(character),
        }
    }
    match is_said && said.trim().is_empty() {
        true => format!("<{escaped}>"),
        false => format!("<{escaped}|{}>", said.replace('\n', " ")),
    }
}
