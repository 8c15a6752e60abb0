//! The store's contract: one suite, and every case of it runs on every backend.
//!
//! A case is an `async fn(Store)`; `cases!` makes a test of it per backend. One that opens
//! the store more than once takes the `Place` instead.

pub mod backend;
pub mod dice;
mod place;
mod runner;
mod space;
mod template;

mod file;
mod index;
mod log;
mod messages;
mod months;
mod pipe;
mod repeats;
mod writers;

mod content;
mod erased_runs;
mod filters;
mod journeys;
mod listing;
mod projections;
mod read_models;
mod same_tables;
mod seed_002;
mod shadow_schema;
mod slack_workspaces;
mod standings;
mod templates;
mod timeline;
mod versions;

mod access;
mod channels;
mod reactions;
mod suppressions;
mod tail;
mod users;

mod endings;
mod hands;
mod lanes;
mod queue;
mod workers;
