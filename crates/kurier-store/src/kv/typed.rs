//! One function per command, with the type its reply promises.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::{Command, Cursor, Error, Kv, Order, Page, Reply, ScoreRange, Scored, Ttl};

/// How many keys a page of [`KvExt::scan_all`] asks for.
const SCAN_PAGE: u32 = 500;

/// What callers use when they have one question. Replies without an order come back as sets and
/// maps, so that nobody relies on an order only one backend has.
#[async_trait]
pub trait KvExt: Kv {
    /// Runs one command; its failure is an error here, not a reply.
    async fn ask(&self, command: Command) -> Result<Reply, Error> {
        match self.run(vec![command]).await?.pop() {
            Some(Reply::Failed(error)) => Err(error),
            Some(reply) => Ok(reply),
            None => Err(Error::Unexpected("no reply".to_owned())),
        }
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        self.ask(Command::Get {
            key: key.to_owned(),
        })
        .await?
        .value()
    }

    async fn set(
        &self,
        key: &str,
        value: impl Into<Vec<u8>> + Send,
        ttl_ms: Option<u64>,
    ) -> Result<(), Error> {
        let (key, value) = (key.to_owned(), value.into());
        self.ask(Command::Set {
            key,
            value,
            ttl_ms,
            if_absent: false,
        })
        .await?
        .flag()
        .map(|_| ())
    }

    /// Whether the key was free, and is now ours.
    async fn set_if_absent(
        &self,
        key: &str,
        value: impl Into<Vec<u8>> + Send,
        ttl_ms: Option<u64>,
    ) -> Result<bool, Error> {
        let (key, value) = (key.to_owned(), value.into());
        self.ask(Command::Set {
            key,
            value,
            ttl_ms,
            if_absent: true,
        })
        .await?
        .flag()
    }

    async fn compare_delete(
        &self,
        key: &str,
        value: impl Into<Vec<u8>> + Send,
    ) -> Result<bool, Error> {
        let (key, value) = (key.to_owned(), value.into());
        self.ask(Command::CompareDelete { key, value })
            .await?
            .flag()
    }

    async fn delete(&self, keys: Vec<String>) -> Result<u64, Error> {
        self.ask(Command::Delete { keys }).await?.count()
    }

    async fn exists(&self, key: &str) -> Result<bool, Error> {
        self.ask(Command::Exists {
            key: key.to_owned(),
        })
        .await?
        .flag()
    }

    async fn expire(&self, key: &str, ttl_ms: u64) -> Result<bool, Error> {
        self.ask(Command::Expire {
            key: key.to_owned(),
            ttl_ms,
        })
        .await?
        .flag()
    }

    async fn persist(&self, key: &str) -> Result<bool, Error> {
        self.ask(Command::Persist {
            key: key.to_owned(),
        })
        .await?
        .flag()
    }

    async fn ttl_ms(&self, key: &str) -> Result<Ttl, Error> {
        self.ask(Command::TtlMs {
            key: key.to_owned(),
        })
        .await?
        .ttl()
    }

    /// The sum. `ttl_ms` counts only when this creates the key.
    async fn increment(&self, key: &str, by: i64, ttl_ms: Option<u64>) -> Result<i64, Error> {
        self.ask(Command::Increment {
            key: key.to_owned(),
            by,
            ttl_ms,
        })
        .await?
        .integer()
    }

    async fn hash_set(&self, key: &str, fields: Vec<(String, Vec<u8>)>) -> Result<u64, Error> {
        self.ask(Command::HashSet {
            key: key.to_owned(),
            fields,
        })
        .await?
        .count()
    }

    async fn hash_get(&self, key: &str, field: &str) -> Result<Option<Vec<u8>>, Error> {
        let (key, field) = (key.to_owned(), field.to_owned());
        self.ask(Command::HashGet { key, field }).await?.value()
    }

