//! What is done at a key, as scripts read it.

use kurier_core::content::{Entry, Stored};
use serde::{Deserialize, Serialize};

/// One step: what, at which key, with what.
#[derive(Serialize, Deserialize)]
pub(super) struct Step(pub What, pub String, pub Vec<String>);

/// Short names: there are several for each node.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum What {
    /// Deletes a key.
    #[serde(rename = "d")]
    Delete,
    /// Takes members from a set.
    #[serde(rename = "r")]
    Remove,
    /// Fields and values of a hash.
    #[serde(rename = "h")]
    Hash,
    /// Scores and members of a sorted set.
    #[serde(rename = "z")]
    Sorted,
    #[serde(rename = "t")]
    Text,
    /// Members of a set of the document's own.
    #[serde(rename = "o")]
    Own,
    /// Members of a set that other documents share.
    #[serde(rename = "s")]
    Shared,
}

pub(super) fn step(entry: Entry) -> Step {
    let of_set = match entry.is_shared() {
        true => What::Shared,
        false => What::Own,
    };
    let (what, values) = match entry.stored {
        Stored::Hash(fields) => {
            let flat = fields.into_iter().flat_map(|(name, value)| [name, value]);
            (What::Hash, flat.collect())
        }
        Stored::SortedSet(keys) => {
            let flat = keys.into_iter();
            let flat = flat.flat_map(|(score, key)| [score.to_string(), key.to_string()]);
            (What::Sorted, flat.collect())
        }
        Stored::Text(key) => (What::Text, vec![key.to_string()]),
        Stored::Set(keys) => (of_set, keys.iter().map(ToString::to_string).collect()),
    };
    Step(what, entry.key, values)
}

/// How much a server has to do for it.
pub(super) const fn weight(step: &Step) -> usize {
    1 + step.2.len()
}
