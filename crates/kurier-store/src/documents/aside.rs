//! A long document: its keys are written aside in portions, each soon done with, and renamed
//! together. Of texts, which are most of them and short, only lists stand aside: setting a
//! thousand at once is quicker than renaming them. What nobody comes back for is gone after a
//! while.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::step::{Step, What, weight};
use super::{json, local};
use crate::kv::{Error, Kv, Reply, Script};

/// Carries steps out aside.
const PUT: Script = Script {
    name: "put a part of a document aside",
    lua: include_str!("put.lua"),
    local: local::put,
};

/// Puts what stands aside in the place of what stands there.
pub(super) const BRING: Script = Script {
    name: "bring a document in",
    lua: include_str!("bring.lua"),
    local: local::bring,
};

/// What stands aside is kept for so long: longer than any document takes.
const TTL_MS: u64 = 15 * 60 * 1_000;
/// A portion is full when its steps weigh so much,
const PORTION_WEIGHT_MAX: usize = 5_000;
/// or their texts are so long.
const PORTION_BYTES_MAX: usize = 1024 * 1024;
/// So many values stand in one step: scores and members come in pairs.
const VALUES_MAX: usize = 2_000;

/// So many texts stand in one list.
const TEXTS_MAX: usize = 500;

/// A list that stands aside as a sorted set, of texts as a hash: what it is for, of which key or
/// its number, and how long it is.
#[derive(Serialize, Deserialize)]
pub(super) struct List(pub Of, pub String, pub usize);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Of {
    /// Keys that stand aside, and are renamed.
    #[serde(rename = "k")]
    Keys,
    /// Texts by their keys.
    #[serde(rename = "t")]
    Texts,
    /// Keys that go.
    #[serde(rename = "d")]
    Deleted,
    /// Members that a shared set gets.
    #[serde(rename = "s")]
    Added,
    /// Members that it loses.
    #[serde(rename = "r")]
    Removed,
}

impl Of {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Keys => "k",
            Self::Texts => "t",
            Self::Deleted => "d",
            Self::Added => "s",
            Self::Removed => "r",
        }
    }
}

impl List {
    /// Where it stands aside: no key of a node begins like that.
    pub(super) fn place(&self) -> String {
        format!("{}>{}", self.0.as_str(), self.1)
    }
}

/// Writes all of it aside; answers what stands there then.
pub(super) async fn put(kv: &dyn Kv, aside: &str, steps: Vec<Step>) -> Result<Vec<List>, Error> {
    let (steps, lists) = set_apart(steps);
    let keys = [aside.to_owned()];
    let ttl_ms = TTL_MS.to_string().into_bytes();
    for portion in portions(steps) {
        let args = [ttl_ms.clone(), json(&portion)];
        match kv.script(&PUT, &keys, &args).await? {
            Reply::Integer(_) => {}
            other => return Err(Error::Unexpected(format!("{other:?}"))),
        }
    }
    Ok(lists)
}

type Named = HashMap<(Of, String), HashSet<String>>;

/// What is to be written, the lists of what happens with it among that; and those lists.
fn set_apart(steps: Vec<Step>) -> (Vec<Step>, Vec<List>) {
    let (mut named, mut texts) = (Named::new(), Vec::new());
    let mut written = Vec::with_capacity(steps.len());
    for Step(what, key, values) in steps {
        let mut note = |of, key: &str, members: Vec<String>| {
            let list = named.entry((of, key.to_owned())).or_default();
            list.extend(members);
        };
        match what {
            What::Delete => note(Of::Deleted, "", vec![key]),
            What::Remove => note(Of::Removed, &key, values),
            What::Shared => note(Of::Added, &key, values),
            What::Text => texts.extend([key].into_iter().chain(values)),
            What::Hash | What::Sorted | What::Own => {
                note(Of::Keys, "", vec![key.clone()]);
                written.push(Step(what, key, values));
            }
        }
    }
    let mut lists = listed(named, &texts, &mut written);
    for (number, texts) in texts.chunks(2 * TEXTS_MAX).enumerate() {
        let list = List(Of::Texts, number.to_string(), texts.len() / 2);
        written.push(Step(What::Hash, list.place(), texts.to_vec()));
        lists.push(list);
    }
    (written, lists)
}

fn listed(mut named: Named, texts: &[String], written: &mut Vec<Step>) -> Vec<List> {
    if let Some(deleted) = named.get_mut(&(Of::Deleted, String::new())) {
        let keys: HashSet<&String> = texts.iter().step_by(2).collect();
        deleted.retain(|key| !keys.contains(key));
    }
    spare(&mut named);
    let named = named.into_iter().filter(|(_, members)| !members.is_empty());
    let mut lists = Vec::new();
    for ((of, key), members) in named {
        let list = List(of, key, members.len());
        let scored = members.into_iter().flat_map(|it| ["0".to_owned(), it]);
        written.push(Step(What::Sorted, list.place(), scored.collect()));
        lists.push(list);
    }
    lists
}

/// What is written anew need not go before.
fn spare(named: &mut Named) {
    let pairs = [(Of::Deleted, Of::Keys), (Of::Removed, Of::Added)];
    for (gone, kept) in pairs {
        let keys: Vec<String> = named
            .keys()
            .filter(|(of, _)| *of == gone)
            .map(|(_, key)| key.clone())
            .collect();
        for key in keys {
            let Some(mut members) = named.remove(&(gone, key.clone())) else {
                continue;
            };
            if let Some(kept) = named.get(&(kept, key.clone())) {
                members.retain(|member| !kept.contains(member));
            }
            named.insert((gone, key), members);
        }
    }
}

/// Steps that are carried out together; long ones in parts.
fn portions(steps: Vec<Step>) -> impl Iterator<Item = Vec<Step>> {
    let mut parts = steps.into_iter().flat_map(in_parts).peekable();
    std::iter::from_fn(move || {
        let (mut portion, mut heavy, mut bytes) = (Vec::new(), 0, 0);
        while heavy < PORTION_WEIGHT_MAX
            && bytes < PORTION_BYTES_MAX
            && let Some(step) = parts.next()
        {
            heavy += weight(&step);
            bytes += step.2.iter().map(String::len).sum::<usize>();
            portion.push(step);
        }
        (!portion.is_empty()).then_some(portion)
    })
}

fn in_parts(step: Step) -> Vec<Step> {
    let Step(what, key, values) = step;
    if values.len() <= VALUES_MAX {
        return vec![Step(what, key, values)];
    }
    let parts = values.chunks(VALUES_MAX);
    let parts = parts.map(|part| Step(what, key.clone(), part.to_vec()));
    parts.collect()
}
