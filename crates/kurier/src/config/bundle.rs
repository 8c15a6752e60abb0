//! How bundles are served: variables under the names they were designed with, or `[bundle]`
//! of the settings file. What is malformed is refused, also while bundles are off.

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use kurier_core::bundle::Policy;
use kurier_core::keys::bundle::BundleTtls;
use kurier_core::net::Target;
use serde::Deserialize;

use crate::bundle::BundleSettings;
use crate::headers::Setting;

const MIN_CONFS: u32 = 1;

#[derive(Debug, Clone, Default, Args)]
pub struct BundleArgs {
    #[arg(long, env = "HEADERS_SOURCE", hide = true, global = true)]
    pub headers_source: Option<String>,
    #[arg(long, env = "POLICY_MIN_CONFS", hide = true, global = true)]
    pub policy_min_confs: Option<String>,
    #[arg(long, env = "READY_WHEN_UNSTABLE", hide = true, global = true)]
    pub ready_when_unstable: Option<String>,
    #[arg(long, env = "CACHE_TTLS_JSON", hide = true, global = true)]
    pub cache_ttls_json: Option<String>,
    #[arg(long, env = "SWR_ENABLE", hide = true, global = true)]
    pub swr_enable: Option<String>,
    #[arg(long, env = "KURIER_ANCHOR_COMMAND", hide = true, global = true)]
    pub anchor_command: Option<String>,
    #[arg(long, env = "KURIER_ANCHOR_URL", hide = true, global = true)]
    pub anchor_url: Option<String>,
}

/// `[bundle]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct BundleFile {
    headers_source: Option<String>,
    policy_min_confs: Option<u32>,
    ready_when_unstable: Option<bool>,
    cache_ttls_json: Option<String>,
    swr_enable: Option<bool>,
    anchor_command: Option<String>,
    anchor_url: Option<String>,
}

/// Who makes a transaction that carries a commitment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Anchoring {
    Command(String),
    Url(String),
}

pub(super) fn read(
    args: BundleArgs,
    file: BundleFile,
) -> anyhow::Result<(Option<BundleSettings>, Option<Anchoring>)> {
    let min_confs = match args.policy_min_confs {
        Some(text) => text.parse().ok().with_context(|| {
            format!("POLICY_MIN_CONFS is `{text}`; it is a whole number from 1 on")
        })?,
        None => file.policy_min_confs.unwrap_or(MIN_CONFS),
    };
    let unstable = flag("READY_WHEN_UNSTABLE", args.ready_when_unstable)?;
    let unstable = unstable.or(file.ready_when_unstable).unwrap_or(false);
    let policy = Policy::new(min_confs, unstable).context("POLICY_MIN_CONFS")?;
    let swr = flag("SWR_ENABLE", args.swr_enable)?.or(file.swr_enable);
    let ttls = args.cache_ttls_json.or(file.cache_ttls_json);
    let ttls = ttls.map(|json| BundleTtls::parse(&json)).transpose();
    let ttls = ttls.map_err(|why| anyhow!("CACHE_TTLS_JSON: {why}"))?;
    let source = args.headers_source.or(file.headers_source);
    let source = source.filter(|text| !text.trim().is_empty());
    let source = source.map(|text| Setting::parse(&text)).transpose();
    let source = source.map_err(|why| anyhow!("HEADERS_SOURCE: {why}"))?;
    let settings = source.map(|headers| BundleSettings {
        headers,
        policy,
        ttls: ttls.unwrap_or_default(),
        swr: swr.unwrap_or(false),
    });
    let command = args.anchor_command.or(file.anchor_command);
    Ok((
        settings,
        anchoring(command, args.anchor_url.or(file.anchor_url))?,
    ))
}

fn flag(name: &str, text: Option<String>) -> anyhow::Result<Option<bool>> {
    match text.as_deref() {
        None => Ok(None),
        Some("true" | "1") => Ok(Some(true)),
        Some("false" | "0") => Ok(Some(false)),
        Some(other) => bail!("{name} is `{other}`; it is true or false"),
    }
}

fn anchoring(command: Option<String>, url: Option<String>) -> anyhow::Result<Option<Anchoring>> {
    match (command, url) {
        (Some(_), Some(_)) => bail!("give KURIER_ANCHOR_COMMAND or KURIER_ANCHOR_URL, not both"),
        (Some(command), None) => Ok(Some(Anchoring::Command(command))),
        (None, Some(url)) => {
            Target::of(&url).map_err(|blocked| anyhow!("KURIER_ANCHOR_URL: {blocked}"))?;
            Ok(Some(Anchoring::Url(url)))
        }
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: impl FnOnce(&mut BundleArgs)) -> Result<Option<BundleSettings>, String> {
        let mut args = BundleArgs::default();
        set(&mut args);
        let read = read(args, BundleFile::default());
        read.map(|(settings, _)| settings)
            .map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn without_a_source_bundles_are_off_and_with_one_the_defaults_hold() {
        assert_eq!(with(|_| ()), Ok(None));
        let on = with(|args| args.headers_source = Some("file:///h?chain=regtest".into()));
        let on = on.expect("good").expect("on");
        assert_eq!((on.policy.min_confs(), on.swr), (1, false));
        assert_eq!(on.ttls, BundleTtls::default());
    }

    #[test]
    fn malformed_values_are_refused_with_the_reason() {
        let text = |text: &str| Some(text.to_owned());
        for (found, why) in [
            (
                with(|it| it.policy_min_confs = text("two")),
                "POLICY_MIN_CONFS is `two`",
            ),
            (
                with(|it| it.policy_min_confs = text("0")),
                "at least one confirmation",
            ),
            (
                with(|it| it.policy_min_confs = text("-1")),
                "POLICY_MIN_CONFS",
            ),
            (
                with(|it| it.swr_enable = text("yes")),
                "SWR_ENABLE is `yes`",
            ),
            (
                with(|it| it.ready_when_unstable = text("")),
                "READY_WHEN_UNSTABLE",
            ),
            (with(|it| it.cache_ttls_json = text("{")), "CACHE_TTLS_JSON"),
            (
                with(|it| it.cache_ttls_json = text("{\"tips\":1}")),
                "unknown field `tips`",
            ),
            (
                with(|it| it.headers_source = text("nowhere")),
                "HEADERS_SOURCE",
            ),
        ] {
            let error = found.expect_err(why);
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn the_file_says_the_same() {
        let file: BundleFile = toml::from_str(
            "headers_source = \"file:///h?chain=btc\"\npolicy_min_confs = 6\nswr_enable = true\nanchor_command = \"sign\"",
        )
        .expect("TOML");
        let (settings, anchoring) = read(BundleArgs::default(), file).expect("good");
        let settings = settings.expect("on");
        assert_eq!((settings.policy.min_confs(), settings.swr), (6, true));
        assert_eq!(anchoring, Some(Anchoring::Command("sign".into())));
        assert!(toml::from_str::<BundleFile>("min_confs = 6").is_err());
    }
}
