//! What PostgreSQL alone can do: the same fold in a loop of batches of 10,000, on one
//! connection.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use sqlx::postgres::PgRow;
use sqlx::types::Uuid;
use sqlx::{Connection as _, Executor as _, PgConnection, Row as _};

use super::BARE_BATCH;
use super::own::{FORGET, Took};
use super::summary::Deed;

#[derive(Default)]
struct Sums {
    contacts: HashMap<(Uuid, Uuid), (i64, i64, String)>,
    kinds: HashMap<(Uuid, String), i64>,
}

impl Sums {
    fn take(&mut self, row: &PgRow) -> anyhow::Result<()> {
        let (workspace, contact): (Uuid, Uuid) = (row.try_get(1)?, row.try_get(2)?);
        let deed: Deed<'_> = serde_json::from_str(row.try_get(3)?)?;
        let sum = self.contacts.entry((workspace, contact)).or_default();
        sum.0 += 1;
        sum.1 += deed.properties.amount;
        deed.event.clone_into(&mut sum.2);
        *self
            .kinds
            .entry((workspace, deed.event.to_owned()))
            .or_default() += 1;
        Ok(())
    }
}

pub async fn run(url: &str) -> anyhow::Result<Took> {
    let mut connection = PgConnection::connect(url).await?;
    let remembered = live(&mut connection, true).await?;
    let upserted = live(&mut connection, false).await?;
    let rebuilt = rebuild(&mut connection).await?;
    connection.close().await?;
    Ok(Took {
        upserted,
        remembered,
        rebuilt,
    })
}

async fn read(connection: &mut PgConnection, after: i64, count: i64) -> anyhow::Result<Vec<PgRow>> {
    let sql = "SELECT position, workspace, contact, payload, id FROM log
               WHERE position > $1 AND position <= $2 ORDER BY position";
    let rows = sqlx::query(sql).bind(after).bind(after + count);
    Ok(rows.fetch_all(connection).await?)
}

async fn live(connection: &mut PgConnection, remembers: bool) -> anyhow::Result<f64> {
    connection.execute(sqlx::raw_sql(FORGET)).await?;
    let began = Instant::now();
    let mut after = 0;
    loop {
        let mut transaction = connection.begin().await?;
        let rows = read(&mut transaction, after, BARE_BATCH).await?;
        let Some(last) = rows.last() else {
            return Ok(began.elapsed().as_secs_f64());
        };
        after = last.try_get(0)?;
        let fresh = match remembers {
            true => Some(remember(&mut transaction, &rows).await?),
            false => None,
        };
        let mut sums = Sums::default();
        for row in &rows {
            let id: Uuid = row.try_get(4)?;
            if fresh.as_ref().is_none_or(|fresh| fresh.contains(&id)) {
                sums.take(row)?;
            }
        }
        write(&mut transaction, sums, after).await?;
        let sql = "INSERT INTO checkpoint (name, position) VALUES ('bench', $1)
                   ON CONFLICT (name) DO UPDATE SET position = excluded.position";
        sqlx::query(sql)
            .bind(after)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
    }
}

/// The ids that were not there.
async fn remember(connection: &mut PgConnection, rows: &[PgRow]) -> anyhow::Result<HashSet<Uuid>> {
    let sql = "INSERT INTO processed_events SELECT 'bench', * FROM unnest($1::uuid[], $2::uuid[])
               ON CONFLICT DO NOTHING RETURNING event";
    let column = |index: usize| rows.iter().map(move |row| row.try_get(index));
    let workspaces: Vec<Uuid> = column(1).collect::<Result<_, _>>()?;
    let ids: Vec<Uuid> = column(4).collect::<Result<_, _>>()?;
    let fresh: Vec<Uuid> = sqlx::query_scalar(sql)
        .bind(workspaces)
        .bind(ids)
        .fetch_all(connection)
        .await?;
    Ok(fresh.into_iter().collect())
}

