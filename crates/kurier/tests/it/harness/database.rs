//! A database of a test's own: a folder, or a fresh database on the PostgreSQL server.

use std::path::{Path, PathBuf};

use kurier::app::open_store;
use kurier::{config, keyring};
use kurier_store::{Scope, Store};
use rusqlite::types::ValueRef;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};
use tempfile::TempDir;

use super::unique;

pub struct Database {
    folder: PathBuf,
    url: Option<String>,
    /// Removed with the test.
    _home: Option<TempDir>,
}

impl Database {
    pub fn sqlite() -> Self {
        let home = TempDir::new().expect("a temporary folder");
        Self {
            folder: home.path().join("data"),
            url: None,
            _home: Some(home),
        }
    }

    /// The embedded database in a folder that someone else looks after.
    pub fn sqlite_in(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            url: None,
            _home: None,
        }
    }

    pub async fn postgres() -> Self {
        let server = std::env::var("TEST_POSTGRES_URL")
            .expect("TEST_POSTGRES_URL is not set: run ./dev test");
        let name = unique("it_");
        let mut connection = PgConnection::connect(&server)
            .await
            .expect("PostgreSQL answers");
        sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}")))
            .execute(&mut connection)
            .await
            .expect("a fresh database");
        let (base, _) = server.rsplit_once('/').expect("a URL with a database");
        let sqlite = Self::sqlite();
        Self {
            url: Some(format!("{base}/{name}")),
            ..sqlite
        }
    }

    pub const fn is_sqlite(&self) -> bool {
        self.url.is_none()
    }

    /// The data folder; with PostgreSQL nothing is in it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The options that make a command use this database.
    pub fn options(&self) -> Vec<String> {
        match &self.url {
            Some(url) => vec!["--database-url".into(), url.clone()],
            None => vec!["--data".into(), self.folder.display().to_string()],
        }
    }

    /// The library's own way in, on connections of its own.
    pub async fn store(&self) -> Store {
        let database = match &self.url {
            Some(url) => config::Database::Postgres { url: url.clone() },
            None => config::Database::Embedded {
                folder: self.folder.clone(),
            },
        };
        open_store(&database).await.expect("the database opens")
    }

    /// A new key of the workspace `default`, made without the server's knowledge.
    pub async fn make_key(&self, scopes: &str) -> String {
        let store = self.store().await;
        let workspaces = store.access.workspaces().await.expect("listed");
        let default = workspaces
            .iter()
            .find(|workspace| workspace.name == "default");
        let scope = Scope(default.expect("the first workspace").id);
        let minted = keyring::mint(scopes, scopes.parse().expect("known scopes"), None, None);
        let made = store
            .access
            .create_key(scope, minted.new, minted.event)
            .await;
        made.expect("a new key");
        minted.secret
    }

    /// The rows of a query, each as text; values are separated by `|`.
    pub async fn rows(&self, sql: &str) -> Vec<String> {
        match &self.url {
            Some(url) => postgres_rows(url, sql).await,
            None => sqlite_rows(&self.folder, sql),
        }
    }

    pub async fn count(&self, sql: &str) -> i64 {
        let rows = self.rows(sql).await;
        rows[0].parse().expect("a number")
    }

    pub async fn execute(&self, sql: &str) {
        match &self.url {
            Some(url) => {
                let mut connection = PgConnection::connect(url).await.expect("connected");
                sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
                    .execute(&mut connection)
                    .await
                    .expect("executed");
            }
            None => open(&self.folder).execute_batch(sql).expect("executed"),
        }
    }

    /// Everything that is on disk: the files of SQLite, or a dump of PostgreSQL.
    pub fn bytes(&self) -> Vec<(String, Vec<u8>)> {
        match &self.url {
            Some(url) => vec![("pg_dump".into(), pg_dump(url))],
            None => files(&self.folder),
        }
    }
}

fn open(folder: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(folder.join("kurier.db")).expect("opened");
    connection
        .busy_timeout(std::time::Duration::from_secs(10))
        .expect("set");
    connection
}

fn sqlite_rows(folder: &Path, sql: &str) -> Vec<String> {
    let connection = open(folder);
    let mut statement = connection.prepare(sql).expect("valid SQL");
    let width = statement.column_count();
    let text = |value: ValueRef<'_>| match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(int) => int.to_string(),
        ValueRef::Real(real) => real.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => uuid::Uuid::from_slice(bytes).map_or_else(
            |_| bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            |id| id.to_string(),
        ),
    };
    let rows = statement.query_map([], |row| {
        let cells: Vec<String> = (0..width)
            .map(|at| row.get_ref(at).map(text))
            .collect::<rusqlite::Result<_>>()?;
        Ok(cells.join("|"))
    });
    rows.expect("queried")
        .collect::<rusqlite::Result<_>>()
        .expect("readable rows")
}

async fn postgres_rows(url: &str, sql: &str) -> Vec<String> {
    let mut connection = PgConnection::connect(url).await.expect("connected");
    let whole = format!(
        "SELECT concat_ws('|', VARIADIC ARRAY(SELECT coalesce(value, '') \
         FROM json_each_text(row_to_json(q)))) FROM ({sql}) AS q"
    );
    let rows = sqlx::query(AssertSqlSafe(whole))
        .fetch_all(&mut connection)
        .await;
    let rows = rows.expect("queried");
    rows.iter().map(|row| row.get(0)).collect()
}

fn pg_dump(url: &str) -> Vec<u8> {
    let newest = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin/pg_dump")))
        .max();
    let program = newest.unwrap_or_else(|| "pg_dump".into());
    let dump = std::process::Command::new(program)
        .arg(url)
        .output()
        .expect("pg_dump runs");
    assert!(
        dump.status.success(),
        "{}",
        String::from_utf8_lossy(&dump.stderr)
    );
    dump.stdout
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).expect("the data folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .map(|path| {
            (
                path.display().to_string(),
                std::fs::read(&path).expect("readable"),
            )
        })
        .collect()
}
