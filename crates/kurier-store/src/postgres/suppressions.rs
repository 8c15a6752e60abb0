use std::collections::HashSet;

use async_trait::async_trait;
use kurier_core::event::Event;
use kurier_core::id::{AddressKey, ContactId, WorkspaceId};
use kurier_core::message::{Reach, SkipReason, Topic};
use kurier_core::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, QueryBuilder, Row};
use uuid::Uuid;

use super::Postgres;
use super::appender::{append, uuids};
use crate::suppressions::{
    NewSuppression, Suppressed, SuppressionPage, SuppressionQuery, Suppressions, Words, judge,
    page, reach,
};
use crate::{Result, Scope, rows_max};

type Builder = QueryBuilder<sqlx::Postgres>;

#[async_trait]
impl Suppressions for Postgres {
    async fn suppress(&self, scope: Scope, new: Vec<NewSuppression>) -> Result<Vec<bool>> {
        let mut transaction = self.pool.begin().await?;
        let mut inserted = insert_all(&mut transaction, scope, &new).await?;
        // Of two that are the same, the first was inserted.
        let is_fresh = |new: &NewSuppression| inserted.remove(&key(&new.suppressed));
        let fresh: Vec<bool> = new.iter().map(is_fresh).collect();
        let told = new.iter().zip(&fresh).filter(|(_, fresh)| **fresh);
        let told: Vec<(WorkspaceId, &Event)> = told.map(|(new, _)| (scope.0, &new.event)).collect();
        append(&mut transaction, &told).await?;
        transaction.commit().await?;
        Ok(fresh)
    }

    async fn release(
        &self,
        scope: Scope,
        address: AddressKey,
        reach: Reach,
        event: Event,
    ) -> Result<bool> {
        let mut transaction = self.pool.begin().await?;
        let sql = "DELETE FROM suppression
                   WHERE workspace = $1 AND address_key = $2 AND topic = $3";
        let released = sqlx::query(sql)
            .bind(scope.0.as_uuid())
            .bind(address.as_uuid())
            .bind(reach.as_str())
            .execute(&mut *transaction)
            .await?;
        if released.rows_affected() == 0 {
            return Ok(false);
        }
        append(&mut transaction, &[(scope.0, &event)]).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Most workspaces keep few addresses from anything, many none: then nothing is looked up.
    /// Written so that each address is looked for by the key and the first row by its order,
    /// whatever the planner believes: without statistics, as after a large import, it read all
    /// rows of the workspace.
    async fn standing(
        &self,
        scope: Scope,
        asked: Vec<(AddressKey, Option<Topic>)>,
    ) -> Result<Vec<Option<SkipReason>>> {
        let sql = "
            SELECT found.address_key, found.topic FROM unnest($2::uuid[]) AS asked (address)
            CROSS JOIN LATERAL (
              SELECT address_key, topic FROM suppression
              WHERE workspace = $1 AND address_key = asked.address OFFSET 0) AS found
            WHERE (SELECT true FROM suppression WHERE workspace = $1 ORDER BY address_key LIMIT 1)";
        let addresses: Vec<Uuid> = asked.iter().map(|(address, _)| address.as_uuid()).collect();
        let rows: Vec<(Uuid, String)> = sqlx::query_as(sql)
            .bind(scope.0.as_uuid())
            .bind(addresses)
            .fetch_all(&self.pool)
            .await?;
        let found = rows
            .into_iter()
            .map(|(address, topic)| Ok((AddressKey::from_uuid(address), reach(&topic)?)));
        Ok(judge(&asked, found.collect::<Result<_>>()?))
    }

    async fn suppressions(
        &self,
        scope: Scope,
        query: &SuppressionQuery,
    ) -> Result<SuppressionPage> {
        let rows = list(scope, query).build().fetch_all(&self.pool).await?;
        let found = rows.iter().map(read).collect::<Result<_>>()?;
        Ok(page(found, query.limit))
    }

    async fn forget_addresses(&self, scope: Scope, addresses: &[AddressKey]) -> Result<u64> {
        let sql = "UPDATE suppression SET address = NULL
                   WHERE workspace = $1 AND address IS NOT NULL AND address_key = ANY ($2)";
        let forgotten = sqlx::query(sql)
            .bind(scope.0.as_uuid())
            .bind(uuids(addresses, AddressKey::as_uuid))
            .execute(&self.pool)
            .await?;
        Ok(forgotten.rows_affected())
    }
}

fn key(new: &Suppressed) -> (Uuid, String) {
    (new.address_key.as_uuid(), new.reach.as_str().to_owned())
}

/// In the order of keys, so that two of these never wait for each other in a circle; and
/// before the log, whose head is held until the commit.
async fn insert_all(
    connection: &mut PgConnection,
    scope: Scope,
    new: &[NewSuppression],
) -> Result<HashSet<(Uuid, String)>> {
    let sql = "
        INSERT INTO suppression
          (workspace, address_key, topic, kind, address, contact, reason, source, created_at)
        SELECT $1, k, t, ki, a, c, r, s, at
        FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::text[],
                    $8::text[], $9::bigint[])
          WITH ORDINALITY AS new (k, t, ki, a, c, r, s, at, o)
        ORDER BY k, t, o
        ON CONFLICT DO NOTHING
        RETURNING address_key, topic";
    let rows: Vec<(Uuid, String)> = sqlx::query_as(sql)
        .bind(scope.0.as_uuid())
        .bind(gather(new, |new| new.address_key.as_uuid()))
        .bind(gather(new, |new| new.reach.as_str()))
        .bind(gather(new, |new| new.kind.as_str()))
        .bind(gather(new, |new| new.address.as_deref()))
        .bind(gather(new, |new| new.contact.map(ContactId::as_uuid)))
        .bind(gather(new, |new| new.reason.as_str()))
        .bind(gather(new, |new| new.source.as_str()))
        .bind(gather(new, |new| new.created_at.as_micros()))
        .fetch_all(connection)
        .await?;
    Ok(rows.into_iter().collect())
}

