//! Where a document's link references lead. A node that is shown alone needs those of its
//! document.

use std::collections::BTreeMap;

use pulldown_cmark::{BrokenLink, CowStr, RefDefs};
use serde::{Deserialize, Serialize};

/// By label: the address and the title.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct References(BTreeMap<String, (String, String)>);

impl References {
    pub(super) fn new(definitions: &RefDefs<'_>) -> Self {
        let entries = definitions.iter().map(|(label, definition)| {
            let title = definition.title.as_deref().unwrap_or_default();
            let leads = (definition.dest.to_string(), title.to_owned());
            (folded(label), leads)
        });
        Self(entries.collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For the parser, which asks about links that it finds no definition of.
    pub(super) fn resolve<'a>(&self, link: &BrokenLink<'_>) -> Option<(CowStr<'a>, CowStr<'a>)> {
        let (address, title) = self.0.get(&folded(&link.reference))?;
        Some((address.clone().into(), title.clone().into()))
    }
}

/// Labels are the same whatever their case and their white space.
fn folded(label: &str) -> String {
    let is_folded = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
    if label.bytes().all(is_folded) {
        return label.to_owned();
    }
    let words: Vec<&str> = label.split_whitespace().collect();
    words.join(" ").to_lowercase()
}
