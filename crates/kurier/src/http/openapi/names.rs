//! Names of operations. Generators of clients need one for each: its subject, and its name in the source.

use serde_json::{Map, Value};

pub fn add(path: &str, operation: &mut Map<String, Value>) {
    let called = operation["operationId"].as_str().unwrap_or_default();
    let name = operation_name(path, called);
    operation.insert("operationId".to_owned(), name.into());
}

fn operation_name(path: &str, called: &str) -> String {
    let subject = path.trim_start_matches("/api").trim_start_matches("/v1");
    let parts = subject.split('/').filter(|part| !part.starts_with('{'));
    let mut parts: Vec<String> = parts
        .filter(|part| !part.is_empty())
        .map(|part| part.replace(['-', '.'], "_"))
        .collect();
    if parts.last().is_none_or(|last| last != called) {
        parts.push(called.to_owned());
    }
    parts.join("_")
}
