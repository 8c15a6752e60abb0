//! Rebuilds and verifications that were asked for over HTTP: they go on when nobody waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use kurier_core::event::Position;
use kurier_core::projection::Projection;
use kurier_core::time::Timestamp;
use kurier_store::{Result, Store};
use tokio::sync::watch;

use super::{Verified, Work, rebuild, verify};
use crate::clock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    Rebuild,
    Verify,
}

/// What came of a task.
#[derive(Debug, Clone)]
pub enum Ending {
    Rebuilt(Position),
    Verified(Arc<Verified>),
    Failed(String),
}

/// A task under way or ended.
#[derive(Clone)]
pub struct Order {
    pub task: Task,
    pub began_at: Timestamp,
    pub ended: Option<(Timestamp, Ending)>,
    began: Instant,
    work: watch::Receiver<Work>,
}

impl Order {
    pub fn work(&self) -> Work {
        *self.work.borrow()
    }

    /// Seconds it will go on, as far as can be told.
    pub fn seconds_left(&self) -> Option<f64> {
        let left = self.work().left(self.began.elapsed())?;
        self.ended.is_none().then_some(left.as_secs_f64())
    }
}

/// The last task of each projection.
#[derive(Default)]
pub struct Works(Arc<Mutex<HashMap<&'static str, Order>>>);

impl Works {
    pub fn of(&self, projection: &str) -> Option<Order> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(projection).cloned()
    }

    /// Begins a task; false if this process has one under way.
    pub fn begin(&self, store: &Store, projection: &'static dyn Projection, task: Task) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.values().any(|order| order.ended.is_none()) {
            return false;
        }
        let (work, watched) = watch::channel(Work::default());
        let order = Order {
            task,
            began_at: clock::now(),
            ended: None,
            began: Instant::now(),
            work: watched,
        };
        all.insert(projection.name(), order);
        let (store, orders) = (store.clone(), self.0.clone());
        tokio::spawn(async move {
            let ending = carry_out(&store, projection, task, &work).await;
            let ending = ending.unwrap_or_else(|error| Ending::Failed(error.to_string()));
            let mut all = orders.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(order) = all.get_mut(projection.name()) {
                order.ended = Some((clock::now(), ending));
            }
        });
        true
    }
}

async fn carry_out(
    store: &Store,
    projection: &'static dyn Projection,
    task: Task,
    work: &watch::Sender<Work>,
) -> Result<Ending> {
    Ok(match task {
        Task::Rebuild => Ending::Rebuilt(rebuild(store, projection, work).await?),
        Task::Verify => Ending::Verified(Arc::new(verify(store, projection, work).await?)),
    })
}
