//! Settings: flags, then `KURIER_*` variables, then a TOML file, then defaults. A setting
//! that nobody knows is refused: a typo must not start an empty database.

mod bundle;
mod content;
mod keys;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use kurier_core::net::Guard;
use serde::Deserialize;

use self::bundle::BundleFile;
pub use self::bundle::{Anchoring, BundleArgs};
pub use self::content::Content;
use self::content::ContentFile;
pub use self::keys::Keys;
use self::keys::{CacheFile, KeysFile};
use crate::bundle::BundleSettings;
use crate::secret::SecretKey;
use crate::version::BuildVersion;

/// Variables that are read somewhere; every other `KURIER_*` is refused by `serve`.
const VARIABLES: &[&str] = &[
    "KURIER_LISTEN",
    "KURIER_PUBLIC_URL",
    "KURIER_DATA",
    "KURIER_DATABASE_URL",
    "KURIER_REDIS_URL",
    "KURIER_ENVIRONMENT",
    "KURIER_CONFIG",
    "KURIER_LOG",
    "KURIER_BOOTSTRAP_WRITE_KEY",
    "KURIER_BOOTSTRAP_ADMIN_KEY",
    "KURIER_WORKSPACE",
    "KURIER_SNAPSHOT_EVENTS",
    "KURIER_SNAPSHOT_SECONDS",
    "KURIER_WORLD_BYTES_MAX",
    "KURIER_SECRET_KEY",
    "KURIER_SECRET_KEY_FILE",
    "KURIER_OUTGOING_ALLOW",
    "KURIER_ENVIRONMENT",
    "KURIER_ANCHOR_COMMAND",
    "KURIER_ANCHOR_URL",
    "KURIER_WEB",
    "KURIER_DEMO",
    // Read when the program is built; an image may still have it when it runs.
    "KURIER_COMMIT",
];

const SNAPSHOT_EVENTS: u32 = 100_000;
const SNAPSHOT_SECONDS: u32 = 120;
const WORLD_BYTES_MAX: u64 = 8 << 30;

/// Options of every command stand apart from the command's own.
pub const DATABASE: &str = "Options of every command";

/// Where the data is: the options every command takes that reads or writes it.
#[derive(Debug, Clone, Default, Args)]
pub struct StoreArgs {
    /// Folder of the embedded database and of snapshots, made if it is missing [default: data]
    #[arg(long, value_name = "DIR", env = "KURIER_DATA", global = true, help_heading = DATABASE)]
    pub data: Option<PathBuf>,
    /// PostgreSQL instead of the embedded database: postgres://user:password@host/database
    #[arg(
        long,
        value_name = "URL",
        env = "KURIER_DATABASE_URL",
        hide_env_values = true,
        global = true,
        help_heading = DATABASE
    )]
    pub database_url: Option<String>,
    /// Redis for what may be lost (in the server's process without it): redis://host:port,
    /// redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/master,
    /// with rediss for TLS
    #[arg(
        long,
        value_name = "URL",
        env = "KURIER_REDIS_URL",
        hide_env_values = true,
        global = true,
        help_heading = DATABASE
    )]
    pub redis_url: Option<String>,
    /// Which environment this is, in keys and for their times to live [default: prod]
    #[arg(long, value_name = "NAME", env = "KURIER_ENVIRONMENT", global = true, help_heading = DATABASE)]
    pub environment: Option<String>,
    /// A TOML file with settings (flags and variables win)
    #[arg(long, value_name = "FILE", env = "KURIER_CONFIG", global = true, help_heading = DATABASE)]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub outgoing: OutgoingArgs,
    #[command(flatten)]
    pub bundle: BundleArgs,
}

/// What channels need, whichever command uses them. Not on the command line, where everyone
/// on the machine could read a key.
#[derive(Clone, Default, Args)]
pub struct OutgoingArgs {
    #[arg(
        long,
        env = "KURIER_SECRET_KEY",
        hide = true,
        hide_env_values = true,
        global = true
    )]
    pub secret_key: Option<String>,
    #[arg(long, env = "KURIER_SECRET_KEY_FILE", hide = true, global = true)]
    pub secret_key_file: Option<PathBuf>,
    #[arg(
        long,
        env = "KURIER_OUTGOING_ALLOW",
        value_delimiter = ',',
        hide = true,
        global = true
    )]
    pub outgoing_allow: Option<Vec<String>>,
}

