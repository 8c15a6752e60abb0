//! Kurier's side: messages are queued through its store with the events that ask for them, and
//! a server that is then started hands them out.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use kurier_store::{Scope, Store, Workspace};
use sqlx::{Connection as _, PgConnection};

use super::message::requested;
use super::way::Way;
use super::{Args, Speed};
use crate::bare::BATCH;
use crate::client::Client;
use crate::database::fresh;
use crate::freshness::api::Api;
use crate::freshness::{Place, open, start};
use crate::plan::Database;
use crate::server::Server;

const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A place whose schema and workspace are made.
pub async fn place(args: &Args, database: Database, folder: &Path) -> anyhow::Result<Place> {
    let place = match database {
        Database::Sqlite => Place::Folder(folder.join("data")),
        Database::Postgres => Place::Url(fresh(&args.postgres, super::DATABASE).await?),
    };
    drop(start(&args.kurier, &place, folder)?);
    Ok(place)
}

pub async fn workspace(store: &Store) -> anyhow::Result<Workspace> {
    let first = store.access.workspaces().await?.into_iter().next();
    first.context("the server made no workspace")
}

/// Messages into the queue of a channel that is switched off, and out of it when it is
/// switched on: so the server is busy with nothing else.
pub async fn run(
    args: &Args,
    round: usize,
    database: Database,
    way: &Way,
) -> anyhow::Result<Speed> {
    let folder = tempfile::tempdir()?;
    let place = place(args, database, folder.path()).await?;
    let count = way.count(args);
    let server = start(&args.kurier, &place, folder.path())?;
    let mut api = Api::connect(server.address).await?;
    api.channel(way.name(), &way.setup(false)).await?;
    let came = way.came();
    let enqueue_seconds = enqueue(&place, way.name(), count).await?;
    server.catch_up().await?;
    api.channel(way.name(), &way.setup(true)).await?;
    let drain_seconds = drained(&server, count).await?;
    if let Some(came) = came {
        let came = way.came().unwrap_or(0) - came;
        ensure!(came == count, "{came} letters came to the sink");
    }
    audit(&place, count).await?;
    let side = way.side(database);
    Ok(Speed::of(
        round,
        &side,
        count,
        (enqueue_seconds, drain_seconds),
    ))
}

/// Queues so many, 1,000 in a transaction; answers how long it took.
pub async fn enqueue(place: &Place, channel: &str, count: usize) -> anyhow::Result<f64> {
    let store = open(place).await?;
    let workspace = workspace(&store).await?;
    let mut events = requested(&workspace, channel, count);
    let mut spent = Duration::ZERO;
    while !events.is_empty() {
        let batch = events.split_off(events.len().saturating_sub(BATCH));
        let began = Instant::now();
        store.queue.request(Scope(workspace.id), batch).await?;
        spent += began.elapsed();
    }
    if let Place::Url(url) = place {
        let mut connection = PgConnection::connect(url).await?;
        let settle = sqlx::raw_sql("VACUUM ANALYZE queue");
        settle.execute(&mut connection).await?;
    }
    Ok(spent.as_secs_f64())
}

/// How long all take, by those that went out after the first were seen to have gone.
async fn drained(server: &Server, count: usize) -> anyhow::Result<f64> {
    let mut client = Client::connect(server.address).await?;
    let mut first = sent(&mut client).await?;
    while first == 0 {
        tokio::time::sleep(LOOK_EVERY).await;
        first = sent(&mut client).await?;
    }
    let began = Instant::now();
    while sent(&mut client).await? < count {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let rest = (count - first).max(1) as f64;
    Ok(began.elapsed().as_secs_f64() * count as f64 / rest)
}

/// How many messages a server has sent.
pub async fn sent(client: &mut Client) -> anyhow::Result<usize> {
    let answer = client.get("/metrics").await?;
    let text = std::str::from_utf8(answer.body)?;
    let name = "kurier_messages_total{kind=\"message.sent\"} ";
    let found = text.lines().find_map(|line| line.strip_prefix(name));
    let count = found.map(str::parse).transpose();
    Ok(count.context("a count")?.unwrap_or(0))
}

/// Nothing is left in the queue, and the log says of every message once that it was sent.
pub async fn audit(place: &Place, count: usize) -> anyhow::Result<()> {
    let (left, events, messages) = match place {
        Place::Folder(folder) => count_sqlite(&folder.join("kurier.db"))?,
        Place::Url(url) => count_postgres(url).await?,
    };
    let count = count as i64;
    ensure!(left == 0, "{left} messages are left in the queue");
    ensure!(
        (events, messages) == (count, count),
        "{events} times the log says that a message was sent, of {messages} messages"
    );
    Ok(())
}

fn count_sqlite(file: &Path) -> anyhow::Result<(i64, i64, i64)> {
    let sql = "SELECT (SELECT count(*) FROM queue), count(*),
          count(DISTINCT json_extract(payload, '$.message'))
        FROM log WHERE kind = 'message.sent'";
    let connection = rusqlite::Connection::open(file)?;
    let counts = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    Ok(counts?)
}

async fn count_postgres(url: &str) -> anyhow::Result<(i64, i64, i64)> {
    let sql = "SELECT (SELECT count(*) FROM queue), count(*),
          count(DISTINCT payload::jsonb ->> 'message')
        FROM log WHERE kind = 'message.sent'";
    let mut connection = PgConnection::connect(url).await?;
    Ok(sqlx::query_as(sql).fetch_one(&mut connection).await?)
}
