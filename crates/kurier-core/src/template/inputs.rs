//! What a template is handed: the values at the paths that it reads, and nothing else.

use crate::value::{Object, Value};

/// Gathers the values at dotted paths (`contact.address.city`) into one object by root and
/// name. `find` is asked for a root and the names under it; what it does not know is left out.
pub fn gather<'p>(
    paths: impl IntoIterator<Item = &'p str>,
    find: impl Fn(&str, &[String]) -> Option<Value>,
) -> Object {
    let mut inputs = Object::new();
    for path in paths {
        let mut names = path.split('.').map(str::to_owned);
        let (Some(root), names) = (names.next(), names.collect::<Vec<_>>()) else {
            continue;
        };
        if let Some(value) = find(&root, &names) {
            put(&mut inputs, &root, &names, value);
        }
    }
    inputs
}

/// A contact's attribute as journeys know it, and so as messages are given it: of what stands
/// in lists only texts, numbers and truths are kept.
pub fn as_kept(value: Value) -> Value {
    match value {
        Value::List(list) => {
            let items = list.into_iter().map(|item| match item {
                Value::Object(_) => Value::Object(Object::new()),
                Value::List(_) => Value::Null,
                item => item,
            });
            Value::List(items.collect())
        }
        Value::Object(object) => {
            let members = object
                .into_iter()
                .filter(|(_, value)| *value != Value::Null);
            Value::Object(
                members
                    .map(|(name, value)| (name, as_kept(value)))
                    .collect(),
            )
        }
        value => value,
    }
}

fn put(object: &mut Object, name: &str, names: &[String], value: Value) {
    let Some((next, rest)) = names.split_first() else {
        object.insert(name.to_owned(), value);
        return;
    };
    let inner = object.entry(name.to_owned()).or_default();
    if !matches!(inner, Value::Object(_)) {
        *inner = Value::Object(Object::new());
    }
    if let Value::Object(inner) = inner {
        put(inner, next, rest, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_read_is_handed_over() {
        let paths = ["contact.a", "contact.b.c", "contact.none", "data"];
        let found = gather(paths, |root, names| match (root, names) {
            ("contact", [last]) if last == "none" => None,
            (root, names) => Some(Value::Text(format!("{root}/{}", names.join("/")))),
        });
        let json = serde_json::to_string(&found).expect("JSON");
        assert_eq!(
            json,
            r#"{"contact":{"a":"contact/a","b":{"c":"contact/b/c"}},"data":"data/"}"#
        );
    }
}
