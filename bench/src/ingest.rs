//! The ingest benchmark: rounds of bare loop, Kurier and Node, each on a fresh database.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tempfile::TempDir;

use crate::event::Target;
use crate::load::{self, Tally, WARM_UP};
use crate::outcome::{Audit, Life, Outcome, Sample, Side};
use crate::plan::{Args, BATCHES, Database, HANDLER, KURIER, NODE, Part};
use crate::server::Server;
use crate::{bare, report};

const WRITE_KEY: &str = "bench-write-key";
/// A server is idle when it has had this long to come to rest.
const SETTLE: Duration = Duration::from_secs(2);
/// Into the load before the kill -9.
const KILL_AFTER: Duration = Duration::from_millis(700);
const MAINTENANCE: &str = "postgres";

pub async fn run(args: &Args) -> anyhow::Result<()> {
    let mut bench = Bench {
        args,
        folder: tempfile::tempdir()?,
        databases: 0,
        outcome: Outcome::default(),
    };
    for round in 0..args.rounds {
        for part in args.round(round) {
            eprintln!("==> round {} of {}: {part:?}", round + 1, args.rounds);
            match part {
                Part::Bare(database) => bench.bare(round, database).await?,
                Part::Kurier(database) => bench.kurier(round, database).await?,
                Part::Node => bench.node(round).await?,
                Part::Handler => bench.handler(round).await?,
            }
        }
    }
    report::write(&bench.outcome, args)
}

struct Bench<'a> {
    args: &'a Args,
    folder: TempDir,
    databases: usize,
    outcome: Outcome,
}

/// A place for one server's data: nothing is in it yet.
enum Place {
    Folder(PathBuf),
    Url(String),
}

