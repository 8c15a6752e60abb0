//! Reading a part of a document field by field. What is wrong is noted and reading goes on,
//! so that everything wrong is told at once.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use super::fault::Fault;
use super::rule::{Rule, Source};
use super::{Known, NodeIndex, duration};
use crate::expr::Place;
use crate::expr::closest;
use crate::value::{Object, Value};

/// Texts such as names and labels may be this long.
pub const NAME_CHARS_MAX: usize = 200;

/// What is known while a document is read.
pub struct Reading<'a> {
    pub known: &'a Known,
    /// The nodes there are.
    pub nodes: &'a HashMap<String, NodeIndex>,
    pub faults: Vec<Fault>,
    /// Custom keys of the state that some node sets.
    pub state_keys: BTreeSet<String>,
    /// Custom keys that some expression reads: node, field, key.
    pub state_reads: Vec<(Option<String>, String, String)>,
}

/// The fields of one node, or of the journey itself.
pub struct Fields<'a, 'r> {
    pub reading: &'a mut Reading<'r>,
    node: Option<String>,
    object: Object,
    used: Vec<&'static str>,
    /// Stands before a field's name, such as `branches[0].`.
    prefix: String,
}

impl<'a, 'r> Fields<'a, 'r> {
    pub fn new(reading: &'a mut Reading<'r>, node: Option<&str>, object: Object) -> Self {
        Self {
            reading,
            node: node.map(str::to_owned),
            object,
            used: Vec::new(),
            prefix: String::new(),
        }
    }

    /// The fields of an item inside this part.
    pub fn inside(&mut self, prefix: String, object: Object) -> Fields<'_, 'r> {
        Fields {
            node: self.node.clone(),
            object,
            used: Vec::new(),
            prefix,
            reading: &mut *self.reading,
        }
    }

    pub fn fault(&mut self, field: &str, message: impl Into<String>) {
        let field = format!("{}{field}", self.prefix);
        let fault = Fault::new(self.node.as_deref(), Some(&field), message);
        self.reading.faults.push(fault);
    }

    pub fn warning(&mut self, field: &str, message: impl Into<String>) {
        let field = format!("{}{field}", self.prefix);
        let fault = Fault::warning(self.node.as_deref(), Some(&field), message);
        self.reading.faults.push(fault);
    }

    /// The value of a field; `null` is as good as none.
    pub fn take(&mut self, name: &'static str) -> Option<Value> {
        self.used.push(name);
        self.object
            .remove(name)
            .filter(|value| *value != Value::Null)
    }

    pub fn optional_text(&mut self, name: &'static str) -> Option<String> {
        match self.take(name)? {
            Value::Text(text) if text.chars().count() > NAME_CHARS_MAX => {
                self.fault(name, format!("has more than {NAME_CHARS_MAX} characters"));
                None
            }
            Value::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            _ => {
                self.fault(name, "must be a text");
                None
            }
        }
    }

    pub fn text(&mut self, name: &'static str) -> String {
        let is_there = self.object.contains_key(name);
        let text = self.optional_text(name);
        if !is_there {
            self.fault(name, "is missing");
        }
        text.unwrap_or_default()
    }

    pub fn optional_int(&mut self, name: &'static str, (least, most): (i64, i64)) -> Option<i64> {
        match self.take(name)? {
            Value::Int(number) if (least..=most).contains(&number) => Some(number),
            _ => {
                self.fault(
                    name,
                    format!("must be a whole number from {least} to {most}"),
                );
                None
            }
        }
    }

