//! Documents: YAML or JSON becomes one value. YAML's ways to grow beyond its text are bounded.

use serde::de::DeserializeOwned;

use crate::value::Value;

/// A document may be this long.
pub const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Reads a document; or says in one sentence why it cannot be read. The character NUL, which no
/// database keeps in a text, becomes U+FFFD.
pub fn read(text: &str) -> Result<Value, String> {
    read_as(text).map(mended)
}

fn mended(value: Value) -> Value {
    let mend = |text: String| match text.contains('\0') {
        true => text.replace('\0', "\u{fffd}"),
        false => text,
    };
    match value {
        Value::Text(text) => Value::Text(mend(text)),
        Value::List(list) => Value::List(list.into_iter().map(mended).collect()),
        Value::Object(object) => {
            let members = object.into_iter();
            let members = members.map(|(name, value)| (mend(name), mended(value)));
            Value::Object(members.collect())
        }
        value => value,
    }
}

/// Reads a document of a known shape.
pub fn read_as<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!(
            "is {} bytes long; a document has at most {TEXT_BYTES_MAX}",
            text.len()
        ));
    }
    if is_json(text) {
        return serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 64,
            max_aliases: 100,
            max_anchors: 100,
            max_nodes: 1_000_000,
        },
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| format!("is not YAML: {error}"))
}

/// YAML has braces too, but whoever quotes the first key means JSON.
fn is_json(text: &str) -> bool {
    let inner = text.trim_start().strip_prefix('{').map(str::trim_start);
    inner.is_some_and(|inner| inner.starts_with(['"', '}']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_and_json_read_alike() {
        let json = read(r#"{"a": [1, 2.5, "x", true, null], "b": {"c": "no"}}"#).expect("JSON");
        let yaml = read("a: [1, 2.5, x, true, null]\nb:\n  c: no\n").expect("YAML");
        assert_eq!(json, yaml);
        let flow = read("{a: [1, 2.5, x, true, null], b: {c: 'no'}}").expect("YAML in braces");
        assert_eq!(json, flow);
    }

    #[test]
    fn what_no_database_keeps_is_mended() {
        for text in [r#"{"a\u0000": ["\u0000b"]}"#, r#""a\0": ["\0b"]"#] {
            let read = read(text).expect("read");
            let kept = serde_json::to_string(&read).expect("JSON");
            assert_eq!(kept, "{\"a\u{fffd}\":[\"\u{fffd}b\"]}");
        }
    }

    #[test]
    fn what_grows_without_end_is_refused() {
        let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for (from, to) in "abcdefghi".chars().zip("bcdefghij".chars()) {
            let all = format!("*{from},").repeat(10);
            bomb.push_str(&format!("{to}: &{to} [{all}]\n"));
        }
        assert!(read(&bomb).is_err());
        assert!(read(&"[".repeat(100_000)).is_err());
        assert!(read(&"{\"a\":".repeat(100_000)).is_err());
        assert!(read(&"x".repeat(TEXT_BYTES_MAX + 1)).is_err());
    }
}
