//! Which Kurier this is.

use std::fmt;

/// The version, and the commit that the program was built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildVersion {
    pub version: &'static str,
    /// Its hash and its day, such as `a1b2c3d4 2026-11-19`, or `unknown`.
    commit: &'static str,
}

impl BuildVersion {
    pub const fn new(commit: &'static str) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            commit,
        }
    }

    /// The hash alone.
    pub fn commit(self) -> &'static str {
        self.commit.split(' ').next().unwrap_or(self.commit)
    }
}

/// A library does not know which program it becomes a part of.
impl Default for BuildVersion {
    fn default() -> Self {
        Self::new("unknown")
    }
}

impl fmt::Display for BuildVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.version, self.commit)
    }
}
