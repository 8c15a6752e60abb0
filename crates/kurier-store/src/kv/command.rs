//! What may be asked of a keyspace.

use std::ops::Bound;

use super::{Error, Reply};

/// The longest time to live: a hundred years. Longer is a mistake in units, and would overflow
/// the expiry arithmetic of some backend.
pub const TTL_MS_MAX: u64 = 100 * 365 * 24 * 60 * 60 * 1_000;

/// Every question a keyspace answers. The list is closed: what is not here, neither backend can
/// do, so neither can do it differently.
///
/// An empty list of keys, fields or members asks for nothing and answers 0.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Answers [`Reply::Value`].
    Get { key: String },
    /// Replaces whatever the key holds, and its time to live with it. With `if_absent` it does
    /// so only when there is no such key. Answers [`Reply::Flag`]: was it set?
    Set {
        key: String,
        value: Vec<u8>,
        ttl_ms: Option<u64>,
        if_absent: bool,
    },
    /// Deletes the key only while it holds this value. Answers [`Reply::Flag`]: was it deleted?
    CompareDelete { key: String, value: Vec<u8> },
    /// Answers [`Reply::Integer`]: how many of the keys existed.
    Delete { keys: Vec<String> },
    /// Answers [`Reply::Flag`].
    Exists { key: String },
    /// Sets the time to live; 0 deletes at once. Answers [`Reply::Flag`]: did the key exist?
    Expire { key: String, ttl_ms: u64 },
    /// Removes the time to live. Answers [`Reply::Flag`]: was there one?
    Persist { key: String },
    /// Answers [`Reply::Ttl`].
    TtlMs { key: String },
    /// Adds to a decimal integer, from 0 when there is no such key. `ttl_ms` is given to the key
    /// only when this creates it: a window that counts must not be prolonged by being counted.
    /// Answers [`Reply::Integer`]: the sum.
    Increment {
        key: String,
        by: i64,
        ttl_ms: Option<u64>,
    },

    /// Answers [`Reply::Integer`]: how many fields are new.
    HashSet {
        key: String,
        fields: Vec<(String, Vec<u8>)>,
    },
    /// Answers [`Reply::Value`].
    HashGet { key: String, field: String },
    /// Answers [`Reply::Fields`], in no particular order.
    HashGetAll { key: String },
    /// Answers [`Reply::Integer`]: how many fields existed.
    HashDelete { key: String, fields: Vec<String> },

    /// Answers [`Reply::Integer`]: how many members are new.
    SetAdd { key: String, members: Vec<Vec<u8>> },
    /// Answers [`Reply::Integer`]: how many members existed.
    SetRemove { key: String, members: Vec<Vec<u8>> },
    /// Answers [`Reply::Members`], in no particular order.
    SetMembers { key: String },
    /// Answers [`Reply::Flag`].
    SetContains { key: String, member: Vec<u8> },
    /// Answers [`Reply::Integer`].
    SetCount { key: String },

    /// Adds members or moves them to a new score. Answers [`Reply::Integer`]: how many are new.
    SortedAdd { key: String, members: Vec<Scored> },
    /// Answers [`Reply::Integer`]: how many members existed.
    SortedRemove { key: String, members: Vec<Vec<u8>> },
    /// The members from rank `start` to rank `stop`, both included; negative ranks count from
    /// the end. Ranks are counted in `order`. Answers [`Reply::Scored`].
    SortedRange {
        key: String,
        start: i64,
        stop: i64,
        order: Order,
    },
    /// Answers [`Reply::Scored`].
    SortedRangeByScore { key: String, range: ScoreRange },
    /// Answers [`Reply::Score`].
    SortedScore { key: String, member: Vec<u8> },
    /// Answers [`Reply::Integer`].
    SortedCount { key: String },

    /// One page of the keys that start with `prefix`. `count` is a hint. A key that is there
    /// from the first page to the last is in at least one of them. Answers [`Reply::Page`].
    Scan {
        cursor: Option<Cursor>,
        prefix: String,
        count: u32,
    },
}

