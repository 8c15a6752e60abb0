//! Templates: what a message says, with the values of who it goes to. A subset of Liquid
//! whose conditions are the expression language, rendered within a budget: whatever a
//! template holds, rendering it ends soon and in little memory.
//!
//! To read it, begin with `compiled`, then `pieces`, `parse` and `render`; `escape`,
//! `context`, `markdown` and `links` keep values from becoming markup.

mod ast;
mod compiled;
mod context;
mod document;
mod escape;
mod fault;
mod filter;
mod inputs;
mod limits;
mod links;
mod markdown;
mod markup;
mod parse;
mod pieces;
mod plain;
mod publication;
mod quotes;
mod render;
mod scope;
mod show;
mod token;

pub use compiled::{Compiled, Noted};
pub use document::{NAME_CHARS_MAX, name_fault};
pub use fault::{Fault, RenderFault, Why};
pub use filter::Filter;
pub use inputs::{as_kept, gather};
pub use limits::{BODY_BYTES_MAX, LINE_BYTES_MAX, Limit, OUTPUT_BYTES_MAX};
pub use publication::{Brief, Publication, Retirement, Templates, hash_of};
pub use quotes::{Quotes, Shown, quoted_in};

#[cfg(test)]
mod tests;
