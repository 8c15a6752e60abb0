//! The twin of `swap.lua`, for the keyspace in this process.

use super::{CHANGED, DONE, NEWEST, OLDER, Plan, Step, What};
use crate::kv::{Error, Keyspace, Reply, Scored};

const REVISION: &[u8] = br#"{"revision":"#;

pub(super) fn swap(
    keyspace: &mut Keyspace<'_>,
    keys: &[String],
    args: &[Vec<u8>],
) -> Result<Reply, Error> {
    let [entry, generation] = keys else {
        return Err(refused());
    };
    let [plan, value, steps @ ..] = args else {
        return Err(refused());
    };
    let plan: Plan = serde_json::from_slice(plan).map_err(|_| refused())?;
    let newest = keyspace.hash_get(generation, NEWEST)?;
    let newest = newest.as_deref().and_then(number).unwrap_or(-1);
    let held = keyspace.get(entry)?.and_then(|value| revision(&value));
    let held = held.unwrap_or(-1);
    if newest > i64::from(plan.number) || held > plan.revision {
        return Ok(Reply::Integer(OLDER));
    }
    if held != plan.seen {
        return Ok(Reply::Integer(CHANGED));
    }
    for steps in steps {
        let steps: Vec<Step> = serde_json::from_slice(steps).map_err(|_| refused())?;
        for step in steps {
            perform(keyspace, step)?;
        }
    }
    finish(keyspace, (entry, generation), &plan, value)?;
    Ok(Reply::Integer(DONE))
}

fn refused() -> Error {
    Error::Refused("not a plan of documents".to_owned())
}

fn perform(keyspace: &mut Keyspace<'_>, step: Step) -> Result<(), Error> {
    let Step(what, key, values) = step;
    match what {
        What::Delete => drop(keyspace.delete(&key)),
        What::Remove => drop(keyspace.set_remove(&key, &bytes(values))?),
        What::Hash => drop(keyspace.hash_set(&key, fields(values))?),
        What::Sorted => drop(keyspace.sorted_add(&key, scored(values)?)?),
        What::Text => keyspace.set(&key, bytes(values).pop().unwrap_or_default(), None),
        What::Set => drop(keyspace.set_add(&key, bytes(values))?),
    }
    Ok(())
}

fn bytes(values: Vec<String>) -> Vec<Vec<u8>> {
    values.into_iter().map(String::into_bytes).collect()
}

fn fields(values: Vec<String>) -> Vec<(String, Vec<u8>)> {
    let pairs = values.chunks_exact(2);
    let pairs = pairs.map(|pair| (pair[0].clone(), pair[1].clone().into_bytes()));
    pairs.collect()
}

fn scored(values: Vec<String>) -> Result<Vec<Scored>, Error> {
    let pairs = values.chunks_exact(2).map(|pair| {
        let score = pair[0].parse().map_err(|_| refused())?;
        let member = pair[1].clone().into_bytes();
        Ok(Scored { member, score })
    });
    pairs.collect()
}

fn finish(
    keyspace: &mut Keyspace<'_>,
    (entry, generation): (&str, &str),
    plan: &Plan,
    value: &[u8],
) -> Result<(), Error> {
    if plan.is_gone {
        keyspace.delete(entry);
        keyspace.hash_delete(generation, std::slice::from_ref(&plan.field))?;
    } else {
        keyspace.set(entry, value.to_vec(), None);
        let revision = plan.revision.to_string().into_bytes();
        keyspace.hash_set(generation, vec![(plan.field.clone(), revision)])?;
    }
    let number = plan.number.to_string().into_bytes();
    keyspace.hash_set(generation, vec![(NEWEST.to_owned(), number)])?;
    Ok(())
}

/// The revision that a value begins with; nothing without one.
fn revision(value: &[u8]) -> Option<i64> {
    let rest = value.strip_prefix(REVISION)?;
    let end = rest.iter().position(|byte| !byte.is_ascii_digit());
    number(&rest[..end.unwrap_or(rest.len())])
}

fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
