//! How keys are named and how long they are kept, which may differ from environment to
//! environment.

use std::collections::BTreeMap;

use anyhow::Context as _;
use kurier_core::keys::{NOTIFICATION_SLACK, TtlOverrides, Ttls};
use serde::Deserialize;

use crate::flow::edge::EdgeSettings;

const ENVIRONMENT: &str = "prod";

/// What was said of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct EdgeFile {
    pub environment: Option<String>,
    /// In every environment.
    pub ttl: TtlOverrides,
    /// In the environment of that name, over that.
    pub environments: BTreeMap<String, TtlOverrides>,
}

impl EdgeFile {
    pub fn settings(self) -> anyhow::Result<EdgeSettings> {
        let environment = self.environment.as_deref().unwrap_or(ENVIRONMENT);
        let others = self.environments.keys().map(String::as_str);
        for name in std::iter::once(environment).chain(others) {
            let key = NOTIFICATION_SLACK.checkpoint(name, "group");
            key.with_context(|| format!("the environment `{name}`"))?;
        }
        let over = self.environments.get(environment);
        let ttls = Ttls::default().overridden(&self.ttl);
        Ok(EdgeSettings {
            environment: environment.to_owned(),
            ttls: over.map_or(ttls, |over| ttls.overridden(over)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(given: Option<&str>, toml: &str) -> Result<EdgeSettings, String> {
        let file: EdgeFile = toml::from_str(toml).map_err(|e| e.to_string())?;
        let environment = given.map(Into::into).or(file.environment.clone());
        let file = EdgeFile {
            environment,
            ..file
        };
        file.settings().map_err(|e| format!("{e:#}"))
    }

    #[test]
    fn seed_004_section_4_an_environment_overrides_and_disables_times_to_live() {
        let toml = "
            environment = \"dev\"
            [ttl]
            delete_ttl_seconds = 60
            version_hint_ttl_seconds = 100
            [environments.dev]
            version_hint_ttl_seconds = 3600
            dedup_ttl_hours = 2
            [environments.critical]
            version_hint_ttl_seconds = \"none\"";
        let dev = load(None, toml).expect("good");
        assert_eq!(dev.environment, "dev");
        assert_eq!(dev.ttls.version_hint.ttl_ms(), Some(3_600_000));
        assert_eq!(dev.ttls.dedup.ttl_ms(), Some(2 * 3_600_000));
        assert_eq!(dev.ttls.delete.ttl_ms(), Some(60_000));
        let critical = load(Some("critical"), toml).expect("good");
        assert_eq!(critical.ttls.version_hint.ttl_ms(), None);
        assert_eq!(critical.ttls.dedup, Ttls::default().dedup);
        let prod = load(None, "").expect("good");
        assert_eq!(
            (prod.environment.as_str(), prod.ttls),
            ("prod", Ttls::default())
        );
    }

    #[test]
    fn what_cannot_stand_in_a_key_is_no_environment() {
        let error = load(Some("a:b"), "").expect_err("refused");
        assert_eq!(
            error,
            "the environment `a:b`: `:` must not stand in an environment"
        );
        assert!(load(None, "[environments.\"{x}\"]").is_err());
        assert!(load(None, "[ttl]\ndedup_ttl_hours = 0").is_err());
        assert!(load(None, "[ttl]\ndedup_hours = 1").is_err());
    }
}
