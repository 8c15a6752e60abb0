//! How far a rebuild or a verification is.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The log is folded from its first event.
    #[default]
    Folding,
    /// Rows are written into the shadow tables.
    Writing,
    /// The shadow tables are compared with the live ones.
    Comparing,
    /// The shadow tables become the live ones.
    Swapping,
}

/// Progress of long work, for whoever watches it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    pub stage: Stage,
    /// Events folded so far.
    pub done: i64,
    /// Events there are.
    pub of: i64,
}

impl Work {
    /// How long the rest takes if it goes on as it went, after so much time.
    pub fn left(&self, taken: Duration) -> Option<Duration> {
        let rest = (self.of - self.done).max(0);
        (self.done > 0).then(|| taken.mul_f64(rest as f64 / self.done as f64))
    }
}