    async fn hash_get_all(&self, key: &str) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let reply = self
            .ask(Command::HashGetAll {
                key: key.to_owned(),
            })
            .await?;
        Ok(reply.fields()?.into_iter().collect())
    }

    async fn hash_delete(&self, key: &str, fields: Vec<String>) -> Result<u64, Error> {
        self.ask(Command::HashDelete {
            key: key.to_owned(),
            fields,
        })
        .await?
        .count()
    }

    async fn set_add(&self, key: &str, members: Vec<Vec<u8>>) -> Result<u64, Error> {
        self.ask(Command::SetAdd {
            key: key.to_owned(),
            members,
        })
        .await?
        .count()
    }

    async fn set_remove(&self, key: &str, members: Vec<Vec<u8>>) -> Result<u64, Error> {
        self.ask(Command::SetRemove {
            key: key.to_owned(),
            members,
        })
        .await?
        .count()
    }

    async fn set_members(&self, key: &str) -> Result<BTreeSet<Vec<u8>>, Error> {
        let reply = self
            .ask(Command::SetMembers {
                key: key.to_owned(),
            })
            .await?;
        Ok(reply.members()?.into_iter().collect())
    }

    async fn set_contains(
        &self,
        key: &str,
        member: impl Into<Vec<u8>> + Send,
    ) -> Result<bool, Error> {
        let (key, member) = (key.to_owned(), member.into());
        self.ask(Command::SetContains { key, member }).await?.flag()
    }

    async fn set_count(&self, key: &str) -> Result<u64, Error> {
        self.ask(Command::SetCount {
            key: key.to_owned(),
        })
        .await?
        .count()
    }

    async fn sorted_add(&self, key: &str, members: Vec<Scored>) -> Result<u64, Error> {
        self.ask(Command::SortedAdd {
            key: key.to_owned(),
            members,
        })
        .await?
        .count()
    }

    async fn sorted_remove(&self, key: &str, members: Vec<Vec<u8>>) -> Result<u64, Error> {
        self.ask(Command::SortedRemove {
            key: key.to_owned(),
            members,
        })
        .await?
        .count()
    }

    async fn sorted_range(
        &self,
        key: &str,
        start: i64,
        stop: i64,
        order: Order,
    ) -> Result<Vec<Scored>, Error> {
        self.ask(Command::SortedRange {
            key: key.to_owned(),
            start,
            stop,
            order,
        })
        .await?
        .scored()
    }

    async fn sorted_range_by_score(
        &self,
        key: &str,
        range: ScoreRange,
    ) -> Result<Vec<Scored>, Error> {
        self.ask(Command::SortedRangeByScore {
            key: key.to_owned(),
            range,
        })
        .await?
        .scored()
    }

    async fn sorted_score(
        &self,
        key: &str,
        member: impl Into<Vec<u8>> + Send,
    ) -> Result<Option<f64>, Error> {
        let (key, member) = (key.to_owned(), member.into());
        self.ask(Command::SortedScore { key, member })
            .await?
            .score()
    }

    async fn sorted_count(&self, key: &str) -> Result<u64, Error> {
        self.ask(Command::SortedCount {
            key: key.to_owned(),
        })
        .await?
        .count()
    }

    async fn scan(&self, prefix: &str, cursor: Option<Cursor>, count: u32) -> Result<Page, Error> {
        self.ask(Command::Scan {
            cursor,
            prefix: prefix.to_owned(),
            count,
        })
        .await?
        .page()
    }

    /// Every key of a prefix, page by page. All of them are held at once: for prefixes that are
    /// known to be small; walk [`KvExt::scan`] for the others.
    async fn scan_all(&self, prefix: &str) -> Result<BTreeSet<String>, Error> {
        let mut keys = BTreeSet::new();
        let mut page = self.scan(prefix, None, SCAN_PAGE).await?;
        loop {
            keys.extend(page.keys);
            let Some(next) = page.next else {
                return Ok(keys);
            };
            page = self.scan(prefix, Some(next), SCAN_PAGE).await?;
        }
    }
}

impl<T: Kv + ?Sized> KvExt for T {}
