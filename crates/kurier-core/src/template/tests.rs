//! Templates as their authors write them.

mod escaping;
mod faults;
mod hostile;
mod properties;
mod quoting;
mod syntax;

use super::{Compiled, Fault, RenderFault};
use crate::message::Rendered;
use crate::time::Timestamp;
use crate::value::{Object, Value};

pub const NOW: &str = "2026-06-15T12:00:00Z";

pub fn now() -> Timestamp {
    NOW.parse().expect("a time")
}

pub fn object(json: &str) -> Object {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// What most tests render for.
pub fn ann() -> Object {
    object(
        r#"{"contact": {"first_name": "Ann", "plan": "pro", "age": 41, "email": "ann@example.org",
                        "tags": ["a", "b"], "created_at": "2026-01-31T09:30:00Z", "vip": true},
            "journey": {"name": "Cart", "state": {"cart_id": "c-1"}},
            "data": {"items": [{"title": "Tea", "price": 3.5}, {"title": "Cup", "price": 8}],
                     "count": 2, "note": "a < b & c", "empty": []}}"#,
    )
}

/// A document of one part, beside what every document needs.
pub fn document(part: &str, text: &str) -> Value {
    let mut object = Object::new();
    object.insert("name".into(), Value::Text("t".into()));
    object.insert(part.into(), Value::Text(text.into()));
    if part == "subject" || part == "preheader" {
        object.insert("html".into(), Value::Text("<p>x</p>".into()));
    }
    Value::Object(object)
}

pub fn compile(part: &str, text: &str) -> Result<Compiled, Vec<Fault>> {
    Compiled::new(&document(part, text))
}

pub fn render(part: &str, text: &str, inputs: &Object) -> Result<Rendered, RenderFault> {
    let compiled = compile(part, text);
    let compiled = compiled.unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    compiled.render(inputs, now())
}

/// A text part's text.
#[track_caller]
pub fn check(text: &str, expected: &str) {
    let rendered = render("text", text, &ann()).unwrap_or_else(|why| panic!("{text}: {why}"));
    assert_eq!(rendered.text.as_deref(), Some(expected), "{text}");
}
