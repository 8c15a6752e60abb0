//! `[content]` of the settings file: how identifiers are made, and how the keys stand in Redis.

use anyhow::bail;
use kurier_core::content::{Settings, Siblings};
use kurier_core::keys::Form;
use serde::Deserialize;

/// How content is read and kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    pub settings: Settings,
    pub form: Form,
    pub siblings: Siblings,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ContentFile {
    keys: Form,
    /// Whether the siblings of each node are written too.
    siblings: bool,
    lang: kurier_core::content::Language,
    numbers: kurier_core::content::Numerals,
    cut: kurier_core::content::Cut,
    abbreviations: std::collections::BTreeMap<String, String>,
    stop_words: Vec<String>,
    max_chars: Option<u32>,
}

impl ContentFile {
    pub(super) fn read(self) -> anyhow::Result<Content> {
        let settings = Settings {
            lang: self.lang,
            numbers: self.numbers,
            cut: self.cut,
            abbreviations: self.abbreviations,
            stop_words: self.stop_words,
            max_chars: self.max_chars,
        };
        if let Some(fault) = settings.faults().first() {
            bail!("[content]: {fault}");
        }
        Ok(Content {
            settings,
            form: self.keys,
            siblings: match self.siblings {
                true => Siblings::Stored,
                false => Siblings::Derived,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(toml: &str) -> Result<Content, String> {
        let file: ContentFile = toml::from_str(toml).map_err(|e| e.to_string())?;
        file.read().map_err(|e| e.to_string())
    }

    #[test]
    fn what_is_said_holds_and_what_is_not_is_as_always() {
        assert_eq!(read(""), Ok(Content::default()));
        let said = read("keys = \"bare\"\nsiblings = true\nlang = \"en\"\nmax_chars = 500");
        let said = said.expect("valid");
        assert_eq!((said.form, said.siblings), (Form::Bare, Siblings::Stored));
        assert_eq!(said.settings.max_chars, Some(500));
    }

    #[test]
    fn what_nobody_knows_or_cannot_be_is_refused() {
        for (toml, reason) in [
            ("key = \"bare\"", "unknown field `key`"),
            ("keys = \"none\"", "unknown variant `none`"),
            ("max_chars = 1", "[content]: max_chars"),
            ("stop_words = [\"two words\"]", "[content]: stop_words"),
        ] {
            let error = read(toml).expect_err(toml);
            assert!(error.contains(reason), "{toml}: {error}");
        }
    }
}
