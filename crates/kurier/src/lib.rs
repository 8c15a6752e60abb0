//! What Kurier does: serve, fold, import. Modules stand in suggested reading order.

pub mod app;
pub mod attempts;
pub mod bundle;
pub mod cache;
pub mod channel;
pub mod clock;
pub mod config;
pub mod demo;
pub mod fault;
pub mod headers;
pub mod identify;
pub mod keyring;
pub mod links;
pub mod password;
pub mod preview;
pub mod pulse;
pub mod rejections;
pub mod secret;
pub mod sessions;

pub mod cli;
pub mod flow;
pub mod http;
pub mod metrics;
pub mod operator;
pub mod upkeep;
pub mod version;
