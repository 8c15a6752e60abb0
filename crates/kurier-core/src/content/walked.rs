//! What a walk through a document finds, and how two halves of one become one.

use super::Error;
use super::digest::Digest;
use super::identifier::Identifier;
use super::key::NodeType;
use super::outline::{Minor, NODES_MAX, Node, Span, span};

pub struct Walked {
    pub nodes: Vec<Node>,
    pub titles: String,
    pub minors: Vec<Minor>,
}

impl Walked {
    /// The document, and nothing in it yet.
    pub fn new(text: &str) -> Self {
        let mut nodes = Vec::with_capacity(text.len() / 256 + 8);
        nodes.push(document(text));
        Self {
            nodes,
            titles: String::new(),
            minors: Vec::new(),
        }
    }

    /// With what was found behind it, beginning at a heading of the first three levels: `above`
    /// are the headings under way there.
    pub fn with(mut self, behind: Self, above: [Option<u32>; 3]) -> Result<Self, Error> {
        // Its first node is the document, which is here already.
        let moved = self.nodes.len() - 1;
        if moved + behind.nodes.len() > NODES_MAX {
            return Err(Error::TooManyNodes);
        }
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let by = Moved {
            nodes: place(moved),
            titles: place(self.titles.len()),
            minors: place(self.minors.len()),
        };
        let mut above = above;
        self.nodes.reserve(behind.nodes.len());
        for node in behind.nodes.into_iter().skip(1) {
            let node = by.node(node, &mut above);
            self.nodes.push(node);
        }
        self.titles.push_str(&behind.titles);
        let minors = behind.minors.into_iter();
        self.minors.extend(minors.map(|minor| by.minor(minor)));
        Ok(self)
    }
}

/// By how much places move.
struct Moved {
    nodes: u32,
    titles: u32,
    minors: u32,
}

impl Moved {
    /// What stood under the document may stand under a heading of the first half.
    fn node(&self, mut node: Node, above: &mut [Option<u32>; 3]) -> Node {
        let level = match node.node_type {
            NodeType::Ch => Some(0),
            NodeType::Para => Some(1),
            NodeType::Subpara => Some(2),
            NodeType::Doc | NodeType::Chunk => None,
        };
        if let Some(level) = level {
            above[level..].fill(None);
        }
        node.parent = match node.parent {
            Some(0) => above.iter().rev().find_map(|above| *above).or(Some(0)),
            parent => parent.map(|at| at + self.nodes),
        };
        if level.is_some() {
            node.title = self.title(node.title);
        }
        node.minor = node.minor.map(|at| at + self.minors);
        node
    }

    fn minor(&self, mut minor: Minor) -> Minor {
        minor.title = self.title(minor.title);
        minor.above = minor.above.map(|at| at + self.minors);
        minor
    }

    const fn title(&self, title: Span) -> Span {
        Span {
            start: title.start + self.titles,
            end: title.end + self.titles,
        }
    }
}

/// The node of the document itself; its name is known when all is read.
fn document(text: &str) -> Node {
    Node {
        node_type: NodeType::Doc,
        identifier: Identifier::cut(b"empty_content").expect("a name"),
        digest: Digest::of_bytes(b""),
        parent: None,
        span: span(0..text.len()),
        title: Span::default(),
        minor: None,
    }
}
