//! One step of the edge: what a batch changes of one tenant, its data, indexes, hints and
//! deduplication, is written by one script in one slot, or not at all. Whatever is older than
//! what stands there is left out.

mod local;
mod plan;

use crate::kv::{Error, Kv, Reply, Script};

const LUA: &str = include_str!("edge/project.lua");

const PROJECT: Script = Script {
    name: "project to the edge",
    lua: LUA,
    local: local::project,
};

/// What is to be true of one entity.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeWrite {
    pub entry: String,
    /// What stands there afterwards, beginning with its revision; nothing if there is none.
    pub value: Option<Vec<u8>>,
    pub ttl_ms: Option<u64>,
    /// The revision of the value.
    pub revision: i64,
    /// Up to where the value includes every event, if it says so behind its revision. Of two with
    /// the same revision the one that includes more is the newer.
    pub as_of: Option<i64>,
    /// The revision that was read to find out which indexes to leave.
    pub seen: Option<i64>,
    pub hint: Option<EdgeHint>,
    /// The keys of the events that this is because of.
    pub dedups: Vec<String>,
    pub member: String,
    pub leave: Vec<EdgeIndex>,
    pub enter: Vec<EdgeIndex>,
}

/// Up to which revision the entity is projected then.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeHint {
    pub key: String,
    pub revision: i64,
    /// Whether to say so, and leave out what it says already; else it is only asked whether the
    /// entity has come further.
    pub renew: bool,
}

/// The field of a generation that says up to which position everything is there.
pub const AT: &str = "at";

/// An index, and the field that counts its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeIndex {
    pub key: String,
    pub field: String,
}

/// What a batch changes of one tenant; no entity is written twice.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeBatch {
    pub generation: String,
    pub mode: EdgeMode,
    /// How long hints and the keys of events are kept.
    pub hint_ttl_ms: Option<u64>,
    pub dedup_ttl_ms: Option<u64>,
    pub writes: Vec<EdgeWrite>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum EdgeMode {
    /// Nothing is counted.
    Warm,
    /// Only while everything of the tenant is there.
    Whole,
    /// The writes are everything there is, up to the position `at`; these indexes are emptied
    /// first. What hints and deduplication say does not count.
    Rebuild { clear: Vec<String>, at: i64 },
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Done,
    /// The hint says that it was written already.
    Hinted,
    /// All of its events were written already.
    Duplicate,
    /// Something newer stands there.
    Older,
    /// Something else stands there than was seen: to be looked at again.
    Changed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Projected {
    /// What became of each write.
    Done(Vec<Written>),
    /// Not everything of the tenant is there: nothing was written.
    NotWhole,
    /// Something newer stands there than the rebuild knows: nothing was written.
    Newer,
}

/// A batch as the script is told it: made while the one before is still being written.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeCall {
    keys: Vec<String>,
    args: Vec<Vec<u8>>,
    writes: usize,
}

impl From<EdgeBatch> for EdgeCall {
    fn from(batch: EdgeBatch) -> Self {
        let writes = batch.writes.len();
        let (keys, args) = plan::encode(batch);
        Self { keys, args, writes }
    }
}

/// Runs the script.
pub async fn project(kv: &dyn Kv, call: &EdgeCall) -> Result<Projected, Error> {
    let reply = kv.script(&PROJECT, &call.keys, &call.args).await?;
    decode(reply, call.writes)
}

const DONE: i64 = 1;
const HINTED: i64 = 2;
const DUPLICATE: i64 = 3;
const OLDER: i64 = 4;
const CHANGED: i64 = 5;

const NOT_WHOLE: i64 = 0;
const NEWER: i64 = -1;

fn decode(reply: Reply, writes: usize) -> Result<Projected, Error> {
    let unexpected = || Error::Unexpected("the reply of the edge's script".to_owned());
    let replies = reply.list()?.into_iter().map(Reply::integer);
    let numbers = replies.collect::<Result<Vec<i64>, Error>>()?;
    match numbers.split_first() {
        Some((&NOT_WHOLE, [])) => Ok(Projected::NotWhole),
        Some((&NEWER, [])) => Ok(Projected::Newer),
        Some((&DONE, each)) if each.len() == writes => {
            let each = each.iter().map(|number| match *number {
                DONE => Ok(Written::Done),
                HINTED => Ok(Written::Hinted),
                DUPLICATE => Ok(Written::Duplicate),
                OLDER => Ok(Written::Older),
                CHANGED => Ok(Written::Changed),
                _ => Err(unexpected()),
            });
            each.collect::<Result<_, _>>().map(Projected::Done)
        }
        _ => Err(unexpected()),
    }
}
