//! Bundles as they were asked for: what is accepted, when something is invalid, what is counted,
//! each under its name. The keyspace is the one in this process, and its time is moved by hand.

mod acceptance;
mod invalidation;
mod kit;
mod metrics;
mod server;
mod slow;
mod sources;
mod stampede;
mod starts;
mod written;
