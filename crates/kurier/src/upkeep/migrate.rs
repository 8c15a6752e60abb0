//! From the keys of then to the keys of now.
//!
//! Each key is first written where it belongs now, if nothing stands there, and then removed
//! where it was, if it is still what was read. So it may end anywhere and begin again: what was
//! moved is found moved, and what is newer is never overwritten.

use std::collections::BTreeMap;

use kurier_core::keys::legacy::{self, Legacy};
use kurier_core::keys::{Tenant, part};
use kurier_store::kv::{Command, Error, Kv, KvExt as _, Ttl};
use serde_json::Value;

use super::{Budget, walk};

/// What becomes of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    Workspace,
    Index,
    /// Something stands at the new key already, and stays.
    Superseded,
    /// Nobody knows how to read it: left where it is.
    Unknown,
}

impl Fate {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Index => "index",
            Self::Superseded => "superseded",
            Self::Unknown => "unknown",
        }
    }
}

/// How many keys had which fate.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Migrated {
    pub fates: BTreeMap<Fate, u64>,
}

/// A key as it was read, and where it belongs.
struct Found {
    from: String,
    to: String,
    held: Held,
}

enum Held {
    /// A value, as text (and then as which) or as a hash.
    Value(Value, Option<Vec<u8>>),
    /// Ids, as a set or as a text (and then as which).
    Ids(Vec<String>, Option<Vec<u8>>),
}

/// Without `apply` it only says what it would do. `on_key` is told of every key, where it belongs
/// and what becomes of it.
pub async fn migrate(
    kv: &dyn Kv,
    batch: u32,
    apply: bool,
    mut on_key: impl FnMut(&str, &str, Fate),
) -> Result<Migrated, Error> {
    let prefixes = legacy::PREFIXES.map(str::to_owned);
    let mut migrated = Migrated::default();
    let budget = Budget {
        batch,
        keys_max: u64::MAX,
    };
    let visit = async |keys: Vec<String>, _| {
        for key in keys {
            let (to, fate) = one(kv, &key, apply).await?;
            on_key(&key, &to, fate);
            *migrated.fates.entry(fate).or_default() += 1;
        }
        Ok(())
    };
    walk(kv, &prefixes, budget, visit).await?;
    Ok(migrated)
}

async fn one(kv: &dyn Kv, key: &str, apply: bool) -> Result<(String, Fate), Error> {
    let Some(found) = find(kv, key).await? else {
        return Ok((String::new(), Fate::Unknown));
    };
    let fate = match &found.held {
        Held::Ids(..) => Fate::Index,
        Held::Value(..) if kv.exists(&found.to).await? => Fate::Superseded,
        Held::Value(..) => Fate::Workspace,
    };
    let to = found.to.clone();
    if apply {
        carry(kv, found).await?;
    }
    Ok((to, fate))
}

async fn find(kv: &dyn Kv, key: &str) -> Result<Option<Found>, Error> {
    let (to, held) = match Legacy::read(key) {
        None => return Ok(None),
        Some(Legacy::Workspace { tenant, id }) => (place(&tenant, &id), value(kv, key).await?),
        Some(Legacy::Index { tenant }) => {
            let list = legacy::list(&tenant).into_text();
            (Some(list), ids(kv, key).await?)
        }
    };
    Ok(to.zip(held).map(|(to, held)| Found {
        from: key.to_owned(),
        to,
        held,
    }))
}

fn place(tenant: &Tenant, id: &str) -> Option<String> {
    let key = legacy::workspace(tenant, id);
    key.ok().map(kurier_core::keys::Key::into_text)
}

async fn value(kv: &dyn Kv, key: &str) -> Result<Option<Held>, Error> {
    match kv.get(key).await {
        Ok(text) => Ok(text.and_then(|text| {
            let value = serde_json::from_slice(&text).ok()?;
            Some(Held::Value(value, Some(text)))
        })),
        Err(Error::WrongType { .. }) => match kv.hash_get_all(key).await {
            Ok(fields) => Ok(Some(Held::Value(legacy::from_fields(fields), None))),
            Err(Error::WrongType { .. }) => Ok(None),
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    }
}

async fn ids(kv: &dyn Kv, key: &str) -> Result<Option<Held>, Error> {
    match kv.set_members(key).await {
        Ok(members) => Ok(members
            .into_iter()
            .map(|member| String::from_utf8(member).ok())
            .collect::<Option<_>>()
            .map(|ids| Held::Ids(ids, None))),
        Err(Error::WrongType { .. }) => match kv.get(key).await {
            Ok(text) => Ok(text.and_then(|text| {
                let ids = serde_json::from_slice(&text).ok()?;
                Some(Held::Ids(ids, Some(text)))
            })),
            Err(Error::WrongType { .. }) => Ok(None),
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// First there, then no longer here.
async fn carry(kv: &dyn Kv, found: Found) -> Result<(), Error> {
    let from = found.from;
    let removal = match found.held {
        Held::Value(value, text) => {
            let entry = legacy::entry(value);
            let bytes = serde_json::to_vec(&entry).map_err(|e| Error::Refused(e.to_string()))?;
            let ttl_ms = match kv.ttl_ms(&from).await? {
                Ttl::Ms(ms) => Some(ms.max(1)),
                Ttl::Forever | Ttl::Missing => None,
            };
            kv.set_if_absent(&found.to, bytes, ttl_ms).await?;
            removal_of(from, text)
        }
        Held::Ids(ids, text) => {
            let escaped = ids.iter().filter_map(|id| part::escaped(id).ok());
            let members: Vec<Vec<u8>> = escaped.map(|id| id.into_owned().into_bytes()).collect();
            kv.set_add(&found.to, members).await?;
            match text {
                text @ Some(_) => removal_of(from, text),
                // One by one: what is added meanwhile stays for the next time.
                None => Command::SetRemove {
                    key: from,
                    members: ids.into_iter().map(String::into_bytes).collect(),
                },
            }
        }
    };
    kv.ask(removal).await.map(drop)
}

fn removal_of(key: String, text: Option<Vec<u8>>) -> Command {
    match text {
        Some(value) => Command::CompareDelete { key, value },
        None => Command::Delete { keys: vec![key] },
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests;
