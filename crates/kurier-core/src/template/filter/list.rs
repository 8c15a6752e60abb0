//! Filters for lists; of a text, its characters.

use std::borrow::Cow;

use super::super::limits::{ITEM_BYTES, ITEMS_MAX, Limit, TEXT_BYTES_MAX};
use super::super::show::{push, show, weigh};
use super::{Bench, Filter, text_arg};
use crate::value::Value;

pub fn apply<'a>(
    filter: Filter,
    input: Cow<'a, Value>,
    args: &[Cow<'a, Value>],
    bench: &mut Bench<'_>,
) -> Result<Cow<'a, Value>, Limit> {
    match filter {
        Filter::First => item(input, bench, true),
        Filter::Last => item(input, bench, false),
        Filter::Size => size(&input, bench).map(Cow::Owned),
        Filter::Split => split(&input, args, bench),
        _ => join(&input, args, bench),
    }
}

fn item<'a>(
    input: Cow<'a, Value>,
    bench: &mut Bench<'_>,
    first: bool,
) -> Result<Cow<'a, Value>, Limit> {
    let of = |list: &'a [Value]| if first { list.first() } else { list.last() };
    match input {
        Cow::Borrowed(Value::List(list)) => Ok(of(list).map_or_else(nothing, Cow::Borrowed)),
        Cow::Owned(Value::List(mut list)) => {
            let taken = if first && !list.is_empty() {
                Some(list.swap_remove(0))
            } else {
                list.pop()
            };
            Ok(Cow::Owned(taken.unwrap_or_default()))
        }
        input => character(&input, bench, first),
    }
}

fn nothing<'a>() -> Cow<'a, Value> {
    Cow::Owned(Value::Null)
}

fn character<'a>(
    input: &Value,
    bench: &mut Bench<'_>,
    first: bool,
) -> Result<Cow<'a, Value>, Limit> {
    let Value::Text(text) = input else {
        return Ok(nothing());
    };
    bench.budget.work(4)?;
    let mut letters = text.chars();
    let letter = if first {
        letters.next()
    } else {
        letters.next_back()
    };
    Ok(letter.map_or_else(nothing, |c| Cow::Owned(Value::Text(c.to_string()))))
}

fn size(input: &Value, bench: &mut Bench<'_>) -> Result<Value, Limit> {
    if let Value::Text(text) = input {
        bench.budget.work(text.len() as u64)?;
    }
    let size = match input {
        Value::Text(text) => text.chars().count(),
        Value::List(list) => list.len(),
        Value::Object(object) => object.len(),
        _ => 0,
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

fn split<'a>(
    input: &Value,
    args: &[Cow<'_, Value>],
    bench: &mut Bench<'_>,
) -> Result<Cow<'a, Value>, Limit> {
    let text = show(input, bench.budget)?;
    let by = text_arg(args, 0, bench)?.unwrap_or_default();
    bench.budget.work(text.len() as u64)?;
    let mut parts: Box<dyn Iterator<Item = &str>> = match by.as_ref() {
        "" => Box::new(text.split("").filter(|part| !part.is_empty())),
        by => Box::new(text.split(by)),
    };
    let mut list = Vec::new();
    for part in parts.by_ref().take(ITEMS_MAX + 1) {
        bench.budget.work((part.len() + ITEM_BYTES) as u64)?;
        list.push(Value::Text(part.to_owned()));
    }
    match list.len() > ITEMS_MAX {
        true => Err(Limit::Items),
        false => Ok(Cow::Owned(Value::List(list))),
    }
}

fn join<'a>(
    input: &Value,
    args: &[Cow<'_, Value>],
    bench: &mut Bench<'_>,
) -> Result<Cow<'a, Value>, Limit> {
    let by = text_arg(args, 0, bench)?.unwrap_or(Cow::Borrowed(" "));
    let Value::List(list) = input else {
        bench.budget.work(weigh(input))?;
        return Ok(Cow::Owned(input.clone()));
    };
    let mut joined = String::new();
    for (index, item) in list.iter().enumerate() {
        bench.budget.step()?;
        if index > 0 {
            push(&mut joined, &by, TEXT_BYTES_MAX, Limit::Text)?;
        }
        let shown = show(item, bench.budget)?;
        push(&mut joined, &shown, TEXT_BYTES_MAX, Limit::Text)?;
    }
    bench.budget.text(joined.len())?;
    Ok(Cow::Owned(Value::Text(joined)))
}
