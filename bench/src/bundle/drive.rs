//! Requests: each once, as fast as they are answered, or at their appointed time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::authorization;
use crate::client::Client;
use crate::clock::Random;

/// Connections that share the appointed requests.
const PACED_CONNECTIONS: usize = 32;

pub struct Plan {
    pub rate: usize,
    pub length: Duration,
}

/// How long answers took, in microseconds, from the time they were due.
#[derive(Default)]
pub struct Paced {
    pub hits: Vec<u32>,
    pub misses: Vec<u32>,
    /// Answers whose parts are not of one tip.
    pub wrong: usize,
}

#[derive(Deserialize)]
struct Answer {
    confs: Option<i64>,
    tip: Option<Height>,
    envelope: Envelope,
    cache: Cache,
}

#[derive(Deserialize)]
struct Height {
    height: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    block_height: Option<i64>,
}

#[derive(Deserialize)]
struct Cache {
    hit: bool,
}

impl Answer {
    fn is_right(&self) -> bool {
        match (self.confs, &self.tip, self.envelope.block_height) {
            (Some(-1), _, _) => true,
            (Some(confs), Some(tip), Some(height)) => confs == tip.height - height + 1,
            _ => false,
        }
    }
}

fn request(id: &str) -> Vec<u8> {
    let key = authorization();
    format!("GET /bundle/{id} HTTP/1.1\r\nhost: localhost\r\n{key}\r\n").into_bytes()
}

pub fn requests(ids: &[String]) -> Arc<Vec<Vec<u8>>> {
    Arc::new(ids.iter().map(|id| request(id)).collect())
}

/// Each once, one after another on a few connections: all are misses.
pub async fn once(address: SocketAddr, ids: &[String]) -> anyhow::Result<Vec<u32>> {
    let mut client = Client::connect(address).await?;
    let mut micros = Vec::with_capacity(ids.len());
    for id in ids {
        let (request, began) = (request(id), Instant::now());
        let answer = client.send(&request).await?;
        anyhow::ensure!(
            answer.status == 200,
            "{}",
            String::from_utf8_lossy(answer.body)
        );
        micros.push(began.elapsed().as_micros() as u32);
    }
    Ok(micros)
}

/// As many as are answered, in requests a second.
pub async fn closed(
    address: SocketAddr,
    requests: &Arc<Vec<Vec<u8>>>,
    connections: usize,
    seconds: f64,
) -> anyhow::Result<f64> {
    let began = Instant::now();
    let until = began + Duration::from_secs_f64(seconds);
    let tasks: Vec<_> = (0..connections)
        .map(|number| tokio::spawn(ask_until(address, requests.clone(), number as u64, until)))
        .collect();
    let mut count = 0;
    for task in tasks {
        count += task.await??;
    }
    Ok(count as f64 / began.elapsed().as_secs_f64())
}

async fn ask_until(
    address: SocketAddr,
    requests: Arc<Vec<Vec<u8>>>,
    seed: u64,
    until: Instant,
) -> anyhow::Result<u64> {
    let mut client = Client::connect(address).await?;
    let mut random = Random::new(seed);
    let mut count = 0;
    while Instant::now() < until {
        let at = random.below(requests.len());
        let answer = client.send(&requests[at]).await?;
        anyhow::ensure!(answer.status == 200, "it answers {}", answer.status);
        count += 1;
    }
    Ok(count)
}

/// At their appointed times, whatever became of those before: waiting is not hidden.
pub async fn paced(address: SocketAddr, ids: &[String], plan: &Plan) -> anyhow::Result<Paced> {
    let requests = requests(ids);
    let gap = Duration::from_secs_f64(PACED_CONNECTIONS as f64 / plan.rate as f64);
    let began = Instant::now();
    let tasks: Vec<_> = (0..PACED_CONNECTIONS)
        .map(|number| {
            let first = began + gap * number as u32 / PACED_CONNECTIONS as u32;
            let until = began + plan.length;
            let requests = requests.clone();
            tokio::spawn(ask_at(
                address,
                requests,
                (first, gap, until),
                number as u64,
            ))
        })
        .collect();
    let mut whole = Paced::default();
    for task in tasks {
        let one = task.await??;
        whole.hits.extend(one.hits);
        whole.misses.extend(one.misses);
        whole.wrong += one.wrong;
    }
    Ok(whole)
}

async fn ask_at(
    address: SocketAddr,
    requests: Arc<Vec<Vec<u8>>>,
    (mut due, gap, until): (Instant, Duration, Instant),
    seed: u64,
) -> anyhow::Result<Paced> {
    let mut client = Client::connect(address).await?;
    let (mut random, mut done) = (Random::new(seed + 77), Paced::default());
    while due < until {
        tokio::time::sleep_until(due.into()).await;
        let at = random.below(requests.len());
        let answer = client.send(&requests[at]).await?;
        let took = due.elapsed().as_micros() as u32;
        let read: Answer = serde_json::from_slice(answer.body)?;
        match read.cache.hit {
            true => done.hits.push(took),
            false => done.misses.push(took),
        }
        done.wrong += usize::from(!read.is_right());
        due += gap;
    }
    Ok(done)
}

pub fn spread(micros: &[u32]) -> Value {
    let mut sorted = micros.to_vec();
    sorted.sort_unstable();
    let at = |share: f64| {
        let place = (sorted.len() as f64 * share) as usize;
        let found = sorted.get(place.min(sorted.len().saturating_sub(1)));
        found.map_or(0.0, |micros| f64::from(*micros) / 1e3)
    };
    json!({"p50": at(0.50), "p95": at(0.95), "p99": at(0.99), "count": sorted.len()})
}