fn gather<'a, T>(new: &'a [NewSuppression], part: impl Fn(&'a Suppressed) -> T) -> Vec<T> {
    new.iter().map(|new| part(&new.suppressed)).collect()
}

fn list(scope: Scope, query: &SuppressionQuery) -> Builder {
    let mut sql = Builder::new("SELECT * FROM suppression WHERE workspace = ");
    sql.push_bind(scope.0.as_uuid());
    if let Some(address) = query.address {
        sql.push(" AND address_key = ").push_bind(address.as_uuid());
    }
    if let Some(reach) = &query.reach {
        sql.push(" AND topic = ")
            .push_bind(reach.as_str().to_owned());
    }
    if let Some(reason) = query.reason {
        sql.push(" AND reason = ").push_bind(reason.as_str());
    }
    if let Some((at, address, reach)) = &query.after {
        sql.push(" AND (created_at, address_key, topic) < (")
            .push_bind(at.as_micros());
        sql.push(", ").push_bind(address.as_uuid());
        sql.push(", ")
            .push_bind(reach.as_str().to_owned())
            .push(")");
    }
    sql.push(" ORDER BY created_at DESC, address_key DESC, topic DESC LIMIT ")
        .push_bind(rows_max(query.limit.saturating_add(1)));
    sql
}

fn read(row: &PgRow) -> Result<Suppressed> {
    let words = Words {
        topic: row.try_get("topic")?,
        kind: row.try_get("kind")?,
        reason: row.try_get("reason")?,
        source: row.try_get("source")?,
    };
    let (reach, kind, reason, source) = words.read()?;
    let contact: Option<Uuid> = row.try_get("contact")?;
    Ok(Suppressed {
        address_key: AddressKey::from_uuid(row.try_get("address_key")?),
        reach,
        kind,
        address: row.try_get("address")?,
        contact: contact.map(ContactId::from_uuid),
        reason,
        source,
        created_at: Timestamp::from_micros(row.try_get("created_at")?),
    })
}
