//! Bundles and the tip of the headers, as they are cached. What is at these keys says when it
//! should be built anew; the keyspace forgets it only later, so that there is something to
//! serve meanwhile.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Key, Lifetime};
use crate::bundle::chain::Tip;
use crate::bundle::{Digest, Standing, State, Whereabouts};
use crate::event::Position;
use crate::id::WorkspaceId;

/// A builder has so long; then another may begin.
pub const LOCK_MS: u64 = 10_000;
/// What a builder puts where its bundle is to stand goes by itself after this.
pub const BUILDING_MS: u64 = 60_000;
/// A year; more is a mistake in units.
const SECONDS_MAX: u64 = 365 * 24 * 3_600;

/// `CACHE_TTLS_JSON`, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct BundleTtls {
    pub headers: u64,
    pub bundles: u64,
    /// So long something old may be served while it is looked at again.
    pub stale_while_revalidate: u64,
    pub neg404: u64,
}

impl Default for BundleTtls {
    fn default() -> Self {
        Self {
            headers: 30,
            bundles: 300,
            stale_while_revalidate: 60,
            neg404: 30,
        }
    }
}

impl BundleTtls {
    /// Reads the setting, or says what is wrong with it.
    pub fn parse(json: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let named = [
            ("headers", read.headers, 1),
            ("bundles", read.bundles, 1),
            ("staleWhileRevalidate", read.stale_while_revalidate, 0),
            ("neg404", read.neg404, 1),
        ];
        match named
            .iter()
            .find(|(_, value, min)| !(*min..=SECONDS_MAX).contains(value))
        {
            None => Ok(read),
            Some((name, value, min)) => Err(format!(
                "{name} is {value}; it has from {min} to {SECONDS_MAX} seconds"
            )),
        }
    }

    /// What was built so long ago is old.
    pub const fn soft_ms(&self) -> u64 {
        self.bundles * 1_000
    }

    /// A tip that was not seen for so long is not relied on.
    pub const fn tip_limit_ms(&self) -> u64 {
        (self.headers + self.stale_while_revalidate) * 1_000
    }
}

/// A bundle as it is cached. Of confirmations nothing is here: they are asked of the headers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CachedBundle {
    /// Whose it is; another workspace may know the same version.
    pub workspace: WorkspaceId,
    /// In milliseconds since 1970, as all times here.
    pub built_at: u64,
    pub soft_expires_at: u64,
    pub block: Option<Tip>,
    /// Whether a transaction commits to it.
    pub is_committed: bool,
    /// Whether all that it holds was found to hold.
    pub is_valid: bool,
    /// Whether its block was off the chain when it was built: then nothing better was there.
    pub was_off_chain: bool,
    /// Whether our headers did not reach its block then.
    pub was_out_of_reach: bool,
    pub envelope: Box<RawValue>,
}

impl CachedBundle {
    pub fn whereabouts(&self) -> Whereabouts {
        match (self.block, self.is_committed) {
            (Some(Tip { height, hash }), _) => Whereabouts::Block { height, hash },
            (None, true) => Whereabouts::Unmined,
            (None, false) => Whereabouts::Pending,
        }
    }

    /// Whether a block that was there when it was built is there no more.
    pub fn is_replaced(&self, now: &Standing) -> bool {
        now.reorg && !self.was_off_chain
    }

    /// Whether its block was out of reach of our headers, and no longer is: now it can be
    /// verified.
    pub fn is_reached(&self, now: &Standing) -> bool {
        self.was_out_of_reach && now.state != State::UnknownHeader
    }
}

/// That a workspace had no version of an id when its read model stood here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    pub workspace: WorkspaceId,
    pub at: Position,
}

/// The tip as one process found it, for the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenTip {
    #[serde(flatten)]
    pub tip: Tip,
    /// In milliseconds since 1970.
    pub updated_at: u64,
}

