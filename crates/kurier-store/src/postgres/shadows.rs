//! Shadow tables beside the live ones: made like them, filled by COPY, indexed when they are
//! whole, and swapped in by renaming.

use kurier_core::event::Position;
use kurier_core::projection::{Cell, Projection, Row as Cells, Table};
use sqlx::{AssertSqlSafe, Executor as _, PgConnection};

use super::columns::read_as;
use super::tables::{names, read_row};
use crate::projections::{SetAside, Side, Swap, Swapped, Visit, shadow_of};
use crate::{Error, Result};

/// So many rows are fetched at a time when all are looked at.
const PAGE: usize = 10_000;

async fn run(connection: &mut PgConnection, sql: String) -> Result<()> {
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(connection)
        .await?;
    Ok(())
}

/// With the primary key and nothing else: the other indexes are made when all rows are there.
pub async fn open(connection: &mut PgConnection, projection: &dyn Projection) -> Result<()> {
    drop_all(connection, projection).await?;
    for table in projection.tables() {
        let (live, shadow) = (table.name, Side::Shadow.name(table));
        let sql = "SELECT array_to_string(reloptions, ',') FROM pg_class WHERE oid = $1::regclass";
        let options: Option<String> = sqlx::query_scalar(sql)
            .bind(live)
            .fetch_one(&mut *connection)
            .await?;
        let options = options.map_or(String::new(), |options| format!("WITH ({options})"));
        let keys = names(table.key_columns());
        let sql = format!(
            "CREATE TABLE {shadow} (LIKE {live} INCLUDING ALL EXCLUDING INDEXES) {options};
             ALTER TABLE {shadow} ADD CONSTRAINT {shadow}_pkey PRIMARY KEY ({keys})"
        );
        run(connection, sql).await?;
    }
    Ok(())
}

pub async fn drop_all(connection: &mut PgConnection, projection: &dyn Projection) -> Result<()> {
    for table in projection.tables() {
        let sql = format!("DROP TABLE IF EXISTS {}", Side::Shadow.name(table));
        run(connection, sql).await?;
    }
    forget_processed(connection, &shadow_of(projection.name())).await
}

async fn forget_processed(connection: &mut PgConnection, name: &str) -> Result<()> {
    let sql = "DELETE FROM processed_events WHERE projection = $1";
    sqlx::query(sql).bind(name).execute(connection).await?;
    Ok(())
}

/// COPY takes rows several times as fast as INSERT, and no row that is there already.
pub async fn fill(
    connection: &mut PgConnection,
    table: &'static Table,
    rows: &[Cells],
) -> Result<()> {
    const PORTION: usize = 1 << 20;
    let (name, columns) = (Side::Shadow.name(table), names(table.columns));
    let sql = format!("COPY {name} ({columns}) FROM STDIN");
    let mut copy = connection.copy_in_raw(&sql).await?;
    let mut text = String::with_capacity(PORTION + 4_096);
    for row in rows {
        line(&mut text, row);
        if text.len() >= PORTION {
            copy.send(text.as_bytes()).await?;
            text.clear();
        }
    }
    copy.send(text.as_bytes()).await?;
    copy.finish().await?;
    Ok(())
}

/// A row in COPY's text format.
fn line(text: &mut String, row: &Cells) {
    for (index, cell) in row.iter().enumerate() {
        if index > 0 {
            text.push('\t');
        }
        let plain = match cell {
            Cell::Null => "\\N".to_owned(),
            Cell::Id(id) => id.to_string(),
            Cell::Int(int) => int.to_string(),
            Cell::Text(part) | Cell::Json(part) => {
                escape(text, part);
                continue;
            }
        };
        text.push_str(&plain);
    }
    text.push('\n');
}

