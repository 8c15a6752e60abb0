//! A histogram with fixed buckets, counted by many threads at once.

use std::sync::atomic::{AtomicU64, Ordering};

use metrics::HistogramFn;

pub(super) struct BucketHistogram {
    bounds: &'static [f64],
    /// One more than there are bounds: the last is for what is above all of them.
    counts: Box<[AtomicU64]>,
    /// The bits of an `f64`.
    sum: AtomicU64,
}

impl BucketHistogram {
    pub(super) fn new(bounds: &'static [f64]) -> Self {
        Self {
            bounds,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
        }
    }

    /// The upper bound of each bucket, and how many values are not above it.
    pub(super) fn cumulative(&self) -> (Vec<(f64, u64)>, u64) {
        let mut count = 0;
        let mut add = |bucket: &AtomicU64| {
            count += bucket.load(Ordering::Relaxed);
            count
        };
        let bounds = self.bounds.iter().zip(&self.counts);
        let below = bounds.map(|(bound, bucket)| (*bound, add(bucket)));
        let below = below.collect();
        (below, add(&self.counts[self.bounds.len()]))
    }

    pub(super) fn sum(&self) -> f64 {
        f64::from_bits(self.sum.load(Ordering::Relaxed))
    }
}

impl HistogramFn for BucketHistogram {
    fn record(&self, value: f64) {
        let fits = self.bounds.iter().position(|bound| value <= *bound);
        let bucket = fits.unwrap_or(self.bounds.len());
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        let add = |sum| Some((f64::from_bits(sum) + value).to_bits());
        let added = self
            .sum
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        added.expect("there is always a sum");
    }
}
