//! Kurier's side: events come in over HTTP, and every run has ended when its end and what
//! became of its message are in the log.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kurier_core::event::{Event, Kind};
use kurier_core::id::{EventId, JourneyId};
use kurier_core::journey::{Publication, read_document};
use kurier_store::Scope;

use super::{Args, WAIT_MS, fresh_database};
use crate::client::Client;
use crate::clock;
use crate::freshness::{Place, WRITE_KEY, open, start};
use crate::plan::Database;

const BATCH: usize = 100;
const CONNECTIONS: usize = 16;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A journey that waits `wait` between its condition and its message.
pub fn definition(name: &str, event_type: &str, wait: &str) -> String {
    format!(
        "name: {name}
nodes:
  - {{id: start, node_type: trigger, event_type: {event_type}, next_node_id: plan}}
  - {{id: plan, node_type: condition, condition: \"NOT EXISTS (event WHERE event_type = 'bought')\", true_node_id: wait, false_node_id: done}}
  - {{id: wait, node_type: wait, wait_type: duration, duration: {wait}, next_node_id: send}}
  - {{id: send, node_type: send_message, channel: outbox, template: hello, next_node_id: done}}
  - {{id: done, node_type: exit}}
"
    )
}

pub async fn place(args: &Args, database: Database, folder: &Path) -> anyhow::Result<Place> {
    Ok(match database {
        Database::Sqlite => Place::Folder(folder.join("data")),
        Database::Postgres => Place::Url(fresh_database(args).await?),
    })
}

/// Publishes a journey.
pub async fn publish(place: &Place, definition: &str) -> anyhow::Result<()> {
    let document = read_document(definition).map_err(anyhow::Error::msg)?;
    let store = open(place).await?;
    let workspace = store.access.workspaces().await?.remove(0);
    let publication = Publication {
        journey: JourneyId::of_name(definition),
        version: 1,
        definition: document,
        segments: BTreeMap::new(),
    };
    let now = clock::now();
    let event = Event {
        id: EventId::of_message(definition),
        kind: Kind::JourneyPublished,
        contact: None,
        occurred_at: now,
        recorded_at: now,
        payload: serde_json::to_string(&publication)?,
    };
    store.log.append(Scope(workspace.id), vec![event]).await?;
    Ok(())
}

/// The seconds from the first event sent to the last run ended.
pub async fn run(args: &Args, database: Database) -> anyhow::Result<f64> {
    let folder = tempfile::tempdir()?;
    let place = place(args, database, folder.path()).await?;
    let server = start(&args.kurier, &place, folder.path())?;
    let wait = format!("{}s", WAIT_MS / 1_000);
    publish(&place, &definition("steps", "go", &wait)).await?;
    let began = Instant::now();
    send(server.address, "go", args.contacts).await?;
    until(server.address, "journey.finished", args.contacts).await?;
    until(server.address, "message.sent", args.contacts).await?;
    Ok(began.elapsed().as_secs_f64())
}

/// Sends one event of as many contacts, a hundred a request.
pub async fn send(address: SocketAddr, event_type: &str, contacts: usize) -> anyhow::Result<()> {
    let mut senders = tokio::task::JoinSet::new();
    for sender in 0..CONNECTIONS {
        let event_type = event_type.to_owned();
        senders.spawn(async move {
            let mut client = Client::connect(address).await?;
            let batches = (0..contacts).step_by(BATCH).skip(sender);
            for first in batches.step_by(CONNECTIONS) {
                let last = (first + BATCH).min(contacts);
                let request = request(&event_type, first..last);
                let answer = client.send(request.as_bytes()).await?;
                ensure!(answer.status == 200, "ingest answered {}", answer.status);
            }
            anyhow::Ok(())
        });
    }
    while let Some(sent) = senders.join_next().await {
        sent??;
    }
    Ok(())
}

fn request(event_type: &str, contacts: std::ops::Range<usize>) -> String {
    let item = |n: usize| {
        format!(
            r#"{{"type":"track","messageId":"{event_type}-{n}","userId":"user-{n}","event":"{event_type}"}}"#
        )
    };
    let items: Vec<String> = contacts.map(item).collect();
    let body = format!(r#"{{"batch":[{}]}}"#, items.join(","));
    let key = STANDARD.encode(format!("{WRITE_KEY}:"));
    format!(
        "POST /v1/batch HTTP/1.1\r\nhost: localhost\r\nauthorization: Basic {key}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Waits until the server has put so many events of a kind into the log.
pub async fn until(address: SocketAddr, kind: &str, count: usize) -> anyhow::Result<()> {
    let mut client = Client::connect(address).await?;
    while written(&mut client, kind).await? < count {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

async fn written(client: &mut Client, kind: &str) -> anyhow::Result<usize> {
    let answer = client.get("/metrics").await?;
    let text = std::str::from_utf8(answer.body)?;
    let name = format!("kurier_decisions_total{{kind=\"{kind}\"}} ");
    let found = text.lines().find_map(|line| line.strip_prefix(&name));
    let count = found.map(str::parse).transpose();
    Ok(count.context("a count")?.unwrap_or(0))
}
