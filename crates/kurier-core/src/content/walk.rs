//! The parser's events become nodes.

use std::ops::Range;

use pulldown_cmark::{Event, Tag};

use super::Error;
use super::digest::Digest;
use super::gather::Gather;
use super::identifier::Identifier;
use super::key::NodeType;
use super::nfc::is_surely_composed;
use super::outline::{Minor, NODES_MAX, Node, Span, span};
use super::references::References;
use super::settings::Language;
use super::slug::Slugger;
use super::source::{is_plain, mended};
use super::split;
use super::walked::Walked;

const TITLE_CHARS_MAX: usize = 200;

/// What is found on the way.
pub struct Walk<'a> {
    text: &'a str,
    /// Where in the text the parser begins.
    begin: usize,
    slugger: &'a Slugger,
    language: Language,
    references: &'a References,
    gather: Gather<'a>,
    depth: usize,
    block: Block,
    /// The chapter, paragraph and subparagraph under way.
    above: [Option<u32>; 3],
    minor: Option<u32>,
    pending: Option<Pending>,
    /// The last chunk became longer: its hash is taken when it is whole.
    is_joined: bool,
    /// No piece of the text has to be mended or composed to be hashed.
    is_plain: bool,
    walked: Walked,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Heading(u8),
    Paragraph,
    Other,
}

/// A heading below the third level that waits for the block whose first line it is.
struct Pending {
    level: u8,
    range: Range<usize>,
    identifier: Identifier,
}

impl<'a> Walk<'a> {
    pub fn new(
        text: &'a str,
        begin: usize,
        slugger: &'a Slugger,
        language: Language,
        references: &'a References,
    ) -> Self {
        Self {
            text,
            begin,
            slugger,
            language,
            references,
            gather: Gather::new(slugger, language),
            depth: 0,
            block: Block::Other,
            above: [None; 3],
            minor: None,
            pending: None,
            is_joined: false,
            is_plain: is_plain(text) && is_surely_composed(text),
            walked: Walked::new(text),
        }
    }

    /// Another one over the same text, on which nothing was found yet.
    pub fn anew(&self) -> Self {
        Self {
            gather: Gather::new(self.slugger, self.language),
            depth: 0,
            block: Block::Other,
            above: [None; 3],
            minor: None,
            pending: None,
            is_joined: false,
            walked: Walked::new(self.text),
            ..*self
        }
    }

