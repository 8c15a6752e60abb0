//! Content: Markdown becomes a tree of nodes, each with a key for life by which templates quote
//! it. All of it is decided here: what a document consists of, what its parts are called, which
//! of them were there before, which numbers new ones get, and what stands in the keyspace.
//!
//! To read it, begin with `import`, then `outline`, `walk` and `slug`.

mod abbreviations;
mod check;
mod collections;
mod diff;
mod digest;
mod document;
mod error;
mod front;
mod gather;
mod identifier;
mod import;
mod key;
mod keyspace;
mod manifest;
mod matching;
mod nfc;
mod number_words;
mod numbers;
mod outline;
mod portions;
mod queues;
mod record;
mod references;
mod render;
mod settings;
mod slug;
mod source;
mod split;
mod subsequence;
mod tree;
mod visible;
mod walk;
mod walked;
mod words;

pub use check::{KEY_BYTES_USUAL, Report, Severity, check, is_key, is_set_key};
pub use collections::Collections;
pub use diff::Diff;
pub use digest::Digest;
pub use document::{Document, Kept};
pub use error::Error;
pub use front::Front;
pub use identifier::{IDENTIFIER_BYTES_MAX, Identifier};
pub use import::{Change, Decision, Plan, withdrawn};
pub use key::{Key, NUMBERS_MAX, Name, NodeType};
pub use keyspace::{Entry, Keyspace, Siblings, Stored};
pub use manifest::Manifest;
pub use numbers::Numbers;
pub use outline::{NODES_MAX, Node, Outline, Span};
pub use record::{Import, Imported, Number, Withdrawal};
pub use references::References;
pub use render::{OUTPUT_BYTES_MAX, Target, render};
pub use settings::{Cut, Language, Numerals, Settings};
pub use slug::Slugger;
pub use source::{Encoding, SOURCE_BYTES_MAX, decode};
pub use tree::Tree;

#[cfg(test)]
mod tests;
