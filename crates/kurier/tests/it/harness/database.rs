//! A database of a test's own: a folder, or a fresh database on the PostgreSQL server.

use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use kurier::app::open_store;
use kurier::{config, keyring};
use kurier_store::{Scope, Store};
use rusqlite::types::ValueRef;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};
use tempfile::TempDir;

use super::{template, unique};

pub struct Database {
    folder: PathBuf,
    url: Option<String>,
    tablespace: Option<String>,
    /// Removed with the test.
    _home: Option<TempDir>,
}

impl Database {
    pub fn sqlite() -> Self {
        let home = TempDir::new().expect("a temporary folder");
        Self {
            folder: home.path().join("data"),
            url: None,
            tablespace: None,
            _home: Some(home),
        }
    }

    /// The embedded database in a folder that someone else looks after.
    pub fn sqlite_in(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            url: None,
            tablespace: None,
            _home: None,
        }
    }

    pub async fn postgres() -> Self {
        Self::postgres_with(&unique("it_"), "").await
    }

    /// A database whose files are in this folder, which the PostgreSQL server can reach.
    /// It is dropped with the test, before the folder goes.
    pub async fn postgres_in(folder: &Path) -> Self {
        std::fs::create_dir(folder).expect("a folder");
        let data = &admin("SHOW data_directory").await[0];
        let owner = std::fs::metadata(data).expect("a PostgreSQL server on this machine");
        chown(folder, Some(owner.uid()), Some(owner.gid())).expect("given to PostgreSQL");
        let name = unique("it_");
        let place = folder.display();
        admin(&format!("CREATE TABLESPACE {name} LOCATION '{place}'")).await;
        let mut database = Self::postgres_with(&name, &format!("TABLESPACE {name}")).await;
        database.tablespace = Some(name);
        database
    }

    async fn postgres_with(name: &str, options: &str) -> Self {
        let server = server_url();
        let migrated = template::migrated(&server).await.expect("a template");
        admin(&format!("CREATE DATABASE {name} {migrated} {options}")).await;
        let mut database = Self::sqlite();
        database.url = Some(template::url_of(&server, name));
        database
    }

    /// The options that make a command use this database.
    pub fn options(&self) -> Vec<String> {
        let mut options = match &self.url {
            Some(url) => vec!["--database-url".into(), url.clone()],
            None => Vec::new(),
        };
        options.extend(["--data".into(), self.folder.display().to_string()]);
        options
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

    /// Another workspace; answers its write key and its admin key.
    pub async fn found(&self, name: &str) -> (String, String) {
        let store = self.store().await;
        let founding = keyring::found(store.access.as_ref(), name, None, None).await;
        let founding = founding.expect("a new workspace");
        (founding.write_key, founding.admin_key)
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

    /// Everything that is on disk: the data folder, and a dump of PostgreSQL.
    pub fn bytes(&self) -> Vec<(String, Vec<u8>)> {
        let mut all = files(&self.folder);
        all.extend(self.url.iter().map(|url| ("pg_dump".into(), pg_dump(url))));
        all
    }

    /// The snapshots there are.
    pub fn snapshots(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.join("snapshots"));
        let paths = entries.into_iter().flatten().flatten().map(|e| e.path());
        paths
            .filter(|path| path.extension().is_some_and(|ending| ending == "snapshot"))
            .collect()
    }

    /// The same PostgreSQL database for another process, with a data folder of its own.
    pub fn beside(&self) -> Self {
        let mut database = Self::sqlite();
        database.url = Some(self.url.clone().expect("PostgreSQL"));
        database
    }
}

impl Drop for Database {
    /// A tablespace must be dropped while its folder is there, or the server would stumble.
    fn drop(&mut self) {
        if let Some(name) = &self.tablespace {
            for sql in [
                format!("DROP DATABASE {name} WITH (FORCE)"),
                format!("DROP TABLESPACE {name}"),
            ] {
                let mut psql = Command::new(postgres_program("psql"));
                let _ = psql.args([&server_url(), "-qc", &sql]).status();
            }
        }
    }
}

fn server_url() -> String {
    std::env::var("TEST_POSTGRES_URL").expect("TEST_POSTGRES_URL is not set: run ./dev test")
}

/// Says something to the PostgreSQL server itself.
async fn admin(sql: &str) -> Vec<String> {
    let connected = PgConnection::connect(&server_url()).await;
    let mut connection = connected.expect("PostgreSQL answers");
    let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
    let rows = sql.fetch_all(&mut connection).await.expect("done");
    rows.iter().map(|row| row.get(0)).collect()
}

/// A program of the newest PostgreSQL here.
fn postgres_program(name: &str) -> PathBuf {
    let newest = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin").join(name)))
        .max();
    newest.unwrap_or_else(|| name.into())
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
    let program = postgres_program("pg_dump");
    let dump = Command::new(program)
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
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        // Without PostgreSQL's own data there may be none.
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            // A file may go while we look.
            } else if let Ok(bytes) = std::fs::read(&path) {
                files.push((path.display().to_string(), bytes));
            }
        }
    }
    files
}
