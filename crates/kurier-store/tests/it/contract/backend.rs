//! Where a test's store lives: a file or a database of its own, gone when the test ends.

use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AssertSqlSafe, Connection, PgConnection};

use super::template;

/// Runs a case with the path of a SQLite file that does not exist yet.
pub async fn with_sqlite<Case, Done>(case: Case)
where
    Case: FnOnce(PathBuf) -> Done,
    Done: Future<Output = ()>,
{
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    case(folder.path().join("kurier.db")).await;
}

/// Runs a case with the URL of a PostgreSQL database that has the schema already and nothing else, and is dropped
/// afterwards, also when the case panics.
pub async fn with_postgres<Case, Done>(case: Case)
where
    Case: FnOnce(String) -> Done,
    Done: Future<Output = ()> + Send + 'static,
{
    let migrated = template::migrated(&server()).await;
    with_database(&migrated.expect("a template"), case).await;
}

/// The same with an empty database.
pub async fn with_empty_postgres<Case, Done>(case: Case)
where
    Case: FnOnce(String) -> Done,
    Done: Future<Output = ()> + Send + 'static,
{
    with_database(template::EMPTY, case).await;
}

async fn with_database<Case, Done>(template: &str, case: Case)
where
    Case: FnOnce(String) -> Done,
    Done: Future<Output = ()> + Send + 'static,
{
    let (server, name) = (server(), database_name());
    let clear = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
    execute(&server, &clear).await.expect("nothing in the way");
    let create = format!("CREATE DATABASE {name} {template}");
    execute(&server, &create).await.expect("created");
    let outcome = tokio::spawn(case(template::url_of(&server, &name))).await;
    let drop = format!("DROP DATABASE {name} WITH (FORCE)");
    execute(&server, &drop).await.expect("dropped");
    if let Err(failed) = outcome {
        std::panic::resume_unwind(failed.into_panic());
    }
}

fn server() -> String {
    std::env::var("TEST_POSTGRES_URL").expect("TEST_POSTGRES_URL is not set: run ./dev test")
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
