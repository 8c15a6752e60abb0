//! A holder's sign of life: an advisory lock of a session that this process keeps open.
//! However the process ends, its sessions end with it, so nobody has to wait for the lease of
//! the dead to end.

use std::collections::HashSet;

use sqlx::{Connection as _, PgConnection, PgPool};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::Result;

pub struct Pulse {
    pool: PgPool,
    session: Mutex<Option<Session>>,
}

struct Session {
    connection: PgConnection,
    own: HashSet<Uuid>,
}

impl Pulse {
    pub fn of(pool: PgPool) -> Self {
        Self {
            pool,
            session: Mutex::default(),
        }
    }

    /// Shows that a holder lives, for as long as this process does; in a new session, if the
    /// one before is gone.
    pub async fn begin(&self, holder: Uuid) -> Result<()> {
        let mut session = self.session.lock().await;
        if let Some(open) = session.as_mut()
            && open.connection.ping().await.is_err()
        {
            *session = None;
        }
        let open = match session.as_mut() {
            Some(open) => open,
            None => session.insert(Session {
                connection: self.pool.acquire().await?.detach(),
                own: HashSet::new(),
            }),
        };
        if !open.own.contains(&holder) && lock(&mut open.connection, holder).await? {
            open.own.insert(holder);
        }
        Ok(())
    }

    pub async fn end(&self, holder: Uuid) -> Result<()> {
        let mut session = self.session.lock().await;
        if let Some(open) = session.as_mut()
            && open.own.remove(&holder)
        {
            unlock(&mut open.connection, holder).await?;
        }
        Ok(())
    }

    /// Whether a holder is known to be dead.
    pub async fn is_over(&self, holder: Uuid) -> Result<bool> {
        let mut session = self.session.lock().await;
        let Some(open) = session.as_mut().filter(|open| !open.own.contains(&holder)) else {
            return Ok(false);
        };
        let is_over = lock(&mut open.connection, holder).await?;
        if is_over {
            unlock(&mut open.connection, holder).await?;
        }
        Ok(is_over)
    }
}

async fn lock(connection: &mut PgConnection, holder: Uuid) -> Result<bool> {
    let locked = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)")
        .bind(key(holder))
        .fetch_one(connection);
    Ok(locked.await?)
}

async fn unlock(connection: &mut PgConnection, holder: Uuid) -> Result<()> {
    let unlock = sqlx::query("SELECT pg_advisory_unlock($1)").bind(key(holder));
    unlock.execute(connection).await?;
    Ok(())
}

/// Holders are random: half of one tells it from all others.
fn key(holder: Uuid) -> i64 {
    holder.as_u64_pair().0.cast_signed()
}
