//! Kurier from outside: the real binary, as a child process, over both databases. One program for all of it, so that it
//! is linked once.

mod harness;

mod access;
mod bundles;
mod channels;
mod cli;
mod contacts;
mod content;
mod deliver;
mod durability;
mod edge;
mod hostile;
mod ingest;
mod journeys;
mod keyspace;
mod openapi;
mod portal;
mod projections;
mod reference;
mod sdk;
mod segments;
mod suppressions;
mod templates;
mod tidy;
