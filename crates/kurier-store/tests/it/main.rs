//! The store from outside: one program for all of its suites, so that it is linked once.

mod contract;
mod kv_contract;
mod log_no_skip;
mod schema;
