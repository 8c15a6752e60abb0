//! The schemas: as committed, with every read model's table, and with the wall between
//! workspaces in every unique index.

mod postgres;
mod sqlite;

use std::collections::BTreeMap;
use std::path::Path;

use crate::contract::backend;
use kurier_core::projection::{ALL, ColumnKind, Table};

/// Fails if the committed dump is another; `UPDATE_SCHEMA=1` rewrites it instead.
fn check_dump(backend: &str, schema: &str) {
    let file = format!("schema/{backend}.sql");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&file, schema).expect("the dump can be written");
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == schema,
        "{} is not the schema that the migrations make: run `UPDATE_SCHEMA=1 ./dev test schema` \
         and read the difference",
        file.display()
    );
}

/// What a database says of one table.
#[derive(Debug, Default)]
struct Found {
    /// Names and types, in order.
    columns: Vec<(String, String)>,
    primary_key: Vec<String>,
    /// The columns of every other unique index.
    unique: Vec<Vec<String>>,
}

type Tables = BTreeMap<String, Found>;

/// Every projection's table is there: columns in order, by kind, under the same key.
fn check_projections(tables: &Tables, type_of: fn(ColumnKind) -> &'static str) {
    for table in ALL.iter().flat_map(|projection| projection.tables()) {
        let found = &tables[table.name];
        let columns: Vec<(String, String)> = table
            .columns
            .iter()
            .map(|column| (column.name.to_owned(), type_of(column.kind).to_owned()))
            .collect();
        assert_eq!(found.columns, columns, "columns of {}", table.name);
        assert_eq!(found.primary_key, key(table), "key of {}", table.name);
    }
}

fn key(table: &Table) -> Vec<&str> {
    table
        .key_columns()
        .iter()
        .map(|column| column.name)
        .collect()
}

/// Unique indexes that may begin otherwise, and why that tells no workspace of another.
const GLOBAL: &[(&str, &[&str])] = &[
    // Whoever knocks is known by the hash of a random key before its workspace is.
    ("api_key", &["hash"]),
    ("session", &["hash"]),
    // Who signs in names no workspace. Only an owner who adds someone learns that the address
    // signs in elsewhere on this installation.
    ("portal_user", &["email"]),
    // A projection is a part of Kurier; what follows is within a workspace.
    ("processed_events", &["projection", "workspace", "event"]),
    // Positions are ours to give, not a client's to try.
    ("log", &["position"]),
    ("log", &["position", "recorded_at"]),
    ("log_archive", &["position", "recorded_at"]),
];

/// A unique index over all workspaces answers whether another has a value. Partitions are
/// listed under the name of their table.
fn check_walls(tables: &Tables) {
    let mut checked = 0;
    for (name, found) in tables {
        if !found
            .columns
            .iter()
            .any(|(column, _)| column == "workspace")
        {
            continue;
        }
        for columns in found.unique.iter().chain([&found.primary_key]) {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            let is_global = GLOBAL.contains(&(name.as_str(), &columns[..]));
            assert!(
                is_global || columns[0] == "workspace",
                "a unique index of {name} over {columns:?} does not begin with workspace"
            );
            checked += 1;
        }
    }
    assert!(checked > 6, "only {checked} unique indexes were found");
}
