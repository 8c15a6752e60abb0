use std::time::Duration;

use async_trait::async_trait;
use kurier_core::event::Position;
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use super::Sqlite;
use super::cell::uuid;
use super::log::append;
use super::queue::put;
use super::views::{checkpoint, put_checkpoint};
use super::writer::Pen;
use crate::queue::requested;
use crate::reactions::{Reacted, Reaction, Reactions};
use crate::{Result, Scope};

/// The database's clock, in microseconds.
const NOW: &str = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";

#[async_trait]
impl Reactions for Sqlite {
    async fn lease(
        &self,
        reactor: &'static str,
        holder: Uuid,
        term: Duration,
    ) -> Result<Option<i64>> {
        self.pulse.begin(holder)?;
        let take = move |pen: &Pen| lease(pen, reactor, holder, term);
        let taken = self.writer.write(1, take).await?;
        if taken.is_some() {
            return Ok(taken);
        }
        let other = self.readers.read(move |c| held_by(c, reactor)).await?;
        match other.filter(|other| self.pulse.is_over(*other)) {
            Some(dead) => {
                self.release(reactor, dead).await?;
                self.writer.write(1, take).await
            }
            None => Ok(None),
        }
    }

    async fn release(&self, reactor: &'static str, holder: Uuid) -> Result<()> {
        self.pulse.end(holder);
        self.writer
            .write(1, move |connection| {
                let sql = "UPDATE lease SET until = 0 WHERE name = ?1 AND holder = ?2";
                connection.execute(sql, params![reactor, holder.as_bytes()])?;
                Ok(())
            })
            .await
    }

    async fn react(&self, reaction: Reaction) -> Result<Reacted> {
        let ageing = self.ageing;
        let weight = reaction.events.len();
        self.writer
            .write(weight, move |pen| react(pen, &reaction, ageing))
            .await
    }
}

fn held_by(connection: &Connection, reactor: &str) -> Result<Option<Uuid>> {
    let sql = "SELECT holder FROM lease WHERE name = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([reactor])?;
    rows.next()?.map(|row| uuid(row, 0)).transpose()
}

fn lease(
    connection: &Connection,
    reactor: &str,
    holder: Uuid,
    term: Duration,
) -> Result<Option<i64>> {
    let sql = format!(
        "INSERT INTO lease (name, holder, fence, until) VALUES (?1, ?2, 1, {NOW} + ?3)
         ON CONFLICT (name) DO UPDATE SET
           fence = lease.fence + (lease.holder <> excluded.holder),
           holder = excluded.holder, until = excluded.until
         WHERE lease.holder = excluded.holder OR lease.until < {NOW}
         RETURNING fence"
    );
    let term = i64::try_from(term.as_micros()).unwrap_or(i64::MAX);
    let taken = connection.query_row(&sql, params![reactor, holder.as_bytes(), term], |row| {
        row.get(0)
    });
    Ok(taken.optional()?)
}

fn react(pen: &Pen, reaction: &Reaction, ageing: i64) -> Result<Reacted> {
    let fence: Option<i64> = pen
        .query_row(
            "SELECT fence FROM lease WHERE name = ?1",
            [reaction.reactor],
            |row| row.get(0),
        )
        .optional()?;
    let at: Position = checkpoint(pen, reaction.reactor)?;
    if fence != Some(reaction.fence) || at != reaction.from {
        return Ok(Reacted::Overtaken);
    }
    for run in reaction.events.chunk_by(|a, b| a.0 == b.0) {
        let scope = Scope(run[0].0);
        let events: Vec<_> = run.iter().map(|(_, event)| event.clone()).collect();
        let appended = append(pen, scope, &events)?;
        put(pen, &requested(run, &appended), ageing)?;
    }
    put_checkpoint(pen, reaction.reactor, reaction.to)?;
    Ok(Reacted::Done)
}
