use async_trait::async_trait;
use kurier_core::contact::{Contact, Standing};
use kurier_core::event::Position;
use kurier_core::id::{AddressKey, ContactId};
use kurier_core::projection::{CONTACT, Loaded, Need, Writes, contact_of_row, contact_standing};
use kurier_core::time::Timestamp;
use kurier_core::value;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::Sqlite;
use super::cell::{IDS, blob, id_list};
use super::log::{COLUMNS, recorded, select_positions};
use super::projections::process;
use super::tables::{load, names, read_row, write};
use crate::fault;
use crate::projections::Side;
use crate::views::{
    Applied, Batch, ContactFilter, ContactPage, ContactQuery, TimelinePage, TimelineQuery, Views,
};
use crate::{Error, Result, Scope, rows_max};

#[async_trait]
impl Views for Sqlite {
    async fn checkpoint(&self, name: &str) -> Result<Position> {
        let name = name.to_owned();
        self.readers
            .read(move |connection| checkpoint(connection, &name))
            .await
    }

    async fn set_checkpoint(&self, name: &str, position: Position) -> Result<()> {
        let name = name.to_owned();
        self.writer
            .write(1, move |connection| {
                put_checkpoint(connection, &name, position)
            })
            .await
    }

    async fn load(&self, needs: Vec<Need>) -> Result<Vec<Loaded>> {
        self.readers
            .read(move |connection| {
                // The file is locked once and not for every row, and the rows are of one moment.
                let moment = connection.unchecked_transaction()?;
                needs.iter().map(|need| load(&moment, need)).collect()
            })
            .await
    }

    async fn apply(&self, mut batch: Batch) -> Result<Applied> {
        let weight = batch.changes().len() + batch.folded().processed.len();
        let writes = batch.settle()?;
        self.writer
            .write(weight, move |connection| apply(connection, &batch, &writes))
            .await
    }

    async fn contact(&self, scope: Scope, id: ContactId) -> Result<Option<Standing>> {
        let key = vec![scope.0.into(), id.into()];
        let loaded = self.load(vec![Need::new(&CONTACT, vec![key])]).await?;
        let row = loaded.iter().flat_map(|loaded| &loaded.rows).next();
        row.map(|row| {
            contact_standing(row)
                .map(|(_, _, standing)| standing)
                .ok_or_else(unreadable)
        })
        .transpose()
    }

    async fn contacts(&self, scope: Scope, query: &ContactQuery) -> Result<ContactPage> {
        let query = query.clone();
        self.readers
            .read(move |connection| list(connection, scope, &query))
            .await
    }

    async fn timeline(
        &self,
        scope: Scope,
        contacts: &[ContactId],
        query: &TimelineQuery,
    ) -> Result<TimelinePage> {
        let (contacts, query) = (contacts.to_vec(), query.clone());
        self.readers
            .read(move |connection| timeline(connection, scope, &contacts, &query))
            .await
    }

    async fn timeline_positions(&self, scope: Scope, ids: &[ContactId]) -> Result<Vec<Position>> {
        let sql = format!(
            "SELECT position FROM timeline WHERE workspace = ? AND contact IN {IDS} ORDER BY position"
        );
        let ids = id_list(ids.iter().map(|id| id.as_uuid()));
        let values = vec![blob(scope.0.as_uuid()), ids];
        self.readers
            .read(move |connection| select_positions(connection, &sql, values))
            .await
    }

    async fn erased_at(&self, scope: Scope, address: AddressKey) -> Result<Option<Timestamp>> {
        self.readers
            .read(move |connection| {
                let sql = "SELECT erased_at FROM erasure WHERE workspace = ?1 AND address = ?2";
                let key = [
                    scope.0.as_uuid().into_bytes(),
                    address.as_uuid().into_bytes(),
                ];
                let found = connection
                    .query_row(sql, key, |row| row.get(0))
                    .optional()?;
                Ok(found.map(Timestamp::from_micros))
            })
            .await
    }

    async fn poisoned(&self, projection: &str) -> Result<u64> {
        let name = projection.to_owned();
        self.readers
            .read(move |connection| {
                let sql = "SELECT count(*) FROM poison WHERE projection = ?1";
                let count: i64 = connection.query_row(sql, [name], |row| row.get(0))?;
                Ok(count.unsigned_abs())
            })
            .await
    }
}

fn unreadable() -> Error {
    Error::Damaged("a contact's row cannot be read".into())
}

pub fn checkpoint(connection: &Connection, name: &str) -> Result<Position> {
    let mut statement =
        connection.prepare_cached("SELECT position FROM checkpoint WHERE name = ?1")?;
    Ok(Position(
        statement
            .query_row([name], |row| row.get(0))
            .optional()?
            .unwrap_or(0),
    ))
}