impl Bench<'_> {
    async fn place(&mut self, database: Database) -> anyhow::Result<Place> {
        self.databases += 1;
        let name = format!("bench_{}", self.databases);
        if database == Database::Sqlite {
            let folder = self.folder.path().join(name);
            std::fs::create_dir(&folder)?;
            return Ok(Place::Folder(folder));
        }
        // What earlier parts left to be written must not be written during this one.
        self.maintain(&format!("CREATE DATABASE {name}")).await?;
        self.maintain("CHECKPOINT").await?;
        Ok(Place::Url(self.url_of(&name)?))
    }

    async fn clear(&self, place: &Place) -> anyhow::Result<()> {
        match place {
            Place::Folder(folder) => Ok(std::fs::remove_dir_all(folder)?),
            Place::Url(url) => {
                let name = url.rsplit('/').next().unwrap_or_default();
                self.maintain(&format!("DROP DATABASE {name} WITH (FORCE)"))
                    .await
            }
        }
    }

    fn url_of(&self, database: &str) -> anyhow::Result<String> {
        let (server, _) = self
            .args
            .postgres
            .rsplit_once('/')
            .context("the PostgreSQL URL names no database")?;
        Ok(format!("{server}/{database}"))
    }

    async fn maintain(&self, sql: &str) -> anyhow::Result<()> {
        let mut connection = PgConnection::connect(&self.url_of(MAINTENANCE)?).await?;
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
            .execute(&mut connection)
            .await?;
        Ok(connection.close().await?)
    }

    async fn bare(&mut self, round: usize, database: Database) -> anyhow::Result<()> {
        let place = self.place(database).await?;
        let events_per_second = match &place {
            Place::Folder(folder) => {
                bare::sqlite::run(&folder.join("kurier.db"), self.args.seconds)?
            }
            Place::Url(url) => bare::postgres::run(url, self.args.seconds).await?,
        };
        self.outcome.samples.push(Sample {
            round,
            side: Side::Bare,
            database: Some(database),
            shape: None,
            events_per_second,
            http: None,
        });
        self.clear(&place).await
    }

    async fn node(&mut self, round: usize) -> anyhow::Result<()> {
        let place = self.place(Database::Postgres).await?;
        if let Place::Url(url) = &place {
            let mut command = Command::new("node");
            command
                .arg("ingest.mjs")
                .current_dir(&self.args.peers)
                .env("PGURL", url);
            let server = Server::start(&mut command, &self.folder.path().join("node.log"))?;
            let mut tally = Tally::default();
            self.cells(round, Side::Node, None, &server, &mut tally)
                .await?;
        }
        self.clear(&place).await
    }

    async fn handler(&mut self, round: usize) -> anyhow::Result<()> {
        let place = self.place(Database::Postgres).await?;
        if let Place::Url(url) = &place {
            let server = bare::handler::start(url, &self.folder.path().join("handler.log"))?;
            let mut tally = Tally::default();
            self.cells(round, Side::Handler, None, &server, &mut tally)
                .await?;
        }
        self.clear(&place).await
    }

    async fn kurier(&mut self, round: usize, database: Database) -> anyhow::Result<()> {
        let place = self.place(database).await?;
        let server = self.start_kurier(&place)?;
        tokio::time::sleep(SETTLE).await;
        let (idle_mb, _) = server.memory()?;
        let founding = server.readiness().await?.log_position;
        let mut tally = Tally::default();
        self.cells(round, Side::Kurier, Some(database), &server, &mut tally)
            .await?;
        let lag = server.readiness().await?.projection_lag;
        let began = Instant::now();
        let is_last = round + 1 == self.args.rounds;
        if is_last {
            server.catch_up().await?;
        }
        let catch_up_seconds = is_last.then(|| began.elapsed().as_secs_f64());
        let (after_mb, peak_mb) = server.memory()?;
        let audit = self.audit(server, &place, founding, tally).await?;
        self.outcome.lives.push(Life {
            round,
            database,
            idle_mb,
            peak_mb,
            after_mb,
            lag,
            catch_up_seconds,
            audit,
        });
        self.clear(&place).await
    }

    fn start_kurier(&self, place: &Place) -> anyhow::Result<Server> {
        let mut command = Command::new(&self.args.kurier);
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .env("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY);
        match place {
            Place::Folder(folder) => command.arg("--data").arg(folder),
            Place::Url(url) => command.arg("--database-url").arg(url),
        };
        Server::start(&mut command, &self.folder.path().join("kurier.log"))
    }

    /// Measures every shape on a running server.
    async fn cells(
        &mut self,
        round: usize,
        side: Side,
        database: Option<Database>,
        server: &Server,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        let (target, shapes): (_, &[_]) = match side {
            Side::Node => (Target::Node, &NODE),
            Side::Handler => (Target::Kurier(WRITE_KEY.into()), &HANDLER),
            _ => (Target::Kurier(WRITE_KEY.into()), &KURIER),
        };
        for shape in shapes {
            let seconds = self.args.seconds;
            let measured = load::run(server.address, &target, *shape, WARM_UP, seconds).await?;
            tally.add(measured.tally);
            self.outcome.samples.push(Sample {
                round,
                side,
                database,
                shape: Some(*shape),
                events_per_second: measured.events_per_second,
                http: Some(measured),
            });
        }
        Ok(())
    }

    /// kill -9 under load, restart, and count.
    async fn audit(
        &self,
        mut server: Server,
        place: &Place,
        founding: u64,
        mut tally: Tally,
    ) -> anyhow::Result<Audit> {
        let target = Target::Kurier(WRITE_KEY.into());
        let address = server.address;
        let until_killed = load::run(address, &target, BATCHES, Duration::ZERO, 5.0);
        let kill = async {
            tokio::time::sleep(KILL_AFTER).await;
            server.kill();
        };
        let (last, ()) = tokio::join!(until_killed, kill);
        tally.add(last?.tally);
        let restarted = self.start_kurier(place)?;
        let logged = match place {
            Place::Folder(folder) => count_sqlite(&folder.join("kurier.db"))?,
            Place::Url(url) => count_postgres(url).await?,
        };
        drop(restarted);
        Ok(Audit {
            acknowledged: tally.acknowledged,
            unanswered: tally.unanswered,
            logged: logged.saturating_sub(founding),
        })
    }
}

fn count_sqlite(file: &Path) -> anyhow::Result<u64> {
    let connection = rusqlite::Connection::open(file)?;
    let count: i64 = connection.query_row("SELECT count(*) FROM log", [], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

async fn count_postgres(url: &str) -> anyhow::Result<u64> {
    let mut connection = PgConnection::connect(url).await?;
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM log")
        .fetch_one(&mut connection)
        .await?;
    Ok(count.unsigned_abs())
}
