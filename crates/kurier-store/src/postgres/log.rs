use async_trait::async_trait;
use futures_util::TryStreamExt as _;
use kurier_core::event::{Event, Kind, Position, Recorded, tombstone};
use kurier_core::id::{ContactId, EventId, WorkspaceId};
use kurier_core::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use super::Postgres;
use super::appender::uuids;
use crate::log::{Appended, Log, READ_BYTES_MAX, Scrub};
use crate::{Error, Result, Scope, rows_max};

#[async_trait]
impl Log for Postgres {
    async fn append(&self, scope: Scope, events: Vec<Event>) -> Result<Vec<Appended>> {
        self.appender.append(scope, events).await
    }

    async fn read(&self, after: Position, max: usize) -> Result<Vec<Recorded>> {
        // There are no gaps, so a range says how many. A limit would not do: behind it the
        // planner sees most of the log, and reads and sorts all of that for each batch.
        let sql = "
            SELECT position, workspace, id, kind, contact, occurred_at, recorded_at, payload
            FROM (SELECT * FROM log_archive WHERE position > $1 AND position <= $2
                  UNION ALL SELECT * FROM log WHERE position > $1 AND position <= $2) AS l
            ORDER BY position";
        let mut rows = sqlx::query(sql)
            .bind(after.0)
            .bind(after.0.saturating_add(rows_max(max)))
            .fetch(&self.pool);
        let (mut events, mut bytes) = (Vec::new(), 0);
        while bytes < READ_BYTES_MAX
            && let Some(row) = rows.try_next().await?
        {
            let recorded = recorded(&row)?;
            bytes += recorded.event.payload.len();
            events.push(recorded);
        }
        Ok(events)
    }

    async fn without(&self, after: Position, max: usize, kinds: &[Kind]) -> Result<Position> {
        // One statement, so that both halves see the same log.
        let sql = "
            SELECT coalesce(min(position) - 1,
                            greatest($1, least($2, (SELECT position FROM log_head))))
            FROM (SELECT position FROM log_archive
                  WHERE position > $1 AND position <= $2 AND kind = ANY ($3)
                  UNION ALL SELECT position FROM log
                  WHERE position > $1 AND position <= $2 AND kind = ANY ($3)) AS l";
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        let position = sqlx::query_scalar(sql)
            .bind(after.0)
            .bind(after.0.saturating_add(rows_max(max)))
            .bind(kinds)
            .fetch_one(&self.pool);
        Ok(Position(position.await?))
    }

    async fn head(&self) -> Result<Position> {
        let head = sqlx::query_scalar("SELECT position FROM log_head");
        Ok(Position(head.fetch_one(&self.pool).await?))
    }

    async fn positions(
        &self,
        scope: Scope,
        contacts: &[ContactId],
        between: (Position, Position),
    ) -> Result<Vec<Position>> {
        // While a projection is rebuilt, what lies between reaches back into the archive.
        let sql = "
            SELECT position FROM log_archive
            WHERE position > $1 AND position < $2 AND workspace = $3 AND contact = ANY ($4)
              AND kind NOT LIKE 'segment.%'
            UNION ALL SELECT position FROM log
            WHERE position > $1 AND position < $2 AND workspace = $3 AND contact = ANY ($4)
              AND kind NOT LIKE 'segment.%'
            ORDER BY position";
        let rows: Vec<i64> = sqlx::query_scalar(sql)
            .bind(between.0.0)
            .bind(between.1.0)
            .bind(scope.0.as_uuid())
            .bind(uuids(contacts, ContactId::as_uuid))
            .fetch_all(&self.pool)
            .await?;
        Ok(rows.into_iter().map(Position).collect())
    }

    async fn tombstone(&self, scope: Scope, positions: &[Position]) -> Result<u64> {
        let mut transaction = self.pool.begin().await?;
        let mut buried = 0;
        for table in [LOG, ARCHIVE] {
            buried += bury(&mut transaction, &table, scope, positions).await?;
        }
        transaction.commit().await?;
        Ok(buried)
    }

    /// Dead rows are out of reach for any query or dump; vacuum gives their room back.
    async fn scrub(&self, _: Scrub) -> Result<()> {
        sqlx::raw_sql(
            "VACUUM log, log_archive, contact, timeline, queue, journey_instance, journey_path, \
             suppression",
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    async fn maintain(&self, now: Timestamp) -> Result<()> {
        self.make_partitions(now).await
    }

    async fn archive(&self, before: Timestamp) -> Result<Vec<String>> {
        self.archive_partitions(before).await
    }
}

struct LogTable {
    select: &'static str,
    update: &'static str,
}

const LOG: LogTable = LogTable {
    select: "SELECT position, payload FROM log WHERE position = ANY ($1) AND workspace = $2
             AND kind NOT LIKE 'address.%'",
    update: "UPDATE log SET payload = t.payload
             FROM unnest($1::bigint[], $2::text[]) AS t (position, payload)
             WHERE log.position = t.position",
};

const ARCHIVE: LogTable = LogTable {
    select: "SELECT position, payload FROM log_archive WHERE position = ANY ($1) AND workspace = $2
             AND kind NOT LIKE 'address.%'",
    update: "UPDATE log_archive SET payload = t.payload
             FROM unnest($1::bigint[], $2::text[]) AS t (position, payload)
             WHERE log_archive.position = t.position",
};

async fn bury(
    connection: &mut PgConnection,
    table: &LogTable,
    scope: Scope,
    positions: &[Position],
) -> Result<u64> {
    let wanted: Vec<i64> = positions.iter().map(|position| position.0).collect();
    let rows: Vec<(i64, String)> = sqlx::query_as(table.select)
        .bind(wanted)
        .bind(scope.0.as_uuid())
        .fetch_all(&mut *connection)
        .await?;
    let (found, payloads): (Vec<i64>, Vec<String>) = rows
        .into_iter()
        .map(|(position, payload)| (position, tombstone(&payload)))
        .unzip();
    let updated = sqlx::query(table.update)
        .bind(found)
        .bind(payloads)
        .execute(connection)
        .await?;
    Ok(updated.rows_affected())
}

pub fn recorded(row: &PgRow) -> Result<Recorded> {
    let kind: &str = row.try_get("kind").map_err(Error::from)?;
    Ok(Recorded {
        position: Position(row.try_get("position")?),
        workspace: WorkspaceId::from_uuid(row.try_get("workspace")?),
        event: Event {
            id: EventId::from_uuid(row.try_get("id")?),
            kind: kind.parse()?,
            contact: row
                .try_get::<Option<_>, _>("contact")?
                .map(ContactId::from_uuid),
            occurred_at: Timestamp::from_micros(row.try_get("occurred_at")?),
            recorded_at: Timestamp::from_micros(row.try_get("recorded_at")?),
            payload: row.try_get("payload")?,
        }
        .into(),
    })
}
