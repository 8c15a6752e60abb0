//! One message at a time, when there is nothing else to do: from a request for it, or from an
//! event that begins a journey, to the message sent.

use std::time::{Duration, Instant};

use anyhow::ensure;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::own::{place, sent};
use super::{Args, Latency, SINGLES};
use crate::client::Client;
use crate::freshness::{ADMIN_KEY, WRITE_KEY, quantiles, start};
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

/// What a message is asked for by.
#[derive(Debug, Clone, Copy)]
pub enum Cause {
    Request,
    Event,
}

impl Cause {
    pub const ALL: [Self; 2] = [Self::Request, Self::Event];

    const fn name(self) -> &'static str {
        match self {
            Self::Request => "a request",
            Self::Event => "an event of a journey",
        }
    }

    fn http(self, n: usize) -> String {
        let write_key = STANDARD.encode(format!("{WRITE_KEY}:"));
        let (path, credential, body) = match self {
            Self::Request => (
                "/api/v1/messages",
                format!("Bearer {ADMIN_KEY}"),
                format!(
                    r#"{{"channel":"outbox","to":"user-{n}@example.com","body":{{"text":"Hello"}}}}"#
                ),
            ),
            Self::Event => (
                "/v1/track",
                format!("Basic {write_key}"),
                format!(r#"{{"messageId":"go-{n}","userId":"user-{n}","event":"go"}}"#),
            ),
        };
        format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: {credential}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    }
}

pub async fn run(
    args: &Args,
    round: usize,
    database: Database,
    cause: Cause,
) -> anyhow::Result<Latency> {
    let folder = tempfile::tempdir()?;
    let place = place(args, database, folder.path()).await?;
    let server = start(&args.kurier, &place, folder.path())?;
    publish(&place, JOURNEY).await?;
    server.catch_up().await?;
    let mut clients = (
        Client::connect(server.address).await?,
        Client::connect(server.address).await?,
    );
    let mut late = Vec::with_capacity(SINGLES);
    // The first is not counted: it finds nothing warm.
    for n in 0..=SINGLES {
        let began = Instant::now();
        let answer = clients.0.send(cause.http(n).as_bytes()).await?;
        let text = String::from_utf8_lossy(answer.body);
        ensure!(answer.status < 300, "{}: {text}", answer.status);
        while sent(&mut clients.1).await? <= n {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        late.push(began.elapsed().as_secs_f64() * 1_000.0);
        tokio::time::sleep(PACE.saturating_sub(began.elapsed())).await;
    }
    late.remove(0);
    let side = format!("Kurier, {}, by {}", database.name(), cause.name());
    Ok(Latency::of(round, &side, quantiles(late)))
}