    /// One of a closed list of words.
    pub fn word<T: Copy>(&mut self, name: &'static str, words: &[(&str, T)]) -> Option<T> {
        let text = self.optional_text(name)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.fault(
                name,
                format!("`{text}` is not one of {}", all.join(", ")) + &near(&text, all),
            );
        }
        found.map(|(_, value)| *value)
    }

    pub fn optional_duration(&mut self, name: &'static str) -> Option<Duration> {
        let text = self.optional_text(name)?;
        match duration::parse(&text) {
            Ok(duration) => Some(duration),
            Err(message) => {
                self.fault(name, message);
                None
            }
        }
    }

    pub fn duration(&mut self, name: &'static str) -> Duration {
        if !self.object.contains_key(name) {
            self.fault(name, "is missing");
        }
        self.optional_duration(name).unwrap_or_default()
    }

    /// The node that a field names.
    pub fn optional_target(&mut self, name: &'static str) -> Option<NodeIndex> {
        let id = self.optional_text(name)?;
        let found = self.reading.nodes.get(&id).copied();
        if found.is_none() {
            // Looking for what is near costs; in a definition full of faults it helps nobody.
            let hint = match self.reading.faults.len() < 100 {
                true => near(&id, self.reading.nodes.keys().map(String::as_str)),
                false => String::new(),
            };
            self.fault(name, format!("there is no node `{id}`{hint}"));
        }
        Some(found.unwrap_or(NodeIndex::NOWHERE))
    }

    pub fn target(&mut self, name: &'static str) -> NodeIndex {
        if !self.object.contains_key(name) {
            self.fault(name, "is missing");
        }
        self.optional_target(name).unwrap_or(NodeIndex::NOWHERE)
    }

    fn expression_text(&mut self, name: &'static str) -> Option<String> {
        match self.take(name)? {
            Value::Text(text) => Some(text),
            Value::Bool(value) => Some(value.to_string()),
            _ => {
                self.fault(name, "must be an expression");
                None
            }
        }
    }

    pub fn optional_rule(&mut self, name: &'static str, place: Place) -> Option<Rule> {
        let text = self.expression_text(name)?;
        match Rule::new(&text, place) {
            Ok(rule) => {
                self.note_reads(name, rule.state_keys());
                Some(rule)
            }
            Err(errors) => {
                self.expression_faults(name, &text, &errors);
                None
            }
        }
    }

    pub fn rule(&mut self, name: &'static str, place: Place) -> Rule {
        if !self.object.contains_key(name) {
            self.fault(name, "is missing");
        }
        self.optional_rule(name, place).unwrap_or_default()
    }

    /// A value such as `event.properties.cart_id`.
    pub fn optional_source(&mut self, name: &'static str, place: Place) -> Option<Source> {
        let text = self.expression_text(name)?;
        self.source(name, &text, place)
    }

    pub fn source(&mut self, field: &str, text: &str, place: Place) -> Option<Source> {
        match Source::new(text, place) {
            Ok(source) => {
                self.note_reads(field, source.state_keys());
                Some(source)
            }
            Err(errors) => {
                self.expression_faults(field, text, &errors);
                None
            }
        }
    }

    fn note_reads(&mut self, field: &str, keys: Vec<String>) {
        let field = format!("{}{field}", self.prefix);
        let (node, reads) = (self.node.clone(), &mut self.reading.state_reads);
        reads.extend(
            keys.into_iter()
                .map(|key| (node.clone(), field.clone(), key)),
        );
    }

    fn expression_faults(&mut self, field: &str, text: &str, errors: &[crate::expr::Error]) {
        let field = format!("{}{field}", self.prefix);
        let node = self.node.clone();
        let faults = errors
            .iter()
            .map(|error| Fault::of_expression(node.as_deref(), Some(&field), text, error));
        self.reading.faults.extend(faults);
    }

    pub fn object(&mut self, name: &'static str) -> Object {
        match self.take(name) {
            None => Object::new(),
            Some(Value::Object(object)) => object,
            Some(_) => {
                self.fault(name, "must be an object");
                Object::new()
            }
        }
    }

    pub fn list(&mut self, name: &'static str) -> Vec<Value> {
        match self.take(name) {
            None => Vec::new(),
            Some(Value::List(list)) => list,
            Some(_) => {
                self.fault(name, "must be a list");
                Vec::new()
            }
        }
    }

    /// Refuses the fields that nobody asked for.
    pub fn finish(mut self) {
        let unknown: Vec<String> = std::mem::take(&mut self.object).into_keys().collect();
        let used = std::mem::take(&mut self.used);
        for name in unknown.iter().filter(|name| !used.contains(&name.as_str())) {
            let hint = near(name, used.iter().copied());
            self.fault(name, format!("is not a field here{hint}"));
        }
    }
}

/// `; did you mean x?`, if something is near.
pub fn near<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    closest(word, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}
