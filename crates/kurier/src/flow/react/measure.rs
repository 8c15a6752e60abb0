//! How large the reactor's memory is, and what found no room in it.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use kurier_core::columns::Unkept;
use kurier_core::engine::{Decision, Engine};
use kurier_core::id::WorkspaceId;
use kurier_store::Kept;

use super::Reactor;
use crate::metrics as names;

#[derive(Debug, Clone, Default)]
pub struct Measure {
    /// All engines together.
    pub bytes: usize,
    /// What was not kept, of the workspaces of which something was not.
    pub unkept: BTreeMap<WorkspaceId, Unkept>,
    /// The newest snapshot.
    pub kept: Option<Kept>,
}

/// Counts what was decided, by kind.
pub(super) fn count(decision: &Decision) {
    let mut counts = BTreeMap::new();
    for (_, event) in &decision.events {
        *counts.entry(event.kind.as_str()).or_default() += 1;
    }
    for (kind, count) in counts {
        metrics::counter!(names::DECISIONS, "kind" => kind).increment(count);
    }
}

impl Reactor {
    /// As it was last measured.
    pub fn measured(&self) -> Measure {
        self.measured_mut(|measured| measured.clone())
    }

    /// Measures anew; this looks at every column there is.
    pub fn measure(&self) -> Measure {
        let engines = self.engines();
        let bytes = engines.values().map(Engine::bytes).sum();
        let unkept = engines
            .iter()
            .map(|(id, engine)| (*id, engine.realm().world().unkept()));
        let unkept = unkept.filter(|(_, unkept)| !unkept.is_empty()).collect();
        drop(engines);
        self.measured_mut(|measured| {
            measured.bytes = bytes;
            measured.unkept = unkept;
            measured.clone()
        })
    }

    pub(super) fn note_kept(&self, kept: Option<Kept>) {
        self.measured_mut(|measured| measured.kept = kept);
    }

    fn measured_mut<T>(&self, act: impl FnOnce(&mut Measure) -> T) -> T {
        let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        act(&mut measured)
    }
}
