//! A document as a tree, and the ways through it. Nodes are named by their places in reading
//! order, which is depth first: so whatever is below a node follows it without a gap.

use std::ops::Range;

use super::document::Document;
use super::key::{Key, NodeType};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree<'d> {
    document: &'d Document,
    /// Where what is below a node ends.
    ends: Vec<u32>,
    next: Vec<Option<u32>>,
    previous: Vec<Option<u32>>,
}

impl<'d> Tree<'d> {
    pub fn new(document: &'d Document) -> Self {
        let (next, previous) = neighbours(document);
        Self {
            document,
            ends: ends(document),
            next,
            previous,
        }
    }

    pub fn len(&self) -> usize {
        self.document.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.document.nodes.is_empty()
    }

    pub fn key(&self, at: usize) -> Key {
        self.document.nodes[at].key
    }

    pub fn node_type(&self, at: usize) -> NodeType {
        self.key(at).node_type()
    }

    pub fn parent(&self, at: usize) -> Option<usize> {
        self.document.nodes[at].parent.map(|at| at as usize)
    }

    /// The nodes right below.
    pub fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let below = self.all_descendants(at);
        let first = Some(below.start).filter(|first| *first < below.end);
        let step = move |at: &usize| Some(self.ends[*at] as usize).filter(|at| *at < below.end);
        std::iter::successors(first, step)
    }

    /// All nodes below, in reading order.
    pub fn all_descendants(&self, at: usize) -> Range<usize> {
        at + 1..self.ends[at] as usize
    }

    /// What is read, in order, when a node is read: the same as all below it.
    pub fn sequence(&self, at: usize) -> Range<usize> {
        self.all_descendants(at)
    }

    /// The next node of the same type in the document.
    pub fn next(&self, at: usize) -> Option<usize> {
        self.next[at].map(|at| at as usize)
    }

    /// The node of the same type before.
    pub fn previous(&self, at: usize) -> Option<usize> {
        self.previous[at].map(|at| at as usize)
    }

    /// The nodes of the same type under the same parent, without itself.
    pub fn siblings(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let children = self.parent(at).map(|parent| self.children(parent));
        let node_type = self.node_type(at);
        let same = move |other: &usize| *other != at && self.node_type(*other) == node_type;
        children.into_iter().flatten().filter(same)
    }

    /// The chunks right below nodes of a type; of the type `chunk`, all chunks.
    pub fn chunks_of_level(&self, level: NodeType) -> impl Iterator<Item = usize> + '_ {
        let stands = move |at: &usize| {
            let parent = self.parent(*at).map(|parent| self.node_type(parent));
            level == NodeType::Chunk || parent == Some(level)
        };
        self.chunks().filter(stands)
    }

    pub fn chunks(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|at| self.node_type(*at) == NodeType::Chunk)
    }
}

fn ends(document: &Document) -> Vec<u32> {
    let count = document.nodes.len();
    let mut ends: Vec<u32> = (1_u32..).take(count).collect();
    for at in (0..count).rev() {
        let end = ends[at];
        if let Some(parent) = document.nodes[at]
            .parent
            .filter(|parent| (*parent as usize) < at)
        {
            let parent = &mut ends[parent as usize];
            *parent = (*parent).max(end);
        }
    }
    ends
}

type Neighbours = Vec<Option<u32>>;

fn neighbours(document: &Document) -> (Neighbours, Neighbours) {
    let count = document.nodes.len();
    let (mut next, mut previous) = (vec![None; count], vec![None; count]);
    let mut last = [None::<u32>; NodeType::ALL.len()];
    for (at, (node, place)) in document.nodes.iter().zip(0_u32..).enumerate() {
        let last = &mut last[node.key.node_type() as usize];
        previous[at] = *last;
        if let Some(last) = *last {
            next[last as usize] = Some(place);
        }
        *last = Some(place);
    }
    (next, previous)
}
