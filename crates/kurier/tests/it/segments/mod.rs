//! Segments: what can be asked of them and done with them.

mod members;
mod remembered;
