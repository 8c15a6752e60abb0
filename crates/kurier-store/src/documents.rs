//! Documents of content in the keyspace: what stands there of one is replaced by one script, so
//! that nobody sees half of it. Nothing older replaces anything newer.
//!
//! A short one is written by the script itself. A long one would keep a server from everybody
//! else meanwhile: it is written aside, portion by portion, and the script only renames.

mod aside;
mod local;
mod step;

use kurier_core::content::Entry;
use serde::{Deserialize, Serialize};

use self::step::{Step, What, step, weight};
use crate::kv::{Error, Kv, Reply, Script};

/// The keys of nodes come as arguments: they carry the tenant's tag as the others do, or are bare
/// in a Redis that is no cluster.
const SWAP: Script = Script {
    name: "swap a document in",
    lua: include_str!("documents/swap.lua"),
    local: local::swap,
};

/// So much is written by one script: some hundredths of a second of a server's time.
const WEIGHT_AT_ONCE_MAX: usize = 100_000;
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
    /// What keys begin with that are written aside: nobody else's do.
    pub aside: String,
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
    /// What stands aside; nothing if the steps come along.
    aside: Vec<aside::List>,
}

/// Replaces what stands there.
pub async fn swap(kv: &dyn Kv, swap: Swap) -> Result<Swapped, Error> {
    let mut plan = Plan {
        field: swap.field,
        revision: swap.revision,
        seen: swap.seen.unwrap_or(-1),
        number: swap.number,
        is_gone: swap.value.is_none(),
        aside: Vec::new(),
    };
    let value = swap.value.unwrap_or_default();
    let steps = steps(swap.taken, swap.written);
    let weight: usize = steps.iter().map(weight).sum();
    let keys = [swap.entry, swap.generation, swap.aside];
    if weight > WEIGHT_AT_ONCE_MAX {
        plan.aside = aside::put(kv, &keys[2], steps).await?;
        let args = [json(&plan), value];
        return told(&kv.script(&aside::BRING, &keys, &args).await?);
    }
    let mut args = vec![json(&plan), value];
    args.extend(steps.chunks(STEPS_MAX).map(json));
    told(&kv.script(&SWAP, &keys, &args).await?)
}

fn told(reply: &Reply) -> Result<Swapped, Error> {
    match reply {
        Reply::Integer(DONE) => Ok(Swapped::Done),
        Reply::Integer(OLDER) => Ok(Swapped::Older),
        Reply::Integer(CHANGED) => Ok(Swapped::Changed),
        _ => Err(Error::Unexpected(
            "the reply of the documents' script".into(),
        )),
    }
}

const DONE: i64 = 1;
const OLDER: i64 = 2;
const CHANGED: i64 = 3;

/// What is taken away comes first.
fn steps(taken: Taken, written: Vec<Entry>) -> Vec<Step> {
    let deleted = taken.keys.into_iter();
    let deleted = deleted.map(|key| Step(What::Delete, key, Vec::new()));
    let left = taken.members.into_iter();
    let left = left.map(|(key, members)| Step(What::Remove, key, members));
    let written = written.into_iter().map(step);
    deleted.chain(left).chain(written).collect()
}

fn json(value: &(impl Serialize + ?Sized)) -> Vec<u8> {
    serde_json::to_vec(value).expect("texts and numbers serialise")
}
