//! The answers of each operation: those that follow from its parameters, its body and the keys it asks for are added to
//! those that its annotation names. Backticks in the description of an annotated problem name its codes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::super::problem_code;
use super::{for_each_operation, problems};

type Codes = BTreeSet<&'static str>;

pub fn add(method: &str, shared_security: &Value, operation: &mut Map<String, Value>) {
    let security = operation.get("security").unwrap_or(shared_security);
    let mut by_status = by_keys(method, security);
    // Health and metrics are answered without the database.
    if operation["tags"] != json!(["operations"]) {
        by_status.insert(503, Codes::from(["unavailable"]));
    }
    by_shape(operation, &mut by_status);
    let Some(answers) = operation
        .get_mut("responses")
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    let annotated = answers.keys().filter_map(|it| it.parse::<u16>().ok());
    let annotated = annotated.filter(|status| *status >= 400);
    let statuses: BTreeSet<u16> = annotated.chain(by_status.keys().copied()).collect();
    for status in statuses {
        let found = answers.remove(&status.to_string()).unwrap_or_default();
        let codes = by_status.remove(&status).unwrap_or_default();
        answers.insert(status.to_string(), problem(status, codes, &found));
    }
}

/// The problems of whoever comes without a key, or with one that may not do this.
fn by_keys(method: &str, security: &Value) -> BTreeMap<u16, Codes> {
    let ways: Vec<&Map<String, Value>> = security
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .collect();
    let has = |name: &str| ways.iter().any(|way| way.contains_key(name));
    let mut by_status = BTreeMap::from([(500, Codes::from(["internal"]))]);
    if has("bearer") {
        by_status.insert(401, Codes::from(["unauthorized"]));
        by_status.insert(403, Codes::from(["forbidden"]));
    }
    if has("cookie") {
        by_status.entry(401).or_default().insert("signed_out");
        if method != "get" {
            by_status.entry(403).or_default().insert("csrf");
        }
    }
    by_status
}

/// The problems of parameters and bodies.
fn by_shape(operation: &Map<String, Value>, by_status: &mut BTreeMap<u16, Codes>) {
    let parameters = operation.get("parameters").and_then(Value::as_array);
    let has = |place: &str| parameters.is_some_and(|all| all.iter().any(|it| it["in"] == place));
    let mut add = |status: u16, code| {
        by_status.entry(status).or_default().insert(code);
    };
    if has("path") {
        add(404, "not_found");
    }
    if has("query") {
        add(400, "bad_parameter");
    }
    let Some(body) = operation.get("requestBody") else {
        return;
    };
    for (status, code) in [
        (400, "bad_body"),
        (400, "bad_encoding"),
        (408, "timeout"),
        (413, "too_large"),
    ] {
        add(status, code);
    }
    add(415, "unknown_encoding");
    if body["content"].get("application/json").is_some() {
        add(400, "bad_json");
    }
}

/// The problem of an annotation with the codes that follow from rules; other content that it names stays.
fn problem(status: u16, mut codes: Codes, annotated: &Value) -> Value {
    let description = annotated["description"].as_str().unwrap_or_default();
    let named = description.split('`').skip(1).step_by(2);
    codes.extend(named.filter_map(|it| problem_code::listed(it, status)));
    let mut answer = problems::answer(status, &codes, description);
    for (kind, content) in annotated["content"].as_object().into_iter().flatten() {
        if !kind.ends_with("json") {
            answer["content"][kind] = content.clone();
        }
    }
    answer
}

/// Describes answers of which the annotation says nothing by what they hold.
pub fn describe(document: &mut Value) {
    let schemas = document["components"]["schemas"].clone();
    for_each_operation(document, |_, _, operation| {
        let answers = operation
            .get_mut("responses")
            .and_then(Value::as_object_mut);
        for (status, answer) in answers.into_iter().flatten() {
            let is_described = answer["description"]
                .as_str()
                .is_some_and(|it| !it.is_empty());
            if answer.get("$ref").is_none() && !is_described {
                answer["description"] = json!(described(status, answer, &schemas));
            }
        }
    });
}

fn described(status: &str, answer: &Value, schemas: &Value) -> String {
    let contents = answer["content"].as_object().into_iter().flatten();
    let mut named =
        contents.filter_map(|(_, it)| it["schema"]["$ref"].as_str()?.rsplit('/').next());
    let schema = named
        .next()
        .and_then(|name| schemas[name]["description"].as_str());
    let first = schema.and_then(|text| text.split("\n\n").next());
    first.map_or_else(
        || fallback(status).to_owned(),
        |text| text.replace('\n', " "),
    )
}

fn fallback(status: &str) -> &'static str {
    match status {
        "201" => "Created",
        "202" => "Durable; it can be read in a moment",
        "204" => "Done",
        _ => "Success",
    }
}
