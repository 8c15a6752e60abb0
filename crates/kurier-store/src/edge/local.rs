//! The twin of `project.lua`, for the keyspace in this process.

use super::{AT, CHANGED, DONE, DUPLICATE, HINTED, Mode, NEWER, NOT_WHOLE, OLDER, Plan, PlanWrite};
use crate::kv::{Error, Keyspace, Reply};

const REVISION: &[u8] = br#"{"revision":"#;
const AS_OF: &[u8] = br#","as_of":"#;

struct Room<'a, 'k> {
    keyspace: &'a mut Keyspace<'k>,
    keys: &'a [String],
    args: &'a [Vec<u8>],
    mode: Mode,
}

pub(super) fn project(
    keyspace: &mut Keyspace<'_>,
    keys: &[String],
    args: &[Vec<u8>],
) -> Result<Reply, Error> {
    let plan = args
        .first()
        .map(|plan| serde_json::from_slice::<Plan>(plan));
    let Some(Ok(plan)) = plan else {
        return Err(Error::Refused("not a plan of the edge".to_owned()));
    };
    let mut room = Room {
        keyspace,
        keys,
        args,
        mode: plan.mode,
    };
    let numbers = room.answer(&plan)?;
    Ok(Reply::List(
        numbers.into_iter().map(Reply::Integer).collect(),
    ))
}

impl Room<'_, '_> {
    fn answer(&mut self, plan: &Plan) -> Result<Vec<i64>, Error> {
        if self.mode == Mode::Whole && !self.keyspace.exists(&self.keys[0]) {
            return Ok(vec![NOT_WHOLE]);
        }
        if self.mode == Mode::Rebuild && !self.begins_anew(plan)? {
            return Ok(vec![NEWER]);
        }
        let (mut answer, mut at) = (vec![DONE], -1);
        for write in &plan.writes {
            let objected = match self.mode {
                Mode::Rebuild => None,
                Mode::Warm | Mode::Whole => self.objection(write)?,
            };
            if objected.is_none() {
                self.perform(write)?;
                at = at.max(write.u);
            }
            answer.push(objected.unwrap_or(DONE));
        }
        let held = self.keyspace.hash_get(&self.keys[0], AT)?;
        if self.mode != Mode::Warm && at > held.as_deref().and_then(number).unwrap_or(-1) {
            self.set_at(at)?;
        }
        Ok(answer)
    }

    fn set_at(&mut self, at: i64) -> Result<(), Error> {
        let fields = vec![(AT.to_owned(), at.to_string().into_bytes())];
        self.keyspace.hash_set(&self.keys[0], fields).map(|_| ())
    }

    /// Empties the indexes, unless something newer is there.
    fn begins_anew(&mut self, plan: &Plan) -> Result<bool, Error> {
        for write in &plan.writes {
            if self.held(write)?.is_some_and(|held| held > write.r) {
                return Ok(false);
            }
        }
        self.keyspace.delete(&self.keys[0]);
        for number in &plan.clear {
            self.keyspace.delete(&self.keys[number - 1]);
        }
        self.set_at(plan.at)?;
        Ok(true)
    }

    /// Why a write is not to happen, or nothing.
    fn objection(&self, write: &PlanWrite) -> Result<Option<i64>, Error> {
        let hint = write.h.map(|hint| self.keyspace.get(self.key(hint)));
        let hint = hint.transpose()?.flatten();
        if hint
            .as_deref()
            .and_then(number)
            .is_some_and(|it| it > write.u || write.w && it == write.u)
        {
            return Ok(Some(HINTED));
        }
        let is_known = |number: &usize| self.keyspace.exists(self.key(*number));
        if !write.d.is_empty() && write.d.iter().all(is_known) {
            return Ok(Some(DUPLICATE));
        }
        let held = self.held(write)?.unwrap_or(-1);
        let is_later = |upto| self.as_of(write).map(|as_of| as_of > Some(upto));
        let is_later = write.a.map(is_later).transpose()?.unwrap_or(false);
        let has_indexes = !write.l.is_empty() || !write.n.is_empty();
        Ok(match () {
            () if held > write.r || held == write.r && is_later => Some(OLDER),
            () if has_indexes && held != write.s => Some(CHANGED),
            () => None,
        })
    }

    fn perform(&mut self, write: &PlanWrite) -> Result<(), Error> {
        let (keys, args) = (self.keys, self.args);
        let entry = &keys[write.e - 1];
        match write.v {
            Some(value) => self.keyspace.set(entry, args[value - 1].clone(), write.t),
            None => drop(self.keyspace.delete(entry)),
        }
        let member = [args[write.m - 1].clone()];
        for (index, field) in &write.l {
            if self.keyspace.set_remove(&keys[index - 1], &member)? == 1 {
                self.count(field, -1)?;
            }
        }
        for (index, field) in &write.n {
            if self.keyspace.set_add(&keys[index - 1], member.to_vec())? == 1 {
                self.count(field, 1)?;
            }
        }
        if let Some(hint) = write.h.filter(|_| write.w) {
            let upto = write.u.to_string().into_bytes();
            self.keyspace.set(&keys[hint - 1], upto, write.ht);
        }
        for dedup in &write.d {
            self.keyspace.set(&keys[dedup - 1], b"1".to_vec(), write.dt);
        }
        Ok(())
    }

    fn count(&mut self, field: &str, by: i64) -> Result<(), Error> {
        if self.mode == Mode::Warm {
            return Ok(());
        }
        let held = self.keyspace.hash_get(&self.keys[0], field)?;
        let sum = held.as_deref().and_then(number).unwrap_or(0) + by;
        if sum <= 0 {
            self.keyspace
                .hash_delete(&self.keys[0], &[field.to_owned()])?;
            return Ok(());
        }
        let counted = vec![(field.to_owned(), sum.to_string().into_bytes())];
        self.keyspace.hash_set(&self.keys[0], counted).map(|_| ())
    }

    /// The revision that a value begins with; nothing without one.
    fn held(&self, write: &PlanWrite) -> Result<Option<i64>, Error> {
        let value = self.keyspace.get(self.key(write.e))?;
        Ok(value.and_then(|value| Some(leading(value.strip_prefix(REVISION)?)?.0)))
    }

    /// Up to where a value includes every event; nothing if it does not say.
    fn as_of(&self, write: &PlanWrite) -> Result<Option<i64>, Error> {
        let value = self.keyspace.get(self.key(write.e))?;
        Ok(value.and_then(|value| {
            let (_, rest) = leading(value.strip_prefix(REVISION)?)?;
            Some(leading(rest.strip_prefix(AS_OF)?)?.0)
        }))
    }

    fn key(&self, number: usize) -> &str {
        &self.keys[number - 1]
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
