//! Bundles as the seed of them asks for: named after its lines. The keyspace is the one in
//! this process, and its time is moved by hand.

mod acceptance;
mod invalidation;
mod kit;
mod sources;
mod stampede;
