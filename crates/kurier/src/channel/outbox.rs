//! The channel that needs nothing: it hands nothing on and keeps messages to look at. What a
//! message says stands in the log already, so there is nothing more to keep.

pub const NAME: &str = "outbox";
