//! Examples of every request and answer, put together from the examples of their fields.

use serde_json::{Map, Value, json};

use super::for_each_operation;

/// Schemas hold one another; no body of this API is deeper.
const DEPTH_MAX: usize = 12;

pub fn add(document: &mut Value) {
    let schemas = document["components"]["schemas"].clone();
    let examples = Examples { schemas: &schemas };
    for_each_operation(document, |_, _, operation| {
        let parameters = operation
            .get_mut("parameters")
            .and_then(Value::as_array_mut);
        for parameter in parameters.into_iter().flatten() {
            examples.add_to_parameter(parameter);
        }
        if let Some(body) = operation.get_mut("requestBody") {
            examples.add_to_contents(body);
        }
        let answers = operation
            .get_mut("responses")
            .and_then(Value::as_object_mut);
        for (_, answer) in answers.into_iter().flatten() {
            examples.add_to_contents(answer);
        }
    });
}

struct Examples<'a> {
    schemas: &'a Value,
}

impl Examples<'_> {
    /// Only the path needs values: an example of a filter would hide most of a list.
    fn add_to_parameter(&self, parameter: &mut Value) {
        if parameter["in"] == "path" && parameter.get("example").is_none() {
            let name = parameter["name"].as_str().unwrap_or_default();
            parameter["example"] = self.of_field(name, &parameter["schema"], 0);
        }
    }

    fn add_to_contents(&self, holder: &mut Value) {
        let contents = holder.get_mut("content").and_then(Value::as_object_mut);
        for (kind, content) in contents.into_iter().flatten() {
            if is_data(kind) && content.get("example").is_none() {
                content["example"] = self.of(&content["schema"], 0);
            }
        }
    }

    fn of(&self, schema: &Value, depth: usize) -> Value {
        self.of_field("", schema, depth)
    }

    fn of_field(&self, name: &str, schema: &Value, depth: usize) -> Value {
        if let Some(known) = written(schema) {
            return known;
        }
        if let Some(target) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
            return self.of_field(name, &self.schemas[target], depth);
        }
        if let Some(parts) = schema["allOf"].as_array() {
            return self.of_all(parts, depth);
        }
        let choices = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
        if let Some(choice) = choices.and_then(|all| all.iter().find(|it| it["type"] != "null")) {
            return self.of_field(name, choice, depth);
        }
        match kind(schema) {
            "object" => self.of_object(schema, depth),
            "array" if depth < DEPTH_MAX => {
                json!([self.of_field(name, &schema["items"], depth + 1)])
            }
            "array" => json!([]),
            "string" => json!(text(name, schema)),
            "integer" | "number" => number(schema),
            "boolean" => json!(true),
            _ => json!({}),
        }
    }

    fn of_all(&self, parts: &[Value], depth: usize) -> Value {
        let mut all = Map::new();
        for part in parts {
            if let Value::Object(fields) = self.of(part, depth) {
                all.extend(fields);
            }
        }
        Value::Object(all)
    }

    fn of_object(&self, schema: &Value, depth: usize) -> Value {
        let fields = schema["properties"].as_object().into_iter().flatten();
        let fields = fields.filter(|_| depth < DEPTH_MAX);
        let fields =
            fields.map(|(name, field)| (name.clone(), self.of_field(name, field, depth + 1)));
        Value::Object(fields.collect())
    }
}

fn is_data(kind: &str) -> bool {
    kind.ends_with("json") || kind.ends_with("yaml")
}

/// An example that the schema names itself.
fn written(schema: &Value) -> Option<Value> {
    let first = |key: &str| schema[key].as_array().and_then(|all| all.first());
    let known = [
        schema.get("example"),
        first("examples"),
        schema.get("const"),
        first("enum"),
        schema.get("default"),
    ];
    known
        .into_iter()
        .flatten()
        .find(|it| !it.is_null())
        .cloned()
}

fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::Array(kinds) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|it| *it != "null")
            .unwrap_or_default(),
        kind => kind.as_str().unwrap_or_default(),
    }
}

fn number(schema: &Value) -> Value {
    match schema.get("minimum") {
        Some(least) if least.as_f64() > Some(0.0) => least.clone(),
        _ => json!(1),
    }
}

const ID: &str = "019a9b6e-5f00-7c3a-9d1e-3f2b8c4d5e6f";
const TIME: &str = "2026-11-19T09:30:00.000Z";

/// A field that gets it needs an example of its own.
pub const PLACEHOLDER: &str = "string";

/// Text by the name of its field.
fn text(name: &str, schema: &Value) -> &'static str {
    match (name, schema["format"].as_str().unwrap_or_default()) {
        (_, "uuid") => ID,
        (_, "date-time") => TIME,
        (name, _) if name == "at" || name == "time" || name.ends_with("_at") => TIME,
        (name, _) if name == "id" || name.ends_with("_id") || name == "contact" => ID,
        ("cursor" | "next_cursor", _) => "MTc2MzU0NDYwMDAwMDAwMA",
        ("versionId", _) => "5f1c9c0d6c9b7e0e4a8f4bb6a3a1f6f1d2c3b4a5968778695a4b3c2d1e0f0a1b",
        ("address", _) => "ann@example.com",
        ("name", _) => "welcome",
        ("key", _) => "handbook",
        ("token", _) => "AZqbbl8AfDqdHj8rjE1eb2",
        _ => PLACEHOLDER,
    }
}
