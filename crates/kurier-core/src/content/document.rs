//! A document with its keys, as the log keeps it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::front::Front;
use super::identifier::Identifier;
use super::key::{Key, Name, NodeType};
use super::outline::{Node, Outline, Span};
use super::references::References;
use super::settings::{Language, Settings};
use super::source::mended;
use super::tree::Tree;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// What names it from outside: a path, or the id a client gave.
    pub source_id: String,
    /// SHA-256 of the source as it was given.
    pub source_sha256: Digest,
    pub settings: Settings,
    pub language: Language,
    pub front: Front,
    /// In reading order; the first is the document itself.
    pub nodes: Vec<Kept>,
    #[serde(default, skip_serializing_if = "References::is_empty")]
    pub references: References,
}

/// A node with its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub key: Key,
    /// What its text is called now, where that is not what its key says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<Identifier>,
    /// Of its text.
    pub sha256: Digest,
    /// The place of its parent among the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// Where it stands in the source.
    pub span: Span,
    /// The visible text of a heading, or the document's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
    /// The headings below the third level that a chunk stands under.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub under: Vec<Box<str>>,
}

impl Kept {
    pub(super) fn new(outline: &Outline<'_>, node: &Node, key: Key) -> Self {
        let under = outline.minor_titles(node);
        let has_title = node.node_type != NodeType::Chunk;
        Self {
            key,
            called: Some(node.identifier).filter(|called| *called != key.name.identifier),
            sha256: node.digest,
            parent: node.parent,
            span: node.span,
            title: has_title.then(|| outline.title(node).into()),
            under: under.into_iter().map(Box::from).collect(),
        }
    }

    /// What a node of this text is found again by.
    pub fn name(&self) -> Name {
        Name {
            node_type: self.key.node_type(),
            identifier: self.called.unwrap_or(self.key.name.identifier),
        }
    }
}

impl Document {
    /// Whether importing this would change nothing: it need not even be read.
    pub fn is_of(&self, source: &str, settings: &Settings) -> bool {
        self.settings == *settings && self.source_sha256 == Digest::of_bytes(source.as_bytes())
    }

    /// The Markdown of a node; of the document, its title.
    pub fn text<'d>(&'d self, node: &'d Kept, source: &'d str) -> Cow<'d, str> {
        match node.key.node_type() {
            NodeType::Doc => node.title.as_deref().unwrap_or_default().into(),
            _ => mended(node.span.of(source)),
        }
    }

    /// The Markdown of a node with all that is below it, as it stands in the source.
    pub fn section<'d>(&self, tree: &Tree<'_>, at: usize, source: &'d str) -> Cow<'d, str> {
        let below = tree.all_descendants(at);
        let last = below.clone().last().unwrap_or(at);
        // The document's own place is all of the source, with what is before its first node.
        let first = match self.nodes[at].key.node_type() {
            NodeType::Doc => below.start.min(last),
            _ => at,
        };
        if self.nodes[first].key.node_type() == NodeType::Doc {
            return Cow::Borrowed("");
        }
        let (start, end) = (self.nodes[first].span.start, self.nodes[last].span.end);
        mended(Span { start, end }.of(source))
    }

    /// The headings above a node, from above, without the document's title.
    pub fn heading_path(&self, at: usize) -> Vec<&str> {
        // Parents come before their children, so this ends.
        let parent = |at: usize| {
            let parent = self.nodes.get(at)?.parent? as usize;
            Some(parent).filter(|parent| *parent < at)
        };
        let mut path: Vec<&str> = Vec::new();
        if let Some(node) = self.nodes.get(at) {
            path.extend(node.under.iter().rev().map(AsRef::as_ref));
        }
        let above = std::iter::successors(parent(at), |at| parent(*at));
        let nodes = above.map(|at| &self.nodes[at]);
        let headings = nodes.filter(|node| node.key.node_type() != NodeType::Doc);
        path.extend(headings.filter_map(|node| node.title.as_deref()));
        path.reverse();
        path
    }
}
