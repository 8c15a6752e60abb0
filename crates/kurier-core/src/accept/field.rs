//! The fields of an item, read tolerantly: `null` and "" are absent, a number is fine where
//! an id is meant. What cannot be tolerated is noted, and reading goes on.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{NAME_BYTES_MAX, Problem};
use crate::time::Timestamp;
use crate::value::{mend_escapes, validate};

/// A text field, decoded and as JSON.
pub struct Text<'a> {
    pub value: Cow<'a, str>,
    pub json: Cow<'a, str>,
}

/// A validated JSON object, as text.
pub type Json<'a> = Cow<'a, str>;

/// Collects what is wrong while fields are read.
#[derive(Default)]
pub struct Fields {
    problems: Vec<Problem>,
}

impl Fields {
    pub fn problem(&mut self, name: &str, detail: impl Into<String>) {
        self.problems.push(Problem::new(format!("/{name}"), detail));
    }

    /// All problems, or the value that has none (absent only when it was itself a problem).
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Vec<Problem>> {
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            _ => Err(self.problems),
        }
    }

    pub fn text<'a>(&mut self, name: &str, raw: Option<&'a RawValue>) -> Option<Text<'a>> {
        let raw = raw?.get();
        let text = match raw.as_bytes().first()? {
            b'"' => Self::string(raw),
            b'0'..=b'9' | b'-' => Some(number(raw)),
            _ => None,
        };
        let Some(text) = text else {
            self.problem(name, "must be a string");
            return None;
        };
        if text.value.len() > NAME_BYTES_MAX {
            self.problem(name, format!("is longer than {NAME_BYTES_MAX} bytes"));
            return None;
        }
        (!text.value.is_empty()).then_some(text)
    }

    fn string(raw: &str) -> Option<Text<'_>> {
        // Most ids and names hold no escape: their text is between the quotes.
        if !raw.contains('\\') {
            let value = Cow::Borrowed(&raw[1..raw.len() - 1]);
            return Some(Text {
                value,
                json: Cow::Borrowed(raw),
            });
        }
        let json = mend_escapes(raw);
        let value: String = serde_json::from_str(&json).ok()?;
        Some(Text {
            value: Cow::Owned(value),
            json,
        })
    }

    pub fn time(&mut self, name: &str, text: Option<&Text<'_>>) -> Option<Timestamp> {
        match text?.value.parse() {
            Ok(time) => Some(time),
            Err(error) => {
                self.problem(name, error.to_string());
                None
            }
        }
    }

    pub fn object<'a>(&mut self, name: &str, raw: Option<&'a RawValue>) -> Option<Json<'a>> {
        let raw = raw?.get();
        if !raw.starts_with('{') {
            self.problem(name, "must be an object");
            return None;
        }
        let json = mend_escapes(raw);
        if let Err(detail) = validate(&json) {
            self.problem(name, format!("cannot be read: {detail}"));
            return None;
        }
        Some(json)
    }
}

fn number(raw: &str) -> Text<'_> {
    Text {
        value: Cow::Borrowed(raw),
        json: Cow::Owned(format!("\"{raw}\"")),
    }
}
