//! The twin of `project.lua`, for the keyspace in this process.

use super::plan::{Mode, Plan, Told, decode};
use super::{AT, CHANGED, DONE, DUPLICATE, HINTED, NEWER, NOT_WHOLE, OLDER};
use crate::kv::{Error, Keyspace, Reply};

const REVISION: &[u8] = br#"{"revision":"#;
const AS_OF: &[u8] = br#","as_of":"#;

struct Room<'a, 'k> {
    keyspace: &'a mut Keyspace<'k>,
    generation: &'a String,
    mode: Mode,
    hint_ttl_ms: Option<u64>,
    dedup_ttl_ms: Option<u64>,
}

pub(super) fn project(
    keyspace: &mut Keyspace<'_>,
    keys: &[String],
    args: &[Vec<u8>],
) -> Result<Reply, Error> {
    let not_a_plan = || Error::Refused("not a plan of the edge".to_owned());
    let plan = decode(keys, args).ok_or_else(not_a_plan)?;
    let mut room = Room {
        keyspace,
        generation: &keys[0],
        mode: plan.mode,
        hint_ttl_ms: plan.hint_ttl_ms,
        dedup_ttl_ms: plan.dedup_ttl_ms,
    };
    let numbers = room.answer(&plan)?;
    Ok(Reply::List(
        numbers.into_iter().map(Reply::Integer).collect(),
    ))
}

/// What a value says of itself.
#[derive(Clone, Copy, Default)]
struct Held {
    revision: Option<i64>,
    as_of: Option<i64>,
}

impl Room<'_, '_> {
    fn answer(&mut self, plan: &Plan<'_>) -> Result<Vec<i64>, Error> {
        if self.mode == Mode::Whole && !self.keyspace.exists(self.generation) {
            return Ok(vec![NOT_WHOLE]);
        }
        if self.mode == Mode::Rebuild && !self.begins_anew(plan)? {
            return Ok(vec![NEWER]);
        }
        let (mut answer, mut at) = (vec![DONE], -1);
        for write in &plan.writes {
            let objected = match self.mode {
                Mode::Rebuild => None,
                Mode::Warm | Mode::Whole => self.objection(write),
            };
            if objected.is_none() {
                self.perform(write)?;
                at = at.max(write.upto);
            }
            answer.push(objected.unwrap_or(DONE));
        }
        if self.mode != Mode::Warm && at > self.at()? {
            self.set_at(at)?;
        }
        Ok(answer)
    }

    fn at(&self) -> Result<i64, Error> {
        let held = self.keyspace.hash_get(self.generation, AT)?;
        Ok(held.as_deref().and_then(number).unwrap_or(-1))
    }

    fn set_at(&mut self, at: i64) -> Result<(), Error> {
        let fields = vec![(AT.to_owned(), at.to_string().into_bytes())];
        self.keyspace.hash_set(self.generation, fields).map(|_| ())
    }

    /// Empties the indexes, unless something newer is there.
    fn begins_anew(&mut self, plan: &Plan<'_>) -> Result<bool, Error> {
        let is_newer = |write: &Told<'_>| self.held(write).revision > Some(write.revision);
        if plan.writes.iter().any(is_newer) {
            return Ok(false);
        }
        self.keyspace.delete(self.generation);
        for key in plan.clear {
            self.keyspace.delete(key);
        }
        self.set_at(plan.at)?;
        Ok(true)
    }

    /// Why a write is not to happen, or nothing.
    fn objection(&self, write: &Told<'_>) -> Option<i64> {
        let hint = write.hint.and_then(|hint| number(&self.text(hint)?));
        if hint.is_some_and(|it| it > write.upto || write.renews && it == write.upto) {
            return Some(HINTED);
        }
        // An event that was written renewed the hint with it.
        let mut dedups = write.dedups.iter();
        if hint.is_none() && !write.dedups.is_empty() && dedups.all(|key| self.keyspace.exists(key))
        {
            return Some(DUPLICATE);
        }
        let held = self.held(write);
        let revision = held.revision.unwrap_or(-1);
        let is_later = write.as_of.is_some() && held.as_of > write.as_of;
        match () {
            () if revision > write.revision => Some(OLDER),
            () if revision == write.revision && is_later => Some(OLDER),
            () if write.member.is_some() && revision != write.seen => Some(CHANGED),
            () => None,
        }
    }

    fn perform(&mut self, write: &Told<'_>) -> Result<(), Error> {
        match write.value {
            Some(value) => self.keyspace.set(write.entry, value.clone(), write.ttl_ms),
            None => drop(self.keyspace.delete(write.entry)),
        }
        self.move_member(write)?;
        if let Some(hint) = write.hint.filter(|_| write.renews) {
            let upto = write.upto.to_string().into_bytes();
            self.keyspace.set(hint, upto, self.hint_ttl_ms);
        }
        for dedup in &write.dedups {
            self.keyspace.set(dedup, b"1".to_vec(), self.dedup_ttl_ms);
        }
        Ok(())
    }

    fn move_member(&mut self, write: &Told<'_>) -> Result<(), Error> {
        let Some(member) = write.member else {
            return Ok(());
        };
        let member = [member.clone()];
        for (key, field) in &write.leave {
            if self.keyspace.set_remove(key, &member)? == 1 {
                self.count(field, -1)?;
            }
        }
        for (key, field) in &write.enter {
            if self.keyspace.set_add(key, member.to_vec())? == 1 {
                self.count(field, 1)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, field: &str, by: i64) -> Result<(), Error> {
        if self.mode == Mode::Warm {
            return Ok(());
        }
        let held = self.keyspace.hash_get(self.generation, field)?;
        let sum = held.as_deref().and_then(number).unwrap_or(0) + by;
        if sum <= 0 {
            let field = [field.to_owned()];
            return self.keyspace.hash_delete(self.generation, &field).map(drop);
        }
        let counted = vec![(field.to_owned(), sum.to_string().into_bytes())];
        self.keyspace.hash_set(self.generation, counted).map(drop)
    }

    fn held(&self, write: &Told<'_>) -> Held {
        let read = || {
            let text = self.text(write.entry)?;
            let (revision, rest) = leading(text.strip_prefix(REVISION)?)?;
            let as_of = rest.strip_prefix(AS_OF).and_then(leading);
            Some(Held {
                revision: Some(revision),
                as_of: as_of.map(|(as_of, _)| as_of),
            })
        };
        read().unwrap_or_default()
    }

    /// What is no text is taken for nothing: it is about to be replaced.
    fn text(&self, key: &str) -> Option<Vec<u8>> {
        self.keyspace.get(key).ok().flatten()
    }
}

/// The number that a text begins with, and what follows it.
fn leading(text: &[u8]) -> Option<(i64, &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    Some((number(digits)?, rest))
}

fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
