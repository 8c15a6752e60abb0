//! How fresh segments are: from an acknowledged event to the member seen through the API, while
//! events come in; what a preview over HTTP takes; and how long a restart takes.

pub mod api;
mod probe;
mod restart;

use std::path::{Path, PathBuf};
use std::process::Command;

use comfy_table::Table;
use serde::Serialize;

use crate::database::fresh;
use crate::outcome::Verdict;
use crate::plan::Database;
use crate::report::{keep, number, table, targets};
use crate::segments::Size;
use crate::server::Server;

pub const WRITE_KEY: &str = "bench-write-key";
pub const ADMIN_KEY: &str = "bench-admin-key";
/// What the secrets of channels are sealed with.
const SECRET_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const VISIBLE_MS_MAX: f64 = 50.0;
const PREVIEW_MS_MAX: f64 = 25.0;
const RESTART_SECONDS_MAX: f64 = 15.0;
const DATABASE: &str = "bench_freshness";

#[derive(clap::Args)]
pub struct Args {
    /// Seconds of load while probing
    #[arg(long, default_value_t = 15.0)]
    seconds: f64,
    /// Events a second meanwhile
    #[arg(long, default_value_t = 5_000)]
    rate: u32,
    /// The log that previews and the restart are measured on
    #[arg(long, value_enum, default_value_t = Log::Large)]
    log: Log,
    /// The server program
    #[arg(long)]
    kurier: PathBuf,
    /// Where the data of the segment benchmark is
    #[arg(long)]
    data: PathBuf,
    /// A PostgreSQL server that databases may be made on
    #[arg(long, env = "TEST_POSTGRES_URL")]
    postgres: String,
    /// Where the results go as JSON
    #[arg(long)]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Log {
    Small,
    Large,
    /// Only the freshness
    None,
}

/// Where a server keeps its data.
pub enum Place {
    Folder(PathBuf),
    Url(String),
}

/// How long it took until a member was seen, in ms.
#[derive(Debug, Serialize)]
pub struct Seen {
    database: Database,
    probes: usize,
    events_per_second: f64,
    /// By `explain`, which asks the reactor.
    explain_ms: (f64, f64),
    /// In the list of members, which is a read model.
    members_ms: (f64, f64),
}

/// What a server with a long log did.
#[derive(Debug, Serialize)]
pub struct Long {
    size: Size,
    append_seconds: f64,
    first_start_seconds: f64,
    restart_seconds: f64,
    /// Events behind the snapshot that the restart went on from.
    tail: u64,
    preview_ms: Vec<(String, f64, f64)>,
    rss_mb: f64,
}

pub async fn run(args: &Args) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut seen = Vec::new();
    for database in [Database::Sqlite, Database::Postgres] {
        eprintln!("==> freshness on {}", database.name());
        let place = match database {
            Database::Sqlite => {
                let place = folder.path().join("fresh");
                std::fs::create_dir(&place)?;
                Place::Folder(place)
            }
            Database::Postgres => Place::Url(fresh(&args.postgres, DATABASE).await?),
        };
        let server = start(&args.kurier, &place, folder.path())?;
        seen.push(probe::run(args, &server, &place, database).await?);
    }
    let size = match args.log {
        Log::Small => Some(Size::Small),
        Log::Large => Some(Size::Large),
        Log::None => None,
    };
    let mut long = None;
    if let Some(size) = size {
        long = Some(restart::run(args, size, folder.path()).await?);
    }
    report(&seen, long.as_ref(), args)
}

pub fn start(kurier: &Path, place: &Place, folder: &Path) -> anyhow::Result<Server> {
    start_with(kurier, place, folder, &[])
}

fn start_with(
    kurier: &Path,
    place: &Place,
    folder: &Path,
    settings: &[(&str, String)],
) -> anyhow::Result<Server> {
    let mut command = Command::new(kurier);
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY)
        .env("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY)
        .env("KURIER_SECRET_KEY", SECRET_KEY)
        .env("KURIER_OUTGOING_ALLOW", "127.0.0.0/8")
        .envs(settings.iter().map(|(name, value)| (*name, value)));
    match place {
        Place::Folder(data) => command.arg("--data").arg(data),
        Place::Url(url) => command.arg("--database-url").arg(url),
    };
    Server::start(&mut command, &folder.join("kurier.log"))
}

