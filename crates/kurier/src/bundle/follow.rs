//! What goes on beside requests: headers are asked for, and what changed is forgotten.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use kurier_core::event::Position;
use kurier_core::keys::bundle::SeenTip;
use kurier_store::Result;
use tokio::task::JoinSet;

use super::Bundles;
use crate::flow::version::SUBJECTS_MAX;

/// More than one event can change, so that no event fills a whole batch.
const CHANGED_MAX: usize = 2 * SUBJECTS_MAX;
/// Up to where someone forgot what had changed.
const READER: &str = "bundles";
const RETRY_AFTER: Duration = Duration::from_secs(1);

impl Bundles {
    /// The first look at the headers, before anyone asks; a source that takes longer than this
    /// goes on by itself.
    pub async fn begin(&self, patience: Duration) {
        self.refresh_within(patience).await;
        // Those that fail were told of already.
        let reports = self.headers.reports().into_iter();
        for report in reports.filter(|report| report.fault.is_none()) {
            let tip = report.tip.map(|tip| tip.height);
            tracing::info!(source = report.address, tip, "headers");
        }
    }

    /// Keeps the headers up to date, until the task is dropped. Each source has a task of its
    /// own: one that is slow, or trickles, keeps none of the others.
    pub async fn follow_headers(self: Arc<Self>) {
        let mut tasks = JoinSet::new();
        for number in 0..self.headers.sources() {
            tasks.spawn(self.clone().follow_source(number));
        }
        while tasks.join_next().await.is_some() {}
    }

    async fn follow_source(self: Arc<Self>, number: usize) {
        loop {
            self.headers.rest(number).await;
            if self.headers.ask(number).await {
                self.tell_tip().await;
            }
        }
    }

    /// Asks all sources for headers, and tells other processes of the tip.
    pub async fn refresh(&self) {
        if self.headers.refresh().await {
            self.tell_tip().await;
        }
    }

    /// The same, and what is not there by then is done without.
    pub async fn refresh_within(&self, patience: Duration) {
        // What a source had told until then is in the tree; the next who asks it goes on there.
        let _ = tokio::time::timeout(patience, self.refresh()).await;
    }

    async fn tell_tip(&self) {
        if let Some(tip) = self.headers.tip() {
            let updated_at = self.now_ms();
            self.shelf.put_tip(&SeenTip { tip, updated_at }).await;
        }
    }

    /// A tip that is gone, or that we do not know, is a reason to look.
    pub(super) fn compare(&self, seen: Option<SeenTip>) {
        self.tally.tip(seen.is_some());
        let ours = self.headers.tip();
        let is_news = match (&seen, ours) {
            (Some(seen), Some(ours)) => {
                seen.tip.hash != ours.hash && seen.tip.height >= ours.height
            }
            _ => true,
        };
        if is_news {
            self.headers.wake();
        }
    }

    /// Forgets what is cached of versions that were published or shown something for, until
    /// the task is dropped. It begins where the last process came to: one that ended before
    /// it could forget leaves something cached.
    pub async fn follow_versions(self: Arc<Self>) {
        let mut reached = self.versions.subscribe();
        let mut after = self
            .store
            .views
            .checkpoint(READER)
            .await
            .unwrap_or_default();
        self.changed.fetch_max(after.0, Ordering::AcqRel);
        loop {
            match self.forget_changed(after).await {
                Ok(upto) if upto == after => {
                    if reached.changed().await.is_err() {
                        return;
                    }
                }
                Ok(upto) => after = upto,
                Err(error) => {
                    tracing::warn!(%error, "what changed is still cached, will try again");
                    tokio::time::sleep(RETRY_AFTER).await;
                }
            }
        }
    }

    /// Up to where it is done.
    pub async fn forget_changed(&self, after: Position) -> Result<Position> {
        let changed = self
            .store
            .versions
            .changed_versions(after, CHANGED_MAX)
            .await?;
        let Some((_, _, last)) = changed.last() else {
            return Ok(after);
        };
        // A batch may end between two versions of one event: those come again.
        let is_full = changed.len() == CHANGED_MAX;
        let upto = match is_full && changed[0].2 != *last {
            true => Position(last.0 - 1),
            false => *last,
        };
        // First, so that who looks in between does not believe what was noted before.
        self.changed.fetch_max(last.0, Ordering::AcqRel);
        let ids: Vec<_> = changed.iter().map(|(_, version, _)| *version).collect();
        self.shelf.forget_all(&ids).await?;
        self.store.views.set_checkpoint(READER, upto).await?;
        Ok(upto)
    }
}