pub fn put_checkpoint(connection: &Connection, name: &str, position: Position) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO checkpoint (name, position) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET position = excluded.position",
    )?;
    statement.execute(params![name, position.0])?;
    Ok(())
}

fn apply(connection: &Connection, batch: &Batch, writes: &[Writes]) -> Result<Applied> {
    let (name, (from, to)) = (batch.name(), batch.between());
    if checkpoint(connection, name)? != from {
        return Ok(Applied::Overtaken);
    }
    for one in writes {
        write(connection, Side::Live, one)?;
    }
    fault::point(name, "written");
    process(connection, name, &batch.folded().processed)?;
    fault::point(name, "processed");
    for (position, reason) in &batch.folded().poison {
        let sql = "INSERT INTO poison (projection, position, reason) VALUES (?1, ?2, ?3)
                   ON CONFLICT DO NOTHING";
        connection.execute(sql, params![name, position.0, reason])?;
    }
    put_checkpoint(connection, name, to)?;
    fault::point(name, "noted");
    Ok(Applied::Done)
}

fn list(connection: &Connection, scope: Scope, query: &ContactQuery) -> Result<ContactPage> {
    let (sql, values) = list_statement(scope, query);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut contacts: Vec<Contact> = Vec::new();
    while let Some(row) = rows.next()? {
        let row = read_row(row, &CONTACT)?;
        contacts.push(contact_of_row(&row).ok_or_else(unreadable)?);
    }
    let has_more = contacts.len() > query.limit;
    contacts.truncate(query.limit);
    Ok(ContactPage { contacts, has_more })
}

fn list_statement(scope: Scope, query: &ContactQuery) -> (String, Vec<Value>) {
    let mut clause = Clause::new(
        "workspace = ? AND standing = 'live'",
        blob(scope.0.as_uuid()),
    );
    clause.filter(scope, &query.filter);
    let (table, created_at) = way(&query.filter);
    if let Some((before, id)) = query.after {
        let values = [Value::Integer(before.as_micros()), blob(id.as_uuid())];
        clause.and(&format!("({created_at}, id) < (?, ?)"), values);
    }
    let sql = format!(
        "SELECT {} FROM {table} WHERE {} ORDER BY {created_at} DESC, id DESC LIMIT {}",
        names(CONTACT.columns).join(","),
        clause.sql,
        rows_max(query.limit.saturating_add(1))
    );
    (sql, clause.values)
}

/// The table with an index, and the column to sort by. Few contacts have one address or id: the index finds them, and they
/// are sorted after. SQLite has no statistics; without a hint it takes one workspace for a few rows and walks all of them.
const fn way(filter: &ContactFilter) -> (&'static str, &'static str) {
    match (&filter.email, &filter.user_id, &filter.anonymous) {
        (Some(_), _, _) => ("contact INDEXED BY contact_email", "+created_at"),
        (None, Some(_), _) => ("contact INDEXED BY contact_user", "+created_at"),
        (None, None, Some(_)) => ("contact", "+created_at"),
        (None, None, None) => ("contact", "created_at"),
    }
}

fn timeline(
    connection: &Connection,
    scope: Scope,
    contacts: &[ContactId],
    query: &TimelineQuery,
) -> Result<TimelinePage> {
    let mut clause = Clause::new("t.workspace = ?", blob(scope.0.as_uuid()));
    match contacts {
        // In the order of the index, so that a page reads no more than a page.
        [contact] => clause.and("t.contact = ?", [blob(contact.as_uuid())]),
        contacts => {
            let ids = id_list(contacts.iter().map(|id| id.as_uuid()));
            clause.and(&format!("t.contact IN {IDS}"), [ids]);
        }
    }
    if let Some(kind) = query.kind {
        clause.and("t.kind = ?", [Value::Text(kind.as_str().into())]);
    }
    if let Some(title) = &query.title {
        clause.and("t.title = ?", [Value::Text(title.clone())]);
    }
    if let Some((occurred_at, position)) = query.after {
        let values = [
            Value::Integer(occurred_at.as_micros()),
            Value::Integer(position.0),
        ];
        clause.and("(t.occurred_at, t.position) < (?, ?)", values);
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM timeline t JOIN log l ON l.position = t.position WHERE {}
         ORDER BY t.occurred_at DESC, t.position DESC LIMIT {}",
        clause.sql,
        rows_max(query.limit.saturating_add(1))
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(clause.values))?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(recorded(row)?);
    }
    let has_more = events.len() > query.limit;
    events.truncate(query.limit);
    Ok(TimelinePage { events, has_more })
}

/// A WHERE clause and the values for its marks.
struct Clause {
    sql: String,
    values: Vec<Value>,
}

impl Clause {
    fn new(sql: &str, value: Value) -> Self {
        Self {
            sql: sql.to_owned(),
            values: vec![value],
        }
    }

