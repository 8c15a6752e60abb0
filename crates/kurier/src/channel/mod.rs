//! Channels: what takes a message and hands it on.

pub mod outbox;