/// `cache:bundle:VERSION|DEPTH`
pub fn envelope(version: &Digest, depth: u32, ttls: &BundleTtls) -> Key<CachedBundle> {
    let seconds = ttls.bundles + ttls.stale_while_revalidate;
    Key::new(format!("cache:bundle:{version}|{depth}"), lifetime(seconds))
}

/// What stands at a bundle's key while it is built: no bundle, and no other builder's. Who makes
/// everybody forget the bundle takes it away, so that its builder finds that it was overtaken.
pub fn building(token: &str) -> Vec<u8> {
    format!(r#"{{"building":"{token}"}}"#).into_bytes()
}

/// `cache:bundle:lock:VERSION|DEPTH`: two depths do not wait for each other. A token stands
/// there, so that nobody lets go of another's lock.
pub fn lock(version: &Digest, depth: u32) -> Key<String> {
    let text = format!("cache:bundle:lock:{version}|{depth}");
    Key::new(text, lifetime(LOCK_MS / 1_000))
}

/// `cache:bundle:neg:VERSION`
pub fn unknown(version: &Digest, ttls: &BundleTtls) -> Key<Unknown> {
    let text = format!("cache:bundle:neg:{version}");
    Key::new(text, lifetime(ttls.neg404))
}

/// `cache:headers:tip`
pub fn tip(ttls: &BundleTtls) -> Key<SeenTip> {
    let seconds = ttls.headers + ttls.stale_while_revalidate;
    Key::new("cache:headers:tip".to_owned(), lifetime(seconds))
}

fn lifetime(seconds: u64) -> Lifetime {
    Lifetime::seconds(seconds).unwrap_or(Lifetime::FOREVER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_as_they_were_designed() {
        let (ttls, version) = (BundleTtls::default(), Digest([0xab; 32]));
        let id = "ab".repeat(32);
        let key = envelope(&version, 3, &ttls);
        assert_eq!(key.text(), format!("cache:bundle:{id}|3"));
        assert_eq!(key.ttl_ms(), Some(360_000));
        assert!(key.decode(&building("x")).is_none(), "it is no bundle");
        let key = lock(&version, 3);
        assert_eq!(key.text(), format!("cache:bundle:lock:{id}|3"));
        assert_eq!(key.ttl_ms(), Some(10_000));
        let key = unknown(&version, &ttls);
        assert_eq!(key.text(), format!("cache:bundle:neg:{id}"));
        assert_eq!(key.ttl_ms(), Some(30_000));
        let key = tip(&ttls);
        assert_eq!(
            (key.text(), key.ttl_ms()),
            ("cache:headers:tip", Some(90_000))
        );
    }

    #[test]
    fn a_seen_tip_is_written_as_it_was_designed() {
        let seen = SeenTip {
            tip: Tip {
                height: 7,
                hash: crate::bundle::Hash256([1; 32]),
            },
            updated_at: 9,
        };
        let key = tip(&BundleTtls::default());
        let text = format!(
            r#"{{"height":7,"hash":"{}","updatedAt":9}}"#,
            "01".repeat(32)
        );
        assert_eq!(key.encode(&seen), text.as_bytes());
        assert_eq!(key.decode(text.as_bytes()), Some(seen));
    }

    #[test]
    fn ttls_are_read_as_the_setting_has_them_or_refused() {
        let given = r#"{"headers":30,"bundles":300,"staleWhileRevalidate":60,"neg404":30}"#;
        assert_eq!(BundleTtls::parse(given), Ok(BundleTtls::default()));
        let some = BundleTtls::parse(r#"{"headers": 5}"#).expect("good");
        assert_eq!((some.headers, some.bundles), (5, 300));
        for bad in [
            "",
            "[]x",
            "{\"headers\":0}",
            "{\"header\":1}",
            "{\"neg404\":-1}",
            "{\"bundles\":1.5}",
            "{\"bundles\":99999999999}",
        ] {
            assert!(BundleTtls::parse(bad).is_err(), "{bad}");
        }
    }
}
