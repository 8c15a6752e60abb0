//! E-mail by SMTP. Connections are kept and used again; what a server said is told as it is;
//! once the last dot is on its way, a lost answer means that nobody knows.

mod compose;
mod dkim;
mod plain;
mod pool;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use kurier_core::message::channel;
use kurier_core::message::{Letter, Outcome};
use tokio::sync::Semaphore;

use super::http::unknown;
use super::{Channel, Unusable, late};
use crate::secret::Secrets;
use compose::{Composer, Mail};
use pool::{Pool, Stage};

pub struct Email {
    composer: Composer,
    pool: Pool,
    places: Semaphore,
    concurrency: usize,
    timeout: Duration,
}

impl Email {
    pub fn new(setup: &channel::Email, secrets: &Secrets) -> Result<Self, Unusable> {
        let concurrency = setup.pool_size as usize;
        Ok(Self {
            composer: Composer::new(setup, secrets)?,
            pool: Pool::new(setup, secrets)?,
            places: Semaphore::new(concurrency),
            concurrency,
            timeout: Duration::from_secs(setup.timeout_seconds.into()),
        })
    }

    async fn hand_over(&self, mail: &Mail) -> Outcome {
        let handed = AtomicBool::new(false);
        let stage = Stage(&handed);
        let sending = self.pool.send(mail, &stage);
        match tokio::time::timeout(self.timeout, sending).await {
            Ok(outcome) => outcome,
            Err(_) if handed.load(Ordering::Acquire) => unknown("the time was up, unanswered"),
            Err(_) => late(),
        }
    }
}

#[async_trait]
impl Channel for Email {
    async fn send(&self, letter: &Letter) -> Outcome {
        let _place = self.places.acquire().await.expect("it is never closed");
        match self.composer.compose(letter) {
            Ok(mail) => self.hand_over(&mail).await,
            Err(outcome) => outcome,
        }
    }

    fn concurrency(&self) -> usize {
        self.concurrency
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }
}
