//! The twins of the scripts, for the keyspace in this process.

use super::aside::{List, Of};
use super::step::{Step, What};
use super::{CHANGED, DONE, NEWEST, OLDER, Plan};
use crate::kv::{Error, Keyspace, Order, Reply, Scored};

const REVISION: &[u8] = br#"{"revision":"#;

/// The twin of `swap.lua`.
pub(super) fn swap(
    keyspace: &mut Keyspace<'_>,
    keys: &[String],
    args: &[Vec<u8>],
) -> Result<Reply, Error> {
    let ([entry, generation, _], [plan, value, steps @ ..]) = (keys, args) else {
        return Err(refused());
    };
    let plan: Plan = read(plan)?;
    if let Some(reason) = objection(keyspace, (entry, generation), &plan)? {
        return Ok(Reply::Integer(reason));
    }
    for steps in steps {
        let steps: Vec<Step> = read(steps)?;
        for step in steps {
            perform(keyspace, step)?;
        }
    }
    finish(keyspace, (entry, generation), &plan, value)?;
    Ok(Reply::Integer(DONE))
}

/// The twin of `put.lua`.
pub(super) fn put(
    keyspace: &mut Keyspace<'_>,
    keys: &[String],
    args: &[Vec<u8>],
) -> Result<Reply, Error> {
    let ([aside], [ttl_ms, steps]) = (keys, args) else {
        return Err(refused());
    };
    let (ttl_ms, steps): (u64, Vec<Step>) = (read(ttl_ms)?, read(steps)?);
    for Step(what, key, values) in steps {
        let key = format!("{aside}{key}");
        perform(keyspace, Step(what, key.clone(), values))?;
        keyspace.expire(&key, ttl_ms);
    }
    Ok(Reply::Integer(DONE))
}

/// The twin of `bring.lua`.
pub(super) fn bring(
    keyspace: &mut Keyspace<'_>,
    keys: &[String],
    args: &[Vec<u8>],
) -> Result<Reply, Error> {
    let ([entry, generation, aside], [plan, value]) = (keys, args) else {
        return Err(refused());
    };
    let plan: Plan = read(plan)?;
    if let Some(reason) = objection(keyspace, (entry, generation), &plan)? {
        return Ok(Reply::Integer(reason));
    }
    let mut lists = Vec::with_capacity(plan.aside.len());
    for list in &plan.aside {
        let members = listed(keyspace, aside, list)?;
        let is_there = |key: &String| keyspace.exists(&format!("{aside}{key}"));
        let is_whole = list.0 != Of::Keys || members.iter().all(is_there);
        if members.len() != list.2 || !is_whole {
            return Ok(Reply::Integer(CHANGED));
        }
        lists.push((list, members));
    }
    for (list, members) in lists {
        deal(keyspace, aside, list, members)?;
        keyspace.delete(&format!("{aside}{}", list.place()));
    }
    finish(keyspace, (entry, generation), &plan, value)?;
    Ok(Reply::Integer(DONE))
}

/// What is in a list; of texts their keys, as these say which they are.
fn listed(keyspace: &Keyspace<'_>, aside: &str, list: &List) -> Result<Vec<String>, Error> {
    let place = format!("{aside}{}", list.place());
    if list.0 == Of::Texts {
        let texts = keyspace.hash_get_all(&place)?.into_iter();
        return Ok(texts.map(|(key, _)| key).collect());
    }
    let members = keyspace.sorted_range(&place, 0, -1, Order::Ascending)?;
    let texts = members.into_iter().map(|it| String::from_utf8(it.member));
    texts.map(|text| text.map_err(|_| refused())).collect()
}

fn deal(
    keyspace: &mut Keyspace<'_>,
    aside: &str,
    list: &List,
    members: Vec<String>,
) -> Result<(), Error> {
    match list.0 {
        Of::Keys => members.iter().for_each(|key| {
            keyspace.rename(&format!("{aside}{key}"), key);
            keyspace.persist(key);
        }),
        Of::Texts => {
            let texts = keyspace.hash_get_all(&format!("{aside}{}", list.place()))?;
            let texts = texts.into_iter();
            texts.for_each(|(key, text)| keyspace.set(&key, text, None));
        }
        Of::Deleted => members.iter().for_each(|key| {
            keyspace.delete(key);
        }),
        Of::Added => drop(keyspace.set_add(&list.1, bytes(members))?),
        Of::Removed => drop(keyspace.set_remove(&list.1, &bytes(members))?),
    }
    Ok(())
}

/// Why nothing is to be written, if so.
fn objection(
    keyspace: &Keyspace<'_>,
    (entry, generation): (&str, &str),
    plan: &Plan,
) -> Result<Option<i64>, Error> {
    let newest = keyspace.hash_get(generation, NEWEST)?;
    let newest = newest.as_deref().and_then(number).unwrap_or(-1);
    let held = keyspace.get(entry)?.and_then(|value| revision(&value));
    let held = held.unwrap_or(-1);
    let is_older = newest > i64::from(plan.number) || held > plan.revision;
    let is_changed = held != plan.seen;
    Ok(is_older.then_some(OLDER).or(is_changed.then_some(CHANGED)))
}

fn read<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|_| refused())
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
        What::Own | What::Shared => drop(keyspace.set_add(&key, bytes(values))?),
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
