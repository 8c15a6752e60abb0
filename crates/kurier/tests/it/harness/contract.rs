//! The description of the API, held against every answer that a test receives: status, media type and body.

use std::sync::LazyLock;

use reqwest::Method;
use serde_json::Value;

use super::request::Asked;
use super::schema::Schemas;

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&kurier::http::openapi()).expect("JSON"));

/// Panics if the description does not name this answer.
#[track_caller]
pub fn check_head(asked: &Asked, status: u16, kind: Option<&str>) {
    if let Some(operation) = operation(asked) {
        content(asked, operation, status, kind);
    }
}

/// Panics if the description gives the body another shape.
#[track_caller]
pub fn check_body(asked: &Asked, status: u16, kind: Option<&str>, text: &str) {
    let Some(operation) = operation(asked) else {
        return;
    };
    let Some(schema) = content(asked, operation, status, kind) else {
        return;
    };
    if !kind.is_some_and(|it| media_type(it).ends_with("json")) {
        return;
    }
    let body: Value = serde_json::from_str(text).expect("the body is JSON");
    let faults = Schemas::of(&DOCUMENT).faults(schema, &body);
    assert!(
        faults.is_empty(),
        "{}: {faults:#?}\n{body:#}",
        named(asked, status)
    );
}

/// The schema of an answer; nothing if it has no body.
#[track_caller]
fn content(
    asked: &Asked,
    operation: &'static Value,
    status: u16,
    kind: Option<&str>,
) -> Option<&'static Value> {
    let named = named(asked, status);
    let answer = &operation["responses"][status.to_string()];
    assert!(
        !answer.is_null(),
        "{named}: the description has no such status"
    );
    let answer = answer["$ref"]
        .as_str()
        .map_or(answer, |it| DOCUMENT.pointer(&it[1..]).expect("an answer"));
    let contents = answer.get("content").and_then(Value::as_object);
    let Some((contents, kind)) = contents.zip(kind) else {
        let is_same = contents.is_none() && kind.is_none();
        assert!(
            is_same,
            "{named}: media type {kind:?}, described {contents:?}"
        );
        return None;
    };
    let content = contents.get(media_type(kind));
    let content =
        content.unwrap_or_else(|| panic!("{named}: {kind} is not described: {contents:?}"));
    Some(&content["schema"])
}

fn media_type(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}

fn named(asked: &Asked, status: u16) -> String {
    format!("{} {} {status}", asked.method, asked.url)
}

/// The operation at an address. There is none for the pages, for other addresses of SDKs, and for methods that are
/// refused.
fn operation(asked: &Asked) -> Option<&'static Value> {
    if [Method::OPTIONS, Method::HEAD].contains(&asked.method) {
        return None;
    }
    let parts: Vec<&str> = asked.url.path().split('/').collect();
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    let fitting = paths.iter().filter(|(path, _)| fits(path, &parts));
    let (_, item) = fitting.min_by_key(|(path, _)| path.matches('{').count())?;
    item.get(asked.method.as_str().to_ascii_lowercase())
}

fn fits(path: &str, parts: &[&str]) -> bool {
    let templates: Vec<&str> = path.split('/').collect();
    let mut pairs = templates.iter().zip(parts);
    templates.len() == parts.len()
        && pairs.all(|(template, part)| {
            template == part || (template.starts_with('{') && !part.is_empty())
        })
}