    fn and(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(sql);
        self.values.extend(values);
    }

    fn filter(&mut self, scope: Scope, filter: &ContactFilter) {
        if let Some(email) = &filter.email {
            self.and("email = ?", [Value::Text(email.clone())]);
        }
        if let Some(user_id) = &filter.user_id {
            self.and("user_id = ?", [Value::Text(user_id.clone())]);
        }
        if let Some(id) = filter.anonymous {
            // The anonymous contact itself, or the one it has become part of by now.
            let sql = "id IN (
                WITH RECURSIVE became (id) AS (
                  VALUES (?) UNION
                  SELECT c.merged_into FROM became b JOIN contact c ON c.id = b.id
                  WHERE c.workspace = ? AND c.merged_into IS NOT NULL)
                SELECT id FROM became)";
            self.and(sql, [blob(id.as_uuid()), blob(scope.0.as_uuid())]);
        }
        if let Some(prefix) = &filter.starts_with {
            let range = |prefix: &str| {
                [
                    Value::Text(prefix.to_owned()),
                    Value::Text(format!("{prefix}\u{10ffff}")),
                ]
            };
            let sql = "((email >= ? AND email < ?) OR (user_id >= ? AND user_id < ?))";
            let emails = range(&prefix.to_lowercase());
            self.and(sql, emails.into_iter().chain(range(prefix)));
        }
        if let Some((path, value)) = &filter.attribute {
            let names: Vec<String> = path.names().iter().map(|n| format!(".\"{n}\"")).collect();
            let json_path = Value::Text(format!("${}", names.concat()));
            self.attribute(json_path, value);
        }
    }

    /// SQLite reads `true` as 1 and lists as text, so the type has to be the same too.
    fn attribute(&mut self, path: Value, value: &value::Value) {
        let (types, value) = match value {
            value::Value::Null => {
                return self.and(
                    "coalesce(json_type(attributes, ?), 'null') = 'null'",
                    [path],
                );
            }
            value::Value::Text(text) => ("'text'", Value::Text(text.clone())),
            value::Value::Int(int) => ("'integer', 'real'", Value::Integer(*int)),
            value::Value::Float(float) => ("'integer', 'real'", Value::Real(*float)),
            value::Value::Bool(true) => ("'true'", Value::Integer(1)),
            value::Value::Bool(false) => ("'false'", Value::Integer(0)),
            value::Value::List(_) | value::Value::Object(_) => {
                let json = serde_json::to_string(value).expect("lists and objects serialise");
                ("'array', 'object'", Value::Text(json))
            }
        };
        let sql =
            format!("json_type(attributes, ?) IN ({types}) AND json_extract(attributes, ?) = ?");
        self.and(&sql, [path.clone(), path, value]);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kurier_core::id::WorkspaceId;
    use uuid::Uuid;

    use super::*;

    /// The steps by which SQLite finds what a filter asks for.
    fn plan(folder: &Path, filter: ContactFilter) -> String {
        let query = ContactQuery {
            filter,
            after: Some((Timestamp::from_micros(1), ContactId::from_uuid(Uuid::nil()))),
            limit: 50,
        };
        let scope = Scope(WorkspaceId::from_uuid(Uuid::nil()));
        let (sql, values) = list_statement(scope, &query);
        let connection = Connection::open(folder.join("kurier.db")).expect("opened");
        let mut statement = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .expect("a plan");
        let steps = statement.query_map(params_from_iter(values), |row| row.get::<_, String>(3));
        let steps: rusqlite::Result<Vec<String>> = steps.expect("steps").collect();
        steps.expect("steps").join("; ")
    }

    #[test]
    fn one_contact_is_found_by_its_index_and_a_list_walks_in_its_order() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(Sqlite::open(&folder.path().join("kurier.db")).expect("opened"));
        let text = || Some("ann@example.com".to_owned());
        let by_email = ContactFilter {
            email: text(),
            ..ContactFilter::default()
        };
        let by_user = ContactFilter {
            user_id: text(),
            ..ContactFilter::default()
        };
        let by_device = ContactFilter {
            anonymous: Some(ContactId::from_uuid(Uuid::nil())),
            ..ContactFilter::default()
        };
        for (filter, step) in [
            (by_email, "INDEX contact_email (workspace=? AND email=?)"),
            (by_user, "INDEX contact_user (workspace=? AND user_id=?)"),
            (by_device, "PRIMARY KEY (workspace=? AND id=?)"),
        ] {
            let plan = plan(folder.path(), filter);
            assert!(plan.contains(step), "{plan}");
        }
        let plan = plan(folder.path(), ContactFilter::default());
        let is_in_order = !plan.contains("TEMP B-TREE");
        assert!(plan.contains("contact_created") && is_in_order, "{plan}");
    }
}
