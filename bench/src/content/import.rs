//! A whole import: from files to the log, the read models and the keyspace.

use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use kurier::app::App;
use kurier::config::{Config, ServeArgs, StoreArgs};
use kurier::flow::content::{Importer, Source, Standing, catch_up};
use kurier::keyring;
use kurier_store::Scope;
use redis::aio::MultiplexedConnection;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct Imported {
    pub megabytes: f64,
    /// Until it could be read by API.
    pub seconds: f64,
    /// From then on until the documented keys stood in the keyspace.
    pub keyspace_seconds: f64,
    pub keys: usize,
    pub again: Again,
}

impl Imported {
    /// Of all of it, the keyspace too.
    pub fn speed(&self) -> f64 {
        self.megabytes / (self.seconds + self.keyspace_seconds)
    }
}

/// What it took to import the same once more.
#[derive(Debug, Clone, Serialize)]
pub struct Again {
    pub seconds: f64,
    /// Written into the log.
    pub events: i64,
    /// Changes in Redis, as that counts them.
    pub writes: Option<i64>,
}

const PORTION_BYTES: usize = 4 << 20;

/// Imports a folder twice; with Redis, into that, which is emptied before.
pub async fn run(folder: &Path, redis: Option<&str>) -> anyhow::Result<Imported> {
    let data = tempfile::tempdir()?;
    let store = StoreArgs {
        data: Some(data.path().to_owned()),
        redis_url: redis.map(str::to_owned),
        ..StoreArgs::default()
    };
    let config = Config::load(store, ServeArgs::default())?;
    let counted = match redis {
        Some(url) => Some(Counted::emptied(url).await?),
        None => None,
    };
    let app = App::open(&config).await?;
    keyring::found(app.store.access.as_ref(), "default", None, None).await?;
    let scope = Scope(app.store.access.workspaces().await?[0].id);
    let began = Instant::now();
    let (keys, bytes) = import(&app, scope, folder).await?;
    let seconds = began.elapsed().as_secs_f64();
    app.content_edge.reconcile_all().await?;
    let keyspace_seconds = began.elapsed().as_secs_f64() - seconds;
    Ok(Imported {
        megabytes: bytes as f64 / 1e6,
        seconds,
        keyspace_seconds,
        keys,
        again: again(&app, scope, folder, counted).await?,
    })
}

async fn again(
    app: &App,
    scope: Scope,
    folder: &Path,
    counted: Option<Counted>,
) -> anyhow::Result<Again> {
    let head = app.store.log.head().await?;
    let before = match &counted {
        Some(counted) => counted.changes().await?,
        None => 0,
    };
    let began = Instant::now();
    import(app, scope, folder).await?;
    app.content_edge.reconcile_all().await?;
    let seconds = began.elapsed().as_secs_f64();
    let writes = match &counted {
        Some(counted) => Some(counted.changes().await? - before),
        None => None,
    };
    Ok(Again {
        seconds,
        events: app.store.log.head().await?.0 - head.0,
        writes,
    })
}

/// A Redis that says how often it was written to.
struct Counted(MultiplexedConnection);

impl Counted {
    async fn emptied(url: &str) -> anyhow::Result<Self> {
        let client = redis::Client::open(url)?;
        let mut connection = client.get_multiplexed_async_connection().await?;
        redis::cmd("FLUSHALL").exec_async(&mut connection).await?;
        Ok(Self(connection))
    }

    async fn changes(&self) -> anyhow::Result<i64> {
        let mut connection = self.0.clone();
        let mut info = redis::cmd("INFO");
        let info: String = info.arg("persistence").query_async(&mut connection).await?;
        let name = "rdb_changes_since_last_save:";
        let line = info.lines().find_map(|line| line.strip_prefix(name));
        Ok(line.context("Redis counts no changes")?.trim().parse()?)
    }
}

async fn import(app: &App, scope: Scope, folder: &Path) -> anyhow::Result<(usize, usize)> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    paths.sort_unstable();
    let mut importer = Importer::new(app, scope, false);
    let (mut portion, mut bytes, mut keys, mut all) = (Vec::new(), 0, 0, 0);
    for path in paths {
        let text = std::fs::read_to_string(&path)?;
        bytes += text.len();
        all += text.len();
        let id = path.file_name().unwrap_or_default().to_string_lossy();
        portion.push(Source {
            id: id.into_owned(),
            text,
        });
        if bytes > PORTION_BYTES {
            keys += take(&mut importer, std::mem::take(&mut portion)).await?;
            bytes = 0;
        }
    }
    keys += take(&mut importer, portion).await?;
    catch_up(app).await?;
    Ok((keys, all))
}

async fn take(importer: &mut Importer<'_>, portion: Vec<Source>) -> anyhow::Result<usize> {
    let outcomes = importer.take(portion).await?;
    let refused = outcomes
        .iter()
        .find(|it| matches!(it.standing, Standing::Refused(_)));
    anyhow::ensure!(refused.is_none(), "refused: {refused:?}");
    Ok(outcomes.iter().map(|it| it.diff.new.len()).sum())
}