impl std::fmt::Debug for OutgoingArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("OutgoingArgs");
        shown.field("outgoing_allow", &self.outgoing_allow);
        shown.finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Default, Args)]
pub struct ServeArgs {
    /// Address to serve on [default: 127.0.0.1:8787]
    #[arg(long, value_name = "ADDRESS", env = "KURIER_LISTEN")]
    pub listen: Option<SocketAddr>,
    /// Where the world reaches this server, for links in messages: <https://kurier.example.com>
    #[arg(long, value_name = "URL", env = "KURIER_PUBLIC_URL")]
    pub public_url: Option<String>,
    /// The write key of the workspace made at the first start (random without it)
    #[arg(
        long,
        value_name = "KEY",
        env = "KURIER_BOOTSTRAP_WRITE_KEY",
        hide = true,
        hide_env_values = true
    )]
    pub bootstrap_write_key: Option<String>,
    /// The admin key of the workspace made at the first start (random without it)
    #[arg(
        long,
        value_name = "KEY",
        env = "KURIER_BOOTSTRAP_ADMIN_KEY",
        hide = true,
        hide_env_values = true
    )]
    pub bootstrap_admin_key: Option<String>,
    /// A snapshot is written after so many events at the earliest [default: 100000]
    #[arg(long, value_name = "NUMBER", env = "KURIER_SNAPSHOT_EVENTS")]
    pub snapshot_events: Option<u32>,
    /// A snapshot is written after so many seconds at the earliest [default: 120]
    #[arg(long, value_name = "NUMBER", env = "KURIER_SNAPSHOT_SECONDS")]
    pub snapshot_seconds: Option<u32>,
    /// Warn when contacts and events in memory take more bytes than this [default: 8589934592]
    #[arg(long, value_name = "BYTES", env = "KURIER_WORLD_BYTES_MAX")]
    pub world_bytes_max: Option<u64>,
    /// Fill an empty database with a demo that goes on by itself, open to whoever is on this machine
    #[arg(long, env = "KURIER_DEMO")]
    pub demo: bool,
    /// A folder with the web interface, in place of the one in this program
    #[arg(long, value_name = "DIR", env = "KURIER_WEB")]
    pub web: Option<PathBuf>,
}

/// The file's keys are the flags' names with underscores.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    listen: Option<SocketAddr>,
    public_url: Option<String>,
    data: Option<PathBuf>,
    database_url: Option<String>,
    redis_url: Option<String>,
    bootstrap_write_key: Option<String>,
    bootstrap_admin_key: Option<String>,
    snapshot_events: Option<u32>,
    snapshot_seconds: Option<u32>,
    world_bytes_max: Option<u64>,
    web: Option<PathBuf>,
    secret_key: Option<String>,
    secret_key_file: Option<PathBuf>,
    outgoing_allow: Option<Vec<String>>,
    #[serde(default)]
    keys: KeysFile,
    #[serde(default)]
    cache: CacheFile,
    #[serde(default)]
    content: ContentFile,
    #[serde(default)]
    bundle: BundleFile,
}

/// Which database.
#[derive(Debug, Clone)]
pub enum Database {
    Embedded { folder: PathBuf },
    Postgres { url: String },
}

#[derive(Debug, Clone)]
pub struct Config {
    pub database: Database,
    pub listen: SocketAddr,
    /// Without it no message links back here.
    pub public_url: Option<String>,
    pub redis_url: Option<String>,
    pub keys: Keys,
    /// What is remembered in this process takes no more than this.
    pub cache_bytes_max: u64,
    pub content: Content,
    pub bootstrap_write_key: Option<String>,
    pub bootstrap_admin_key: Option<String>,
    /// Where snapshots are kept; with PostgreSQL only if a data folder is given.
    pub snapshots: Option<PathBuf>,
    pub snapshot_events: i64,
    pub snapshot_every: Duration,
    pub world_bytes_max: u64,
    /// Whether to make a demo.
    pub demo: bool,
    /// The web interface, if not the one in this program.
    pub web: Option<PathBuf>,
    /// The data folder, which an embedded database always has.
    pub folder: Option<PathBuf>,
    /// Seals the secrets of channels.
    pub secret_key: Option<SecretKey>,
    /// What channels may call although it is not public.
    pub outgoing: Guard,
    /// How bundles are served; they are not without it.
    pub bundle: Option<BundleSettings>,
    pub anchoring: Option<Anchoring>,
    /// Which program this is; only `main` knows it.
    pub build: BuildVersion,
}

