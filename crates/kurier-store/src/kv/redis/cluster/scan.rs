//! A walk over all masters, one after the other.
//!
//! The cursor names the masters it was made for. When they are others, the walk begins again: a
//! key that is there all the time is then found, perhaps twice. A key that moves between two
//! masters while neither is being replaced may be missed.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ::redis::{Value, from_redis_value};

use super::Cluster;
use crate::kv::redis::{decode, encode};
use crate::kv::{Command, Cursor, Error, Page, Reply};

/// Where a walk stands.
struct Walk {
    masters: u64,
    at: usize,
    cursor: u64,
}

impl Cluster {
    pub(super) async fn scan(&self, command: &Command) -> Reply {
        let Command::Scan {
            cursor,
            prefix,
            count,
        } = command
        else {
            return Reply::Failed(Error::Unexpected("not a scan".to_owned()));
        };
        if let Some(settled) = command.settled() {
            return settled;
        }
        match self.page(cursor.as_ref(), prefix, *count).await {
            Ok(page) => Reply::Page(page),
            Err(error) => Reply::Failed(error),
        }
    }

    async fn page(&self, cursor: Option<&Cursor>, prefix: &str, count: u32) -> Result<Page, Error> {
        let known = cursor.map(|cursor| Walk::read(&cursor.0)).transpose()?;
        let masters = self.masters().await?;
        let fingerprint = fingerprint(&masters);
        let walk = known.filter(|walk| walk.masters == fingerprint && walk.at < masters.len());
        let (at, cursor) = walk.map_or((0, 0), |walk| (walk.at, walk.cursor));
        let master = masters
            .get(at)
            .ok_or_else(|| Error::Unavailable("the cluster has no masters".to_owned()))?;
        let value = self.at(master, encode::scan_from(cursor, prefix, count));
        let (cursor, keys) = decode::scanned(value.await?)?;
        let next = match (cursor, at + 1) {
            (0, next) if next == masters.len() => None,
            (0, next) => Some((next, 0)),
            (cursor, _) => Some((at, cursor)),
        };
        let next = next.map(|(at, cursor)| Cursor(format!("{fingerprint:x} {at} {cursor}")));
        Ok(Page { keys, next })
    }
}

impl Walk {
    fn read(text: &str) -> Result<Self, Error> {
        let refused = || Error::Refused("the cursor is not one of a cluster".to_owned());
        let mut words = text.split(' ');
        let mut word = || words.next().ok_or_else(refused);
        Ok(Self {
            masters: u64::from_str_radix(word()?, 16).map_err(|_| refused())?,
            at: word()?.parse().map_err(|_| refused())?,
            cursor: word()?.parse().map_err(|_| refused())?,
        })
    }
}

/// Whoever has a slot, as one node knows it. A node that does not know its own host is where it
/// was asked.
pub(super) fn masters(node: Value, slots: Value) -> Option<Vec<String>> {
    let node: String = from_redis_value(node).ok()?;
    let (asked, _) = node.rsplit_once(':')?;
    let ranges: Vec<Vec<Value>> = from_redis_value(slots).ok()?;
    let master = |range: Vec<Value>| {
        let owner: Vec<Value> = from_redis_value(range.into_iter().nth(2)?).ok()?;
        let host: Option<String> = from_redis_value(owner.first()?.clone()).ok()?;
        let port: u16 = from_redis_value(owner.get(1)?.clone()).ok()?;
        let host = host.filter(|host| !host.is_empty());
        Some(format!("{}:{port}", host.as_deref().unwrap_or(asked)))
    };
    let mut masters: Vec<String> = ranges.into_iter().map(master).collect::<Option<_>>()?;
    masters.sort();
    masters.dedup();
    (!masters.is_empty()).then_some(masters)
}

fn fingerprint(masters: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    masters.hash(&mut hasher);
    hasher.finish()
}
