//! Front matter: what a document says of itself before it begins, in YAML between `---` or in
//! TOML between `+++`. It stands at the very beginning or it is none.

use serde::{Deserialize, Serialize};
use serde_json::Value;

const BYTES_MAX: usize = 64 * 1024;
const ENTRIES_MAX: usize = 64;
const ENTRY_CHARS_MAX: usize = 200;

/// What of it is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Front {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Why it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Yaml,
    Toml,
}

/// The front matter, and where the document begins behind it.
pub fn take(text: &str) -> (Front, usize) {
    let Some((format, inner, end)) = block(text) else {
        return (Front::default(), 0);
    };
    match read(format, inner) {
        Ok(Value::Object(fields)) => (front(&fields), end),
        Ok(Value::Null) => (Front::default(), end),
        // Two rules with a text between them are no front matter: nothing may be lost.
        _ if !begins_with_field(format, inner) => (Front::default(), 0),
        Ok(_) => (faulty("is not a list of fields".to_owned()), end),
        Err(fault) => (faulty(fault), end),
    }
}

fn faulty(fault: String) -> Front {
    Front {
        fault: Some(fault),
        ..Front::default()
    }
}

/// The format, what stands between the fences, and where the line of the second one ends.
fn block(text: &str) -> Option<(Format, &str, usize)> {
    let (first, _) = line_at(text, 0);
    let format = match first.trim_end() {
        "---" => Format::Yaml,
        "+++" => Format::Toml,
        _ => return None,
    };
    let begin = line_end(text, 0);
    let mut at = begin;
    while at < text.len() {
        let (line, end) = line_at(text, at);
        let closes = matches!(
            (format, line.trim_end()),
            (Format::Yaml, "---" | "...") | (Format::Toml, "+++")
        );
        if closes {
            return Some((format, &text[begin..at], end));
        }
        at = end;
    }
    None
}

/// The line that begins at a place, without its end, and where the next one begins.
fn line_at(text: &str, at: usize) -> (&str, usize) {
    let end = line_end(text, at);
    (text[at..end].trim_end_matches(['\r', '\n']), end)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

fn begins_with_field(format: Format, inner: &str) -> bool {
    let is_said = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let Some(first) = inner.lines().find(is_said) else {
        return true;
    };
    let mark = match format {
        Format::Yaml => ':',
        Format::Toml => '=',
    };
    let name = first.split(mark).next().unwrap_or_default().trim();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '"' | '\'');
    first.contains(mark) && !name.is_empty() && name.chars().all(is_name)
}

fn read(format: Format, inner: &str) -> Result<Value, String> {
    if inner.len() > BYTES_MAX {
        let length = inner.len();
        return Err(format!(
            "is {length} bytes long; {BYTES_MAX} are read at most"
        ));
    }
    match format {
        Format::Yaml => read_yaml(inner),
        Format::Toml => {
            toml::from_str(inner).map_err(|error| format!("is not TOML: {}", error.message()))
        }
    }
}

fn read_yaml(inner: &str) -> Result<Value, String> {
    if inner.trim().is_empty() {
        return Ok(Value::Null);
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 32,
            max_aliases: 100,
            max_anchors: 100,
            max_nodes: 20_000,
        },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(inner, options)
        .map_err(|error| format!("is not YAML: {error}"))
}

fn front(fields: &serde_json::Map<String, Value>) -> Front {
    let first = |names: [&str; 2]| names.into_iter().find_map(|name| fields.get(name));
    let text = |names| first(names).and_then(said);
    let list = |names| first(names).map(entries).unwrap_or_default();
    Front {
        title: text(["title", "Title"]),
        lang: text(["lang", "language"]),
        categories: list(["categories", "category"]),
        authors: list(["authors", "author"]),
        tags: fields
            .get("tags")
            .or(fields.get("tag"))
            .map(tags)
            .unwrap_or_default(),
        fault: None,
    }
}

/// A text that says something, on one line.
fn said(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Object(fields) => return fields.get("name").and_then(said),
        _ => return None,
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(ENTRY_CHARS_MAX).collect();
    (!line.is_empty()).then(|| super::source::mended(&line).into_owned())
}

fn entries(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().filter_map(said).take(ENTRIES_MAX).collect(),
        value => said(value).into_iter().collect(),
    }
}

/// `a, b` is two tags.
fn tags(value: &Value) -> Vec<String> {
    let Value::String(text) = value else {
        return entries(value);
    };
    let parts = text.split(',').map(Value::from);
    parts
        .filter_map(|part| said(&part))
        .take(ENTRIES_MAX)
        .collect()
}
