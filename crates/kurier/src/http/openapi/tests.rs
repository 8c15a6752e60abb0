use std::collections::BTreeSet;

use serde_json::Value;

use super::super::openapi as text;

fn document() -> Value {
    serde_json::from_str(&text()).expect("JSON")
}

/// Every operation, as `METHOD PATH`, with its fields.
fn operations(document: &Value) -> Vec<(String, Value)> {
    let mut document = document.clone();
    let mut all = Vec::new();
    super::for_each_operation(&mut document, |path, method, operation| {
        all.push((format!("{method} {path}"), Value::Object(operation.clone())));
    });
    assert!(all.len() > 100);
    all
}

/// All values below a key anywhere.
fn under<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get(key));
            fields.values().for_each(|inner| under(inner, key, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| under(inner, key, found)),
        _ => {}
    }
}

/// The answer, or the shared one that it refers to.
fn resolved<'a>(document: &'a Value, answer: &'a Value) -> &'a Value {
    let target = answer["$ref"].as_str();
    target.map_or(answer, |it| {
        document.pointer(&it[1..]).expect("it is there")
    })
}

#[test]
fn every_operation_has_a_name_of_its_own() {
    let document = document();
    let mut names = BTreeSet::new();
    for (operation, fields) in operations(&document) {
        let name = fields["operationId"].as_str().expect("a name").to_owned();
        assert!(names.insert(name), "{operation}");
    }
    assert!(names.contains("segments_members_list"), "{names:?}");
}

#[test]
fn every_reference_has_its_target() {
    let document = document();
    let mut references = Vec::new();
    under(&document, "$ref", &mut references);
    assert!(references.len() > 100);
    for reference in references.into_iter().filter_map(Value::as_str) {
        let place = reference.trim_start_matches('#');
        assert!(
            document.pointer(place).is_some(),
            "{reference} is not there"
        );
    }
}

#[test]
fn every_problem_names_its_codes_and_every_answer_is_described() {
    let document = document();
    for (operation, fields) in operations(&document) {
        for (status, answer) in fields["responses"].as_object().expect("answers") {
            let answer = resolved(&document, answer);
            let text = answer["description"].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{operation} {status}");
            if status.as_str() >= "400" {
                let schema = &answer["content"]["application/problem+json"]["schema"];
                let codes = schema["allOf"][1]["properties"]["code"]["enum"].as_array();
                assert!(
                    codes.is_some_and(|all| !all.is_empty()),
                    "{operation} {status}"
                );
            }
        }
    }
}

/// The names in backticks that no code has, such as those of fields, are known.
#[test]
fn annotations_name_codes_that_there_are() {
    const FIELDS: [&str; 5] = ["errors", "expression_errors", "faults", "admin", "now"];
    for (operation, fields) in operations(&document()) {
        for (status, answer) in fields["responses"].as_object().expect("answers") {
            let text = answer["description"].as_str().unwrap_or_default();
            let status = status.parse().unwrap_or(0);
            for name in text.split('`').skip(1).step_by(2).filter(|_| status >= 400) {
                let is_known = FIELDS.contains(&name)
                    || super::super::problem_code::listed(name, status).is_some();
                assert!(is_known, "{operation} {status}: `{name}`");
            }
        }
    }
}

#[test]
fn every_request_and_answer_has_an_example() {
    let document = document();
    let mut missing = Vec::new();
    for (operation, fields) in operations(&document) {
        let answers = fields["responses"].as_object().expect("answers");
        let answers = answers.values().map(|it| resolved(&document, it));
        for holder in answers.chain([&fields["requestBody"]]) {
            for (kind, content) in holder["content"].as_object().into_iter().flatten() {
                let example = content
                    .get("example")
                    .filter(|it| **it != serde_json::json!({}));
                if !GENERATED.contains(&kind.as_str()) && example.is_none() {
                    missing.push(format!("{operation}: {holder}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Answers that are pages, streams and tables.
const GENERATED: [&str; 4] = ["text/html", "text/event-stream", "text/csv", "text/plain"];

/// All places of a text in a value.
fn places(value: &Value, text: &str, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                places(inner, text, &format!("{place}/{name}"), found);
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|inner| places(inner, text, place, found)),
        _ if value == text => found.push(place.to_owned()),
        _ => {}
    }
}

#[test]
fn no_field_has_a_placeholder_for_an_example() {
    let document = document();
    let mut examples = Vec::new();
    under(&document["paths"], "example", &mut examples);
    let mut found = Vec::new();
    for example in examples {
        places(example, super::examples::PLACEHOLDER, "", &mut found);
    }
    assert!(found.is_empty(), "these need an example: {found:#?}");
}

/// The names that schemas have in the description, as the sources say.
#[derive(Default)]
struct SchemaNames(Vec<String>);

impl SchemaNames {
    fn add(&mut self, name: &syn::Ident, attributes: &[syn::Attribute]) {
        let text = |it: &syn::Attribute| match &it.meta {
            syn::Meta::List(list) => list.tokens.to_string(),
            _ => String::new(),
        };
        let has = |path: &str, part: &str| {
            let mut all = attributes.iter().filter(|it| it.path().is_ident(path));
            all.any(|it| text(it).contains(part))
        };
        if has("derive", "ToSchema") {
            let renamed = attributes.iter().filter(|it| it.path().is_ident("schema"));
            let renamed = renamed
                .map(text)
                .find_map(|it| Some(it.split_once("as = ")?.1.to_owned()));
            let renamed =
                renamed.map(|it| it.split([',', ' ']).next().unwrap_or_default().to_owned());
            self.0.push(renamed.unwrap_or_else(|| name.to_string()));
        }
    }
}

impl<'ast> syn::visit::Visit<'ast> for SchemaNames {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add(&item.ident, &item.attrs);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add(&item.ident, &item.attrs);
    }
}

fn sources(folder: &std::path::Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        match entry.path() {
            path if path.is_dir() => sources(&path, found),
            path if path.extension().is_some_and(|it| it == "rs") => {
                found.push(std::fs::read_to_string(path).expect("it can be read"));
            }
            _ => {}
        }
    }
}

/// Of two schemas with one name the description would have one, and the other's operations would lie.
#[test]
fn every_schema_has_a_name_of_its_own() {
    let mut texts = Vec::new();
    sources(
        &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut texts,
    );
    let mut names = SchemaNames::default();
    for text in texts {
        let file = syn::parse_file(&text).expect("Rust");
        syn::visit::Visit::visit_file(&mut names, &file);
    }
    assert!(names.0.len() > 100 && names.0.contains(&"JourneyVersion".to_owned()));
    let mut each = BTreeSet::new();
    let twice: Vec<_> = names.0.iter().filter(|it| !each.insert(*it)).collect();
    assert!(twice.is_empty(), "{twice:?}");
}
