//! What a version came from: its parents, theirs, and so on for so many generations.

use std::collections::HashSet;

use super::hash::Digest;
use super::version::Version;

/// Generations that can be asked for.
pub const DEPTH_MAX: u32 = 32;
/// Versions that are gathered, however many there are.
pub const LINEAGE_MAX: usize = 256;

/// A depth as it is served; what was asked for beyond it is the same question.
pub fn capped_depth(depth: u32) -> u32 {
    depth.min(DEPTH_MAX)
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lineage {
    /// Nearest first, none twice.
    pub versions: Vec<Version>,
    /// Named as a parent, and not to be had.
    pub missing: Vec<Digest>,
    /// Whether there were more than are gathered.
    pub cut: bool,
}

/// A walk in steps, one generation each, so that whoever keeps versions can load many at
/// once: give what [`Walk::wanted`] asks for to [`Walk::supply`] until it asks for nothing.
#[derive(Debug, Clone)]
pub struct Walk {
    seen: HashSet<Digest>,
    wanted: Vec<Digest>,
    generations: u32,
    lineage: Lineage,
}

impl Walk {
    pub fn new(version: &Version, depth: u32) -> Self {
        let mut walk = Self {
            seen: HashSet::from([version.id()]),
            wanted: Vec::new(),
            generations: capped_depth(depth),
            lineage: Lineage::default(),
        };
        if walk.generations > 0 {
            walk.want(&version.parents);
        }
        walk
    }

    /// The versions of the next generation; none at the end.
    pub fn wanted(&self) -> &[Digest] {
        &self.wanted
    }

    /// Takes what was wanted. A version that is not what its id says is not there.
    pub fn supply(&mut self, versions: Vec<Version>) {
        let wanted = std::mem::take(&mut self.wanted);
        self.generations = self.generations.saturating_sub(1);
        let mut found: Vec<(Digest, Version)> = versions
            .into_iter()
            .map(|version| (version.id(), version))
            .collect();
        for id in wanted {
            match found.iter().position(|(known, _)| *known == id) {
                Some(at) => self.gather(found.swap_remove(at).1),
                None => self.lineage.missing.push(id),
            }
        }
    }

    pub fn finish(mut self) -> Lineage {
        self.lineage.cut |= !self.wanted.is_empty();
        self.lineage
    }

    fn gather(&mut self, version: Version) {
        if self.generations > 0 {
            self.want(&version.parents);
        }
        self.lineage.versions.push(version);
    }

    fn want(&mut self, parents: &[Digest]) {
        for parent in parents {
            if self.seen.contains(parent) {
                continue;
            }
            // Its own id is among those seen.
            if self.seen.len() > LINEAGE_MAX {
                self.lineage.cut = true;
                return;
            }
            self.seen.insert(*parent);
            self.wanted.push(*parent);
        }
    }
}

/// The whole walk, where versions are at hand one by one.
pub fn walk<E>(
    version: &Version,
    depth: u32,
    mut find: impl FnMut(&Digest) -> Result<Option<Version>, E>,
) -> Result<Lineage, E> {
    let mut walk = Walk::new(version, depth);
    while !walk.wanted().is_empty() {
        let found: Result<Vec<_>, E> = walk.wanted().iter().map(&mut find).collect();
        walk.supply(found?.into_iter().flatten().collect());
    }
    Ok(walk.finish())
}
