//! Shadow tables in the same file. They look like the live ones because they are made from the
//! same text, and get the indexes when they take their place: an index cannot be renamed.

use kurier_core::event::Position;
use kurier_core::projection::{Projection, Table};
use rusqlite::{Connection, params};

use super::tables::{names, read_row};
use super::views::{checkpoint, put_checkpoint};
use crate::projections::{Side, Swap, Swapped, Visit, shadow_of};
use crate::{Error, Result};

pub fn open(connection: &Connection, projection: &dyn Projection) -> Result<()> {
    drop_all(connection, projection)?;
    for table in projection.tables() {
        let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let made: String = connection.query_row(sql, [table.name], |row| row.get(0))?;
        let shape = made.find('(').map(|begin| &made[begin..]);
        let shape = shape.ok_or_else(|| Error::Damaged(format!("{} has no shape", table.name)))?;
        let name = Side::Shadow.name(table);
        connection.execute_batch(&format!("CREATE TABLE {name} {shape}"))?;
    }
    Ok(())
}

pub fn drop_all(connection: &Connection, projection: &dyn Projection) -> Result<()> {
    for table in projection.tables() {
        let name = Side::Shadow.name(table);
        connection.execute_batch(&format!("DROP TABLE IF EXISTS {name}"))?;
    }
    let name = shadow_of(projection.name());
    connection.execute("DELETE FROM processed_events WHERE projection = ?1", [name])?;
    Ok(())
}

pub fn swap(connection: &Connection, swap: &Swap) -> Result<Swapped> {
    let name = swap.projection.name();
    let live = checkpoint(connection, name)?;
    if live > swap.at {
        return Ok(Swapped::Behind(live));
    }
    for table in swap.projection.tables() {
        take_place(connection, table)?;
    }
    connection.execute("DELETE FROM processed_events WHERE projection = ?1", [name])?;
    connection.execute(
        "UPDATE processed_events SET projection = ?1 WHERE projection = ?2",
        [name, &shadow_of(name)],
    )?;
    connection.execute("DELETE FROM poison WHERE projection = ?1", [name])?;
    let sql = "INSERT INTO poison (projection, position, reason) VALUES (?1, ?2, ?3)";
    for aside in &swap.set_aside {
        connection.execute(sql, params![name, aside.position.0, aside.reason])?;
    }
    put_checkpoint(connection, name, swap.at)?;
    Ok(Swapped::Done)
}

fn take_place(connection: &Connection, table: &Table) -> Result<()> {
    let sql = "SELECT sql FROM sqlite_schema
               WHERE type = 'index' AND tbl_name = ?1 AND sql IS NOT NULL ORDER BY name";
    let mut statement = connection.prepare(sql)?;
    let indexes = statement.query_map([table.name], |row| row.get(0))?;
    let indexes: Vec<String> = indexes.collect::<rusqlite::Result<_>>()?;
    drop(statement);
    let (live, shadow) = (table.name, Side::Shadow.name(table));
    connection.execute_batch(&format!(
        "DROP TABLE {live}; ALTER TABLE {shadow} RENAME TO {live}; {}",
        indexes.join(";")
    ))?;
    Ok(())
}

/// A read transaction sees one moment, however long it takes.
pub fn survey(
    connection: &Connection,
    side: Side,
    projection: &dyn Projection,
    mut visit: Visit,
) -> Result<Position> {
    let moment = connection.unchecked_transaction()?;
    let position = checkpoint(&moment, projection.name())?;
    for table in projection.tables() {
        let (columns, name) = (names(table.columns).join(","), side.name(table));
        let mut statement = moment.prepare(&format!("SELECT {columns} FROM {name}"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            visit(table, read_row(row, table)?);
        }
    }
    Ok(position)
}
