//! Requests: each once, as fast as they are answered, or at their appointed time.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};

use super::fill::ADMIN_KEY;
use crate::client::{self, Client};
use crate::clock::Random;

/// Connections that ask as fast as they are answered.
const CLOSED_CONNECTIONS: usize = 32;
/// Connections that share the appointed requests.
const PACED_CONNECTIONS: usize = 32;

#[derive(Clone)]
pub struct Requests(Arc<Vec<Vec<u8>>>);

impl Requests {
    pub fn of(ids: &[String]) -> Self {
        let request = |id: &String| {
            format!(
                "GET /bundle/{id} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ADMIN_KEY}\r\n\r\n"
            )
        };
        Self(Arc::new(
            ids.iter().map(|id| request(id).into_bytes()).collect(),
        ))
    }

    fn any(&self, random: &mut Random) -> &[u8] {
        &self.0[random.below(self.0.len())]
    }
}

pub struct Plan {
    /// Requests a second, of all connections together.
    pub rate: usize,
    pub length: Duration,
    /// The height of the block that is replaced meanwhile.
    pub replaced: i64,
}

/// How long answers took, in microseconds, from the time they were due.
#[derive(Default)]
pub struct Paced {
    pub hits: Vec<u32>,
    pub misses: Vec<u32>,
    pub tips: BTreeSet<i64>,
    pub off_chain: usize,
    /// Answers whose confirmations are not of the tip that stands beside them.
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
    fn is_right(&self, replaced: i64) -> bool {
        match (self.confs, &self.tip, self.envelope.block_height) {
            (Some(-1), Some(_), Some(height)) => height == replaced,
            (Some(confs), Some(tip), Some(height)) => confs == tip.height - height + 1,
            _ => false,
        }
    }
}

impl Paced {
    fn take(&mut self, answer: &Answer, micros: u32, replaced: i64) {
        match answer.cache.hit {
            true => self.hits.push(micros),
            false => self.misses.push(micros),
        }
        self.tips.extend(answer.tip.as_ref().map(|tip| tip.height));
        self.off_chain += usize::from(answer.confs == Some(-1));
        self.wrong += usize::from(!answer.is_right(replaced));
    }

    fn join(&mut self, other: Self) {
        self.hits.extend(other.hits);
        self.misses.extend(other.misses);
        self.tips.extend(other.tips);
        self.off_chain += other.off_chain;
        self.wrong += other.wrong;
    }
}

/// Each once, one after another on one connection: all are misses.
pub async fn once(address: SocketAddr, requests: &Requests) -> anyhow::Result<Vec<u32>> {
    let mut client = Client::connect(address).await?;
    let mut micros = Vec::with_capacity(requests.0.len());
    for request in requests.0.iter() {
        let began = Instant::now();
        let answer = read(&client.send(request).await?)?;
        micros.push(began.elapsed().as_micros() as u32);
        ensure!(!answer.cache.hit, "it was cached before anyone asked");
    }
    Ok(micros)
}

/// As many as are answered, in requests a second.
pub async fn closed(
    address: SocketAddr,
    requests: &Requests,
    length: Duration,
) -> anyhow::Result<f64> {
    let began = Instant::now();
    let until = began + length;
    let tasks: Vec<_> = (0..CLOSED_CONNECTIONS)
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
    requests: Requests,
    seed: u64,
    until: Instant,
) -> anyhow::Result<u64> {
    let mut client = Client::connect(address).await?;
    let (mut random, mut count) = (Random::new(seed), 0);
    while Instant::now() < until {
        let answer = client.send(requests.any(&mut random)).await?;
        ensure!(answer.status == 200, "it answers {}", answer.status);
        count += 1;
    }
    Ok(count)
}

/// At their appointed times, whatever became of those before: waiting is not hidden.
pub async fn paced(address: SocketAddr, requests: &Requests, plan: &Plan) -> anyhow::Result<Paced> {
    let gap = Duration::from_secs_f64(PACED_CONNECTIONS as f64 / plan.rate as f64);
    let began = Instant::now();
    let tasks: Vec<_> = (0..PACED_CONNECTIONS as u32)
        .map(|number| {
            let appointments = Appointments {
                due: began + gap * number / PACED_CONNECTIONS as u32,
                gap,
                until: began + plan.length,
            };
            let random = Random::new(u64::from(number));
            tokio::spawn(keep(
                address,
                requests.clone(),
                appointments,
                random,
                plan.replaced,
            ))
        })
        .collect();
    let mut whole = Paced::default();
    for task in tasks {
        whole.join(task.await??);
    }
    Ok(whole)
}

/// When one connection asks.
struct Appointments {
    due: Instant,
    gap: Duration,
    until: Instant,
}

async fn keep(
    address: SocketAddr,
    requests: Requests,
    mut appointments: Appointments,
    mut random: Random,
    replaced: i64,
) -> anyhow::Result<Paced> {
    let mut client = Client::connect(address).await?;
    let mut done = Paced::default();
    while appointments.due < appointments.until {
        tokio::time::sleep_until(appointments.due.into()).await;
        let answer = client.send(requests.any(&mut random)).await?;
        let micros = appointments.due.elapsed().as_micros() as u32;
        done.take(&read(&answer)?, micros, replaced);
        appointments.due += appointments.gap;
    }
    Ok(done)
}

fn read(answer: &client::Answer<'_>) -> anyhow::Result<Answer> {
    let text = || String::from_utf8_lossy(answer.body).into_owned();
    ensure!(answer.status == 200, "{}: {}", answer.status, text());
    serde_json::from_slice(answer.body).with_context(text)
}

#[derive(Serialize)]
pub struct Spread {
    pub count: usize,
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
}

impl Spread {
    pub fn of(mut micros: Vec<u32>) -> Self {
        micros.sort_unstable();
        let at = |share: f64| {
            let place = ((micros.len() as f64 * share).ceil() as usize).max(1);
            let found = micros.get(place - 1);
            found.map_or(f64::NAN, |micros| f64::from(*micros) / 1e3)
        };
        Self {
            count: micros.len(),
            p50_ms: at(0.50),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let spread = Spread::of((1..=1_000).rev().collect());
        assert_eq!(
            (spread.p50_ms, spread.p95_ms, spread.p99_ms),
            (0.5, 0.95, 0.99)
        );
        assert_eq!(Spread::of(vec![7_000]).p99_ms, 7.0);
        assert!(Spread::of(Vec::new()).p50_ms.is_nan());
    }

    #[test]
    fn confirmations_of_another_tip_are_noticed() {
        let answer = |confs| Answer {
            confs,
            tip: Some(Height { height: 10 }),
            envelope: Envelope {
                block_height: Some(4),
            },
            cache: Cache { hit: true },
        };
        assert!(answer(Some(7)).is_right(3) && answer(Some(-1)).is_right(4));
        for (confs, replaced) in [(Some(6), 3), (Some(-1), 3), (None, 4)] {
            assert!(!answer(confs).is_right(replaced), "{confs:?}");
        }
    }
}
