//! One command, one call.

use super::keyspace::Keyspace;
use crate::kv::{Command, Error, Reply};

impl Keyspace<'_> {
    /// Runs a command. A failure is a reply, since the pipeline goes on after it.
    pub fn apply(&mut self, command: Command) -> Reply {
        match command.settled() {
            Some(reply) => reply,
            None => self.dispatch(command).unwrap_or_else(Reply::Failed),
        }
    }

    fn dispatch(&mut self, command: Command) -> Result<Reply, Error> {
        use Command as C;
        use Reply as R;
        Ok(match command {
            C::Get { key } => R::Value(self.get(&key)?),
            C::Set {
                key,
                value,
                ttl_ms,
                if_absent: true,
            } => R::Flag(self.set_if_absent(&key, value, ttl_ms)),
            C::Set {
                key,
                value,
                ttl_ms,
                if_absent: false,
            } => {
                self.set(&key, value, ttl_ms);
                R::Flag(true)
            }
            C::CompareDelete { key, value } => R::Flag(self.compare_delete(&key, &value)?),
            C::Delete { keys } => integer(keys.iter().filter(|key| self.delete(key)).count()),
            C::Exists { key } => R::Flag(self.exists(&key)),
            C::Expire { key, ttl_ms } => R::Flag(self.expire(&key, ttl_ms)),
            C::Persist { key } => R::Flag(self.persist(&key)),
            C::TtlMs { key } => R::Ttl(self.ttl_ms(&key)),
            C::Increment { key, by, ttl_ms } => R::Integer(self.increment(&key, by, ttl_ms)?),
            C::HashSet { key, fields } => integer(self.hash_set(&key, fields)?),
            C::HashGet { key, field } => R::Value(self.hash_get(&key, &field)?),
            C::HashGetAll { key } => R::Fields(self.hash_get_all(&key)?),
            C::HashDelete { key, fields } => integer(self.hash_delete(&key, &fields)?),
            C::SetAdd { key, members } => integer(self.set_add(&key, members)?),
            C::SetRemove { key, members } => integer(self.set_remove(&key, &members)?),
            C::SetMembers { key } => R::Members(self.set_members(&key)?),
            C::SetContains { key, member } => R::Flag(self.set_contains(&key, &member)?),
            C::SetCount { key } => integer(self.set_count(&key)?),
            C::SortedAdd { key, members } => integer(self.sorted_add(&key, members)?),
            C::SortedRemove { key, members } => integer(self.sorted_remove(&key, &members)?),
            C::SortedRange {
                key,
                start,
                stop,
                order,
            } => R::Scored(self.sorted_range(&key, start, stop, order)?),
            C::SortedRangeByScore { key, range } => {
                R::Scored(self.sorted_range_by_score(&key, &range)?)
            }
            C::SortedScore { key, member } => R::Score(self.sorted_score(&key, &member)?),
            C::SortedCount { key } => integer(self.sorted_count(&key)?),
            C::Scan {
                cursor,
                prefix,
                count,
            } => R::Page(self.scan(&prefix, cursor.as_ref(), count)),
        })
    }
}

fn integer(count: usize) -> Reply {
    Reply::Integer(i64::try_from(count).expect("nothing in memory has more than 2^63 items"))
}
