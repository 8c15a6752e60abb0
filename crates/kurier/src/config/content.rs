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

impl Content {
    /// What a document writes it writes in one script, and a cluster runs one only over keys that
    /// name the same tenant.
    pub(super) fn checked(&self, redis_url: Option<&str>) -> anyhow::Result<()> {
        let scheme = redis_url.and_then(|url| url.split("://").next());
        let is_cluster = scheme.is_some_and(|scheme| scheme.ends_with("+cluster"));
        if self.form == Form::Bare && is_cluster {
            bail!(
                "[content]: keys = \"bare\" needs a Redis that is no cluster: there, keys without a \
                 tenant lie on different nodes. Say keys = \"tenant\", or name another Redis"
            );
        }
        Ok(())
    }
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
    fn bare_keys_are_refused_on_a_cluster() {
        let (bare, tenant) = (read("keys = \"bare\""), read(""));
        let (bare, tenant) = (bare.expect("valid"), tenant.expect("valid"));
        for url in ["redis+cluster://h1:1,h2:2", "rediss+cluster://u:p@h1:1"] {
            let error = bare.checked(Some(url)).expect_err(url).to_string();
            assert!(error.contains("no cluster"), "{error}");
            assert!(tenant.checked(Some(url)).is_ok());
        }
        for url in [None, Some("redis://h"), Some("redis+sentinel://h/m")] {
            assert!(bare.checked(url).is_ok());
        }
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
