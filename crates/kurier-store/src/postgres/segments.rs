use async_trait::async_trait;
use kurier_core::id::{ContactId, SegmentId};
use kurier_core::projection::{Cell, Need, SEGMENT, SegmentSummary, segment_of_row};
use kurier_core::time::Timestamp;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::Postgres;
use super::columns::read_as;
use super::tables::{load, read_row};
use crate::segments::{Member, MemberPage, SegmentViews};
use crate::{Error, Result, Scope, rows_max};

#[async_trait]
impl SegmentViews for Postgres {
    async fn segments(&self, scope: Scope) -> Result<Vec<SegmentSummary>> {
        let columns: Vec<String> = SEGMENT.columns.iter().map(read_as).collect();
        // Names sort by code point, as everywhere.
        let sql = format!(
            "SELECT {} FROM segment WHERE workspace = $1 ORDER BY name COLLATE \"C\", id",
            columns.join(",")
        );
        let rows = sqlx::query(AssertSqlSafe(sql))
            .bind(scope.0.as_uuid())
            .fetch_all(&self.pool)
            .await?;
        let rows = rows.iter().map(|row| read_row(row, &SEGMENT));
        rows.map(|row| Ok(segment_of_row(&row?).ok_or_else(unreadable)?.1))
            .collect()
    }

    async fn segment(&self, scope: Scope, id: SegmentId) -> Result<Option<SegmentSummary>> {
        let key = vec![scope.0.into(), Cell::Id(id.as_uuid())];
        let loaded = load(&self.pool, &Need::new(&SEGMENT, vec![key])).await?;
        let row = loaded.rows.first();
        row.map(|row| Ok(segment_of_row(row).ok_or_else(unreadable)?.1))
            .transpose()
    }

    async fn members(
        &self,
        scope: Scope,
        segment: SegmentId,
        after: Option<ContactId>,
        limit: usize,
    ) -> Result<MemberPage> {
        let sql = "SELECT contact, entered_at FROM member
                   WHERE workspace = $1 AND segment = $2 AND contact > $3 ORDER BY contact LIMIT $4";
        let rows: Vec<(Uuid, i64)> = sqlx::query_as(sql)
            .bind(scope.0.as_uuid())
            .bind(segment.as_uuid())
            .bind(after.map_or(Uuid::nil(), ContactId::as_uuid))
            .bind(rows_max(limit.saturating_add(1)))
            .fetch_all(&self.pool)
            .await?;
        let has_more = rows.len() > limit;
        let member = |(contact, at)| Member {
            contact: ContactId::from_uuid(contact),
            entered_at: Timestamp::from_micros(at),
        };
        Ok(MemberPage {
            members: rows.into_iter().take(limit).map(member).collect(),
            has_more,
        })
    }

    async fn segments_of(
        &self,
        scope: Scope,
        contact: ContactId,
    ) -> Result<Vec<(SegmentId, Timestamp)>> {
        let sql = "SELECT segment, entered_at FROM member WHERE workspace = $1 AND contact = $2 ORDER BY segment";
        let rows: Vec<(Uuid, i64)> = sqlx::query_as(sql)
            .bind(scope.0.as_uuid())
            .bind(contact.as_uuid())
            .fetch_all(&self.pool)
            .await?;
        let pair = |(segment, at)| (SegmentId::from_uuid(segment), Timestamp::from_micros(at));
        Ok(rows.into_iter().map(pair).collect())
    }

    async fn sizes(
        &self,
        scope: Scope,
        segment: SegmentId,
        since: Timestamp,
    ) -> Result<Vec<(Timestamp, i64)>> {
        let sql = "SELECT hour, size FROM segment_size
                   WHERE workspace = $1 AND segment = $2 AND hour >= $3 ORDER BY hour";
        let rows: Vec<(i64, i64)> = sqlx::query_as(sql)
            .bind(scope.0.as_uuid())
            .bind(segment.as_uuid())
            .bind(since.as_micros())
            .fetch_all(&self.pool)
            .await?;
        Ok(rows
            .into_iter()
            .map(|(hour, size)| (Timestamp::from_micros(hour), size))
            .collect())
    }
}

fn unreadable() -> Error {
    Error::Damaged("a segment's row cannot be read".into())
}
