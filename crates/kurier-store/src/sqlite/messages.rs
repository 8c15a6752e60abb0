use async_trait::async_trait;
use kurier_core::id::MessageId;
use kurier_core::projection::{MESSAGE, MessageSummary, message_of_row};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::Sqlite;
use super::cell::{IDS, blob, id_list};
use super::tables::{names, read_row};
use crate::messages::{MessagePage, MessageQuery, MessageViews};
use crate::{Error, Result, Scope, rows_max};

#[async_trait]
impl MessageViews for Sqlite {
    async fn messages(&self, scope: Scope, query: &MessageQuery) -> Result<MessagePage> {
        let (sql, values) = list(scope, query);
        let limit = query.limit;
        let mut messages = self
            .readers
            .read(move |connection| select(connection, &sql, &values))
            .await?;
        let has_more = messages.len() > limit;
        messages.truncate(limit);
        Ok(MessagePage { messages, has_more })
    }

    async fn message(&self, scope: Scope, id: MessageId) -> Result<Option<MessageSummary>> {
        let columns = names(MESSAGE.columns).join(",");
        let sql = format!("SELECT {columns} FROM message WHERE workspace = ? AND id = ?");
        let values = vec![blob(scope.0.as_uuid()), blob(id.as_uuid())];
        let found = self
            .readers
            .read(move |connection| select(connection, &sql, &values))
            .await?;
        Ok(found.into_iter().next())
    }
}

fn list(scope: Scope, query: &MessageQuery) -> (String, Vec<Value>) {
    let columns = names(MESSAGE.columns).join(",");
    let mut sql = format!("SELECT {columns} FROM message WHERE workspace = ?");
    let mut values = vec![blob(scope.0.as_uuid())];
    let mut add = |condition: &str, value: Value| {
        sql.push_str(condition);
        values.push(value);
    };
    if let Some(contacts) = &query.contacts {
        let ids = id_list(contacts.iter().map(|id| id.as_uuid()));
        add(&format!(" AND contact IN {IDS}"), ids);
    }
    if let Some(journey) = query.journey {
        add(" AND journey = ?", blob(journey.as_uuid()));
    }
    if let Some(instance) = query.instance {
        add(" AND instance = ?", blob(instance.as_uuid()));
    }
    if let Some(state) = query.state {
        add(" AND state = ?", Value::Text(state.as_str().into()));
    }
    if let Some((at, id)) = query.after {
        add(
            " AND (requested_at, id) < (?,",
            Value::Integer(at.as_micros()),
        );
        add(" ?)", blob(id.as_uuid()));
    }
    add(
        " ORDER BY requested_at DESC, id DESC LIMIT ?",
        Value::Integer(rows_max(query.limit.saturating_add(1))),
    );
    (sql, values)
}

fn select(connection: &Connection, sql: &str, values: &[Value]) -> Result<Vec<MessageSummary>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let row = read_row(row, &MESSAGE)?;
        let unreadable = || Error::Damaged("a message's row cannot be read".into());
        found.push(message_of_row(&row).ok_or_else(unreadable)?.1);
    }
    Ok(found)
}
