//! What is counted of bundles.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{Answer, Asked};
use crate::metrics as names;

/// The 95th of 100 is taken of so many builds.
const BUILDS: usize = 1_024;
/// Of so many versions is remembered whether they were ready.
const DECISIONS: usize = 100_000;

#[derive(Default)]
pub struct Tally {
    bundles: Ratio,
    tips: Ratio,
    builds: Mutex<VecDeque<Duration>>,
    decisions: Mutex<HashMap<Asked, bool>>,
}

#[derive(Default)]
struct Ratio {
    hits: AtomicU64,
    all: AtomicU64,
}

impl Ratio {
    fn count(&self, is_hit: bool) -> f64 {
        let hits = self.hits.fetch_add(u64::from(is_hit), Ordering::Relaxed) + u64::from(is_hit);
        let all = self.all.fetch_add(1, Ordering::Relaxed) + 1;
        hits as f64 / all as f64
    }
}

impl Tally {
    pub fn bundle(&self, is_hit: bool) {
        let counted = if is_hit {
            names::BUNDLE_HITS
        } else {
            names::BUNDLE_MISSES
        };
        metrics::counter!(counted).increment(1);
        metrics::gauge!(names::BUNDLE_RATIO).set(self.bundles.count(is_hit));
    }

    pub fn tip(&self, is_hit: bool) {
        metrics::gauge!(names::HEADERS_RATIO).set(self.tips.count(is_hit));
    }

    pub fn built(&self, took: Duration) {
        let mut builds = self.builds.lock().unwrap_or_else(PoisonError::into_inner);
        if builds.len() == BUILDS {
            builds.pop_front();
        }
        builds.push_back(took);
        let mut sorted: Vec<Duration> = builds.iter().copied().collect();
        sorted.sort_unstable();
        let p95 = sorted[(sorted.len() - 1) * 95 / 100];
        metrics::gauge!(names::BUNDLE_BUILD_P95).set(p95.as_secs_f64() * 1e3);
    }

    pub fn answered(&self, asked: &Asked, answer: &Answer) {
        if let Some(confs) = answer.confs {
            metrics::histogram!(names::BUNDLE_CONFS).record(confs as f64);
        }
        let asked = Asked { depth: 0, ..*asked };
        let mut decisions = self
            .decisions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if decisions.len() >= DECISIONS && !decisions.contains_key(&asked) {
            decisions.clear();
        }
        let before = decisions.insert(asked, answer.ready);
        if before.is_some_and(|before| before != answer.ready) {
            metrics::counter!(names::READY_CHANGES).increment(1);
        }
    }
}
