//! What Kurier does: serve, fold, import. Modules stand in suggested reading order.

pub mod app;
pub mod bundle;
pub mod cache;
pub mod channel;
pub mod clock;
pub mod config;
pub mod fault;
pub mod headers;
pub mod identify;
pub mod keyring;
pub mod links;
pub mod preview;
pub mod secret;

pub mod cli;
pub mod flow;
pub mod http;
pub mod metrics;
pub mod operator;
pub mod upkeep;
