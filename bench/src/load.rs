//! The load generator: connections that each send a request, wait for the answer, and send
//! the next. Only events answered 200 count.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::client::Client;
use crate::clock::Random;
use crate::event::{Target, Template};

pub const WARM_UP: Duration = Duration::from_secs(1);
/// A server that refuses is not asked again at once.
const AFTER_REFUSAL: Duration = Duration::from_millis(10);

/// Events a request, and connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Shape {
    pub events: usize,
    pub connections: usize,
}

#[derive(Debug, Clone, Serialize)]
pub struct Measured {
    pub events_per_second: f64,
    pub requests_per_second: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    #[serde(flatten)]
    pub tally: Tally,
}

/// What became of all the events sent, those of the warm-up and of the end too.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Tally {
    /// Answered 200.
    pub acknowledged: u64,
    /// Answered otherwise.
    pub refused: u64,
    /// Sent, but the connection broke before an answer.
    pub unanswered: u64,
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        self.acknowledged += other.acknowledged;
        self.refused += other.refused;
        self.unanswered += other.unanswered;
    }
}

/// When measuring begins and ends.
#[derive(Clone, Copy)]
struct Window {
    from: Instant,
    to: Instant,
}

/// Sends for `warm_up` and then `seconds`.
pub async fn run(
    address: SocketAddr,
    target: &Target,
    shape: Shape,
    warm_up: Duration,
    seconds: f64,
) -> anyhow::Result<Measured> {
    let mut clients = Vec::with_capacity(shape.connections);
    for _ in 0..shape.connections {
        clients.push(Client::connect(address).await?);
    }
    let from = Instant::now() + warm_up;
    let to = from + Duration::from_secs_f64(seconds);
    let tasks: Vec<_> = clients
        .into_iter()
        .enumerate()
        .map(|(number, client)| {
            let template = Template::request(target, shape.events);
            let random = Random::new(number as u64);
            tokio::spawn(drive(client, template, random, Window { from, to }, shape))
        })
        .collect();
    let mut tally = Tally::default();
    let mut micros = Vec::new();
    for task in tasks {
        let (of_one, its_micros) = task.await?;
        tally.add(of_one);
        micros.extend(its_micros);
    }
    micros.sort_unstable();
    let rate = micros.len() as f64 / seconds;
    Ok(Measured {
        events_per_second: rate * shape.events as f64,
        requests_per_second: rate,
        p50_ms: percentile(&micros, 0.50),
        p99_ms: percentile(&micros, 0.99),
        tally,
    })
}

/// One connection: its tally, and how long each answer took that came within the window.
async fn drive(
    mut client: Client,
    mut template: Template,
    mut random: Random,
    window: Window,
    shape: Shape,
) -> (Tally, Vec<u32>) {
    let mut tally = Tally::default();
    let mut micros = Vec::new();
    let events = shape.events as u64;
    let mut began = Instant::now();
    while began < window.to {
        template.renew(&mut random);
        began = Instant::now();
        let answer = client.send(&template.bytes).await;
        let ended = Instant::now();
        match answer {
            Ok(answer) if answer.status == 200 && !has_rejects(answer.body) => {
                tally.acknowledged += events;
                if ended >= window.from && ended <= window.to {
                    micros.push(u32::try_from((ended - began).as_micros()).unwrap_or(u32::MAX));
                }
            }
            Ok(_) => {
                tally.refused += events;
                tokio::time::sleep(AFTER_REFUSAL).await;
            }
            Err(_) => {
                tally.unanswered += events;
                break;
            }
        }
        began = ended;
    }
    (tally, micros)
}

fn has_rejects(body: &[u8]) -> bool {
    body.windows(10).any(|window| window == b"\"rejected\"")
}

fn percentile(sorted_micros: &[u32], share: f64) -> f64 {
    let last = sorted_micros.len().saturating_sub(1);
    let at = (last as f64 * share).round() as usize;
    sorted_micros
        .get(at)
        .map_or(0.0, |&m| f64::from(m) / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles() {
        let micros: Vec<u32> = (0..=100).map(|n| n * 1_000).collect();
        assert_eq!(percentile(&micros, 0.5), 50.0);
        assert_eq!(percentile(&micros, 0.99), 99.0);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }
}
