//! The API over contacts: list, upsert, read, export, erase.

mod belated;
mod erase;
mod erased_before;
mod list;
mod one;
