//! The documentation of node kinds, as it stands in their files: what they do, an example, and
//! the fields that the example shows.

use super::Node;

/// What a kind of node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guide {
    pub kind: &'static str,
    /// What it does, in sentences.
    pub text: String,
    /// Nodes of this kind, in YAML.
    pub example: String,
    pub fields: Vec<Field>,
}

/// A field of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    /// A value that it may have.
    pub example: String,
    /// What is to be said of it.
    pub note: Option<String>,
}

impl Node {
    /// Every kind of node with its documentation.
    pub fn guides() -> Vec<Guide> {
        let files = Self::FILES.iter();
        files.map(|(kind, file)| Guide::read(kind, file)).collect()
    }
}

impl Guide {
    fn read(kind: &'static str, file: &str) -> Self {
        let lines = file.lines().map_while(|line| line.strip_prefix("//!"));
        let lines: Vec<&str> = lines.map(|l| l.strip_prefix(' ').unwrap_or(l)).collect();
        let mut parts = lines.split(|line| line.starts_with("```"));
        let text = parts.next().unwrap_or_default().join(" ");
        let example = parts.next().unwrap_or_default();
        Self {
            kind,
            text: text.trim().to_owned(),
            example: example.join("\n"),
            fields: fields(example),
        }
    }
}

/// The fields of the nodes themselves, each once, in the order of the example.
fn fields(example: &[&str]) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    for line in example {
        let line = line.strip_prefix("- ").or(line.strip_prefix("  "));
        let Some((name, rest)) = line.and_then(|line| line.split_once(':')) else {
            continue;
        };
        let is_name = name.starts_with(|c: char| c.is_ascii_lowercase());
        if !is_name || fields.iter().any(|field| field.name == name) {
            continue;
        }
        let (example, note) = match rest.split_once(" #") {
            Some((example, note)) => (example, Some(note.trim().to_owned())),
            None => (rest, None),
        };
        fields.push(Field {
            name: name.to_owned(),
            example: example.trim().to_owned(),
            note,
        });
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_documented_with_its_fields() {
        let guides = Node::guides();
        let kinds: Vec<&str> = guides.iter().map(|guide| guide.kind).collect();
        assert_eq!(kinds, Node::KINDS);
        for guide in &guides {
            let names: Vec<&str> = guide.fields.iter().map(|it| it.name.as_str()).collect();
            assert!(guide.text.len() > 20, "{guide:?}");
            assert!(names.starts_with(&["id", "node_type"]), "{guide:?}");
            assert!(guide.example.contains(guide.kind), "{guide:?}");
        }
    }

    #[test]
    fn a_wait_shows_its_fields_and_what_is_said_of_them() {
        let guides = Node::guides();
        let wait = guides.iter().find(|guide| guide.kind == "wait");
        let wait = wait.expect("there are waits");
        assert!(
            wait.text.starts_with("`wait`: rests until"),
            "{}",
            wait.text
        );
        let field = |name| wait.fields.iter().find(|field| field.name == name);
        assert_eq!(field("duration").map(|it| it.example.as_str()), Some("1h"));
        assert!(field("check_interval").is_some_and(|it| it.note.is_some()));
    }
}
