//! Segments: what can be asked of them and done with them.

mod faults;
pub mod members;
mod remembered;
