//! What Kurier decides. Everything here is pure: time, randomness and ids are arguments,
//! and nothing opens a file or a socket. Modules stand in suggested reading order.

pub mod accept;
pub mod bundle;
pub mod columns;
pub mod contact;
pub mod content;
pub mod edge;
pub mod engine;
pub mod event;
pub mod expr;
pub mod id;
pub mod journey;
pub mod keys;
pub mod message;
pub mod net;
pub mod path;
pub mod projection;
pub mod realm;
pub mod segment;
pub mod slack_workspace;
pub mod template;
pub mod time;
pub mod user;
pub mod value;
