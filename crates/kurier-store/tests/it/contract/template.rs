//! A PostgreSQL database whose schema is made once for all tests: each of them gets a copy.

use kurier_store::Postgres;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// Tests are processes of their own: the first that asks makes the template, others wait for it.
const LOCK: i64 = 0x6b75_7465_7374;
/// The clause of CREATE DATABASE for a database without anything in it. It sorts text as people do and not by code
/// point, unlike SQLite: nothing may depend on the order.
pub const EMPTY: &str = "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'";
const MAKING: &str = "kurier_template_making";

/// The clause for one that has the schema of this program.
pub async fn migrated(server: &str) -> sqlx::Result<String> {
    let name = format!("kurier_template_{:016x}", schema_hash());
    let mut connection = PgConnection::connect(server).await?;
    if !exists(&mut connection, &name).await? {
        execute(&mut connection, &format!("SELECT pg_advisory_lock({LOCK})")).await?;
        if !exists(&mut connection, &name).await? {
            make(server, &mut connection, &name).await?;
        }
    }
    // The lock goes with the connection.
    connection.close().await?;
    Ok(format!("TEMPLATE {name}"))
}

/// Another version of the program has another template, on a server that outlives a run.
fn schema_hash() -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    include_str!("../../../schema/postgres.sql").hash(&mut hasher);
    hasher.finish()
}

async fn exists(connection: &mut PgConnection, name: &str) -> sqlx::Result<bool> {
    let sql = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)";
    sqlx::query_scalar(sql)
        .bind(name)
        .fetch_one(connection)
        .await
}

/// Made under another name first: a test that dies meanwhile leaves nothing that looks finished.
async fn make(server: &str, connection: &mut PgConnection, name: &str) -> sqlx::Result<()> {
    let clear = format!("DROP DATABASE IF EXISTS {MAKING} WITH (FORCE)");
    execute(connection, &clear).await?;
    execute(connection, &format!("CREATE DATABASE {MAKING} {EMPTY}")).await?;
    let store = Postgres::open(&url_of(server, MAKING)).await;
    drop(store.expect("the migrations run on an empty database"));
    let disconnect = format!(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{MAKING}'"
    );
    execute(connection, &disconnect).await?;
    execute(
        connection,
        &format!("ALTER DATABASE {MAKING} RENAME TO {name}"),
    )
    .await
}

async fn execute(connection: &mut PgConnection, sql: &str) -> sqlx::Result<()> {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(connection)
        .await?;
    Ok(())
}

/// The server's URL with another database in it.
pub fn url_of(server: &str, database: &str) -> String {
    let (address, options) = server
        .split_once('?')
        .map_or((server, String::new()), |(address, rest)| {
            (address, format!("?{rest}"))
        });
    let (host, _) = address
        .rsplit_once('/')
        .expect("TEST_POSTGRES_URL names a database");
    format!("{host}/{database}{options}")
}
