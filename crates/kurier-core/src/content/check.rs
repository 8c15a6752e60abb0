//! Checking keys from anywhere: their form, their lengths, whether one is there twice.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::identifier::is_identifier;
use super::key::{Key, NodeType};

/// Longer keys are reported; nothing refuses them.
pub const KEY_BYTES_USUAL: usize = 50;

const RELATIONS: [&str; 6] = [
    "children",
    "all_descendants",
    "sequence",
    "next",
    "previous",
    "siblings",
];
const COLLECTIONS: [(&str, &str); 4] = [
    ("category", "docs"),
    ("author", "docs"),
    ("tag", "chunks"),
    ("level", "chunks"),
];

/// `\A(doc|ch|para|subpara|chunk):[a-z][a-z0-9_]{1,29}:[0-9]{3}\z`, without `__` and without `_`
/// at the end of the identifier.
pub fn is_key(text: &str) -> bool {
    text.parse::<Key>().is_ok()
}

/// A node's key with a relation behind it, or the key of a category, an author, a tag, a level.
pub fn is_set_key(text: &str) -> bool {
    let Some((front, last)) = text.rsplit_once(':') else {
        return false;
    };
    let collection = front.split_once(':').is_some_and(|(lead, name)| {
        let is_named = COLLECTIONS.contains(&(lead, last)) && is_identifier(name);
        is_named && (lead != "level" || name.parse::<NodeType>().is_ok())
    });
    collection || (RELATIONS.contains(&last) && is_key(front))
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing is wrong.
    Info,
    /// Worth a look.
    Warning,
    /// The key cannot be used.
    Error,
}

/// What a look at keys shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub total_keys: usize,
    /// In bytes; 0 for no keys.
    pub average_length: f64,
    /// Errors: neither a node's key nor a set's.
    pub format_violations: Vec<String>,
    /// Warnings: longer than 50 bytes.
    pub length_violations: Vec<String>,
    /// Errors: each key that is there more than once.
    pub duplicates: Vec<String>,
    /// Info: identifiers that nodes of several types have.
    pub cross_type: BTreeMap<String, BTreeSet<NodeType>>,
}

impl Report {
    /// The worst finding, if there is one.
    pub fn severity(&self) -> Option<Severity> {
        let found = [
            (!self.format_violations.is_empty(), Severity::Error),
            (!self.duplicates.is_empty(), Severity::Error),
            (!self.length_violations.is_empty(), Severity::Warning),
            (!self.cross_type.is_empty(), Severity::Info),
        ];
        let found = found.into_iter().filter(|(is_found, _)| *is_found);
        found.map(|(_, severity)| severity).max()
    }
}

/// Looks at keys of nodes and of sets.
pub fn check<'k>(keys: impl IntoIterator<Item = &'k str>) -> Report {
    let mut report = Report::default();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut types: BTreeMap<String, BTreeSet<NodeType>> = BTreeMap::new();
    let mut bytes = 0;
    for text in keys {
        report.total_keys += 1;
        bytes += text.len();
        *seen.entry(text).or_default() += 1;
        if let Ok(key) = text.parse::<Key>() {
            let of_identifier = types.entry(key.name.identifier.to_string()).or_default();
            of_identifier.insert(key.node_type());
        } else if !is_set_key(text) {
            report.format_violations.push(text.to_owned());
        }
        if text.len() > KEY_BYTES_USUAL {
            report.length_violations.push(text.to_owned());
        }
    }
    let twice = seen.into_iter().filter(|(_, count)| *count > 1);
    report.duplicates = twice.map(|(text, _)| text.to_owned()).collect();
    types.retain(|_, types| types.len() > 1);
    report.cross_type = types;
    if report.total_keys > 0 {
        report.average_length = bytes as f64 / report.total_keys as f64;
    }
    report
}
