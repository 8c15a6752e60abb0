use async_trait::async_trait;
use kurier_core::id::MessageId;
use kurier_core::projection::{MESSAGE, MessageSummary, message_of_row};
use kurier_core::time::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::Sqlite;
use super::cell::{IDS, blob, id_list};
use super::tables::{names, read_row};
use crate::messages::{
    MessageCount, MessageFilter, MessagePage, MessageQuery, MessageViews, count, states,
};
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

    async fn message_counts(
        &self,
        scope: Scope,
        filter: &MessageFilter,
    ) -> Result<Vec<MessageCount>> {
        let (wheres, values) = conditions(scope, filter);
        let sql = format!(
            "SELECT channel, state, reason, code, count(*) FROM message WHERE {wheres}
             GROUP BY channel, state, reason, code ORDER BY count(*) DESC, 1, 2, 3, 4 LIMIT 1000"
        );
        self.readers
            .read(move |connection| {
                let mut statement = connection.prepare_cached(&sql)?;
                let mut rows = statement.query(params_from_iter(&values))?;
                let mut counts = Vec::new();
                while let Some(row) = rows.next()? {
                    let (state, reason): (String, Option<String>) = (row.get(1)?, row.get(2)?);
                    let alike = (row.get(0)?, state.as_str(), reason.as_deref(), row.get(3)?);
                    counts.push(count(alike, row.get(4)?).ok_or_else(unreadable)?);
                }
                Ok(counts)
            })
            .await
    }
}

fn list(scope: Scope, query: &MessageQuery) -> (String, Vec<Value>) {
    let columns = names(MESSAGE.columns).join(",");
    let (wheres, mut values) = conditions(scope, &query.filter);
    let mut sql = format!("SELECT {columns} FROM message WHERE {wheres}");
    if let Some((at, id)) = query.after {
        sql.push_str(" AND (requested_at, id) < (?, ?)");
        values.extend([Value::Integer(at.as_micros()), blob(id.as_uuid())]);
    }
    sql.push_str(" ORDER BY requested_at DESC, id DESC LIMIT ?");
    values.push(Value::Integer(rows_max(query.limit.saturating_add(1))));
    (sql, values)
}

fn conditions(scope: Scope, filter: &MessageFilter) -> (String, Vec<Value>) {
    let mut sql = String::from("workspace = ?");
    let mut values = vec![blob(scope.0.as_uuid())];
    let mut add = |condition: &str, value: Option<Value>| {
        if let Some(value) = value {
            sql.push_str(" AND ");
            sql.push_str(condition);
            values.push(value);
        }
    };
    let text = |text: &Option<String>| text.clone().map(Value::Text);
    let time = |at: Option<Timestamp>| at.map(|at| Value::Integer(at.as_micros()));
    let contacts = filter.contacts.as_ref();
    let contacts = contacts.map(|ids| id_list(ids.iter().map(|id| id.as_uuid())));
    add(&format!("contact IN {IDS}"), contacts);
    add("journey = ?", filter.journey.map(|id| blob(id.as_uuid())));
    add(
        "version = ?",
        filter.version.map(|it| Value::Integer(it.into())),
    );
    add("node = ?", text(&filter.node));
    add("instance = ?", filter.instance.map(|id| blob(id.as_uuid())));
    add("channel = ?", text(&filter.channel));
    add("template = ?", text(&filter.template));
    add("topic = ?", text(&filter.topic));
    add("address = ?", text(&filter.address));
    add(
        "reason = ?",
        filter.reason.map(|it| Value::Text(it.as_str().into())),
    );
    add("code = ?", text(&filter.code));
    add("requested_at >= ?", time(filter.since));
    add("requested_at < ?", time(filter.before));
    if !filter.sent_by.is_empty() {
        let marks = vec!["?"; filter.sent_by.len()].join(", ");
        sql.push_str(&format!(" AND standing ->> 'sent_by' IN ({marks})"));
        values.extend(filter.sent_by.iter().cloned().map(Value::Text));
    }
    if !filter.states.is_empty() {
        sql.push_str(&format!(" AND state IN ({})", states(&filter.states)));
    }
    if let Some(is_discarded) = filter.is_discarded {
        sql.push_str(&format!(" AND discarded = {}", i64::from(is_discarded)));
    }
    (sql, values)
}

fn select(connection: &Connection, sql: &str, values: &[Value]) -> Result<Vec<MessageSummary>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let row = read_row(row, &MESSAGE)?;
        found.push(message_of_row(&row).ok_or_else(unreadable)?.1);
    }
    Ok(found)
}

fn unreadable() -> Error {
    Error::Damaged("a message's row cannot be read".into())
}
