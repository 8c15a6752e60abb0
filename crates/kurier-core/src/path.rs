//! Paths into values: `address.city`.

use std::fmt;
use std::str::FromStr;

use crate::value::{DEPTH_MAX, Object, Value};

/// One or more names separated by dots. A name may hold anything but a dot and a quote.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Path(Vec<String>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("a path needs a name between its dots, as in `address.city`")]
    Empty,
    #[error("a path may not contain `{0}`")]
    Character(char),
    #[error("a path has at most {DEPTH_MAX} names")]
    Deep,
}

impl Path {
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The value at this path, if every name on the way is there.
    pub fn find<'a>(&self, object: &'a Object) -> Option<&'a Value> {
        let (last, parents) = self.0.split_last().expect("a path has at least one name");
        let parent = parents
            .iter()
            .try_fold(object, |object, name| object.get(name)?.as_object());
        parent?.get(last)
    }
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        if let Some(bad) = text
            .chars()
            .find(|c| matches!(c, '"' | '\'' | '\\') || c.is_control())
        {
            return Err(PathError::Character(bad));
        }
        let names: Vec<String> = text.split('.').map(str::to_owned).collect();
        if names.iter().any(String::is_empty) {
            return Err(PathError::Empty);
        }
        if names.len() > DEPTH_MAX {
            return Err(PathError::Deep);
        }
        Ok(Self(names))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_along_objects_only() {
        let object: Object =
            serde_json::from_str(r#"{"a":{"b":{"c":1}},"d":[1]}"#).expect("valid JSON");
        let find = |path: &str| {
            path.parse::<Path>()
                .expect("valid path")
                .find(&object)
                .cloned()
        };
        assert_eq!(find("a.b.c"), Some(Value::Int(1)));
        assert_eq!(find("a.x"), None);
        assert_eq!(find("d.0"), None);
    }

    #[test]
    fn refuses_what_is_no_path() {
        let parse = |text: &str| text.parse::<Path>().map(|p| p.to_string());
        assert_eq!(parse("a.b"), Ok("a.b".into()));
        assert_eq!(parse("a..b"), Err(PathError::Empty));
        assert_eq!(parse(""), Err(PathError::Empty));
        assert_eq!(parse("a\"b"), Err(PathError::Character('"')));
        assert_eq!(parse(&"a.".repeat(70)), Err(PathError::Empty));
        assert_eq!(parse(&vec!["a"; 70].join(".")), Err(PathError::Deep));
    }
}
