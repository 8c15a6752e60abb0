use async_trait::async_trait;
use kurier_core::event::{Event, Position};
use kurier_core::message::Gate;
use kurier_core::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use super::Postgres;
use super::appender::append;
use super::gates::{lock_gate, put_gate};
use crate::channels::{Channels, KeptChannel, NewChannel, position, read, written};
use crate::queue::Lane;
use crate::{Result, Scope};

#[async_trait]
impl Channels for Postgres {
    async fn channels(&self, scope: Scope) -> Result<Vec<KeptChannel>> {
        let sql = "SELECT * FROM channel WHERE workspace = $1 ORDER BY name COLLATE \"C\"";
        let rows = sqlx::query(sql)
            .bind(scope.0.as_uuid())
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(channel).collect()
    }

    async fn channel(&self, scope: Scope, name: &str) -> Result<Option<KeptChannel>> {
        let row = sqlx::query("SELECT * FROM channel WHERE workspace = $1 AND name = $2")
            .bind(scope.0.as_uuid())
            .bind(name)
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(channel).transpose()
    }

    async fn channel_revisions(&self, scope: Scope) -> Result<Vec<(String, Position)>> {
        let sql = "SELECT name, revision FROM channel WHERE workspace = $1
                   ORDER BY name COLLATE \"C\"";
        let rows = sqlx::query(sql)
            .bind(scope.0.as_uuid())
            .fetch_all(&self.pool)
            .await?;
        let pair = |row: &PgRow| Ok((row.try_get("name")?, Position(row.try_get("revision")?)));
        rows.iter().map(pair).collect()
    }

    async fn set_channel(
        &self,
        scope: Scope,
        channel: NewChannel,
        seen: Option<Position>,
        event: Event,
    ) -> Result<Option<Position>> {
        let mut transaction = self.pool.begin().await?;
        let lane = Lane::new(scope, &channel.name);
        // Gates are locked before the log, here as by who claims: so nobody waits in a circle.
        lock_gate(&mut transaction, &lane).await?;
        // Appending is done by one at a time: who comes second sees what the first one wrote.
        let at = position(&append(&mut transaction, &[(scope.0, &event)]).await?)?;
        let changed_at = event.recorded_at;
        let is_written = match seen {
            Some(seen) => change(&mut transaction, scope, &channel, (seen, at), changed_at).await?,
            None => insert(&mut transaction, scope, &channel, at, changed_at).await?,
        };
        if !is_written {
            transaction.rollback().await?;
            return Ok(None);
        }
        put_gate(&mut transaction, &lane, &Gate::new(at)).await?;
        transaction.commit().await?;
        Ok(Some(at))
    }

    async fn remove_channel(&self, scope: Scope, name: &str, event: Event) -> Result<bool> {
        let mut transaction = self.pool.begin().await?;
        let removed = sqlx::query("DELETE FROM channel WHERE workspace = $1 AND name = $2")
            .bind(scope.0.as_uuid())
            .bind(name)
            .execute(&mut *transaction)
            .await?;
        if removed.rows_affected() == 0 {
            return Ok(false);
        }
        append(&mut transaction, &[(scope.0, &event)]).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

async fn insert(
    connection: &mut PgConnection,
    scope: Scope,
    channel: &NewChannel,
    at: Position,
    changed_at: Timestamp,
) -> Result<bool> {
    let sql = "INSERT INTO channel (workspace, name, settings, secrets, revision, changed_at)
               VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let inserted = sqlx::query(sql)
        .bind(scope.0.as_uuid())
        .bind(&channel.name)
        .bind(written(&channel.settings)?)
        .bind(&channel.secrets)
        .bind(at.0)
        .bind(changed_at.as_micros())
        .execute(connection)
        .await?;
    Ok(inserted.rows_affected() == 1)
}

async fn change(
    connection: &mut PgConnection,
    scope: Scope,
    channel: &NewChannel,
    (seen, at): (Position, Position),
    changed_at: Timestamp,
) -> Result<bool> {
    let sql = "UPDATE channel SET settings = $3, secrets = $4, revision = $5, changed_at = $6
               WHERE workspace = $1 AND name = $2 AND revision = $7";
    let changed = sqlx::query(sql)
        .bind(scope.0.as_uuid())
        .bind(&channel.name)
        .bind(written(&channel.settings)?)
        .bind(&channel.secrets)
        .bind(at.0)
        .bind(changed_at.as_micros())
        .bind(seen.0)
        .execute(connection)
        .await?;
    Ok(changed.rows_affected() == 1)
}

fn channel(row: &PgRow) -> Result<KeptChannel> {
    Ok(KeptChannel {
        name: row.try_get("name")?,
        settings: read(row.try_get("settings")?)?,
        secrets: row.try_get("secrets")?,
        revision: Position(row.try_get("revision")?),
        changed_at: Timestamp::from_micros(row.try_get("changed_at")?),
    })
}
