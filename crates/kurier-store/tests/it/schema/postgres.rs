use kurier_core::projection::ColumnKind;
use kurier_core::time::Timestamp;
use kurier_store::{Log, Postgres};
use sqlx::PgPool;

use super::backend::with_empty_postgres;
use super::{Found, Tables, check_dump, check_projections, check_walls};

#[tokio::test]
async fn the_schema_is_the_committed_one() {
    with_empty_postgres(async |url| {
        let store = Postgres::open(&url).await.expect("opened");
        check_dump("postgres", &store.schema().await.expect("read"));
    })
    .await;
}

#[tokio::test]
async fn the_schema_is_the_same_in_every_month() {
    with_empty_postgres(async |url| {
        let store = Postgres::open(&url).await.expect("opened");
        let before = store.schema().await.expect("read");
        prepare(&store).await;
        assert_eq!(store.schema().await.expect("read"), before);
    })
    .await;
}

/// Partitions in the log and in the archive.
async fn prepare(store: &Postgres) {
    let time = |text: &str| text.parse::<Timestamp>().expect("a time");
    let now = time("2026-03-15T12:00:00Z");
    store.maintain(now).await.expect("prepared");
    let moved = store.archive(time("2026-04-01T00:00:00Z")).await;
    assert!(!moved.expect("moved").is_empty());
}

#[tokio::test]
async fn every_read_model_has_its_tables() {
    with_empty_postgres(async |url| {
        check_projections(&tables(&url).await, |kind| match kind {
            ColumnKind::Id => "uuid",
            ColumnKind::Int => "bigint",
            ColumnKind::Text => "text",
            ColumnKind::Json => "jsonb",
        });
    })
    .await;
}

#[tokio::test]
async fn unique_indexes_stay_within_a_workspace() {
    with_empty_postgres(async |url| check_walls(&tables(&url).await)).await;
}

async fn tables(url: &str) -> Tables {
    let store = Postgres::open(url).await.expect("opened");
    prepare(&store).await;
    let pool = PgPool::connect(url).await.expect("connected");
    let mut tables = Tables::new();
    for (table, column, kind) in columns(&pool).await {
        let found: &mut Found = tables.entry(table).or_default();
        found.columns.push((column, kind));
    }
    let mut partitions = 0;
    for (table, is_primary, is_partition, columns) in unique_indexes(&pool).await {
        let found = tables.get_mut(&table).expect("an index has a table");
        partitions += usize::from(is_partition);
        if is_primary && !is_partition {
            found.primary_key = columns;
        } else {
            found.unique.push(columns);
        }
    }
    assert!(
        partitions > 2,
        "only {partitions} indexes of partitions were found"
    );
    tables
}

async fn columns(pool: &PgPool) -> Vec<(String, String, String)> {
    let sql = "SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod)
               FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
               WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
                 AND NOT c.relispartition AND NOT a.attisdropped
               ORDER BY c.relname, a.attnum";
    sqlx::query_as(sql).fetch_all(pool).await.expect("read")
}

type Index = (String, bool, bool, Vec<String>);

/// Those of partitions are listed with the table that they are part of.
async fn unique_indexes(pool: &PgPool) -> Vec<Index> {
    let sql = "
        SELECT coalesce(parent.relname, t.relname)::text, i.indisprimary, t.relispartition,
               array(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY AS k (n, o)
                     JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.n ORDER BY k.o)
        FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
        LEFT JOIN pg_inherits h ON h.inhrelid = t.oid
        LEFT JOIN pg_class parent ON parent.oid = h.inhparent
        WHERE t.relnamespace = 'public'::regnamespace AND i.indisunique";
    sqlx::query_as(sql).fetch_all(pool).await.expect("read")
}
