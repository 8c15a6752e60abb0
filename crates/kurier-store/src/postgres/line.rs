//! A way into the log: one connection, kept from call to call. The pool would ask the server twice
//! whether it is still there, and give another one each time, with nothing warm.

use std::sync::Arc;
use std::time::Instant;

use kurier_core::event::{Event, Position, lane};
use kurier_core::id::WorkspaceId;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{PgConnection, PgPool, Row};
use uuid::Uuid;

use super::TRUSTED;
use super::failure::Failure;
use super::ids::{Answer, Batch, Question};
use super::index::{Index, key};
use crate::log::Appended;

/// So many events of others are looked through while appending; where there are more, this
/// process starts anew with what it knows.
pub const MISSED_MAX: i64 = 10_000;
/// No more ids can be remembered.
pub const FULL: &str = "the index of ids does not follow";
/// So often it is tried.
const TRIES_MAX: usize = 5;

pub struct Line {
    pool: PgPool,
    index: Arc<Index>,
    connection: Option<PoolConnection<sqlx::Postgres>>,
    used: Instant,
}

impl Line {
    pub fn reuse(idle: &mut Vec<Self>, pool: &PgPool, index: &Arc<Index>) -> Self {
        let kept = idle.pop().filter(|line| line.used.elapsed() < TRUSTED);
        kept.unwrap_or_else(|| Self {
            pool: pool.clone(),
            index: index.clone(),
            connection: None,
            used: Instant::now(),
        })
    }

    pub async fn append(&mut self, batch: &Batch<'_>) -> Result<Vec<Appended>, Failure> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(self.pool.acquire().await?),
        };
        let is_full = self.index.ids().is_full();
        let appended = match is_full {
            true => Err(Failure::unavailable(FULL)),
            false => append(connection, &self.index, batch).await,
        };
        self.used = Instant::now();
        if let Some((_, last)) = batch.last() {
            self.index.follow(batch.len(), last.recorded_at);
        }
        appended
    }
}

async fn append(
    connection: &mut PgConnection,
    index: &Index,
    batch: &Batch<'_>,
) -> Result<Vec<Appended>, Failure> {
    for _ in 0..TRIES_MAX {
        let question = index.ids().question(batch);
        let Some(question) = question else {
            index.load(connection).await?;
            continue;
        };
        let answer = match question.sent.is_empty() {
            true => Ok(Answer::default()),
            false => ask(connection, &question, batch).await,
        };
        match answer {
            Ok(answer) => return Ok(index.ids().learn(batch, &question, answer)),
            Err(failure) => {
                index.ids().give_up(batch, &question);
                let failure = Failure::from(failure);
                if !failure.is_behind() {
                    return Err(failure);
                }
                index.ids().forget();
            }
        }
    }
    Err(Failure::unavailable(
        "other processes append more than this one can look through",
    ))
}

/// One round trip. Outside a transaction, the call is one.
async fn ask(
    connection: &mut PgConnection,
    question: &Question,
    batch: &Batch<'_>,
) -> sqlx::Result<Answer> {
    let sql = "SELECT before, repeats, missed_workspaces, missed_ids \
               FROM log_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let sent: Vec<(WorkspaceId, &Event)> = question.sent.iter().map(|at| batch[*at]).collect();
    let call = sqlx::query(sql)
        .bind(question.known.0)
        .bind(MISSED_MAX)
        .bind(&question.asked);
    let row = bind(call, &sent).fetch_one(connection).await?;
    Ok(answer(&row))
}

fn answer(row: &PgRow) -> Answer {
    let uuids = |name| {
        row.get::<Option<Vec<Uuid>>, _>(name)
            .unwrap_or_default()
            .into_iter()
    };
    let missed = uuids("missed_workspaces").zip(uuids("missed_ids"));
    Answer {
        before: Position(row.get("before")),
        repeats: row.get::<Option<_>, _>("repeats").unwrap_or_default(),
        missed: missed.map(|(workspace, id)| key(workspace, id)).collect(),
    }
}

type Call<'q> = Query<'q, sqlx::Postgres, PgArguments>;

/// A batch as arrays.
pub fn bind<'q>(call: Call<'q>, batch: &Batch<'_>) -> Call<'q> {
    call.bind(gather(batch, |(workspace, _)| workspace.as_uuid()))
        .bind(gather(batch, |(_, event)| event.id.as_uuid()))
        .bind(gather(batch, |(_, event)| event.kind.as_str()))
        .bind(gather(batch, |(_, event)| {
            event.contact.map(|contact| contact.as_uuid())
        }))
        .bind(gather(batch, |(workspace, event)| {
            i16::from(lane(*workspace, event.contact))
        }))
        .bind(gather(batch, |(_, event)| event.occurred_at.as_micros()))
        .bind(gather(batch, |(_, event)| event.recorded_at.as_micros()))
        .bind(gather(batch, |(_, event)| event.payload.as_str()))
}

fn gather<'a, T>(batch: &'a Batch<'a>, part: impl Fn(&'a (WorkspaceId, &'a Event)) -> T) -> Vec<T> {
    batch.iter().map(part).collect()
}