impl Config {
    pub fn load(store: StoreArgs, serve: ServeArgs) -> anyhow::Result<Self> {
        let file = match &store.config {
            Some(path) => read_file(path)?,
            None => File::default(),
        };
        let (secret_key, outgoing) = outgoing(store.outgoing, &file)?;
        let (bundle, anchoring) = bundle::read(store.bundle, file.bundle)?;
        let folder = store.data.or(file.data);
        let (database, folder) = match store.database_url.or(file.database_url) {
            Some(url) => (Database::Postgres { url }, folder),
            None => {
                let folder = folder.unwrap_or_else(|| PathBuf::from("data"));
                (
                    Database::Embedded {
                        folder: folder.clone(),
                    },
                    Some(folder),
                )
            }
        };
        let seconds = serve.snapshot_seconds.or(file.snapshot_seconds);
        let events = serve.snapshot_events.or(file.snapshot_events);
        let bytes = serve.world_bytes_max.or(file.world_bytes_max);
        let listen = serve.listen.or(file.listen);
        let config = Self {
            database,
            listen: listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8787))),
            public_url: serve.public_url.or(file.public_url),
            redis_url: store.redis_url.or(file.redis_url),
            keys: file.keys.read(store.environment)?,
            cache_bytes_max: file.cache.bytes_max(),
            content: file.content.read()?,
            bootstrap_write_key: serve.bootstrap_write_key.or(file.bootstrap_write_key),
            bootstrap_admin_key: serve.bootstrap_admin_key.or(file.bootstrap_admin_key),
            snapshots: folder.as_ref().map(|folder| folder.join("snapshots")),
            folder,
            secret_key,
            outgoing,
            bundle,
            anchoring,
            snapshot_events: i64::from(events.unwrap_or(SNAPSHOT_EVENTS)),
            snapshot_every: Duration::from_secs(seconds.unwrap_or(SNAPSHOT_SECONDS).into()),
            world_bytes_max: bytes.unwrap_or(WORLD_BYTES_MAX),
            demo: serve.demo,
            web: serve.web.or(file.web),
            build: BuildVersion::default(),
        };
        config.checked()
    }

    fn checked(self) -> anyhow::Result<Self> {
        if let Database::Postgres { url } = &self.database
            && !url.starts_with("postgres://")
            && !url.starts_with("postgresql://")
        {
            bail!("--database-url must begin with postgres://");
        }
        if let Some(url) = &self.public_url {
            check_public_url(url)?;
        }
        self.content.checked(self.redis_url.as_deref())?;
        for key in [&self.bootstrap_write_key, &self.bootstrap_admin_key]
            .into_iter()
            .flatten()
        {
            if key.len() < 8 || key.chars().any(|c| c.is_whitespace() || c == ':') {
                bail!("a bootstrap key needs at least 8 characters, without spaces and colons");
            }
        }
        if self.bootstrap_write_key.is_some()
            && self.bootstrap_write_key == self.bootstrap_admin_key
        {
            bail!("the bootstrap write key and admin key must differ: one is public, one is not");
        }
        Ok(self)
    }
}

/// Links are made by writing behind it.
fn check_public_url(url: &str) -> anyhow::Result<()> {
    let schemes = ["https://", "http://"];
    let rest = schemes.iter().find_map(|scheme| url.strip_prefix(scheme));
    let is_plain = |c: char| c.is_ascii_graphic() && !"?#<>\"\\^`{|}@".contains(c);
    match rest {
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') && rest.chars().all(is_plain) => {
            Ok(())
        }
        _ => bail!("--public-url must be like https://kurier.example.com, without ? and #"),
    }
}

