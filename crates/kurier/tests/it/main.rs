//! Kurier from outside: the real binary, as a child process, over both databases.

mod harness;

mod hostile;
mod ingest;
