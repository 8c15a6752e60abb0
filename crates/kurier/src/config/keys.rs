//! `[keys]` and `[cache]` of the settings file: which environment this is, how long what is kept
//! in the keyspace, and how much of it in this process.

use std::collections::BTreeMap;

use anyhow::bail;
use kurier_core::keys::{NOTIFICATION_SLACK, TtlOverrides, Ttls};
use serde::Deserialize;

/// What Kurier takes itself to be in when nobody says otherwise.
const ENVIRONMENT: &str = "prod";
const CACHE_BYTES_MAX: u64 = 100 << 20;

/// How keys are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// Stands in keys that several environments of one Redis must not share.
    pub environment: String,
    pub ttls: Ttls,
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            environment: ENVIRONMENT.to_owned(),
            ttls: Ttls::default(),
        }
    }
}

/// `[keys]`: what holds everywhere under `ttl`, and under `environments.NAME` what holds there
/// instead.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct KeysFile {
    environment: Option<String>,
    ttl: TtlOverrides,
    environments: BTreeMap<String, TtlOverrides>,
}

/// `[cache]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CacheFile {
    bytes_max: Option<u64>,
}

impl KeysFile {
    /// What holds in the environment that is asked for, else in the file's own.
    pub(super) fn read(&self, asked: Option<String>) -> anyhow::Result<Keys> {
        let named = asked.or_else(|| self.environment.clone());
        let environment = named.unwrap_or_else(|| ENVIRONMENT.to_owned());
        for name in self.environments.keys().chain([&environment]) {
            // Asked of the key itself, which is where the name will stand.
            if let Err(reason) = NOTIFICATION_SLACK.checkpoint(name, "settings") {
                bail!("the environment `{name}`: {reason}");
            }
        }
        let mut ttls = Ttls::default().overridden(&self.ttl);
        if let Some(overrides) = self.environments.get(&environment) {
            ttls = ttls.overridden(overrides);
        }
        Ok(Keys { environment, ttls })
    }
}

impl CacheFile {
    /// 0 keeps nothing in this process.
    pub(super) fn bytes_max(&self) -> u64 {
        self.bytes_max.unwrap_or(CACHE_BYTES_MAX)
    }
}

#[cfg(test)]
mod tests {
    use kurier_core::keys::Lifetime;

    use super::*;

    fn read(toml: &str, asked: Option<&str>) -> Result<Keys, String> {
        let file: KeysFile = toml::from_str(toml).map_err(|e| e.to_string())?;
        let keys = file.read(asked.map(str::to_owned));
        keys.map_err(|e| e.to_string())
    }

    fn seconds(seconds: u64) -> Lifetime {
        Lifetime::seconds(seconds).expect("a lifetime")
    }

    /// As the key architecture has it: shorter for development, none where someone wants none.
    #[test]
    fn an_environment_overrides_what_holds_everywhere() {
        let toml = r#"
            environment = "dev"
            [ttl]
            dedup_ttl_hours = 24
            delete_ttl_seconds = "none"
            [environments.dev]
            version_hint_ttl_seconds = 3600
            dedup_ttl_hours = 2
        "#;
        let dev = read(toml, None).expect("valid");
        assert_eq!(dev.environment, "dev");
        assert_eq!(dev.ttls.version_hint, seconds(3_600));
        assert_eq!(dev.ttls.dedup, seconds(2 * 3_600));
        assert_eq!(dev.ttls.delete, Lifetime::FOREVER);
        let prod = read(toml, Some("prod")).expect("valid");
        assert_eq!(prod.ttls.version_hint, Ttls::default().version_hint);
        assert_eq!(prod.ttls.dedup, seconds(24 * 3_600));
    }

    #[test]
    fn without_a_word_the_defaults_hold() {
        assert_eq!(read("", None), Ok(Keys::default()));
    }

    #[test]
    fn what_nobody_knows_is_refused() {
        for (toml, reason) in [
            ("enviroment = \"dev\"", "unknown field `enviroment`"),
            ("[ttl]\ndedup = 2", "unknown field `dedup`"),
            ("[ttl]\ndedup_ttl_hours = 0", "from 1 to a hundred years"),
            ("[ttl]\ndedup_ttl_hours = \"never\"", "or none"),
            ("[environments.dev]\nx = 1", "unknown field `x`"),
            ("environment = \"a:b\"", "the environment `a:b`"),
            ("[environments.\"{x}\"]", "the environment `{x}`"),
        ] {
            let error = read(toml, None).expect_err(toml);
            assert!(error.contains(reason), "{toml}: {error}");
        }
    }
}
