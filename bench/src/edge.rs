//! Events into Redis through the edge, beside a bare pipeline that writes the same keys: from the
//! same log and read model, batch by batch, without a guard, and once more with everything but
//! the writing done beforehand: that is the harder one, and the one that counts. Only what comes
//! after the read model is measured: reading the log, the rows and the hints, the script, the
//! checkpoints.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use kurier::app::open_store;
use kurier::config::Database;
use kurier::flow::Projector;
use kurier::flow::edge::{Edge, EdgeSettings};
use kurier::{clock, keyring};
use kurier_core::accept::{Reception, accept};
use kurier_core::edge::ContactProfile;
use kurier_core::event::{Event, Recorded};
use kurier_core::id::ContactId;
use kurier_core::keys::{CONTACT_PROFILE, Entry, Tenant, Ttls};
use kurier_store::kv::{Redis, Timeouts};
use kurier_store::{Scope, Store, Workspace};
use redis::AsyncCommands as _;
use redis::aio::MultiplexedConnection;
use serde_json::json;

use crate::outcome::{Verdict, median};
use crate::report::{keep, number, table, targets};

/// What the edge takes at once, too.
const BATCH: usize = 1_000;
const BARE_RATIO: f64 = 0.5;

#[derive(clap::Args)]
pub struct Args {
    /// Where Redis is; everything in it is removed
    #[arg(long, env = "TEST_REDIS_URL")]
    redis: String,
    #[arg(long, default_value_t = 100_000)]
    events: usize,
    /// So many contacts the events are about
    #[arg(long, default_value_t = 50_000)]
    contacts: usize,
    /// Rounds; the medians are shown
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Where the results go as JSON
    #[arg(long)]
    out: PathBuf,
}

/// Events per second.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct Rates {
    pub edge: f64,
    /// A bare pipeline over the same log and read model.
    pub bare: f64,
    /// The writing alone, of what was made before the clock ran.
    pub prepared: f64,
}

pub async fn run(args: &Args) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let database = Database::Embedded {
        folder: folder.path().to_owned(),
    };
    let store = open_store(&database).await?;
    let workspace = fill(&store, args).await?;
    let projector = Arc::new(Projector::of_contacts(store.clone(), Arc::default()));
    projector.drain().await?;
    let mut measured = Vec::new();
    for round in 1..=args.rounds {
        let rates = Rates {
            edge: through_edge(&store, &projector, args).await?,
            bare: through_pipeline(&store, &workspace, args).await?,
            prepared: through_prepared(&store, &workspace, args).await?,
        };
        eprintln!("round {round}: {rates:?}");
        measured.push(rates);
    }
    write_report(args, &measured)
}

/// A table to read, JSON to keep.
fn write_report(args: &Args, measured: &[Rates]) -> anyhow::Result<()> {
    let of = |rate: fn(&Rates) -> f64| median(measured.iter().map(rate).collect());
    let mut rows = table(&["", "events/s"]);
    for (side, rate) in [
        ("Kurier's edge", of(|it| it.edge)),
        ("bare pipeline", of(|it| it.bare)),
        ("the writing alone", of(|it| it.prepared)),
    ] {
        rows.add_row([side.to_owned(), number(rate, 0)]);
    }
    println!(
        "\nEvents into Redis: medians of {} rounds\n\n{rows}\n",
        args.rounds
    );
    // What slows the machine down in one round slows down both sides.
    let verdicts = [
        Verdict::at_least(
            "edge, of the writing alone",
            of(|it| it.edge / it.prepared),
            BARE_RATIO,
        ),
        Verdict::at_least(
            "edge, of the bare pipeline",
            of(|it| it.edge / it.bare),
            BARE_RATIO,
        ),
    ];
    println!("{}\n", targets(&verdicts));
    keep(
        &args.out,
        &json!({"measured": measured, "verdicts": verdicts}),
    )
}

/// A log of contacts that say something of themselves.
async fn fill(store: &Store, args: &Args) -> anyhow::Result<Workspace> {
    keyring::found(store.access.as_ref(), "bench", None, None).await?;
    let workspaces = store.access.workspaces().await?;
    let workspace = workspaces.into_iter().next().context("a workspace")?;
    let events: Vec<Event> = (0..args.events)
        .map(|n| said(&workspace, n, args.contacts))
        .collect::<anyhow::Result<_>>()?;
    for events in events.chunks(BATCH) {
        let scope = Scope(workspace.id);
        store.log.append(scope, events.to_vec()).await?;
    }
    Ok(workspace)
}

fn said(workspace: &Workspace, n: usize, contacts: usize) -> anyhow::Result<Event> {
    // Far apart, so that few events of a batch are about the same one.
    let user = n * 7_919 % contacts;
    let raw = json!({"type": "identify", "userId": format!("u{user}"), "messageId": n.to_string(),
        "traits": {"email": format!("u{user}@example.com"), "plan": "pro", "n": n}});
    let reception = Reception {
        key: &workspace.key,
        received_at: clock::now(),
        sent_at: None,
        kind: None,
        fresh_id: &clock::fresh_event_id,
    };
    let event = accept(&raw.to_string(), &reception);
    event.map_err(|problems| anyhow::anyhow!("{problems:?}"))
}

