use async_trait::async_trait;
use kurier_core::id::{ContactId, MessageId};
use kurier_core::projection::{MESSAGE, MessageSummary, message_of_row};
use sqlx::QueryBuilder;
use sqlx::postgres::PgRow;

use super::Postgres;
use super::appender::uuids;
use super::columns::read_as;
use super::tables::read_row;
use crate::messages::{MessagePage, MessageQuery, MessageViews};
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
}

fn select(scope: Scope) -> Builder {
    let columns: Vec<String> = MESSAGE.columns.iter().map(read_as).collect();
    let mut sql = Builder::new(format!("SELECT {} FROM message", columns.join(",")));
    sql.push(" WHERE workspace = ").push_bind(scope.0.as_uuid());
    sql
}

fn list(scope: Scope, query: &MessageQuery) -> Builder {
    let mut sql = select(scope);
    if let Some(contacts) = &query.contacts {
        sql.push(" AND contact = ANY (")
            .push_bind(uuids(contacts, ContactId::as_uuid))
            .push(")");
    }
    if let Some(journey) = query.journey {
        sql.push(" AND journey = ").push_bind(journey.as_uuid());
    }
    if let Some(instance) = query.instance {
        sql.push(" AND instance = ").push_bind(instance.as_uuid());
    }
    if let Some(state) = query.state {
        sql.push(" AND state = ").push_bind(state.as_str());
    }
    if let Some((at, id)) = query.after {
        sql.push(" AND (requested_at, id) < (")
            .push_bind(at.as_micros());
        sql.push(", ").push_bind(id.as_uuid()).push(")");
    }
    sql.push(" ORDER BY requested_at DESC, id DESC LIMIT ")
        .push_bind(rows_max(query.limit.saturating_add(1)));
    sql
}

fn read(row: &PgRow) -> Result<MessageSummary> {
    let unreadable = || Error::Damaged("a message's row cannot be read".into());
    let row = read_row(row, &MESSAGE)?;
    Ok(message_of_row(&row).ok_or_else(unreadable)?.1)
}
