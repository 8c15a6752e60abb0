//! Whether Redis answers, and how fast.

use std::time::{Duration, Instant};

use kurier_store::kv::{Error, Kv as _, Node, Redis};

#[derive(Debug)]
pub struct Health {
    /// `single`, `sentinel` or `cluster`.
    pub topology: &'static str,
    pub nodes: Vec<Node>,
    /// How long each ping took, sorted.
    pings: Vec<Duration>,
}

impl Health {
    /// The time within which this share of the pings was answered.
    pub fn percentile(&self, percent: usize) -> Duration {
        let at = (self.pings.len() * percent).div_ceil(100).max(1) - 1;
        self.pings.get(at).copied().unwrap_or_default()
    }
}

/// Pings so often, one after the other. The first, which connects, is not measured.
pub async fn health(redis: &Redis, pings: u32) -> Result<Health, Error> {
    redis.ping().await?;
    let mut took = Vec::new();
    for _ in 0..pings {
        let began = Instant::now();
        redis.ping().await?;
        took.push(began.elapsed());
    }
    took.sort();
    Ok(Health {
        topology: redis.topology(),
        nodes: redis.nodes().await?,
        pings: took,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_pings() {
        let health = |ms: &[u64]| Health {
            topology: "single",
            nodes: vec![],
            pings: ms.iter().copied().map(Duration::from_millis).collect(),
        };
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(health(&hundred).percentile(50).as_millis(), 50);
        assert_eq!(health(&hundred).percentile(99).as_millis(), 99);
        assert_eq!(health(&[7]).percentile(50).as_millis(), 7);
        assert_eq!(health(&[]).percentile(99), Duration::ZERO);
    }
}
