//! Documents of content in the keyspace: what stands there of one is replaced by one script, so
//! that nobody sees half of it. Nothing older replaces anything newer.

mod local;

use kurier_core::content::{Entry, Stored};
use serde::{Deserialize, Serialize};

use crate::kv::{Error, Kv, Script};

const LUA: &str = include_str!("documents/swap.lua");

/// The keys of nodes come as arguments: they carry the tenant's tag as the others do, or are bare
/// in a Redis that is no cluster.
const SWAP: Script = Script {
    name: "swap a document in",
    lua: LUA,
    local: local::swap,
};

/// So many steps stand in one argument.
const STEPS_MAX: usize = 500;

/// The field of a generation that says up to which import everything is there.
pub const UPTO: &str = "upto";
/// And the newest import that anything there is of.
const NEWEST: &str = "newest";

/// What is to stand in place of a document.
#[derive(Debug)]
pub struct Swap {
    /// Where it is told what stands there of the document.
    pub entry: String,
    /// What is told there afterwards, beginning with its revision; nothing if it is taken away.
    pub value: Option<Vec<u8>>,
    pub generation: String,
    /// The document's field of the generation.
    pub field: String,
    pub revision: i64,
    /// The revision that was read to find out what to take away.
    pub seen: Option<i64>,
    /// The import that this is known from.
    pub number: u32,
    pub taken: Taken,
    pub written: Vec<Entry>,
}

/// What stands there before.
#[derive(Debug, Default)]
pub struct Taken {
    pub keys: Vec<String>,
    /// Members of sets that other documents share.
    pub members: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swapped {
    Done,
    /// Something newer is there.
    Older,
    /// Something else stands there than was seen: to be looked at again.
    Changed,
}

#[derive(Serialize, Deserialize)]
struct Plan {
    field: String,
    revision: i64,
    /// -1 for nothing.
    seen: i64,
    number: u32,
    is_gone: bool,
}

/// One step: what, at which key, with what.
#[derive(Serialize, Deserialize)]
struct Step(What, String, Vec<String>);

/// Short names: there are several for each node.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum What {
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
    /// Members of a set.
    #[serde(rename = "s")]
    Set,
}

/// Runs the script.
pub async fn swap(kv: &dyn Kv, swap: Swap) -> Result<Swapped, Error> {
    let keys = [swap.entry.clone(), swap.generation.clone()];
    let reply = kv.script(&SWAP, &keys, &encode(swap)).await?;
    match reply.integer()? {
        DONE => Ok(Swapped::Done),
        OLDER => Ok(Swapped::Older),
        CHANGED => Ok(Swapped::Changed),
        _ => Err(Error::Unexpected(
            "the reply of the documents' script".into(),
        )),
    }
}

const DONE: i64 = 1;
const OLDER: i64 = 2;
const CHANGED: i64 = 3;

fn encode(swap: Swap) -> Vec<Vec<u8>> {
    let plan = Plan {
        field: swap.field,
        revision: swap.revision,
        seen: swap.seen.unwrap_or(-1),
        number: swap.number,
        is_gone: swap.value.is_none(),
    };
    let mut args = vec![json(&plan), swap.value.unwrap_or_default()];
    let deleted = swap.taken.keys.into_iter();
    let deleted = deleted.map(|key| Step(What::Delete, key, Vec::new()));
    let left = swap.taken.members.into_iter();
    let left = left.map(|(key, members)| Step(What::Remove, key, members));
    let written = swap.written.into_iter().map(step);
    let steps: Vec<Step> = deleted.chain(left).chain(written).collect();
    args.extend(steps.chunks(STEPS_MAX).map(json));
    args
}

fn json(value: &(impl Serialize + ?Sized)) -> Vec<u8> {
    serde_json::to_vec(value).expect("texts and numbers serialise")
}

fn step(entry: Entry) -> Step {
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
        Stored::Set(keys) => (What::Set, keys.iter().map(ToString::to_string).collect()),
    };
    Step(what, entry.key, values)
}
