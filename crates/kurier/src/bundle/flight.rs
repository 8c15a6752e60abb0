//! One builds, the others wait: within this process for the very build, across processes by
//! a lock that carries a token and ends by itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, FutureExt as _, Shared};
use kurier_core::keys::bundle::{CachedBundle, LOCK_MS};
use kurier_store::{Error, Result};

use super::{Asked, Bundles};
use crate::clock;
use crate::fault;

/// What came of a build: a bundle, nothing, or why not.
type Landed = std::result::Result<Option<Arc<CachedBundle>>, String>;

/// Builds that are under way.
#[derive(Default)]
pub struct Flights(Mutex<HashMap<Asked, Shared<BoxFuture<'static, Landed>>>>);

/// Who builds elsewhere is looked for so often.
const LOOK_EVERY: Duration = Duration::from_millis(10);

impl Bundles {
    /// Builds a bundle, or waits for who does.
    pub(super) async fn fly(self: &Arc<Self>, asked: &Asked) -> Result<Option<Arc<CachedBundle>>> {
        let flight = {
            let mut flights = self
                .flights
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let begin = || {
                let (bundles, asked) = (self.clone(), *asked);
                // It goes on when who asked for it has gone.
                let task = tokio::spawn(async move { bundles.land(&asked).await });
                let landed = task.map(|done| done.unwrap_or_else(|e| Err(e.to_string())));
                landed.boxed().shared()
            };
            flights.entry(*asked).or_insert_with(begin).clone()
        };
        flight.await.map_err(Error::Unavailable)
    }

    async fn land(&self, asked: &Asked) -> Landed {
        let built = self.build_alone(asked).await;
        let mut flights = self
            .flights
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        flights.remove(asked);
        built.map_err(|error| error.to_string())
    }

    async fn build_alone(&self, asked: &Asked) -> Result<Option<Arc<CachedBundle>>> {
        let token = hex::encode(clock::random::<16>());
        let began = Instant::now();
        // Without a keyspace nobody can tell; then we build.
        let mut is_locked = false;
        while let Ok(locked) = self.shelf.lock(asked, &token).await {
            is_locked = locked;
            if let Some(done) = self.built_elsewhere(asked).await {
                self.let_go(asked, &token, is_locked).await;
                return Ok(Some(Arc::new(done)));
            }
            if is_locked || began.elapsed() > Duration::from_millis(LOCK_MS) {
                break;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        fault::point("bundle", "locked");
        let built = self.build(asked, &token).await;
        self.let_go(asked, &token, is_locked).await;
        built
    }

    async fn let_go(&self, asked: &Asked, token: &str, is_locked: bool) {
        if is_locked {
            self.shelf.unlock(asked, token).await;
        }
    }

    /// A bundle that another built since we looked: not old, and not of a replaced block.
    async fn built_elsewhere(&self, asked: &Asked) -> Option<CachedBundle> {
        let bundle = self.shelf.get(asked).await?;
        let is_old = self.now_ms() >= bundle.soft_expires_at;
        let now = self.look(&bundle).standing;
        let is_of_now = !bundle.is_replaced(&now) && !bundle.is_reached(&now);
        (!is_old && is_of_now).then_some(bundle)
    }
}