async fn write(connection: &mut PgConnection, sums: Sums, at: i64) -> anyhow::Result<()> {
    let contacts: Vec<_> = sums.contacts.into_iter().collect();
    sqlx::query(
        "INSERT INTO bench_summary AS t SELECT *, $6 FROM
         unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::text[])
         ON CONFLICT (workspace, contact) DO UPDATE SET
         event_count = t.event_count + excluded.event_count, amount = t.amount + excluded.amount,
         last_type = excluded.last_type, revision = excluded.revision",
    )
    .bind(contacts.iter().map(|it| it.0.0).collect::<Vec<Uuid>>())
    .bind(contacts.iter().map(|it| it.0.1).collect::<Vec<Uuid>>())
    .bind(contacts.iter().map(|it| it.1.0).collect::<Vec<i64>>())
    .bind(contacts.iter().map(|it| it.1.1).collect::<Vec<i64>>())
    .bind(
        contacts
            .iter()
            .map(|it| it.1.2.as_str())
            .collect::<Vec<&str>>(),
    )
    .bind(at)
    .execute(&mut *connection)
    .await?;
    let kinds: Vec<_> = sums.kinds.into_iter().collect();
    sqlx::query(
        "INSERT INTO bench_count AS t SELECT *, $4 FROM unnest($1::uuid[], $2::text[], $3::bigint[])
         ON CONFLICT (workspace, event_type) DO UPDATE SET
         total = t.total + excluded.total, revision = excluded.revision",
    )
    .bind(kinds.iter().map(|it| it.0.0).collect::<Vec<Uuid>>())
    .bind(kinds.iter().map(|it| it.0.1.as_str()).collect::<Vec<&str>>())
    .bind(kinds.iter().map(|it| it.1).collect::<Vec<i64>>())
    .bind(at)
    .execute(connection)
    .await?;
    Ok(())
}

/// All in memory, by COPY into new tables, which then take the place of the old.
async fn rebuild(connection: &mut PgConnection) -> anyhow::Result<f64> {
    use std::fmt::Write as _;
    let began = Instant::now();
    let (mut sums, mut after) = (Sums::default(), 0);
    loop {
        let rows = read(connection, after, 5 * BARE_BATCH).await?;
        let Some(last) = rows.last() else { break };
        after = last.try_get(0)?;
        for row in &rows {
            sums.take(row)?;
        }
    }
    let made = "CREATE TABLE bare_summary (LIKE bench_summary INCLUDING ALL);
                CREATE TABLE bare_count (LIKE bench_count INCLUDING ALL)";
    connection.execute(sqlx::raw_sql(made)).await?;
    let mut text = String::new();
    for ((workspace, id), (count, amount, name)) in sums.contacts {
        writeln!(
            text,
            "{workspace}\t{id}\t{count}\t{amount}\t{name}\t{after}"
        )?;
    }
    let mut copy = connection
        .copy_in_raw("COPY bare_summary FROM STDIN")
        .await?;
    copy.send(text.as_bytes()).await?;
    copy.finish().await?;
    let mut text = String::new();
    for ((workspace, name), count) in sums.kinds {
        writeln!(text, "{workspace}\t{name}\t{count}\t{after}")?;
    }
    let mut copy = connection.copy_in_raw("COPY bare_count FROM STDIN").await?;
    copy.send(text.as_bytes()).await?;
    copy.finish().await?;
    let swap = "BEGIN; DROP TABLE bench_summary; ALTER TABLE bare_summary RENAME TO bench_summary;
                ALTER INDEX bare_summary_pkey RENAME TO bench_summary_pkey;
                DROP TABLE bench_count; ALTER TABLE bare_count RENAME TO bench_count;
                ALTER INDEX bare_count_pkey RENAME TO bench_count_pkey; COMMIT";
    connection.execute(sqlx::raw_sql(swap)).await?;
    Ok(began.elapsed().as_secs_f64())
}
