//! A whole import: from files to the log, the read models and the keyspace.

use std::path::Path;
use std::time::Instant;

use kurier::app::App;
use kurier::config::{Config, ServeArgs, StoreArgs};
use kurier::flow::content::{Importer, Source, Standing, catch_up};
use kurier::keyring;
use kurier_store::Scope;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct Imported {
    pub seconds: f64,
    /// Until the documented keys stood in the keyspace.
    pub keyspace_seconds: f64,
    pub again_seconds: f64,
    /// What the second import wrote into the log.
    pub again_events: i64,
    pub keys: usize,
}

const PORTION_BYTES: usize = 4 << 20;

/// Imports a folder twice; with Redis, into that.
pub async fn run(folder: &Path, redis: Option<&str>) -> anyhow::Result<Imported> {
    let data = tempfile::tempdir()?;
    let store = StoreArgs {
        data: Some(data.path().to_owned()),
        redis_url: redis.map(str::to_owned),
        ..StoreArgs::default()
    };
    let config = Config::load(store, ServeArgs::default())?;
    let app = App::open(&config).await?;
    keyring::found(app.store.access.as_ref(), "default", None, None).await?;
    let scope = Scope(app.store.access.workspaces().await?[0].id);
    let began = Instant::now();
    let keys = import(&app, scope, folder).await?;
    let seconds = began.elapsed().as_secs_f64();
    app.content_edge.reconcile_all().await?;
    let keyspace_seconds = began.elapsed().as_secs_f64() - seconds;
    let head = app.store.log.head().await?;
    let began = Instant::now();
    import(&app, scope, folder).await?;
    let again_seconds = began.elapsed().as_secs_f64();
    let again_events = app.store.log.head().await?.0 - head.0;
    Ok(Imported {
        seconds,
        keyspace_seconds,
        again_seconds,
        again_events,
        keys,
    })
}

async fn import(app: &App, scope: Scope, folder: &Path) -> anyhow::Result<usize> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    paths.sort_unstable();
    let mut importer = Importer::new(app, scope, false);
    let (mut portion, mut bytes, mut keys) = (Vec::new(), 0, 0);
    for path in paths {
        let text = std::fs::read_to_string(&path)?;
        bytes += text.len();
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
    Ok(keys)
}

async fn take(importer: &mut Importer<'_>, portion: Vec<Source>) -> anyhow::Result<usize> {
    let outcomes = importer.take(portion).await?;
    let refused = outcomes
        .iter()
        .find(|it| matches!(it.standing, Standing::Refused(_)));
    anyhow::ensure!(refused.is_none(), "refused: {refused:?}");
    Ok(outcomes.iter().map(|it| it.diff.new.len()).sum())
}
