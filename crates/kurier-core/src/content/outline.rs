//! What a Markdown document consists of: its headings and, as chunks, the blocks below them, in
//! reading order, with exact places in the source.

use pulldown_cmark::{Options, Parser};
use serde::{Deserialize, Serialize};

use super::Error;
use super::digest::Digest;
use super::front::{self, Front};
use super::identifier::Identifier;
use super::key::{Name, NodeType};
use super::portions;
use super::references::References;
use super::settings::{Language, Settings};
use super::slug::Slugger;
use super::source::{SOURCE_BYTES_MAX, mark_length, mended, with_line_ends};
use super::walk::Walk;
use super::walked::Walked;

/// The headings and blocks of one document.
pub const NODES_MAX: usize = 1_000_000;

/// What is read beyond CommonMark.
pub(super) const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_HEADING_ATTRIBUTES);

/// A stretch of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// What of a text it covers; nothing, if it is not a stretch of it.
    pub fn of<'t>(&self, text: &'t str) -> &'t str {
        let range = self.start as usize..self.end as usize;
        text.get(range).unwrap_or_default()
    }
}

/// A node that has no key yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub node_type: NodeType,
    pub identifier: Identifier,
    /// Of its text.
    pub digest: Digest,
    /// The place of its parent among the nodes; the document, which is first, has none.
    pub parent: Option<u32>,
    /// Where it stands in the source: a heading's own lines, a chunk's blocks.
    pub span: Span,
    pub(super) title: Span,
    /// The lowest heading below the third level that it stands under.
    pub(super) minor: Option<u32>,
}

impl Node {
    pub const fn name(&self) -> Name {
        Name {
            node_type: self.node_type,
            identifier: self.identifier,
        }
    }
}

/// A heading of level 4 to 6: a part of heading paths, but no node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Minor {
    pub level: u8,
    pub title: Span,
    pub above: Option<u32>,
}

/// A document, read.
#[derive(Debug)]
pub struct Outline<'s> {
    pub source: &'s str,
    pub front: Front,
    pub language: Language,
    /// In reading order: the document itself, then what is in it, parents before children.
    pub nodes: Vec<Node>,
    pub references: References,
    pub(super) settings: &'s Settings,
    pub(super) titles: String,
    pub(super) minors: Vec<Minor>,
}

impl<'s> Outline<'s> {
    /// Reads a document. The file's name gives it its own, if its front matter does not.
    pub fn read(
        source: &'s str,
        file_name: Option<&str>,
        slugger: &'s Slugger,
    ) -> Result<Self, Error> {
        Self::read_in(portions::BYTES, source, file_name, slugger)
    }

    /// The same, in portions of at least so many bytes, which makes no difference: for tests.
    pub fn read_in(
        bytes: usize,
        source: &'s str,
        file_name: Option<&str>,
        slugger: &'s Slugger,
    ) -> Result<Self, Error> {
        if source.len() > SOURCE_BYTES_MAX {
            let bytes = source.len();
            return Err(Error::TooLong { bytes });
        }
        let mark = mark_length(source);
        let text = with_line_ends(&source[mark..]);
        let (front, begin) = front::take(&text);
        let tag = front.lang.as_deref().and_then(Language::of_tag);
        let language = tag.unwrap_or(slugger.settings().lang);
        let (walked, references) = match portions::has_definitions(&text[begin..]) {
            true => walked_whole(&text, begin, slugger, language)?,
            false => {
                let none = References::default();
                let walk = Walk::new(&text, begin, slugger, language, &none);
                (portions::walked(walk, begin, bytes)?, References::default())
            }
        };
        let mut outline = Self {
            source,
            front,
            language,
            nodes: walked.nodes,
            references,
            settings: slugger.settings(),
            titles: walked.titles,
            minors: walked.minors,
        };
        outline.place(mark);
        outline.entitle(file_name, slugger);
        Ok(outline)
    }

    /// Places are those of the source as it was given.
    fn place(&mut self, mark: usize) {
        let mark = u32::try_from(mark).unwrap_or_default();
        for node in &mut self.nodes {
            node.span.start += mark;
            node.span.end += mark;
        }
        if let Some(document) = self.nodes.first_mut() {
            document.span.start = 0;
        }
    }

    /// The document is called after its front matter, else its file, else its first chapter.
    fn entitle(&mut self, file_name: Option<&str>, slugger: &Slugger) {
        let stem = file_name.map(stem).filter(|stem| !stem.trim().is_empty());
        let chapter = || {
            self.nodes
                .iter()
                .find(|node| node.node_type == NodeType::Ch)
        };
        let chapter = || chapter().map(|node| self.title(node).to_owned());
        let title = self.front.title.clone();
        let title = title.or_else(|| stem.map(|stem| mended(stem).into_owned()));
        let title = title.or_else(chapter).unwrap_or_default();
        let start = self.titles.len();
        self.titles.push_str(&title);
        let span = span(start..self.titles.len());
        if let Some(document) = self.nodes.first_mut() {
            document.identifier = slugger.identifier(&title, NodeType::Doc, self.language);
            document.digest = Digest::of_text(&title);
            document.title = span;
        }
    }

    /// The visible text of a heading, or the document's title; a chunk has none.
    pub fn title(&self, node: &Node) -> &str {
        node.title.of(&self.titles)
    }

    /// The Markdown of a node; of the document, its title.
    pub fn text(&self, node: &Node) -> std::borrow::Cow<'_, str> {
        match node.node_type {
            NodeType::Doc => self.title(node).into(),
            _ => mended(node.span.of(self.source)),
        }
    }

    /// The headings below the third level that a chunk stands under, from above.
    pub fn minor_titles(&self, node: &Node) -> Vec<&str> {
        let minor = |at: Option<u32>| at.and_then(|at| self.minors.get(at as usize));
        let chain = std::iter::successors(minor(node.minor), |heading| minor(heading.above));
        let mut titles: Vec<&str> = chain
            .map(|heading| heading.title.of(&self.titles))
            .collect();
        titles.reverse();
        titles
    }
}

/// With what is defined somewhere in the text.
fn walked_whole(
    text: &str,
    begin: usize,
    slugger: &Slugger,
    language: Language,
) -> Result<(Walked, References), Error> {
    let mut events = Parser::new_ext(&text[begin..], OPTIONS).into_offset_iter();
    let references = References::new(events.reference_definitions());
    let mut walk = Walk::new(text, begin, slugger, language, &references);
    for (event, range) in events.by_ref() {
        walk.event(event, range)?;
    }
    let walked = walk.finish()?;
    Ok((walked, references))
}

/// Sources are shorter than 4 GB.
pub(super) fn span(range: std::ops::Range<usize>) -> Span {
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span {
        start: place(range.start),
        end: place(range.end),
    }
}

/// A file's name without its folders and its ending.
fn stem(file_name: &str) -> &str {
    let name = file_name.rsplit(['/', '\\']).next().unwrap_or_default();
    match name.rfind('.') {
        Some(at) if at > 0 => &name[..at],
        _ => name,
    }
}
