//! A holder's sign of life: a file it has locked. However its process ends, the operating
//! system unlocks it, so nobody has to wait for the lease of the dead to end.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use crate::{Error, Result};

pub struct Pulse {
    database: PathBuf,
    own: Mutex<HashMap<Uuid, File>>,
}

impl Pulse {
    pub fn of(database: PathBuf) -> Self {
        Self {
            database,
            own: Mutex::default(),
        }
    }

    fn file(&self, holder: Uuid) -> PathBuf {
        let mut name = self.database.as_os_str().to_owned();
        name.push(format!("-holder-{}", holder.simple()));
        name.into()
    }

    /// Shows that a holder lives, for as long as this process does.
    pub fn begin(&self, holder: Uuid) -> Result<()> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.contains_key(&holder) {
            return Ok(());
        }
        let path = self.file(holder);
        let file = File::create(&path).and_then(|file| file.lock().map(|()| file));
        let file = file.map_err(|e| Error::Unavailable(format!("{}: {e}", path.display())))?;
        own.insert(holder, file);
        Ok(())
    }

    pub fn end(&self, holder: Uuid) {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.remove(&holder).is_some() {
            // Left behind, it is nobody's sign of life.
            let _ = std::fs::remove_file(self.file(holder));
        }
    }

    /// Whether a holder is known to be dead. Who never showed a sign may live.
    pub fn is_over(&self, holder: Uuid) -> bool {
        let path = self.file(holder);
        let Ok(file) = File::open(&path) else {
            return false;
        };
        let is_over = is_free(file.try_lock()).unwrap_or(false);
        if is_over {
            let _ = std::fs::remove_file(path);
        }
        is_over
    }
}

fn is_free(locked: std::result::Result<(), TryLockError>) -> io::Result<bool> {
    match locked {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