fn outgoing(args: OutgoingArgs, file: &File) -> anyhow::Result<(Option<SecretKey>, Guard)> {
    let key_file = args.secret_key_file.or(file.secret_key_file.clone());
    let key = match (args.secret_key.or(file.secret_key.clone()), key_file) {
        (Some(_), Some(_)) => bail!("give the secret key or the file that holds it, not both"),
        (Some(key), None) => Some(key),
        (None, Some(path)) => {
            let text = std::fs::read_to_string(&path);
            Some(text.with_context(|| format!("the secret key {}", path.display()))?)
        }
        (None, None) => None,
    };
    let key = key.map(|text| SecretKey::read(&text)).transpose()?;
    let allowed = args.outgoing_allow.or(file.outgoing_allow.clone());
    let allowed = allowed.unwrap_or_default();
    let guard = Guard::new(
        allowed
            .iter()
            .map(String::as_str)
            .filter(|it| !it.is_empty()),
    );
    Ok((key, guard.context("outgoing_allow")?))
}

fn read_file(path: &Path) -> anyhow::Result<File> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the settings file {} cannot be read", path.display()))?;
    toml::from_str(&text).with_context(|| format!("the settings file {}", path.display()))
}

/// Refuses variables that look like ours and are not.
pub fn check_variables(names: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let ours = names.filter(|name| name.starts_with("KURIER_"));
    let unknown: Vec<String> = ours
        .filter(|name| !VARIABLES.contains(&name.as_str()))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    bail!(
        "unknown setting {}; there are {}",
        unknown.join(", "),
        VARIABLES.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(toml: &str, store: StoreArgs, serve: ServeArgs) -> Result<Config, String> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), toml).expect("written");
        let store = StoreArgs {
            config: Some(file.path().to_owned()),
            ..store
        };
        Config::load(store, serve).map_err(|e| format!("{e:#}"))
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let toml = "listen = \"127.0.0.1:1\"\ndata = \"from-file\"";
        let serve = ServeArgs {
            listen: Some(([127, 0, 0, 1], 2).into()),
            ..ServeArgs::default()
        };
        let config = load(toml, StoreArgs::default(), serve).expect("valid");
        assert_eq!(config.listen.port(), 2);
        assert!(
            matches!(config.database, Database::Embedded { folder } if folder == Path::new("from-file"))
        );
        let config = load("", StoreArgs::default(), ServeArgs::default()).expect("valid");
        assert_eq!(config.listen.port(), 8787);
    }

    #[test]
    fn unknown_settings_are_refused() {
        let error = load("lisen = \"x\"", StoreArgs::default(), ServeArgs::default());
        assert!(
            error
                .expect_err("refused")
                .contains("unknown field `lisen`")
        );
        let error = check_variables(["HOME", "KURIER_DATABSE_URL"].map(String::from).into_iter());
        assert!(
            error
                .expect_err("refused")
                .to_string()
                .contains("KURIER_DATABSE_URL")
        );
        assert!(check_variables(["KURIER_DATA".to_owned()].into_iter()).is_ok());
    }

    #[test]
    fn a_public_url_must_be_one() {
        let load = |url: &str| {
            let toml = format!("public_url = {url:?}");
            load(&toml, StoreArgs::default(), ServeArgs::default())
        };
        for good in [
            "https://k.example.com",
            "http://127.0.0.1:8787/",
            "https://x.de/kurier",
        ] {
            assert_eq!(load(good).expect(good).public_url.as_deref(), Some(good));
        }
        for bad in [
            "",
            "k.example.com",
            "https://",
            "https:///x",
            "https://x.de/?a",
            "ftp://x.de",
            "https://x.de/a b",
            "https://u:p@x.de",
        ] {
            assert!(load(bad).expect_err(bad).contains("--public-url"), "{bad}");
        }
    }

    #[test]
    fn a_database_url_must_be_one() {
        let store = StoreArgs {
            database_url: Some("mysql://x".into()),
            ..StoreArgs::default()
        };
        assert!(load("", store, ServeArgs::default()).is_err());
    }
}
