use async_trait::async_trait;
use kurier_core::id::{ContactId, SegmentId};
use kurier_core::projection::{Need, SEGMENT, SegmentSummary, segment_of_row};
use kurier_core::time::Timestamp;
use rusqlite::params;
use uuid::Uuid;

use super::Sqlite;
use super::cell::uuid;
use super::tables::{load, names, read_row};
use crate::segments::{Member, MemberPage, SegmentViews};
use crate::{Error, Result, Scope, rows_max};

#[async_trait]
impl SegmentViews for Sqlite {
    async fn segments(&self, scope: Scope) -> Result<Vec<SegmentSummary>> {
        self.readers
            .read(move |connection| {
                let columns = names(SEGMENT.columns).join(",");
                let sql =
                    format!("SELECT {columns} FROM segment WHERE workspace = ?1 ORDER BY name, id");
                let mut statement = connection.prepare_cached(&sql)?;
                let mut rows = statement.query([scope.0.as_uuid().as_bytes()])?;
                let mut all = Vec::new();
                while let Some(row) = rows.next()? {
                    let row = read_row(row, &SEGMENT)?;
                    all.push(segment_of_row(&row).ok_or_else(unreadable)?.1);
                }
                Ok(all)
            })
            .await
    }

    async fn segment(&self, scope: Scope, id: SegmentId) -> Result<Option<SegmentSummary>> {
        let key = vec![
            scope.0.into(),
            kurier_core::projection::Cell::Id(id.as_uuid()),
        ];
        let need = Need::new(&SEGMENT, vec![key]);
        let loaded = self
            .readers
            .read(move |connection| load(connection, &need))
            .await?;
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
        let after = after.map_or(Uuid::nil(), ContactId::as_uuid);
        self.readers
            .read(move |connection| {
                let sql = "SELECT contact, entered_at FROM member
                           WHERE workspace = ?1 AND segment = ?2 AND contact > ?3
                           ORDER BY contact LIMIT ?4";
                let mut statement = connection.prepare_cached(sql)?;
                let (workspace, id) = (
                    scope.0.as_uuid().into_bytes(),
                    segment.as_uuid().into_bytes(),
                );
                let limit_and_one = rows_max(limit.saturating_add(1));
                let mut rows =
                    statement.query(params![workspace, id, after.as_bytes(), limit_and_one])?;
                let mut members = Vec::new();
                while let Some(row) = rows.next()? {
                    let contact = ContactId::from_uuid(uuid(row, 0)?);
                    members.push(Member {
                        contact,
                        entered_at: Timestamp::from_micros(row.get(1)?),
                    });
                }
                let has_more = members.len() > limit;
                members.truncate(limit);
                Ok(MemberPage { members, has_more })
            })
            .await
    }

    async fn segments_of(
        &self,
        scope: Scope,
        contact: ContactId,
    ) -> Result<Vec<(SegmentId, Timestamp)>> {
        self.readers
            .read(move |connection| {
                let sql = "SELECT segment, entered_at FROM member
                           WHERE workspace = ?1 AND contact = ?2 ORDER BY segment";
                let mut statement = connection.prepare_cached(sql)?;
                let key = [
                    scope.0.as_uuid().into_bytes(),
                    contact.as_uuid().into_bytes(),
                ];
                let mut rows = statement.query(key)?;
                let mut found = Vec::new();
                while let Some(row) = rows.next()? {
                    let segment = SegmentId::from_uuid(uuid(row, 0)?);
                    found.push((segment, Timestamp::from_micros(row.get(1)?)));
                }
                Ok(found)
            })
            .await
    }

    async fn sizes(
        &self,
        scope: Scope,
        segment: SegmentId,
        since: Timestamp,
    ) -> Result<Vec<(Timestamp, i64)>> {
        self.readers
            .read(move |connection| {
                let sql = "SELECT hour, size FROM segment_size
                           WHERE workspace = ?1 AND segment = ?2 AND hour >= ?3 ORDER BY hour";
                let mut statement = connection.prepare_cached(sql)?;
                let (workspace, id) = (
                    scope.0.as_uuid().into_bytes(),
                    segment.as_uuid().into_bytes(),
                );
                let rows = statement
                    .query_map(params![workspace, id, since.as_micros()], |row| {
                        Ok((Timestamp::from_micros(row.get(0)?), row.get(1)?))
                    })?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            })
            .await
    }
}

fn unreadable() -> Error {
    Error::Damaged("a segment's row cannot be read".into())
}
