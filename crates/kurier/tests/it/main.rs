//! Kurier from outside: the real binary, as a child process, over both databases.

mod harness;

mod access;
mod cli;
mod contacts;
mod durability;
mod hostile;
mod ingest;
mod journeys;
mod sdk;
mod segments;
mod templates;
