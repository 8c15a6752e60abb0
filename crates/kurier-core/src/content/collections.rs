//! What a document is listed under: its categories, authors and tags, by the names that keys
//! have for them.

use serde::{Deserialize, Serialize};

use super::document::Document;
use super::identifier::Identifier;
use super::slug::Slugger;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Collections {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Identifier>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<Identifier>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Identifier>,
}

impl Collections {
    pub fn new(document: &Document, slugger: &Slugger) -> Self {
        let named = |texts: &[String]| {
            let language = document.language;
            let names = texts.iter().map(|text| slugger.name(text, language));
            let mut names: Vec<Identifier> = names.collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        Self {
            categories: named(&document.front.categories),
            authors: named(&document.front.authors),
            tags: named(&document.front.tags),
        }
    }
}