fn escape(text: &mut String, part: &str) {
    for piece in part.split_inclusive(['\\', '\t', '\n', '\r']) {
        let Some(special) = piece.chars().next_back() else {
            continue;
        };
        let plain = &piece[..piece.len() - special.len_utf8()];
        text.push_str(plain);
        match special {
            '\\' => text.push_str("\\\\"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            other => text.push(other),
        }
    }
}

/// The secondary indexes of a live table: their names and what comes after the table's.
async fn indexes(connection: &mut PgConnection, table: &Table) -> Result<Vec<(String, String)>> {
    let sql = "SELECT c.relname::text, pg_get_indexdef(i.indexrelid) FROM pg_index i
               JOIN pg_class c ON c.oid = i.indexrelid
               WHERE i.indrelid = $1::regclass AND NOT i.indisprimary ORDER BY 1";
    let rows: Vec<(String, String)> = sqlx::query_as(sql)
        .bind(table.name)
        .fetch_all(connection)
        .await?;
    let shape = |(name, made): (String, String)| {
        let begin = made.find(" USING ");
        let begin = begin.ok_or_else(|| Error::Damaged(format!("the index {name} is unknown")))?;
        Ok((name, made[begin..].to_owned()))
    };
    rows.into_iter().map(shape).collect()
}

/// Makes the secondary indexes, if they are not there yet.
pub async fn index(connection: &mut PgConnection, projection: &dyn Projection) -> Result<()> {
    for table in projection.tables() {
        let shadow = Side::Shadow.name(table);
        for (name, shape) in indexes(connection, table).await? {
            let name = shadow_of(&name);
            let sql = format!("CREATE INDEX IF NOT EXISTS {name} ON {shadow} {shape}");
            run(connection, sql).await?;
        }
        run(connection, format!("ANALYZE {shadow}")).await?;
    }
    Ok(())
}

/// The checkpoint is locked first, as by whoever folds into the live tables.
pub async fn swap(connection: &mut PgConnection, swap: &Swap) -> Result<Swapped> {
    let name = swap.projection.name();
    let sql = "INSERT INTO checkpoint (name, position) VALUES ($1, 0) ON CONFLICT DO NOTHING";
    sqlx::query(sql)
        .bind(name)
        .execute(&mut *connection)
        .await?;
    let sql = "SELECT position FROM checkpoint WHERE name = $1 FOR UPDATE";
    let live: i64 = sqlx::query_scalar(sql)
        .bind(name)
        .fetch_one(&mut *connection)
        .await?;
    if Position(live) > swap.at {
        return Ok(Swapped::Behind(Position(live)));
    }
    for table in swap.projection.tables() {
        take_place(connection, table).await?;
    }
    forget_processed(connection, name).await?;
    let sql = "UPDATE processed_events SET projection = $1 WHERE projection = $2";
    sqlx::query(sql)
        .bind(name)
        .bind(shadow_of(name))
        .execute(&mut *connection)
        .await?;
    replace_set_aside(connection, name, &swap.set_aside).await?;
    let sql = "UPDATE checkpoint SET position = $2 WHERE name = $1";
    sqlx::query(sql)
        .bind(name)
        .bind(swap.at.0)
        .execute(connection)
        .await?;
    Ok(Swapped::Done)
}

async fn take_place(connection: &mut PgConnection, table: &Table) -> Result<()> {
    let (live, shadow) = (table.name, Side::Shadow.name(table));
    let renames = indexes(connection, table).await?.into_iter();
    let renames = renames.map(|(name, _)| {
        let of_shadow = shadow_of(&name);
        format!("ALTER INDEX {of_shadow} RENAME TO {name};")
    });
    let renames: String = renames.collect();
    let sql = format!(
        "DROP TABLE {live}; ALTER TABLE {shadow} RENAME TO {live};
         ALTER INDEX {shadow}_pkey RENAME TO {live}_pkey; {renames}"
    );
    run(connection, sql).await
}

async fn replace_set_aside(
    connection: &mut PgConnection,
    name: &str,
    all: &[SetAside],
) -> Result<()> {
    let sql = "DELETE FROM poison WHERE projection = $1";
    sqlx::query(sql)
        .bind(name)
        .execute(&mut *connection)
        .await?;
    let sql = "INSERT INTO poison (projection, position, reason)
               SELECT $1, * FROM unnest($2::bigint[], $3::text[])";
    let (positions, reasons): (Vec<i64>, Vec<String>) = all
        .iter()
        .map(|aside| (aside.position.0, aside.reason.clone()))
        .unzip();
    let insert = sqlx::query(sql).bind(name).bind(positions).bind(reasons);
    insert.execute(connection).await?;
    Ok(())
}

pub async fn survey(
    connection: &mut PgConnection,
    side: Side,
    projection: &dyn Projection,
    mut visit: Visit,
) -> Result<Position> {
    connection
        .execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        .await?;
    let sql = "SELECT position FROM checkpoint WHERE name = $1";
    let position: Option<i64> = sqlx::query_scalar(sql)
        .bind(projection.name())
        .fetch_optional(&mut *connection)
        .await?;
    for table in projection.tables() {
        let columns: Vec<String> = table.columns.iter().map(read_as).collect();
        let (columns, name) = (columns.join(","), side.name(table));
        let sql = format!("DECLARE every NO SCROLL CURSOR FOR SELECT {columns} FROM {name}");
        run(connection, sql).await?;
        while page(connection, table, &mut visit).await? == PAGE {}
        run(connection, "CLOSE every".into()).await?;
    }
    Ok(Position(position.unwrap_or(0)))
}

async fn page(
    connection: &mut PgConnection,
    table: &'static Table,
    visit: &mut Visit,
) -> Result<usize> {
    // A statement that is prepared would be kept for a cursor of another shape.
    let sql = format!("FETCH {PAGE} FROM every");
    let fetch = sqlx::query(AssertSqlSafe(sql)).persistent(false);
    let rows = fetch.fetch_all(connection).await?;
    for row in &rows {
        visit(table, read_row(row, table)?);
    }
    Ok(rows.len())
}
