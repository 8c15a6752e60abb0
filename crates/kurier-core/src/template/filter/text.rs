//! Filters that make a text of a text.

use std::borrow::Cow;

use super::super::escape;
use super::super::limits::Limit;
use super::super::show::json_text;
use super::{Bench, Filter, count_arg, text_arg};
use crate::value::Value;

pub fn apply(
    filter: Filter,
    text: &str,
    args: &[Cow<'_, Value>],
    bench: &mut Bench<'_>,
) -> Result<String, Limit> {
    // Letters may become longer, but not by more than this.
    bench.budget.text(text.len())?;
    match filter {
        Filter::Upcase => made(text.to_uppercase(), bench),
        Filter::Downcase => made(text.to_lowercase(), bench),
        Filter::Capitalize => made(capitalize(text), bench),
        Filter::Strip => Ok(text.trim().to_owned()),
        Filter::Escape => made(escape::html(text), bench),
        Filter::NewlineToBr => made(escape::html(text).replace('\n', "<br />\n"), bench),
        Filter::UrlEncode => made(escape::url(text), bench),
        Filter::Truncate => truncate(text, args, bench),
        Filter::TruncateWords => truncate_words(text, args, bench),
        Filter::Replace => replace(text, args, bench),
        Filter::Append => joined(text, args, bench, false),
        Filter::Prepend => joined(text, args, bench, true),
        _ => Ok(text.to_owned()),
    }
}

fn made(text: String, bench: &mut Bench<'_>) -> Result<String, Limit> {
    bench.budget.text(text.len())?;
    Ok(text)
}

fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters.flat_map(char::to_lowercase)).collect()
}

fn truncate(text: &str, args: &[Cow<'_, Value>], bench: &mut Bench<'_>) -> Result<String, Limit> {
    let ellipsis = text_arg(args, 1, bench)?.unwrap_or(Cow::Borrowed("…"));
    let most = count_arg(args, 0).unwrap_or(usize::MAX);
    if text.char_indices().nth(most).is_none() {
        return Ok(text.to_owned());
    }
    let keep = most.saturating_sub(ellipsis.chars().count());
    let end = text
        .char_indices()
        .nth(keep)
        .map_or(text.len(), |(at, _)| at);
    concat(&text[..end], &ellipsis, bench)
}

fn truncate_words(
    text: &str,
    args: &[Cow<'_, Value>],
    bench: &mut Bench<'_>,
) -> Result<String, Limit> {
    let ellipsis = text_arg(args, 1, bench)?.unwrap_or(Cow::Borrowed("…"));
    let most = count_arg(args, 0).unwrap_or(usize::MAX);
    let words: Vec<&str> = text
        .split_whitespace()
        .take(most.saturating_add(1).min(text.len() + 1))
        .collect();
    if words.len() <= most {
        return Ok(text.to_owned());
    }
    concat(&words[..most].join(" "), &ellipsis, bench)
}

fn replace(text: &str, args: &[Cow<'_, Value>], bench: &mut Bench<'_>) -> Result<String, Limit> {
    let wanted = text_arg(args, 0, bench)?.unwrap_or_default();
    let other = text_arg(args, 1, bench)?.unwrap_or_default();
    if wanted.is_empty() {
        return Ok(text.to_owned());
    }
    // How long it becomes is known before it is made.
    let found = text.matches(wanted.as_ref()).count();
    let kept = text.len() - found * wanted.len();
    bench
        .budget
        .text(kept.saturating_add(found.saturating_mul(other.len())))?;
    Ok(text.replace(wanted.as_ref(), &other))
}

fn joined(
    text: &str,
    args: &[Cow<'_, Value>],
    bench: &mut Bench<'_>,
    before: bool,
) -> Result<String, Limit> {
    let other = text_arg(args, 0, bench)?.unwrap_or_default();
    match before {
        true => concat(&other, text, bench),
        false => concat(text, &other, bench),
    }
}

fn concat(a: &str, b: &str, bench: &mut Bench<'_>) -> Result<String, Limit> {
    bench.budget.text(a.len().saturating_add(b.len()))?;
    Ok([a, b].concat())
}

pub fn json<'a>(input: &Value, bench: &mut Bench<'_>) -> Result<Cow<'a, Value>, Limit> {
    Ok(Cow::Owned(Value::Text(json_text(input, bench.budget)?)))
}
