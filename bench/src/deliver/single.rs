//! One message at a time, when there is nothing else to do: from an event that begins a
//! journey to the message sent.

use std::time::{Duration, Instant};

use anyhow::ensure;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::own::{place, sent};
use super::{Args, Latency, SINGLES};
use crate::client::Client;
use crate::freshness::{WRITE_KEY, quantiles, start};
use crate::journeys::publish;
use crate::plan::Database;

const PACE: Duration = Duration::from_millis(20);
const LOOK_EVERY: Duration = Duration::from_micros(500);
const JOURNEY: &str = "
name: at once
nodes:
  - {id: start, node_type: trigger, event_type: go, next_node_id: send}
  - {id: send, node_type: send_message, channel: outbox, template: hello, next_node_id: done}
  - {id: done, node_type: exit}
";

pub async fn run(args: &Args, round: usize, database: Database) -> anyhow::Result<Latency> {
    let folder = tempfile::tempdir()?;
    let place = place(args, database, folder.path()).await?;
    let server = start(&args.kurier, &place, folder.path())?;
    publish(&place, JOURNEY).await?;
    server.catch_up().await?;
    let mut events = Client::connect(server.address).await?;
    let mut looks = Client::connect(server.address).await?;
    let mut late = Vec::with_capacity(SINGLES);
    // The first is not counted: it finds nothing warm.
    for n in 0..=SINGLES {
        let began = Instant::now();
        let answer = events.send(event(n).as_bytes()).await?;
        ensure!(answer.status == 200, "ingest answered {}", answer.status);
        while sent(&mut looks).await? <= n {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        late.push(began.elapsed().as_secs_f64() * 1_000.0);
        tokio::time::sleep(PACE.saturating_sub(began.elapsed())).await;
    }
    late.remove(0);
    let side = format!("Kurier, {}", database.name());
    Ok(Latency::of(round, &side, quantiles(late)))
}

fn event(n: usize) -> String {
    let body = format!(r#"{{"messageId":"go-{n}","userId":"user-{n}","event":"go"}}"#);
    let key = STANDARD.encode(format!("{WRITE_KEY}:"));
    format!(
        "POST /v1/track HTTP/1.1\r\nhost: localhost\r\nauthorization: Basic {key}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}
