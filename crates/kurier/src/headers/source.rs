//! `HEADERS_SOURCE`: one or more places, separated by commas or spaces, each with options of
//! ours behind a question mark.

use std::path::PathBuf;
use std::time::Duration;

use kurier_core::bundle::Hash256;
use kurier_core::bundle::chain::Chain;
use kurier_core::net::Target;

const PATIENCE: Duration = Duration::from_secs(10);
const SOURCES_MAX: usize = 16;

/// The setting, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    pub chain: Chain,
    pub sources: Vec<Address>,
}

/// One place that has headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub place: Place,
    pub chain: Chain,
    /// The height of its first header.
    pub start: u32,
    /// A block that is known by other means to be in the chain, not far above the start.
    pub checkpoint: Option<Hash256>,
    pub patience: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    File(PathBuf),
    /// What stands before `/tip` and `/headers`.
    Http(String),
}

impl Setting {
    pub fn parse(text: &str) -> Result<Self, String> {
        let named = text.split([',', ' ', '\t', '\n']);
        let named: Vec<&str> = named.filter(|it| !it.is_empty()).collect();
        if named.len() > SOURCES_MAX {
            return Err(format!("there are at most {SOURCES_MAX} sources"));
        }
        let sources: Result<Vec<Address>, String> =
            named.iter().map(|text| Address::parse(text)).collect();
        let sources = sources?;
        let first = sources.first().ok_or("it names no source")?;
        let (chain, begin) = (first.chain, first.begin());
        match sources.iter().all(|it| it.begin() == begin) {
            true => Ok(Self { chain, sources }),
            false => Err("all sources have the same chain, start and checkpoint".to_owned()),
        }
    }
}

impl Address {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (place, options) = text.split_once('?').unwrap_or((text, ""));
        let mut address = Self {
            place: read_place(place).map_err(|why| format!("`{text}`: {why}"))?,
            chain: Chain::Bsv,
            start: 0,
            checkpoint: None,
            patience: PATIENCE,
        };
        for option in options.split('&').filter(|it| !it.is_empty()) {
            let told = address.set(option);
            told.map_err(|why| format!("`{text}`: {why}"))?;
        }
        match address.checkpoint.is_some() && address.start == 0 {
            true => Err(format!(
                "`{text}`: from the first block on no checkpoint is needed"
            )),
            false => Ok(address),
        }
    }

    /// Where a chain of headers begins.
    fn begin(&self) -> (Chain, u32, Option<Hash256>) {
        (self.chain, self.start, self.checkpoint)
    }

    fn set(&mut self, option: &str) -> Result<(), String> {
        let number = |text: &str| text.parse().map_err(|_| format!("{option} is no number"));
        match option.split_once('=').unwrap_or((option, "")) {
            ("chain", name) => {
                let chain = Chain::named(name);
                self.chain = chain.ok_or("chain is btc, bsv or regtest")?;
            }
            ("start", text) => self.start = number(text)?,
            ("checkpoint", text) => {
                let hash = text.parse();
                self.checkpoint = Some(hash.map_err(|_| "checkpoint is a block's hash")?);
            }
            ("timeout", text) => match number(text)? {
                seconds @ 1..=60 => self.patience = Duration::from_secs(seconds.into()),
                _ => return Err("timeout has 1 to 60 seconds".to_owned()),
            },
            _ => {
                return Err(format!(
                    "there is no option {option}; there are chain, start, checkpoint, timeout"
                ));
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Place::File(path) => write!(f, "file://{}", path.display()),
            Place::Http(base) => f.write_str(base),
        }
    }
}

fn read_place(text: &str) -> Result<Place, String> {
    if let Some(path) = text.strip_prefix("file://") {
        return match path.is_empty() {
            true => Err("it names no file".to_owned()),
            false => Ok(Place::File(PathBuf::from(path))),
        };
    }
    if !["http://", "https://"]
        .iter()
        .any(|it| text.starts_with(it))
    {
        return Err("it begins with none of file://, http:// and https://".to_owned());
    }
    Target::of(text).map_err(|blocked| blocked.to_string())?;
    let base = text.strip_suffix("/tip").unwrap_or(text);
    Ok(Place::Http(base.trim_end_matches('/').to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_servers_are_read_with_their_options() {
        let text = "file:///var/headers/h.bin?chain=regtest, http://127.0.0.1:9/x/tip?chain=regtest&timeout=2";
        let setting = Setting::parse(text).expect("good");
        assert_eq!(setting.chain, Chain::Regtest);
        let places: Vec<&Place> = setting.sources.iter().map(|it| &it.place).collect();
        let file = Place::File(PathBuf::from("/var/headers/h.bin"));
        assert_eq!(places, [&file, &Place::Http("http://127.0.0.1:9/x".into())]);
        assert_eq!(setting.sources[1].patience, Duration::from_secs(2));
        let plain = Setting::parse("https://headers.example/tip").expect("good");
        assert_eq!((plain.chain, plain.sources[0].start), (Chain::Bsv, 0));
        assert_eq!(plain.sources[0].to_string(), "https://headers.example");
        let started = Setting::parse("file://h?start=900000&chain=bsv").expect("good");
        assert_eq!(started.sources[0].start, 900_000);
        let text = format!("file://h?start=9&checkpoint={}", "ab".repeat(32));
        let pinned = Setting::parse(&text).expect("good");
        assert_eq!(pinned.sources[0].checkpoint, Some(Hash256([0xab; 32])));
    }

    #[test]
    fn what_is_malformed_is_refused_with_the_reason() {
        for (text, why) in [
            ("", "names no source"),
            ("/var/headers.json", "none of file://, http:// and https://"),
            ("file://", "names no file"),
            ("ftp://x/tip", "none of file://"),
            ("http://u:p@x/tip", "user or a password"),
            ("file://h?chain=doge", "btc, bsv or regtest"),
            ("file://h?start=-1", "no number"),
            ("file://h?timeout=0", "1 to 60"),
            ("file://h?colour=red", "no option"),
            ("file://h?start=1&checkpoint=ab", "a block's hash"),
            (
                &format!("file://h?checkpoint={}", "ab".repeat(32)),
                "no checkpoint is needed",
            ),
            ("file://a?chain=btc file://b?chain=bsv", "the same chain"),
        ] {
            let error = Setting::parse(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