/// The store behind a place, beside the server or without it.
pub async fn open(place: &Place) -> anyhow::Result<kurier_store::Store> {
    Ok(match place {
        Place::Folder(folder) => kurier_store::Sqlite::open(&folder.join("kurier.db"))?.into(),
        Place::Url(url) => kurier_store::Postgres::open(url).await?.into(),
    })
}

/// The median and the 99th percentile.
pub fn quantiles(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let rank = (values.len() as f64 * share).ceil() as usize;
        values
            .get(rank.saturating_sub(1))
            .copied()
            .unwrap_or(f64::NAN)
    };
    (at(0.50), at(0.99))
}

fn report(seen: &[Seen], long: Option<&Long>, args: &Args) -> anyhow::Result<()> {
    println!("\n{}\n", table_of_seen(seen));
    let mut verdicts: Vec<Verdict> = seen.iter().flat_map(verdicts_of_seen).collect();
    if let Some(long) = long {
        print_long(long);
        verdicts.extend(verdicts_of_long(long));
    }
    println!("{}\n", targets(&verdicts));
    keep(
        &args.out,
        &serde_json::json!({"verdicts": verdicts, "seen": seen, "long": long}),
    )
}

fn table_of_seen(seen: &[Seen]) -> Table {
    let mut rows = table(&[
        "from acknowledged to seen",
        "events/s",
        "probes",
        "explain p50 ms",
        "p99 ms",
        "members p50 ms",
        "p99 ms",
    ]);
    for seen in seen {
        rows.add_row(vec![
            seen.database.name().to_owned(),
            number(seen.events_per_second, 0),
            seen.probes.to_string(),
            number(seen.explain_ms.0, 1),
            number(seen.explain_ms.1, 1),
            number(seen.members_ms.0, 1),
            number(seen.members_ms.1, 1),
        ]);
    }
    rows
}

fn verdicts_of_seen(seen: &Seen) -> [Verdict; 2] {
    let name = seen.database.name();
    let explain = format!("{name}: explain p99, ms");
    let members = format!("{name}: members p99, ms");
    [
        Verdict::at_most(explain, seen.explain_ms.1, VISIBLE_MS_MAX),
        Verdict::at_most(members, seen.members_ms.1, VISIBLE_MS_MAX),
    ]
}

fn print_long(long: &Long) {
    println!(
        "A log of {}: appended in {} s, first start {} s, restart {} s (from a snapshot, {} events \
         behind it), RSS {} MB\n",
        long.size.title(),
        number(long.append_seconds, 1),
        number(long.first_start_seconds, 1),
        number(long.restart_seconds, 1),
        number(long.tail as f64, 0),
        number(long.rss_mb, 0)
    );
    let mut rows = table(&["preview over HTTP", "p50 ms", "p99 ms"]);
    for (query, p50, p99) in &long.preview_ms {
        rows.add_row(vec![query.clone(), number(*p50, 2), number(*p99, 2)]);
    }
    println!("{rows}\n");
}

fn verdicts_of_long(long: &Long) -> [Verdict; 2] {
    let medians = long.preview_ms.iter().map(|(_, p50, _)| *p50);
    let slowest = medians.fold(0.0, f64::max);
    let name = long.size.name();
    let (preview, restart) = (
        format!("{name}: slowest preview, p50 ms"),
        format!("{name}: restart, seconds"),
    );
    [
        Verdict::at_most(preview, slowest, PREVIEW_MS_MAX),
        Verdict::at_most(restart, long.restart_seconds, RESTART_SECONDS_MAX),
    ]
}

#[cfg(test)]
mod tests {
    use super::quantiles;

    #[test]
    fn quantiles_are_values_that_were_seen() {
        let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(quantiles(values), (50.0, 99.0));
        assert_eq!(quantiles(vec![7.0]), (7.0, 7.0));
        assert!(quantiles(Vec::new()).0.is_nan());
    }
}
