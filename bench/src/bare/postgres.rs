//! PostgreSQL: on one connection, 1,000 rows into `log` and `log_id` with one statement,
//! which is a transaction and one round trip.

use std::time::{Duration, Instant};

use kurier_core::event::{Event, lane};
use kurier_core::id::WorkspaceId;
use kurier_store::{Postgres, Store};
use sqlx::{Connection as _, PgConnection};

use super::{BATCH, Maker};
use crate::clock::now;

const INSERT: &str = "
    WITH ids AS (INSERT INTO log_id (workspace, id) SELECT w, i FROM unnest($2::uuid[], $3::uuid[]) AS t (w, i))
    INSERT INTO log (position, workspace, id, kind, contact, lane, occurred_at, recorded_at, payload)
    SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::smallint[],
                         $7::bigint[], $8::bigint[], $9::text[])";

/// Events a second into the database, whose tables Kurier makes.
pub async fn run(url: &str, seconds: f64) -> anyhow::Result<f64> {
    prepare(url).await?;
    let mut connection = PgConnection::connect(url).await?;
    let mut maker = Maker::new();
    let (mut position, mut spent) = (0, Duration::ZERO);
    while spent.as_secs_f64() < seconds {
        let events = maker.chunk();
        let began = Instant::now();
        for batch in events.chunks(BATCH) {
            insert(&mut connection, maker.workspace, position, batch).await?;
            position += batch.len() as i64;
        }
        spent += began.elapsed();
    }
    connection.close().await?;
    Ok(position as f64 / spent.as_secs_f64())
}

/// The tables that Kurier makes.
pub async fn prepare(url: &str) -> anyhow::Result<()> {
    let store = Store::from(Postgres::open(url).await?);
    Ok(store.log.maintain(now()).await?)
}

pub async fn insert(
    connection: &mut PgConnection,
    workspace: WorkspaceId,
    position: i64,
    batch: &[Event],
) -> anyhow::Result<()> {
    let count = batch.len() as i64;
    let contact = |event: &Event| event.contact.map(|contact| contact.as_uuid());
    let lane_of = |event: &Event| i16::from(lane(workspace, event.contact));
    sqlx::query(INSERT)
        .bind((position + 1..=position + count).collect::<Vec<i64>>())
        .bind(vec![workspace.as_uuid(); batch.len()])
        .bind(column(batch, |event| event.id.as_uuid()))
        .bind(column(batch, |event| event.kind.as_str()))
        .bind(column(batch, contact))
        .bind(column(batch, lane_of))
        .bind(column(batch, |event| event.occurred_at.as_micros()))
        .bind(column(batch, |event| event.recorded_at.as_micros()))
        .bind(column(batch, |event| event.payload.as_str()))
        .execute(connection)
        .await?;
    Ok(())
}

fn column<'a, T>(batch: &'a [Event], part: impl Fn(&'a Event) -> T) -> Vec<T> {
    batch.iter().map(part).collect()
}
