use async_trait::async_trait;
use kurier_core::id::{ContactId, MessageId};
use kurier_core::projection::{MESSAGE, MessageSummary, message_of_row};
use kurier_core::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{QueryBuilder, Row as _};

use super::Postgres;
use super::appender::uuids;
use super::columns::read_as;
use super::tables::read_row;
use crate::messages::{
    MessageCount, MessageFilter, MessagePage, MessageQuery, MessageViews, count, states,
};
use crate::{Error, Result, Scope, rows_max};

type Builder = QueryBuilder<sqlx::Postgres>;

#[async_trait]
impl MessageViews for Postgres {
    async fn messages(&self, scope: Scope, query: &MessageQuery) -> Result<MessagePage> {
        let rows = list(scope, query).build().fetch_all(&self.pool).await?;
        let has_more = rows.len() > query.limit;
        let messages = rows.iter().take(query.limit).map(read);
        Ok(MessagePage {
            messages: messages.collect::<Result<_>>()?,
            has_more,
        })
    }

    async fn message(&self, scope: Scope, id: MessageId) -> Result<Option<MessageSummary>> {
        let mut sql = select(scope);
        sql.push(" AND id = ").push_bind(id.as_uuid());
        let row = sql.build().fetch_optional(&self.pool).await?;
        row.as_ref().map(read).transpose()
    }

    async fn message_counts(
        &self,
        scope: Scope,
        filter: &MessageFilter,
    ) -> Result<Vec<MessageCount>> {
        let mut sql = Builder::new("SELECT channel, state, reason, code, count(*) FROM message");
        sql.push(" WHERE workspace = ").push_bind(scope.0.as_uuid());
        conditions(&mut sql, filter);
        sql.push(" GROUP BY channel, state, reason, code");
        sql.push(" ORDER BY count(*) DESC, 1, 2, 3, 4 LIMIT 1000");
        let rows = sql.build().fetch_all(&self.pool).await?;
        rows.iter().map(read_count).collect()
    }
}

fn select(scope: Scope) -> Builder {
    let columns: Vec<String> = MESSAGE.columns.iter().map(read_as).collect();
    let mut sql = Builder::new(format!("SELECT {} FROM message", columns.join(",")));
    sql.push(" WHERE workspace = ").push_bind(scope.0.as_uuid());
    sql
}

fn list(scope: Scope, query: &MessageQuery) -> Builder {
    let mut sql = select(scope);
    conditions(&mut sql, &query.filter);
    if let Some((at, id)) = query.after {
        sql.push(" AND (requested_at, id) < (")
            .push_bind(at.as_micros());
        sql.push(", ").push_bind(id.as_uuid()).push(")");
    }
    sql.push(" ORDER BY requested_at DESC, id DESC LIMIT ")
        .push_bind(rows_max(query.limit.saturating_add(1)));
    sql
}

fn conditions(sql: &mut Builder, filter: &MessageFilter) {
    if let Some(contacts) = &filter.contacts {
        sql.push(" AND contact = ANY (")
            .push_bind(uuids(contacts, ContactId::as_uuid))
            .push(")");
    }
    if let Some(journey) = filter.journey {
        sql.push(" AND journey = ").push_bind(journey.as_uuid());
    }
    if let Some(instance) = filter.instance {
        sql.push(" AND instance = ").push_bind(instance.as_uuid());
    }
    let texts = [
        (" AND node = ", &filter.node),
        (" AND channel = ", &filter.channel),
        (" AND template = ", &filter.template),
        (" AND topic = ", &filter.topic),
        (" AND address = ", &filter.address),
        (" AND code = ", &filter.code),
        (
            " AND reason = ",
            &filter.reason.map(|it| it.as_str().to_owned()),
        ),
    ];
    for (condition, text) in texts {
        if let Some(text) = text {
            sql.push(condition).push_bind(text.clone());
        }
    }
    let numbers = [
        (" AND version = ", filter.version.map(i64::from)),
        (
            " AND requested_at >= ",
            filter.since.map(Timestamp::as_micros),
        ),
        (
            " AND requested_at < ",
            filter.before.map(Timestamp::as_micros),
        ),
    ];
    for (condition, number) in numbers {
        if let Some(number) = number {
            sql.push(condition).push_bind(number);
        }
    }
    if let Some(is_discarded) = filter.is_discarded {
        sql.push(format!(" AND discarded = {}", i64::from(is_discarded)));
    }
    if !filter.sent_by.is_empty() {
        sql.push(" AND standing::json ->> 'sent_by' = ANY (")
            .push_bind(filter.sent_by.clone())
            .push(")");
    }
    if !filter.states.is_empty() {
        sql.push(format!(" AND state IN ({})", states(&filter.states)));
    }
}

fn read(row: &PgRow) -> Result<MessageSummary> {
    let row = read_row(row, &MESSAGE)?;
    Ok(message_of_row(&row).ok_or_else(unreadable)?.1)
}

fn read_count(row: &PgRow) -> Result<MessageCount> {
    let state: String = row.try_get(1)?;
    let reason: Option<String> = row.try_get(2)?;
    let alike = (
        row.try_get(0)?,
        state.as_str(),
        reason.as_deref(),
        row.try_get(3)?,
    );
    count(alike, row.try_get(4)?).ok_or_else(unreadable)
}

fn unreadable() -> Error {
    Error::Damaged("a message's row cannot be read".into())
}
