use async_trait::async_trait;
use kurier_core::event::Event;
use kurier_core::id::{AddressKey, ContactId};
use kurier_core::message::{Reach, SkipReason, Topic};
use kurier_core::time::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, Statement, params, params_from_iter};

use super::Sqlite;
use super::cell::{IDS, blob, id_list, optional_uuid, uuid};
use super::log::append;
use crate::suppressions::{
    NewSuppression, Suppressed, SuppressionPage, SuppressionQuery, Suppressions, Words, judge,
    page, reach,
};
use crate::{Result, Scope, rows_max};

const COLUMNS: &str = "address_key, topic, kind, address, contact, reason, source, created_at";

#[async_trait]
impl Suppressions for Sqlite {
    async fn suppress(&self, scope: Scope, new: Vec<NewSuppression>) -> Result<Vec<bool>> {
        self.writer
            .write(new.len(), move |pen| {
                let fresh = insert_all(pen, scope, &new)?;
                let told = new.iter().zip(&fresh).filter(|(_, fresh)| **fresh);
                let events: Vec<Event> = told.map(|(new, _)| new.event.clone()).collect();
                append(pen, scope, &events)?;
                Ok(fresh)
            })
            .await
    }

    async fn release(
        &self,
        scope: Scope,
        address: AddressKey,
        reach: Reach,
        event: Event,
    ) -> Result<bool> {
        self.writer
            .write(1, move |pen| {
                let sql = "DELETE FROM suppression
                           WHERE workspace = ?1 AND address_key = ?2 AND topic = ?3";
                let (workspace, address) = (scope.0.as_uuid(), address.as_uuid());
                let key = params![workspace.as_bytes(), address.as_bytes(), reach.as_str()];
                let released = pen.execute(sql, key)? == 1;
                if released {
                    append(pen, scope, std::slice::from_ref(&event))?;
                }
                Ok(released)
            })
            .await
    }

    async fn standing(
        &self,
        scope: Scope,
        asked: Vec<(AddressKey, Option<Topic>)>,
    ) -> Result<Vec<Option<SkipReason>>> {
        self.readers
            .read(move |connection| {
                let found = of_addresses(connection, scope, &asked)?;
                Ok(judge(&asked, found))
            })
            .await
    }

    async fn suppressions(
        &self,
        scope: Scope,
        query: &SuppressionQuery,
    ) -> Result<SuppressionPage> {
        let (sql, values) = list(scope, query);
        let limit = query.limit;
        self.readers
            .read(move |connection| {
                let mut statement = connection.prepare_cached(&sql)?;
                let mut rows = statement.query(params_from_iter(&values))?;
                let mut found = Vec::new();
                while let Some(row) = rows.next()? {
                    found.push(read(row)?);
                }
                Ok(page(found, limit))
            })
            .await
    }

    async fn forget_addresses(&self, scope: Scope, addresses: &[AddressKey]) -> Result<u64> {
        let sql = format!(
            "UPDATE suppression SET address = NULL
             WHERE workspace = ? AND address IS NOT NULL AND address_key IN {IDS}"
        );
        let ids = id_list(addresses.iter().map(|address| address.as_uuid()));
        let values = [blob(scope.0.as_uuid()), ids];
        self.writer
            .write(1, move |connection| {
                Ok(connection.execute(&sql, params_from_iter(&values))? as u64)
            })
            .await
    }
}

fn insert_all(connection: &Connection, scope: Scope, new: &[NewSuppression]) -> Result<Vec<bool>> {
    let sql = format!(
        "INSERT INTO suppression (workspace, {COLUMNS})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let insert = |new: &NewSuppression| insert(&mut statement, scope, &new.suppressed);
    new.iter().map(insert).collect()
}

fn insert(statement: &mut Statement<'_>, scope: Scope, new: &Suppressed) -> Result<bool> {
    let inserted = statement.execute(params![
        scope.0.as_uuid().as_bytes(),
        new.address_key.as_uuid().as_bytes(),
        new.reach.as_str(),
        new.kind.as_str(),
        new.address,
        new.contact.map(|contact| contact.as_uuid().into_bytes()),
        new.reason.as_str(),
        new.source.as_str(),
        new.created_at.as_micros(),
    ])?;
    Ok(inserted == 1)
}

/// Most workspaces keep few addresses from anything, many none: then nothing is looked up.
fn of_addresses(
    connection: &Connection,
    scope: Scope,
    asked: &[(AddressKey, Option<Topic>)],
) -> Result<Vec<(AddressKey, Reach)>> {
    let any = "SELECT EXISTS (SELECT 1 FROM suppression WHERE workspace = ?1)";
    let mut any = connection.prepare_cached(any)?;
    let workspace = scope.0.as_uuid();
    if !any.query_row([workspace.as_bytes()], |row| row.get::<_, bool>(0))? {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT address_key, topic FROM suppression WHERE workspace = ? AND address_key IN {IDS}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let ids = id_list(asked.iter().map(|(address, _)| address.as_uuid()));
    let mut rows = statement.query(params_from_iter([blob(workspace), ids]))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let topic: String = row.get(1)?;
        found.push((AddressKey::from_uuid(uuid(row, 0)?), reach(&topic)?));
    }
    Ok(found)
}

fn list(scope: Scope, query: &SuppressionQuery) -> (String, Vec<Value>) {
    let mut sql = format!("SELECT {COLUMNS} FROM suppression WHERE workspace = ?");
    let mut values = vec![blob(scope.0.as_uuid())];
    let mut add = |condition: &str, own: Vec<Value>| {
        sql.push_str(condition);
        values.extend(own);
    };
    let text = |text: &str| Value::Text(text.to_owned());
    if let Some(address) = query.address {
        add(" AND address_key = ?", vec![blob(address.as_uuid())]);
    }
    if let Some(reach) = &query.reach {
        add(" AND topic = ?", vec![text(reach.as_str())]);
    }
    if let Some(reason) = query.reason {
        add(" AND reason = ?", vec![text(reason.as_str())]);
    }
    if let Some((at, address, reach)) = &query.after {
        let at = Value::Integer(at.as_micros());
        let place = vec![at, blob(address.as_uuid()), text(reach.as_str())];
        add(" AND (created_at, address_key, topic) < (?, ?, ?)", place);
    }
    add(
        " ORDER BY created_at DESC, address_key DESC, topic DESC LIMIT ?",
        vec![Value::Integer(rows_max(query.limit.saturating_add(1)))],
    );
    (sql, values)
}

fn read(row: &Row<'_>) -> Result<Suppressed> {
    let words = Words {
        topic: row.get(1)?,
        kind: row.get(2)?,
        reason: row.get(5)?,
        source: row.get(6)?,
    };
    let (reach, kind, reason, source) = words.read()?;
    Ok(Suppressed {
        address_key: AddressKey::from_uuid(uuid(row, 0)?),
        reach,
        kind,
        address: row.get(3)?,
        contact: optional_uuid(row, 4)?.map(ContactId::from_uuid),
        reason,
        source,
        created_at: Timestamp::from_micros(row.get(7)?),
    })
}
