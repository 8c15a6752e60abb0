//! Journeys: state machines over contacts. A definition is read and checked as a whole
//! ([`check`]), an instance steps through it ([`step()`]), and [`Journeys`] holds all instances
//! of a workspace and folds the log: what it decides are events in the log.
//!
//! To read it, begin with `definition` and `node`, then `step`, then `record` and `runs`.

mod definition;
mod document;
mod duration;
mod fault;
mod fields;
mod fixture;
mod graph;
mod instance;
mod node;
mod record;
mod reentry;
mod rule;
mod runs;
mod scene;
mod simulate;
mod step;
mod supply;

pub mod draw;

pub use definition::{Checked, Definition, Known, NAME_CHARS_MAX, NODES_MAX, check, check_value};
pub use document::{TEXT_BYTES_MAX, read as read_document};
pub use duration::{DURATION_MAX, parse as parse_duration, print as print_duration};
pub use fault::{Fault, Severity};
pub use fixture::{Case, Difference, Fixture, run_case};
pub use instance::{Ending, Instance, Status};
pub use node::{Field, Guide, Node, Until, Way};
pub use record::{
    Cancellation, Course, Draft, HopRecord, Parking, Publication, Record, Sent, Standing,
    Triggering, Update,
};
pub use reentry::{Admission, Policy, Reentry, admit};
pub use rule::{RESERVED_KEYS, Rule, Source};
pub use runs::{Journeys, PARALLEL_MAX};
pub use simulate::{Run, Simulation, Summary};
pub use step::{By, Context, Effect, HOPS_MAX, Hop, Input, STEPS_MAX, Step, Visit, step};
pub use supply::Supply;

/// A node's place in its definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub u32);

impl NodeIndex {
    /// Stands for a node that is not there; no checked definition holds it.
    pub const NOWHERE: Self = Self(u32::MAX);
}

#[cfg(test)]
mod tests;