    pub const fn text(&self) -> &'a str {
        self.text
    }

    pub const fn above(&self) -> [Option<u32>; 3] {
        self.above
    }

    pub const fn begin_at(&mut self, place: usize) {
        self.begin = place;
    }

    pub const fn is_between_blocks(&self) -> bool {
        self.depth == 0
    }

    pub fn event(&mut self, event: Event<'_>, range: Range<usize>) -> Result<(), Error> {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(_) => return self.end(range),
            Event::Text(text) | Event::Code(text) => self.gather.push(&text),
            Event::SoftBreak | Event::HardBreak => self.gather.gap(),
            Event::Html(html) => self.gather.html(&html),
            Event::InlineHtml(html) if html.starts_with("<br") => self.gather.gap(),
            Event::Rule if self.depth == 0 => return self.rule(range),
            Event::FootnoteReference(_) => self.gather.see(),
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match self.depth {
            0 => self.start_block(tag),
            _ => self.start_within(tag),
        }
        self.depth += 1;
    }

    fn start_block(&mut self, tag: &Tag<'_>) {
        self.block = match tag {
            Tag::Heading { level, .. } => Block::Heading(*level as u8),
            Tag::Paragraph => Block::Paragraph,
            _ => Block::Other,
        };
        self.gather.begin(matches!(self.block, Block::Heading(_)));
    }

    fn start_within(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } => {}
            Tag::Image { .. } => self.gather.see(),
            Tag::HtmlBlock => self.gather.begin_html(),
            _ => self.gather.gap(),
        }
    }

    fn end(&mut self, range: Range<usize>) -> Result<(), Error> {
        self.depth = self.depth.saturating_sub(1);
        if self.depth > 0 {
            return Ok(());
        }
        let range = self.trimmed(range);
        match self.block {
            Block::Heading(level) => self.heading(level, range),
            _ if !self.gather.is_seen() => self.unseen(range),
            block => self.body(block, range),
        }
    }

    /// A rule between blocks has nothing to be called after.
    fn rule(&mut self, range: Range<usize>) -> Result<(), Error> {
        let range = self.trimmed(range);
        self.unseen(range)
    }

    /// From the begin of its first line to the end of its last one, in the whole text.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let (start, end) = (range.start + self.begin, range.end + self.begin);
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let blanks = bytes[..start]
            .iter()
            .rev()
            .take_while(|byte| is_blank(byte));
        let line = start - blanks.count();
        let is_line = line == self.begin || bytes[line - 1] == b'\n';
        let start = if is_line { line } else { start };
        let kept = bytes[start..end]
            .iter()
            .rposition(|byte| !byte.is_ascii_whitespace());
        start..kept.map_or(start, |at| start + at + 1)
    }

    fn heading(&mut self, level: u8, range: Range<usize>) -> Result<(), Error> {
        let title = self.title();
        let Some(node_type) = NodeType::of_heading(level) else {
            return self.minor_heading(level, range, title);
        };
        self.settle()?;
        let place = usize::from(level) - 1;
        self.above[place..].fill(None);
        self.minor = None;
        let identifier = self.gather.identifier(node_type);
        let at = self.push(node_type, identifier, range)?;
        self.walked.nodes[at].title = title;
        self.above[place] = u32::try_from(at).ok();
        Ok(())
    }

    fn minor_heading(&mut self, level: u8, range: Range<usize>, title: Span) -> Result<(), Error> {
        let joins = matches!(&self.pending, Some(pending) if pending.level < level);
        if !joins {
            self.settle()?;
        }
        self.minor = self.minor_above(level);
        let above = self.minor;
        self.minor = u32::try_from(self.walked.minors.len()).ok();
        self.walked.minors.push(Minor {
            level,
            title,
            above,
        });
        match &mut self.pending {
            Some(pending) => pending.range.end = range.end,
            None => {
                let identifier = self.gather.identifier(NodeType::Chunk);
                self.pending = Some(Pending {
                    level,
                    range,
                    identifier,
                });
            }
        }
        Ok(())
    }

    /// The nearest of those headings that is of a higher rank.
    fn minor_above(&self, level: u8) -> Option<u32> {
        let mut above = self.minor;
        while let Some(heading) = above.map(|at| &self.walked.minors[at as usize]) {
            if heading.level < level {
                break;
            }
            above = heading.above;
        }
        above
    }

    /// The text of a heading, kept once for all who stand under it.
    fn title(&mut self) -> Span {
        let titles = &mut self.walked.titles;
        let start = titles.len();
        let mut left = TITLE_CHARS_MAX;
        for word in self.gather.text().split_whitespace() {
            if left == 0 {
                break;
            }
            let gap = if titles.len() > start { " " } else { "" };
            let taken: String = word.chars().take(left).collect();
            left -= taken.chars().count();
            titles.push_str(gap);
            titles.push_str(&mended(&taken));
        }
        span(start..titles.len())
    }

    /// What cannot be seen belongs to the chunk before it, if there is one under this heading.
    fn unseen(&mut self, range: Range<usize>) -> Result<(), Error> {
        if let Some(pending) = &mut self.pending {
            pending.range.end = range.end;
            return Ok(());
        }
        let parent = self.parent();
        let minor = self.minor;
        let last = self.walked.nodes.last_mut();
        let is_before = |node: &&mut Node| {
            node.node_type == NodeType::Chunk && node.parent == parent && node.minor == minor
        };
        if let Some(chunk) = last.filter(is_before) {
            chunk.span.end = span(range).end;
            self.is_joined = true;
        }
        Ok(())
    }

    fn body(&mut self, block: Block, range: Range<usize>) -> Result<(), Error> {
        let pending = self.pending.take();
        let start = pending
            .as_ref()
            .map_or(range.start, |pending| pending.range.start);
        let identifier = pending.map(|pending| pending.identifier);
        let max = self.slugger.settings().max_chars.map(|max| max as usize);
        // A character has at most four bytes, so most paragraphs need not be counted.
        let is_long = |max: &usize| self.text[range.clone()].chars().nth(*max).is_some();
        match max.filter(|max| block == Block::Paragraph && range.len() > *max && is_long(max)) {
            Some(max) => self.pieces(range, start, identifier, max),
            None => {
                let own = || self.gather.identifier(NodeType::Chunk);
                let identifier = identifier.unwrap_or_else(own);
                self.push(NodeType::Chunk, identifier, start..range.end)
                    .map(drop)
            }
        }
    }

    /// A long paragraph as several chunks.
    fn pieces(
        &mut self,
        range: Range<usize>,
        start: usize,
        first: Option<Identifier>,
        max: usize,
    ) -> Result<(), Error> {
        let paragraph = &self.text[range.clone()];
        let (mut start, mut first) = (start, first);
        for piece in split::pieces(paragraph, self.references, max) {
            let end = range.start + piece.end;
            let identifier = first.take().unwrap_or_else(|| {
                let text = split::visible(&paragraph[piece.clone()], self.references);
                let slugger = self.slugger;
                slugger.identifier(&text, NodeType::Chunk, self.language)
            });
            let trimmed = start..start + self.text[start..end].trim_ascii_end().len();
            self.push(NodeType::Chunk, identifier, trimmed)?;
            start = end;
        }
        Ok(())
    }

    /// A heading that no block follows is a chunk by itself.
    fn settle(&mut self) -> Result<(), Error> {
        match self.pending.take() {
            Some(pending) => self
                .push(NodeType::Chunk, pending.identifier, pending.range)
                .map(drop),
            None => Ok(()),
        }
    }

    fn parent(&self) -> Option<u32> {
        self.above.iter().rev().find_map(|above| *above).or(Some(0))
    }

    fn push(
        &mut self,
        node_type: NodeType,
        identifier: Identifier,
        range: Range<usize>,
    ) -> Result<usize, Error> {
        self.rehash();
        let at = self.walked.nodes.len();
        if at >= NODES_MAX {
            return Err(Error::TooManyNodes);
        }
        self.walked.nodes.push(Node {
            node_type,
            identifier,
            digest: self.digest(&self.text[range.clone()]),
            parent: self.parent(),
            span: span(range),
            title: Span::default(),
            minor: self.minor.filter(|_| node_type == NodeType::Chunk),
        });
        Ok(at)
    }

    fn digest(&self, piece: &str) -> Digest {
        match self.is_plain {
            true => Digest::of_bytes(piece.as_bytes()),
            false => Digest::of_text(piece),
        }
    }

    fn rehash(&mut self) {
        let joined = self.walked.nodes.last_mut().filter(|_| self.is_joined);
        if let Some(chunk) = joined {
            chunk.digest = Digest::of_text(chunk.span.of(self.text));
        }
        self.is_joined = false;
    }

    pub fn finish(mut self) -> Result<Walked, Error> {
        self.settle()?;
        self.rehash();
        Ok(self.walked)
    }
}