async fn through_edge(
    store: &Store,
    projector: &Arc<Projector>,
    args: &Args,
) -> anyhow::Result<f64> {
    empty(&args.redis).await?;
    let name = Edge::<ContactProfile>::name();
    store
        .views
        .set_checkpoint(&name, Default::default())
        .await?;
    let keyspace = Redis::open(&args.redis, Timeouts::default()).await?;
    let settings = EdgeSettings {
        environment: "bench".to_owned(),
        ttls: Ttls::default(),
    };
    let edge: Edge<ContactProfile> = Edge::new(
        store.clone(),
        Arc::new(keyspace),
        projector,
        settings,
        clock::now,
    );
    let began = Instant::now();
    edge.drain().await?;
    Ok(args.events as f64 / began.elapsed().as_secs_f64())
}

/// The keys and values of one event.
struct Written {
    entry: (String, Vec<u8>),
    hint: String,
    dedup: String,
    revision: i64,
}

/// The same keys, read and made and written batch by batch.
async fn through_pipeline(
    store: &Store,
    workspace: &Workspace,
    args: &Args,
) -> anyhow::Result<f64> {
    empty(&args.redis).await?;
    let client = redis::Client::open(args.redis.as_str())?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    let began = Instant::now();
    let (mut after, mut count) = (Default::default(), 0);
    loop {
        let events = store.log.read(after, BATCH).await?;
        let Some(last) = events.last() else {
            break;
        };
        after = last.position;
        let written = made(store, workspace, &events).await?;
        count += written.len();
        write(&mut connection, &written).await?;
    }
    finish(&mut connection, began, count).await
}

/// The same keys, made before the clock runs.
async fn through_prepared(
    store: &Store,
    workspace: &Workspace,
    args: &Args,
) -> anyhow::Result<f64> {
    let events = store.log.read(Default::default(), usize::MAX >> 1).await?;
    let mut prepared = Vec::new();
    for events in events.chunks(BATCH) {
        prepared.push(made(store, workspace, events).await?);
    }
    empty(&args.redis).await?;
    let url = args.redis.clone();
    // One thread does it quicker than several that hand it over.
    let written = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(write_all(&url, &prepared))
    });
    let written = tokio::task::spawn_blocking(|| written.join()).await?;
    written.map_err(|_| anyhow::anyhow!("the writing alone went wrong"))?
}

async fn write_all(url: &str, prepared: &[Vec<Written>]) -> anyhow::Result<f64> {
    let client = redis::Client::open(url)?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    let began = Instant::now();
    for batch in prepared {
        write(&mut connection, batch).await?;
    }
    finish(&mut connection, began, prepared.iter().map(Vec::len).sum()).await
}

async fn write(connection: &mut MultiplexedConnection, batch: &[Written]) -> anyhow::Result<()> {
    let mut pipeline = redis::pipe();
    for written in batch {
        let (key, value) = &written.entry;
        let (hint, dedup) = (&written.hint, &written.dedup);
        pipeline.pset_ex(key, value, 300_000).ignore();
        pipeline
            .pset_ex(hint, written.revision, 604_800_000)
            .ignore();
        pipeline.pset_ex(dedup, 1, 172_800_000).ignore();
    }
    Ok(pipeline.exec_async(connection).await?)
}

/// Events per second, if they are all there.
async fn finish(
    connection: &mut MultiplexedConnection,
    began: Instant,
    count: usize,
) -> anyhow::Result<f64> {
    let took = began.elapsed().as_secs_f64();
    let keys: usize = redis::cmd("DBSIZE").query_async(connection).await?;
    anyhow::ensure!(keys >= count, "only {keys} keys were written");
    Ok(count as f64 / took)
}

/// What stands at the edge after these events.
async fn made(
    store: &Store,
    workspace: &Workspace,
    events: &[Recorded],
) -> anyhow::Result<Vec<Written>> {
    let (ttls, tenant) = (Ttls::default(), Tenant::from(workspace.id));
    let about: Vec<ContactId> = events.iter().filter_map(|it| it.event.contact).collect();
    let found = kurier::flow::live_contacts(store, Scope(workspace.id), &about).await?;
    let mut written = Vec::with_capacity(events.len());
    for recorded in events {
        let Some(contact) = recorded.event.contact else {
            continue;
        };
        let (id, at) = (contact.to_string(), recorded.position);
        let key = CONTACT_PROFILE.entry(&tenant, &id, ttls.contact)?;
        let entry = Entry {
            revision: at,
            as_of: Some(at),
            value: found.get(&contact).cloned(),
        };
        written.push(Written {
            entry: (key.text().to_owned(), key.encode(&entry)),
            hint: CONTACT_PROFILE
                .version_hint(&tenant, &id, &ttls)?
                .into_text(),
            dedup: CONTACT_PROFILE.dedup(&tenant, &id, at, &ttls)?.into_text(),
            revision: at.0,
        });
    }
    Ok(written)
}

async fn empty(url: &str) -> anyhow::Result<()> {
    let client = redis::Client::open(url)?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    let _: () = connection.flushall().await?;
    Ok(())
}