/// A member of a sorted set. Equal scores are ordered by the bytes of the member.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    pub member: Vec<u8>,
    pub score: f64,
}

/// In which direction a sorted set is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Ascending,
    Descending,
}

/// Which scores, in which order, and how many members at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreRange {
    pub min: Bound<f64>,
    pub max: Bound<f64>,
    pub order: Order,
    pub limit: u32,
}

/// Where a scan goes on. Means something only to the backend that gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(pub(super) String);

impl Command {
    /// The key a wrong-type error is about; empty where there can be no such error.
    pub(super) fn key(&self) -> &str {
        match self {
            Self::Delete { .. } | Self::Scan { .. } => "",
            Self::Get { key }
            | Self::Set { key, .. }
            | Self::CompareDelete { key, .. }
            | Self::Exists { key }
            | Self::Expire { key, .. }
            | Self::Persist { key }
            | Self::TtlMs { key }
            | Self::Increment { key, .. }
            | Self::HashSet { key, .. }
            | Self::HashGet { key, .. }
            | Self::HashGetAll { key }
            | Self::HashDelete { key, .. }
            | Self::SetAdd { key, .. }
            | Self::SetRemove { key, .. }
            | Self::SetMembers { key }
            | Self::SetContains { key, .. }
            | Self::SetCount { key }
            | Self::SortedAdd { key, .. }
            | Self::SortedRemove { key, .. }
            | Self::SortedRange { key, .. }
            | Self::SortedRangeByScore { key, .. }
            | Self::SortedScore { key, .. }
            | Self::SortedCount { key } => key,
        }
    }

    /// The key that says where the command belongs; empty for a scan, which goes everywhere.
    pub(super) fn first_key(&self) -> &str {
        match self {
            Self::Delete { keys } => keys.first().map_or("", String::as_str),
            other => other.key(),
        }
    }

    /// The reply to a command that no keyspace needs to see: it is refused, or asks for nothing.
    /// Decided here, once, so that backends cannot differ in what they refuse.
    pub(super) fn settled(&self) -> Option<Reply> {
        if let Some(reason) = self.refusal() {
            return Some(Reply::Failed(Error::Refused(reason.to_owned())));
        }
        let asks_for_nothing = match self {
            Self::Delete { keys } => keys.is_empty(),
            Self::HashSet { fields, .. } => fields.is_empty(),
            Self::HashDelete { fields, .. } => fields.is_empty(),
            Self::SetAdd { members, .. }
            | Self::SetRemove { members, .. }
            | Self::SortedRemove { members, .. } => members.is_empty(),
            Self::SortedAdd { members, .. } => members.is_empty(),
            _ => false,
        };
        asks_for_nothing.then_some(Reply::Integer(0))
    }

    fn refusal(&self) -> Option<&'static str> {
        match self {
            Self::Set {
                ttl_ms: Some(ttl_ms),
                ..
            }
            | Self::Increment {
                ttl_ms: Some(ttl_ms),
                ..
            } => refuse_ttl(*ttl_ms, 1),
            Self::Expire { ttl_ms, .. } => refuse_ttl(*ttl_ms, 0),
            Self::SortedAdd { members, .. } => members
                .iter()
                .any(|scored| scored.score.is_nan())
                .then_some("a score must be a number"),
            Self::SortedRangeByScore { range, .. } => (is_nan(range.min) || is_nan(range.max))
                .then_some("the bounds of a range must be numbers"),
            Self::Scan { count: 0, .. } => Some("a page must have room for a key"),
            _ => None,
        }
    }
}

fn refuse_ttl(ttl_ms: u64, ttl_ms_min: u64) -> Option<&'static str> {
    let fits = (ttl_ms_min..=TTL_MS_MAX).contains(&ttl_ms);
    (!fits).then_some("a time to live must be positive and at most a hundred years")
}

fn is_nan(bound: Bound<f64>) -> bool {
    matches!(bound, Bound::Included(score) | Bound::Excluded(score) if score.is_nan())
}
