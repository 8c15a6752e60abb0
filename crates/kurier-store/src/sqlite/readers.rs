//! Readers: a handful of connections that see the last commit and never block the writer.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::connect_to_read;
use crate::{Error, Result};

const READERS_MAX: usize = 4;

pub struct Readers {
    path: PathBuf,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub fn new(path: &Path) -> Self {
        let permits = Arc::new(Semaphore::new(READERS_MAX));
        Self {
            path: path.to_owned(),
            idle: Arc::default(),
            permits,
        }
    }

    /// Runs a query on a thread that may block.
    pub async fn read<T, F>(&self, query: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let permit = self.permits.clone().acquire_owned().await;
        let permit = permit.map_err(|e| Error::Unavailable(e.to_string()))?;
        let (idle, path) = (self.idle.clone(), self.path.clone());
        let task = tokio::task::spawn_blocking(move || {
            let kept = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = kept.map_or_else(|| connect_to_read(&path), Ok)?;
            let result = query(&connection);
            idle.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(connection);
            drop(permit);
            result
        });
        task.await.map_err(|e| Error::Unavailable(e.to_string()))?
    }
}
