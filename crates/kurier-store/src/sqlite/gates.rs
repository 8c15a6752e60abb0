use async_trait::async_trait;
use kurier_core::message::{ContactLimit, Gate, Window};
use kurier_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};
use uuid::Uuid;

use super::Sqlite;
use crate::gates::{Allowance, Gates};
use crate::queue::Lane;
use crate::{Error, Result, Scope};

#[async_trait]
impl Gates for Sqlite {
    async fn gates(&self, scope: Scope) -> Result<Vec<(String, Gate)>> {
        self.readers
            .read(move |connection| {
                let sql = "SELECT channel, state FROM gate WHERE workspace = ?1 ORDER BY channel";
                let mut statement = connection.prepare_cached(sql)?;
                let mut rows = statement.query([scope.0.as_uuid().as_bytes()])?;
                let mut gates = Vec::new();
                while let Some(row) = rows.next()? {
                    gates.push((row.get(0)?, read_gate(&row.get::<_, String>(1)?)?));
                }
                Ok(gates)
            })
            .await
    }

    async fn allow(
        &self,
        lane: &Lane,
        limit: ContactLimit,
        wants: &[(Uuid, u32)],
        now: Timestamp,
    ) -> Result<Vec<Allowance>> {
        let (lane, wants) = (lane.clone(), wants.to_vec());
        self.writer
            .write(wants.len(), move |pen| {
                let allow = |(recipient, want): &(Uuid, u32)| {
                    allow(pen, &lane, limit, (*recipient, *want), now)
                };
                wants.iter().map(allow).collect()
            })
            .await
    }
}

fn allow(
    connection: &Connection,
    lane: &Lane,
    limit: ContactLimit,
    (recipient, want): (Uuid, u32),
    now: Timestamp,
) -> Result<Allowance> {
    let key = (
        lane.workspace.as_uuid().into_bytes(),
        recipient.into_bytes(),
    );
    let window = connection
        .prepare_cached(
            "SELECT since, count FROM contact_window
             WHERE workspace = ?1 AND channel = ?2 AND recipient = ?3",
        )?
        .query_row(params![key.0, lane.channel, key.1], |row| {
            let since = Timestamp::from_micros(row.get(0)?);
            let count = row.get(1)?;
            Ok(Window { since, count })
        })
        .optional()?;
    let (granted, window) = limit.grant(window, want, now);
    connection
        .prepare_cached(
            "INSERT INTO contact_window (workspace, channel, recipient, since, count)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET since = excluded.since, count = excluded.count",
        )?
        .execute(params![
            key.0,
            lane.channel,
            key.1,
            window.since.as_micros(),
            window.count
        ])?;
    Ok(Allowance {
        granted,
        until: limit.ends(window),
    })
}

pub fn gate(connection: &Connection, lane: &Lane) -> Result<Option<Gate>> {
    let sql = "SELECT state FROM gate WHERE workspace = ?1 AND channel = ?2";
    let workspace = lane.workspace.as_uuid().into_bytes();
    let mut statement = connection.prepare_cached(sql)?;
    let state: Option<String> = statement
        .query_row(params![workspace, lane.channel], |row| row.get(0))
        .optional()?;
    state.as_deref().map(read_gate).transpose()
}

pub fn put_gate(connection: &Connection, lane: &Lane, gate: &Gate) -> Result<()> {
    let sql = "INSERT INTO gate (workspace, channel, state) VALUES (?1, ?2, ?3)
        ON CONFLICT DO UPDATE SET state = excluded.state";
    let state = serde_json::to_string(gate).expect("a gate serialises");
    let workspace = lane.workspace.as_uuid().into_bytes();
    connection
        .prepare_cached(sql)?
        .execute(params![workspace, lane.channel, state])?;
    Ok(())
}

fn read_gate(state: &str) -> Result<Gate> {
    serde_json::from_str(state).map_err(|e| Error::Damaged(format!("a gate: {e}")))
}
