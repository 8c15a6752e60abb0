use std::path::Path;

use kurier_core::projection::ColumnKind;
use kurier_store::Sqlite;
use rusqlite::Connection;

use super::backend::with_sqlite;
use super::{Found, Tables, check_dump, check_projections, check_walls};

#[tokio::test]
async fn the_schema_is_the_committed_one() {
    with_sqlite(async |path| {
        let store = Sqlite::open(&path).expect("opened");
        check_dump("sqlite", &store.schema().await.expect("read"));
    })
    .await;
}

#[tokio::test]
async fn every_read_model_has_its_tables() {
    with_sqlite(async |path| {
        check_projections(&tables(&path), |kind| match kind {
            ColumnKind::Id => "BLOB",
            ColumnKind::Int => "INTEGER",
            ColumnKind::Text | ColumnKind::Json => "TEXT",
        });
    })
    .await;
}

#[tokio::test]
async fn unique_indexes_stay_within_a_workspace() {
    with_sqlite(async |path| check_walls(&tables(&path))).await;
}

fn tables(path: &Path) -> Tables {
    drop(Sqlite::open(path).expect("opened"));
    let file = Connection::open(path).expect("opened");
    let names = texts(
        &file,
        "SELECT name FROM sqlite_schema WHERE type = 'table'",
        "",
    );
    names
        .into_iter()
        .map(|name| (name.clone(), table(&file, &name)))
        .collect()
}

fn table(file: &Connection, name: &str) -> Found {
    let columns = "SELECT name FROM pragma_table_info(?1) ORDER BY cid";
    let types = "SELECT type FROM pragma_table_info(?1) ORDER BY cid";
    let key = "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk";
    let indexes = "SELECT name FROM pragma_index_list(?1) WHERE \"unique\" AND origin <> 'pk'";
    let index = "SELECT name FROM pragma_index_info(?1) ORDER BY seqno";
    let columns = texts(file, columns, name).into_iter();
    Found {
        columns: columns.zip(texts(file, types, name)).collect(),
        primary_key: texts(file, key, name),
        unique: texts(file, indexes, name)
            .iter()
            .map(|name| texts(file, index, name))
            .collect(),
    }
}

fn texts(file: &Connection, sql: &str, name: &str) -> Vec<String> {
    let mut statement = file.prepare(sql).expect("prepared");
    let names = [name];
    let names = &names[..statement.parameter_count()];
    let rows = statement.query_map(rusqlite::params_from_iter(names), |row| row.get(0));
    rows.expect("read")
        .map(|text| text.expect("text"))
        .collect()
}
