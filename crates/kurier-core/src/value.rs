//! JSON-like values: what attributes and properties are made of.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

/// How deep values may nest: far beyond honest data, far from any stack's end.
pub const DEPTH_MAX: usize = 64;

pub type Object = BTreeMap<String, Value>;

#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Object(Object),
}

impl Value {
    /// A whole number is one, however it was kept.
    pub fn of_number(number: f64) -> Self {
        match number.fract() == 0.0 && number.abs() < 9e15 {
            true => Self::Int(number as i64),
            false => Self::Float(number),
        }
    }

    pub const fn as_text(&self) -> Option<&String> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub const fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }
}

/// Lays `changes` over `base`: a value replaces, `null` removes, what is not named stays.
pub fn merge(base: &mut Object, changes: Object) {
    for (name, value) in changes {
        match value {
            Value::Null => drop(base.remove(&name)),
            value => drop(base.insert(name, value)),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::List(values) => values.serialize(serializer),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Float(value as f64), Value::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Object::new();
        while let Some((name, value)) = map.next_entry()? {
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

/// Reads JSON text to its end and builds nothing: afterwards every later parse of the same
/// text is known to succeed.
pub fn validate(json: &str) -> Result<(), String> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let read = Depth(DEPTH_MAX).deserialize(&mut deserializer);
    read.and_then(|()| deserializer.end())
        .map_err(|e| e.to_string())
}

struct Depth(usize);

impl Depth {
    fn deeper<E: de::Error>(&self) -> Result<Self, E> {
        match self.0 {
            0 => Err(E::custom(format!("nested deeper than {DEPTH_MAX}"))),
            left => Ok(Self(left - 1)),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Depth {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Depth {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(self.deeper()?)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key_seed(Self(0))?.is_some() {
            map.next_value_seed(self.deeper()?)?;
        }
        Ok(())
    }
}

/// The value of a name in the text of a JSON object. Of a name that comes twice the last
/// counts, as it does for every reader that builds a map.
pub fn member<'a>(json: &'a str, name: &str) -> Option<&'a RawValue> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    deserializer.deserialize_map(Member(name)).ok()?
}

struct Member<'n>(&'n str);

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            if name == self.0 {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<de::IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Replaces by U+FFFD the escapes that are legal JSON but that no database or Rust string
/// can hold: the character NUL and halves of surrogate pairs (JavaScript cuts emoji in two).
pub fn mend_escapes(json: &str) -> Cow<'_, str> {
    // One character is looked for faster than two, and most text has no escape at all.
    if !json.contains('\\') || !json.contains("\\u") {
        return Cow::Borrowed(json);
    }
    let mut mended = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        let (kept, length) = mend_escape(&rest[at..]);
        mended.push_str(kept);
        rest = &rest[at + length..];
    }
    mended.push_str(rest);
    Cow::Owned(mended)
}

/// The text to keep for the escape at the start of `text`, and the escape's length.
fn mend_escape(text: &str) -> (&str, usize) {
    const REPLACEMENT: &str = "\\ufffd";
    let Some(unit) = code_unit(text) else {
        let length = text.chars().take(2).map(char::len_utf8).sum();
        return (&text[..length], length);
    };
    match unit {
        0 | 0xDC00..=0xDFFF => (REPLACEMENT, 6),
        0xD800..=0xDBFF => match code_unit(&text[6..]) {
            Some(0xDC00..=0xDFFF) => (&text[..12], 12),
            _ => (REPLACEMENT, 6),
        },
        _ => (&text[..6], 6),
    }
}

/// The code unit of a `\uXXXX` at the start of `text`.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(json: &str) -> Value {
        serde_json::from_str(json).expect("valid JSON")
    }

    #[test]
    fn merge_replaces_removes_and_keeps() {
        let Value::Object(mut base) = parse(r#"{"a":1,"b":2,"c":{"x":1}}"#) else {
            panic!()
        };
        let Value::Object(changes) = parse(r#"{"b":null,"c":{"y":2},"d":[1]}"#) else {
            panic!()
        };
        merge(&mut base, changes);
        assert_eq!(Value::Object(base), parse(r#"{"a":1,"c":{"y":2},"d":[1]}"#));
    }

    #[test]
    fn of_a_name_that_comes_twice_the_last_counts() {
        let get = |json| member(json, "a").map(RawValue::get);
        assert_eq!(get(r#"{"a":1,"b":{"a":2},"a":[3]}"#), Some("[3]"));
        assert_eq!(get(r#"{"\u0061":"x"}"#), Some(r#""x""#));
        assert_eq!(get(r#"{"b":1}"#), None);
        assert_eq!(get("[1]"), None);
    }

    #[test]
    fn validate_refuses_what_a_later_parse_would() {
        for bad in [
            "{",
            "[1e999]",
            "\"\\ud800\"",
            "tru",
            "1 2",
            &"[".repeat(200),
        ] {
            assert!(validate(bad).is_err(), "{bad}");
        }
        assert!(validate(&format!("{}1{}", "[".repeat(64), "]".repeat(64))).is_ok());
        assert!(validate(&format!("{}1{}", "[".repeat(65), "]".repeat(65))).is_err());
    }

    #[test]
    fn escapes_are_mended_only_where_they_must() {
        let check = |json: &str, expected: &str| assert_eq!(mend_escapes(json), expected, "{json}");
        check(r#""plain""#, r#""plain""#);
        check(r#""a\u0000b""#, r#""a\ufffdb""#);
        check(r#""\ud83d\ude00""#, r#""\ud83d\ude00""#);
        check(r#""\ud83d\u0041""#, r#""\ufffd\u0041""#);
        check(r#""\ude00\n""#, r#""\ufffd\n""#);
        check(r#""\\u0000""#, r#""\\u0000""#);
        check(r#""\\\u0000""#, r#""\\\ufffd""#);
    }

    proptest! {
        #[test]
        fn what_validates_also_parses(text in r#"[\[\]{}:,"\\ud8DE0-9a.tr ]{0,40}"#) {
            if validate(&text).is_ok() {
                prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
            }
        }

        #[test]
        fn mended_strings_always_validate(units in prop::collection::vec(any::<u16>(), 0..8)) {
            let body: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let json = format!("\"{body}\"");
            let mended = mend_escapes(&json);
            prop_assert!(validate(&mended).is_ok(), "{mended}");
            let text: String = serde_json::from_str(&mended).expect("validated");
            prop_assert!(!text.contains('\0'));
        }
    }
}
