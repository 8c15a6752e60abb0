//! The description of the API: valid by the rules of OpenAPI 3.1, and held against every answer of all other tests.

use std::path::Path;
use std::process::{Command, Output};

use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::harness::contract;
use crate::harness::kit::{Installed, Kit, run};
use crate::harness::request::Asked;
use crate::harness::schema::Schemas;

const VALIDATOR: Kit = Kit {
    name: "openapi",
    python: &["openapi-spec-validator==0.9.0"],
    node: &[],
};

fn validated(kit: &Installed, folder: &Path, document: &Value) -> Output {
    let file = folder.join("openapi.json");
    std::fs::write(&file, document.to_string()).expect("written");
    let mut validator = Command::new(&kit.python);
    let validator = validator.args(["-m", "openapi_spec_validator", "--schema", "3.1"]);
    validator.arg(&file).output().expect("it runs")
}

#[test]
fn the_description_is_valid_openapi() {
    let kit = VALIDATOR.install();
    let folder = tempfile::tempdir().expect("a folder");
    let mut document: Value = serde_json::from_str(&kurier::http::openapi()).expect("JSON");
    let valid = validated(&kit, folder.path(), &document);
    let text = String::from_utf8_lossy(&valid.stdout);
    assert!(valid.status.success(), "{text}");
    // An answer without a description is what it was refused for once.
    let answer = &mut document["paths"]["/api/v1/segments"]["get"]["responses"]["200"];
    answer
        .as_object_mut()
        .expect("fields")
        .remove("description");
    assert!(!validated(&kit, folder.path(), &document).status.success());
}

/// Examples of all answers, whole and with one value changed, by our own reading of schemas and by that of Python.
#[test]
fn schemas_are_read_as_others_read_them() {
    let kit = VALIDATOR.install();
    let document: Value = serde_json::from_str(&kurier::http::openapi()).expect("JSON");
    let cases = cases(&document);
    assert!(cases.len() > 1_000, "{}", cases.len());
    let ours: Vec<bool> = cases
        .iter()
        .map(|(schema, value)| faults(&document, schema, value).is_empty())
        .collect();
    let written = json!({"components": document["components"], "cases": cases}).to_string();
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("cases.json"), written).expect("written");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/openapi/schemas.py");
    let said = run(Command::new(&kit.python)
        .arg(script)
        .arg(folder.path().join("cases.json")));
    let theirs: Vec<bool> = serde_json::from_str(&said).expect("verdicts");
    let valid = ours.iter().filter(|it| **it).count();
    assert!(
        valid > 300 && valid < cases.len() - 300,
        "{valid} of {}",
        cases.len()
    );
    for ((case, ours), theirs) in cases.iter().zip(ours).zip(theirs) {
        assert_eq!(
            ours,
            theirs,
            "{case:?}: {:?}",
            faults(&document, case.0, &case.1)
        );
    }
}

/// Without those of fields that are not described, which by the rules of JSON Schema are none.
fn faults(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Schemas::of(document).faults(schema, value);
    faults.retain(|it| !it.ends_with("is not described"));
    faults
}

fn cases(document: &Value) -> Vec<(&Value, Value)> {
    let mut cases = Vec::new();
    let operations = document["paths"].as_object().into_iter().flatten();
    let operations = operations.flat_map(|(_, item)| item.as_object().into_iter().flatten());
    let answers = operations
        .flat_map(|(_, operation)| operation["responses"].as_object().into_iter().flatten());
    for (_, answer) in answers {
        for (_, content) in answer["content"].as_object().into_iter().flatten() {
            let (schema, example) = (&content["schema"], &content["example"]);
            cases.push((schema, example.clone()));
            for (name, _) in example.as_object().into_iter().flatten() {
                for other in [json!(null), json!("text"), json!([7]), json!({"data": 1})] {
                    let mut changed = example.clone();
                    changed[name] = other;
                    cases.push((schema, changed));
                }
                let mut shorter = example.clone();
                shorter.as_object_mut().expect("fields").remove(name);
                cases.push((schema, shorter));
            }
        }
    }
    cases
}

fn asked(path: &str) -> Asked {
    let url = format!("http://127.0.0.1:8787{path}");
    Asked {
        method: Method::GET,
        url: Url::parse(&url).expect("an address"),
    }
}

const JSON: Option<&str> = Some("application/json");

#[test]
fn described_answers_pass() {
    let segments = asked("/api/v1/segments");
    contract::check_head(&segments, 200, JSON);
    contract::check_body(&segments, 200, JSON, r#"{"data": []}"#);
    // Neither is an operation of the API.
    contract::check_head(&asked("/"), 418, Some("text/html"));
    contract::check_head(&asked("/v1/projects/key/settings"), 418, JSON);
}

#[test]
#[should_panic(expected = "no such status")]
fn a_status_that_is_not_described_fails() {
    contract::check_head(&asked("/api/v1/segments"), 418, JSON);
}

#[test]
#[should_panic(expected = "is not described")]
fn a_media_type_that_is_not_described_fails() {
    contract::check_head(&asked("/api/v1/segments"), 401, Some("text/plain"));
}

#[test]
#[should_panic(expected = "/new: is not described")]
fn a_field_that_is_not_described_fails() {
    let body = json!({"data": [], "new": 1}).to_string();
    contract::check_body(&asked("/api/v1/segments"), 200, JSON, &body);
}

#[test]
#[should_panic(expected = "does not fit enum")]
fn a_code_that_an_operation_does_not_have_fails() {
    let body = json!({"type": "urn:kurier:problem:bad_segment", "title": "Unauthorized", "status": 401, "detail": "x",
        "code": "bad_segment", "message": "x", "meta": {"error": "x"}});
    let kind = Some("application/problem+json");
    contract::check_body(&asked("/api/v1/segments"), 401, kind, &body.to_string());
}
