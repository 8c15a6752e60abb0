use async_trait::async_trait;
use kurier_core::contact::{Contact, Standing};
use kurier_core::event::Position;
use kurier_core::id::{AddressKey, ContactId};
use kurier_core::projection::{CONTACT, Loaded, Need, contact_of_row, contact_standing};
use kurier_core::time::Timestamp;
use sqlx::{PgConnection, QueryBuilder};

use super::Postgres;
use super::appender::uuids;
use super::columns::read_as;
use super::log::recorded;
use super::projections::process;
use super::tables::{load, read_row, write};
use crate::fault;
use crate::projections::Side;
use crate::views::{
    Applied, Batch, ContactFilter, ContactPage, ContactQuery, TimelinePage, TimelineQuery, Views,
};
use crate::{Error, Result, Scope, rows_max};

type Builder = QueryBuilder<sqlx::Postgres>;

#[async_trait]
impl Views for Postgres {
    async fn checkpoint(&self, name: &str) -> Result<Position> {
        let found: Option<i64> =
            sqlx::query_scalar("SELECT position FROM checkpoint WHERE name = $1")
                .bind(name)
                .fetch_optional(&self.pool)
                .await?;
        Ok(Position(found.unwrap_or(0)))
    }

    async fn set_checkpoint(&self, name: &str, position: Position) -> Result<()> {
        let sql = "INSERT INTO checkpoint (name, position) VALUES ($1, $2)
                   ON CONFLICT (name) DO UPDATE SET position = excluded.position";
        sqlx::query(sql)
            .bind(name)
            .bind(position.0)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    async fn load(&self, needs: Vec<Need>) -> Result<Vec<Loaded>> {
        let mut loaded = Vec::with_capacity(needs.len());
        for need in &needs {
            loaded.push(load(&self.pool, need).await?);
        }
        Ok(loaded)
    }

    async fn apply(&self, mut batch: Batch) -> Result<Applied> {
        let (name, writes) = (batch.name(), batch.settle()?);
        let mut transaction = self.pool.begin().await?;
        if !advance(&mut transaction, name, batch.between()).await? {
            return Ok(Applied::Overtaken);
        }
        fault::point(name, "noted");
        write(&mut transaction, Side::Live, &writes).await?;
        fault::point(name, "written");
        process(&mut transaction, name, &batch.folded().processed).await?;
        fault::point(name, "processed");
        for (position, reason) in &batch.folded().poison {
            let sql = "INSERT INTO poison (projection, position, reason) VALUES ($1, $2, $3)
                       ON CONFLICT DO NOTHING";
            let insert = sqlx::query(sql).bind(name).bind(position.0).bind(reason);
            insert.execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(Applied::Done)
    }

    async fn contact(&self, scope: Scope, id: ContactId) -> Result<Option<Standing>> {
        let key = vec![scope.0.into(), id.into()];
        let loaded = load(&self.pool, &Need::new(&CONTACT, vec![key])).await?;
        let row = loaded.rows.first();
        row.map(|row| {
            contact_standing(row)
                .map(|(_, _, standing)| standing)
                .ok_or_else(unreadable)
        })
        .transpose()
    }

    async fn contacts(&self, scope: Scope, query: &ContactQuery) -> Result<ContactPage> {
        let columns: Vec<String> = CONTACT.columns.iter().map(read_as).collect();
        let mut sql = Builder::new(format!("SELECT {} FROM contact", columns.join(",")));
        sql.push(" WHERE standing = 'live' AND workspace = ")
            .push_bind(scope.0.as_uuid());
        filter(&mut sql, scope, &query.filter);
        if let Some((created_at, id)) = query.after {
            sql.push(" AND (created_at, id) < (")
                .push_bind(created_at.as_micros());
            sql.push(", ").push_bind(id.as_uuid()).push(")");
        }
        sql.push(" ORDER BY created_at DESC, id DESC LIMIT ")
            .push_bind(rows_max(query.limit.saturating_add(1)));
        let rows = sql.build().fetch_all(&self.pool).await?;
        let has_more = rows.len() > query.limit;
        let rows = rows
            .iter()
            .take(query.limit)
            .map(|row| read_row(row, &CONTACT));
        let contacts = rows.map(|row| contact_of_row(&row?).ok_or_else(unreadable));
        Ok(ContactPage {
            contacts: contacts.collect::<Result<Vec<Contact>>>()?,
            has_more,
        })
    }

    async fn timeline(
        &self,
        scope: Scope,
        contacts: &[ContactId],
        query: &TimelineQuery,
    ) -> Result<TimelinePage> {
        let mut sql = timeline_sql(scope, contacts, query);
        let rows = sql.build().fetch_all(&self.pool).await?;
        let has_more = rows.len() > query.limit;
        let events = rows
            .iter()
            .take(query.limit)
            .map(recorded)
            .collect::<Result<_>>()?;
        Ok(TimelinePage { events, has_more })
    }

    async fn timeline_positions(&self, scope: Scope, ids: &[ContactId]) -> Result<Vec<Position>> {
        let sql = "SELECT position FROM timeline WHERE workspace = $1 AND contact = ANY ($2)
                   ORDER BY position";
        let rows: Vec<i64> = sqlx::query_scalar(sql)
            .bind(scope.0.as_uuid())
            .bind(uuids(ids, ContactId::as_uuid))
            .fetch_all(&self.pool)
            .await?;
        Ok(rows.into_iter().map(Position).collect())
    }

    async fn erased_at(&self, scope: Scope, address: AddressKey) -> Result<Option<Timestamp>> {
        let sql = "SELECT erased_at FROM erasure WHERE workspace = $1 AND address = $2";
        let found: Option<i64> = sqlx::query_scalar(sql)
            .bind(scope.0.as_uuid())
            .bind(address.as_uuid())
            .fetch_optional(&self.pool)
            .await?;
        Ok(found.map(Timestamp::from_micros))
    }

    async fn poisoned(&self, projection: &str) -> Result<u64> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM poison WHERE projection = $1")
            .bind(projection)
            .fetch_one(&self.pool)
            .await?;
        Ok(count.unsigned_abs())
    }
}

fn unreadable() -> Error {
    Error::Damaged("a contact's row cannot be read".into())
}

/// Moves a checkpoint from one position to another; false if it stands elsewhere. The row
/// stays locked until the commit, so of two runners one waits and then sees it was overtaken.
pub async fn advance(
    connection: &mut PgConnection,
    name: &str,
    (from, to): (Position, Position),
) -> Result<bool> {
    if from == Position(0) {
        let sql = "INSERT INTO checkpoint (name, position) VALUES ($1, 0) ON CONFLICT DO NOTHING";
        sqlx::query(sql)
            .bind(name)
            .execute(&mut *connection)
            .await?;
    }
    let sql = "UPDATE checkpoint SET position = $3 WHERE name = $1 AND position = $2";
    let moved = sqlx::query(sql)
        .bind(name)
        .bind(from.0)
        .bind(to.0)
        .execute(connection)
        .await?;
    Ok(moved.rows_affected() == 1)
}

fn filter(sql: &mut Builder, scope: Scope, filter: &ContactFilter) {
    if let Some(email) = &filter.email {
        sql.push(" AND email = ").push_bind(email.clone());
    }
    if let Some(user_id) = &filter.user_id {
        sql.push(" AND user_id = ").push_bind(user_id.clone());
    }
    if let Some(id) = filter.anonymous {
        // The anonymous contact itself, or the one it has become part of by now.
        sql.push(" AND id IN (WITH RECURSIVE became (id) AS (VALUES (")
            .push_bind(id.as_uuid());
        sql.push(
            ") UNION SELECT c.merged_into FROM became b JOIN contact c ON c.id = b.id
             WHERE c.merged_into IS NOT NULL AND c.workspace = ",
        );
        sql.push_bind(scope.0.as_uuid())
            .push(") SELECT id FROM became)");
    }
    if let Some(prefix) = &filter.starts_with {
        let pattern = |prefix: &str| {
            let literal = prefix
                .replace('\\', "\\\\")
                .replace('%', "\\%")
                .replace('_', "\\_");
            format!("{literal}%")
        };
        sql.push(" AND (email LIKE ")
            .push_bind(pattern(&prefix.to_lowercase()));
        sql.push(" OR user_id LIKE ")
            .push_bind(pattern(prefix))
            .push(")");
    }
    if let Some((path, value)) = &filter.attribute {
        // Not #>, which would also go into lists by number.
        sql.push(" AND coalesce(attributes");
        for name in path.names() {
            sql.push(" -> ").push_bind(name.clone());
        }
        let json = serde_json::to_string(value).expect("a value serialises");
        sql.push(", 'null') = ").push_bind(json).push("::jsonb");
    }
}

fn timeline_sql(scope: Scope, contacts: &[ContactId], query: &TimelineQuery) -> Builder {
    let mut sql = Builder::new(
        "SELECT l.position, l.workspace, l.id, l.kind, l.contact, l.occurred_at, l.recorded_at, l.payload
         FROM timeline t
         JOIN (SELECT * FROM log UNION ALL SELECT * FROM log_archive) AS l
           ON l.position = t.position AND l.recorded_at = t.recorded_at
         WHERE t.workspace = ",
    );
    sql.push_bind(scope.0.as_uuid());
    sql.push(" AND t.contact = ANY (")
        .push_bind(uuids(contacts, ContactId::as_uuid))
        .push(")");
    if let Some(kind) = query.kind {
        sql.push(" AND t.kind = ").push_bind(kind.as_str());
    }
    if let Some(title) = &query.title {
        sql.push(" AND t.title = ").push_bind(title.clone());
    }
    if let Some((occurred_at, position)) = query.after {
        sql.push(" AND (t.occurred_at, t.position) < (")
            .push_bind(occurred_at.as_micros());
        sql.push(", ").push_bind(position.0).push(")");
    }
    sql.push(" ORDER BY t.occurred_at DESC, t.position DESC LIMIT ");
    sql.push_bind(rows_max(query.limit.saturating_add(1)));
    sql
}
