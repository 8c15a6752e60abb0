//! Probes: contacts that become members by one event, watched until they are seen to be.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kurier_core::id::{ContactId, IdentityKey};

use super::api::Api;
use super::{Args, Place, Seen, WRITE_KEY, open, quantiles};
use crate::client::Client;
use crate::clock::Random;
use crate::event::{Target, Template};
use crate::plan::Database;
use crate::server::Server;

const CONNECTIONS: u32 = 8;
/// Events a request of the load.
const EVENTS: usize = 10;
const WARM_UP: Duration = Duration::from_secs(2);
const BETWEEN_PROBES: Duration = Duration::from_millis(20);
/// Asking again at once would be load of its own.
const BETWEEN_LOOKS: Duration = Duration::from_micros(500);
const PATIENCE: Duration = Duration::from_secs(10);
const SEGMENT: &str = "COUNT(event WHERE event_type = 'probe' AND event_time > now() - 30d) >= 1";

pub async fn run(
    args: &Args,
    server: &Server,
    place: &Place,
    database: Database,
) -> anyhow::Result<Seen> {
    let workspaces = open(place).await?.access.workspaces().await?;
    let key = workspaces.into_iter().next().context("a workspace")?.key;
    let segment = Api::connect(server.address)
        .await?
        .segment("Probed", SEGMENT)
        .await?;
    let until = Instant::now() + WARM_UP + Duration::from_secs_f64(args.seconds);
    let loads: Vec<_> = (0..CONNECTIONS)
        .map(|number| tokio::spawn(load(server.address, number, args.rate / CONNECTIONS, until)))
        .collect();
    tokio::time::sleep(WARM_UP).await;
    let mut watch = Watch {
        sender: Client::connect(server.address).await?,
        explainer: Api::connect(server.address).await?,
        lister: Api::connect(server.address).await?,
        segment,
    };
    let (mut explain, mut members) = (Vec::new(), Vec::new());
    while Instant::now() < until {
        let (a, b) = watch.probe(&key, explain.len()).await?;
        explain.push(a);
        members.push(b);
        tokio::time::sleep(BETWEEN_PROBES).await;
    }
    let mut sent = 0;
    for load in loads {
        sent += load.await??;
    }
    Ok(Seen {
        database,
        probes: explain.len(),
        events_per_second: sent as f64 / (WARM_UP.as_secs_f64() + args.seconds),
        explain_ms: quantiles(explain),
        members_ms: quantiles(members),
    })
}

/// Sends at a steady rate; what is late is made up for.
async fn load(
    address: SocketAddr,
    number: u32,
    rate: u32,
    until: Instant,
) -> anyhow::Result<usize> {
    let mut client = Client::connect(address).await?;
    let mut template = Template::request(&Target::Kurier(WRITE_KEY.into()), EVENTS);
    let mut random = Random::new(u64::from(number));
    let pace = Duration::from_secs_f64(EVENTS as f64 / f64::from(rate));
    let mut next = tokio::time::Instant::now();
    let mut sent = 0;
    while Instant::now() < until {
        tokio::time::sleep_until(next).await;
        next += pace;
        template.renew(&mut random);
        let answer = client.send(&template.bytes).await?;
        anyhow::ensure!(
            answer.status == 200,
            "the load was answered {}",
            answer.status
        );
        sent += EVENTS;
    }
    Ok(sent)
}

struct Watch {
    sender: Client,
    explainer: Api,
    lister: Api,
    segment: String,
}

impl Watch {
    /// Makes one contact a member; how long after the answer each way saw it, in ms.
    async fn probe(&mut self, key: &IdentityKey, number: usize) -> anyhow::Result<(f64, f64)> {
        let user = format!("probe-{number}");
        let id = key.contact_of_user(&user);
        let (contact, before) = (id.to_string(), before(id).to_string());
        let answer = self.sender.send(&request(&user)).await?;
        anyhow::ensure!(
            answer.status == 200,
            "a probe was answered {}",
            answer.status
        );
        let acknowledged = Instant::now();
        let (segment, explainer, lister) = (&self.segment, &mut self.explainer, &mut self.lister);
        let explained = async {
            while !explainer.explains(segment, &contact).await? {
                wait(acknowledged).await?;
            }
            anyhow::Ok(acknowledged.elapsed().as_secs_f64() * 1e3)
        };
        let listed = async {
            while !lister.lists(segment, &before, &contact).await? {
                wait(acknowledged).await?;
            }
            anyhow::Ok(acknowledged.elapsed().as_secs_f64() * 1e3)
        };
        tokio::try_join!(explained, listed)
    }
}

async fn wait(since: Instant) -> anyhow::Result<()> {
    anyhow::ensure!(
        since.elapsed() < PATIENCE,
        "a probe was not seen within {PATIENCE:?}"
    );
    tokio::time::sleep(BETWEEN_LOOKS).await;
    Ok(())
}

fn before(id: ContactId) -> ContactId {
    let number = u128::from_be_bytes(*id.as_uuid().as_bytes());
    ContactId::from_bytes((number - 1).to_be_bytes())
}

fn request(user: &str) -> Vec<u8> {
    let body = format!(r#"{{"userId":"{user}","event":"probe"}}"#);
    let key = STANDARD.encode(format!("{WRITE_KEY}:"));
    format!(
        "POST /v1/track HTTP/1.1\r\nhost: localhost\r\nauthorization: Basic {key}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
