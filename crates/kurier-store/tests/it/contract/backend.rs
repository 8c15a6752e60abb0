//! Where a test's store lives: a file or a database of its own, gone when the test ends.

use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AssertSqlSafe, Connection, PgConnection};

/// Runs a case with the path of a SQLite file that does not exist yet.
pub async fn with_sqlite<Case, Done>(case: Case)
where
    Case: FnOnce(PathBuf) -> Done,
    Done: Future<Output = ()>,
{
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    case(folder.path().join("kurier.db")).await;
}

/// Runs a case with the URL of an empty PostgreSQL database, which is dropped afterwards,
/// also when the case panics.
pub async fn with_postgres<Case, Done>(case: Case)
where
    Case: FnOnce(String) -> Done,
    Done: Future<Output = ()> + Send + 'static,
{
    let Ok(server) = std::env::var("TEST_POSTGRES_URL") else {
        panic!("TEST_POSTGRES_URL is not set: run ./dev test");
    };
    let name = database_name();
    create(&server, &name).await;
    let outcome = tokio::spawn(case(url_of(&server, &name))).await;
    let drop = format!("DROP DATABASE {name} WITH (FORCE)");
    execute(&server, &drop).await.expect("dropped");
    if let Err(failed) = outcome {
        std::panic::resume_unwind(failed.into_panic());
    }
}

/// Sorts text as people do and not by code point, unlike SQLite: nothing may depend on it.
async fn create(server: &str, name: &str) {
    let clear = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
    execute(server, &clear).await.expect("nothing in the way");
    let create =
        format!("CREATE DATABASE {name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'");
    execute(server, &create).await.expect("created");
}

fn database_name() -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    format!("kurier_test_{}_{number}", std::process::id())
}

async fn execute(server: &str, sql: &str) -> sqlx::Result<()> {
    let mut connection = PgConnection::connect(server).await?;
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(&mut connection)
        .await?;
    connection.close().await
}

/// The server's URL with another database in it.
fn url_of(server: &str, database: &str) -> String {
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
