//! A template's document: its fields, and what they may hold.

use super::fault::Fault;
use super::limits::{BODY_BYTES_MAX, LINE_BYTES_MAX, MARKDOWN_BYTES_MAX};
use super::render::Target;
use crate::expr::closest;
use crate::value::{Object, Value};

pub const NAME_CHARS_MAX: usize = 100;
const DESCRIPTION_CHARS_MAX: usize = 1_000;

const FIELDS: &[&str] = &[
    "name",
    "description",
    "topic",
    "strict",
    "subject",
    "preheader",
    "markdown",
    "html",
    "text",
    "json",
];
/// Of these a template has one, beside which it may have a text.
const BODIES: &[(&str, Target)] = &[
    ("markdown", Target::Markdown),
    ("html", Target::Html),
    ("json", Target::Json),
];

/// A document whose fields were found good; the parts' texts are not read yet.
#[derive(Debug)]
pub struct Document {
    pub name: String,
    pub topic: Option<String>,
    pub is_strict: bool,
    pub subject: Option<String>,
    pub preheader: Option<String>,
    pub body: Option<(&'static str, Target, String)>,
    pub text: Option<String>,
}

/// What is wrong with a name, if anything is.
pub fn name_fault(what: &str, name: &str) -> Option<String> {
    let is_fit = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX {
        return Some(format!("a {what} has 1 to {NAME_CHARS_MAX} characters"));
    }
    let starts = name.starts_with(char::is_alphanumeric);
    (!starts || !name.chars().all(is_fit)).then(|| {
        format!("a {what} is made of letters, digits, `-`, `_` and `.`, and begins with a letter or digit")
    })
}

struct Reader {
    fields: Object,
    faults: Vec<Fault>,
}

/// Reads a document's fields, or says everything that is wrong with them.
pub fn read(document: &Value) -> Result<Document, Vec<Fault>> {
    let Value::Object(fields) = document else {
        return Err(vec![Fault::new(
            None,
            "must be an object with a name and a body",
        )]);
    };
    let mut reader = Reader {
        fields: fields.clone(),
        faults: Vec::new(),
    };
    let read = reader.document();
    match reader.faults.is_empty() {
        true => Ok(read),
        false => Err(reader.faults),
    }
}

impl Reader {
    fn document(&mut self) -> Document {
        self.unknown();
        let name = self.text("name", NAME_CHARS_MAX * 4);
        if name.is_none() && !self.fields.contains_key("name") {
            self.fault("name", "is missing");
        }
        let name = name.unwrap_or_default();
        if !name.is_empty() {
            self.named("name", "name", &name);
        }
        let topic = self.text("topic", NAME_CHARS_MAX * 4);
        if let Some(topic) = &topic {
            self.named("topic", "topic", topic);
        }
        self.text("description", DESCRIPTION_CHARS_MAX * 4);
        let document = Document {
            name,
            topic,
            is_strict: self.strict(),
            subject: self.text("subject", LINE_BYTES_MAX),
            preheader: self.text("preheader", LINE_BYTES_MAX),
            body: self.body(),
            text: self.text("text", BODY_BYTES_MAX),
        };
        self.together(&document);
        document
    }

    fn fault(&mut self, field: &str, message: impl Into<String>) {
        self.faults.push(Fault::new(Some(field), message));
    }

    fn unknown(&mut self) {
        let unknown = self
            .fields
            .keys()
            .filter(|name| !FIELDS.contains(&name.as_str()));
        let faults = unknown.map(|name| {
            let fault = Fault::new(Some(name), "is not a field of a template");
            match closest(name, FIELDS.iter().copied()) {
                Some(near) => fault.suggest(format!("did you mean {near}?")),
                None => fault.suggest(format!("there are {}", FIELDS.join(", "))),
            }
        });
        self.faults.extend(faults.collect::<Vec<_>>());
    }

    fn named(&mut self, field: &str, what: &str, name: &str) {
        if let Some(message) = name_fault(what, name) {
            self.fault(field, message);
        }
    }

    fn text(&mut self, field: &str, bytes_max: usize) -> Option<String> {
        match self.fields.get(field)? {
            Value::Null => None,
            Value::Text(text) if text.len() > bytes_max => {
                let message = format!("has {} bytes, and may have {bytes_max}", text.len());
                self.fault(field, message);
                None
            }
            Value::Text(text) => Some(text.clone()),
            _ => {
                self.fault(field, "must be a text");
                None
            }
        }
    }

    fn strict(&mut self) -> bool {
        match self.fields.get("strict") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(value)) => *value,
            Some(_) => {
                self.fault("strict", "must be true or false");
                false
            }
        }
    }

    fn body(&mut self) -> Option<(&'static str, Target, String)> {
        let mut found: Option<(&str, Target, String)> = None;
        for (field, target) in BODIES {
            let bytes_max = match target {
                Target::Markdown => MARKDOWN_BYTES_MAX,
                _ => BODY_BYTES_MAX,
            };
            let Some(text) = self.text(field, bytes_max) else {
                continue;
            };
            if let Some((other, ..)) = &found {
                let message =
                    format!("a template has one body, and this one has `{other}` already");
                self.fault(field, message);
                continue;
            }
            found = Some((*field, *target, text));
        }
        found
    }

    /// What does not go together.
    fn together(&mut self, document: &Document) {
        let is_named = |field: &str| self.fields.contains_key(field);
        let has_body = BODIES.iter().any(|(field, _)| is_named(field)) || is_named("text");
        let is_html = matches!(
            &document.body,
            Some((_, Target::Html | Target::Markdown, _))
        );
        if !has_body {
            let fault = Fault::new(None, "has no body");
            self.faults
                .push(fault.suggest("write markdown, html, text or json"));
        }
        if document.preheader.is_some() && has_body && !is_html {
            self.fault("preheader", "stands in HTML, and this template makes none");
        }
    }
}
