//! Values held against the schemas of the API's description: the keywords that it uses, and no others. A field that no
//! schema names is a fault, too.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

pub struct Schemas<'a> {
    document: &'a Value,
}

/// The fields that an object may have; nothing if any.
type Fields<'a> = Option<BTreeSet<&'a str>>;

impl<'a> Schemas<'a> {
    pub const fn of(document: &'a Value) -> Self {
        Self { document }
    }

    /// Everything that is wrong with a value, each with its place.
    pub fn faults(&self, schema: &'a Value, value: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        self.check(schema, value, "", &mut faults);
        faults
    }

    fn check(&self, schema: &'a Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        self.check_part(schema, value, place, faults);
        let (Some(object), Some(known)) = (value.as_object(), self.fields(schema, value)) else {
            return;
        };
        let unknown = object.keys().filter(|it| !known.contains(it.as_str()));
        faults.extend(unknown.map(|it| format!("{place}/{it}: is not described")));
    }

    /// The same, but for fields that another part of the whole may describe.
    fn check_part(&self, schema: &'a Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        for (keyword, rule) in schema.as_object().into_iter().flatten() {
            match keyword.as_str() {
                "$ref" => self.check_part(self.target(rule), value, place, faults),
                "allOf" => {
                    let parts = rule.as_array().into_iter().flatten();
                    parts.for_each(|part| self.check_part(part, value, place, faults));
                }
                "oneOf" | "anyOf" => self.check_choice(rule, value, place, faults),
                "properties" => self.check_fields(rule, value, place, faults),
                "items" => self.check_items(rule, value, place, faults),
                "additionalProperties" => self.check_others(schema, rule, value, place, faults),
                _ => faults.extend(fault(keyword, rule, value).map(|it| format!("{place}: {it}"))),
            }
        }
    }

    fn target(&self, reference: &Value) -> &'a Value {
        let place = reference.as_str().expect("a reference");
        self.document.pointer(&place[1..]).expect("its target")
    }

    fn check_choice(&self, rule: &'a Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        if self.chosen(rule, value).is_none() {
            faults.push(format!("{place}: {value} is none of the choices"));
        }
    }

    fn chosen(&self, rule: &'a Value, value: &Value) -> Option<&'a Value> {
        let mut choices = rule.as_array().into_iter().flatten();
        choices.find(|choice| {
            let mut faults = Vec::new();
            self.check_part(choice, value, "", &mut faults);
            faults.is_empty()
        })
    }

    fn check_fields(&self, rule: &'a Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        for (name, schema) in rule.as_object().into_iter().flatten() {
            if let Some(inner) = value.get(name) {
                self.check(schema, inner, &format!("{place}/{name}"), faults);
            }
        }
    }

    fn check_items(&self, rule: &'a Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        for (at, inner) in value.as_array().into_iter().flatten().enumerate() {
            self.check(rule, inner, &format!("{place}/{at}"), faults);
        }
    }

    fn check_others(
        &self,
        schema: &Value,
        rule: &'a Value,
        value: &Value,
        place: &str,
        faults: &mut Vec<String>,
    ) {
        for (name, inner) in value.as_object().into_iter().flatten() {
            if rule.is_object() && schema["properties"].get(name).is_none() {
                self.check(rule, inner, &format!("{place}/{name}"), faults);
            }
        }
    }

    fn fields(&self, schema: &'a Value, value: &Value) -> Fields<'a> {
        let rules: &Map<String, Value> = schema.as_object()?;
        let mut known: Fields<'a> = None;
        let mut add = |fields: Fields<'a>| {
            known.get_or_insert_default().extend(fields?);
            Some(())
        };
        if rules.contains_key("additionalProperties") {
            return None;
        }
        if let Some(own) = rules.get("properties").and_then(Value::as_object) {
            add(Some(own.keys().map(String::as_str).collect()))?;
        }
        if let Some(reference) = rules.get("$ref") {
            add(self.fields(self.target(reference), value))?;
        }
        for part in rules
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            add(self.fields(part, value))?;
        }
        for choices in ["oneOf", "anyOf"].iter().filter_map(|it| rules.get(*it)) {
            add(self.fields(self.chosen(choices, value)?, value))?;
        }
        known
    }
}

/// A fault against a keyword that looks at one value alone.
fn fault(keyword: &str, rule: &Value, value: &Value) -> Option<String> {
    let is_met = match keyword {
        "type" => match rule {
            Value::Array(names) => names.iter().any(|name| is_a(name, value)),
            name => is_a(name, value),
        },
        "enum" => rule.as_array().is_some_and(|all| all.contains(value)),
        "const" => rule == value,
        "minimum" => value.as_f64() >= rule.as_f64() || !value.is_number(),
        "maximum" => value.as_f64() <= rule.as_f64() || !value.is_number(),
        "uniqueItems" => value.as_array().is_none_or(|all| {
            all.iter()
                .enumerate()
                .all(|(at, it)| !all[..at].contains(it))
        }),
        "required" => {
            let names = rule
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            let missing = names.filter(|name| value.is_object() && value.get(name).is_none());
            return missing.map(|name| format!("`{name}` is missing")).next();
        }
        "description" | "title" | "example" | "examples" | "default" | "format"
        | "propertyNames" => true,
        other => panic!("the keyword `{other}` is not known here"),
    };
    (!is_met).then(|| format!("{value} does not fit {keyword} {rule}"))
}

fn is_a(name: &Value, value: &Value) -> bool {
    match name.as_str().expect("a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("`{other}` is not a type"),
    }
}
