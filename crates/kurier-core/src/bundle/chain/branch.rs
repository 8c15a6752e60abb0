//! A header's past, as the rules look at it.

use super::node::Node;
use super::tree::Tree;
use super::u256::U256;

const MEDIAN_OF: u32 = 11;

/// What the rules look at of a header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub time: u32,
    pub bits: u32,
    pub work: U256,
}

/// A header's past.
pub(super) struct Branch<'a> {
    pub(super) tree: &'a Tree,
    pub(super) last: u32,
}

impl Branch<'_> {
    pub(super) fn height(&self) -> u32 {
        self.node().height
    }

    pub(super) fn last(&self) -> Point {
        point(self.node())
    }

    pub(super) fn at(&self, height: u32) -> Option<Point> {
        let found = self.tree.ancestor(self.last, height)?;
        Some(point(&self.tree.nodes[found as usize]))
    }

    /// The median of the times of up to eleven headers, the last at `height`; fewer only
    /// where the tree begins.
    pub(super) fn median_time(&self, height: u32) -> Option<u32> {
        let mut times = [0; MEDIAN_OF as usize];
        let mut at = self.tree.ancestor(self.last, height)?;
        let count = MEDIAN_OF.min(height - self.tree.start + 1) as usize;
        for time in &mut times[..count] {
            let node = &self.tree.nodes[at as usize];
            (*time, at) = (node.time, node.parent);
        }
        times[..count].sort_unstable();
        Some(times[count / 2])
    }

    fn node(&self) -> &Node {
        &self.tree.nodes[self.last as usize]
    }
}

fn point(node: &Node) -> Point {
    Point {
        time: node.time,
        bits: node.bits,
        work: node.work,
    }
}
