//! A way into the log by which one call is sent while another is under way: the database goes from
//! the one to the next, instead of waiting until it was heard and has been answered. sqlx sends a
//! call when the one before has ended, so this connection is another client's.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::poll_immediate;
use kurier_core::event::{Event, Position, lane};
use kurier_core::id::WorkspaceId;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions as _, PgPool};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row, Statement};
use uuid::Uuid;

use super::KEEP_MEMORY;
use super::appender::{Group, Job};
use super::failure::Failure;
use super::ids::{Answer, Batch, Question};
use super::index::{Index, key};
use super::line::{FULL, MISSED_MAX};
use crate::log::Appended;

/// The request for TLS that a connection may begin with,
const CAN_YOU_SEAL: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];
/// and the answer that there is none.
const CANNOT: u8 = b'N';
/// A server that does not even say that it has heard is gone.
const SILENCE_LIMIT: Duration = Duration::from_secs(20);
const APPEND: &str = "SELECT before, repeats, missed_workspaces, missed_ids \
    FROM log_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

pub struct Pipe {
    client: Client,
    append: Statement,
    /// Of this connection alone: what another left behind is looked through.
    pen: i64,
    pool: PgPool,
    index: Arc<Index>,
}

/// A call under way. What was sent before ends before.
pub type Call<'a> = Pin<Box<dyn Future<Output = Landed> + Send + 'a>>;

pub struct Landed {
    pub jobs: Vec<Job>,
    pub appended: Result<Vec<Appended>, Failure>,
}

impl Pipe {
    /// Nothing if it is not to be had, for whatever reason: then calls go one by one. Only for a
    /// server that `is_plain`.
    pub async fn open(pool: &PgPool, index: &Arc<Index>) -> Option<Self> {
        let config = config(&pool.connect_options())?;
        let (client, connection) = config.connect(NoTls).await.ok()?;
        // It ends with the client, or when the connection breaks: then the client says so.
        tokio::spawn(connection);
        client.batch_execute(KEEP_MEMORY).await.ok()?;
        let pen = client.query_one("SELECT nextval('log_pen')", &[]).await;
        Some(Self {
            append: client.prepare(APPEND).await.ok()?,
            pen: pen.ok()?.get(0),
            client,
            pool: pool.clone(),
            index: index.clone(),
        })
    }

    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Looks up where the log stands, if that is not known. No call may be under way.
    pub async fn prepare(&self) -> Result<(), Failure> {
        if !self.index.ids().is_loaded() {
            let mut connection = self.pool.acquire().await?;
            self.index.load(&mut connection).await?;
        }
        Ok(())
    }

    /// Sends a call; or gives the group back, if it is not known where the log stands.
    pub async fn call(&self, group: Group) -> Result<Call<'_>, Group> {
        let asked = {
            let mut ids = self.index.ids();
            let is_full = ids.is_full();
            ids.question(&group.batch()).map(|asked| (asked, is_full))
        };
        let Some((question, is_full)) = asked else {
            return Err(group);
        };
        let mut call: Call<'_> = Box::pin(self.land(group, question, is_full));
        // The first look at it sends it.
        Ok(match poll_immediate(&mut call).await {
            Some(landed) => Box::pin(std::future::ready(landed)),
            None => call,
        })
    }

    async fn land(&self, group: Group, question: Question, is_full: bool) -> Landed {
        let batch = group.batch();
        let answer = match (is_full, question.sent.is_empty()) {
            (true, _) => Err(Failure::unavailable(FULL)),
            (_, true) => Ok(Answer::default()),
            _ => self.ask(&question, &batch).await.map_err(Failure::from),
        };
        let appended = match answer {
            Ok(answer) => Ok(self.index.ids().learn(&batch, &question, answer)),
            Err(failure) => {
                self.index.ids().give_up(&batch, &question);
                Err(failure)
            }
        };
        if let Some((_, last)) = batch.last() {
            self.index.follow(batch.len(), last.recorded_at);
        }
        drop(batch);
        Landed {
            jobs: group.jobs,
            appended,
        }
    }

    async fn ask(
        &self,
        question: &Question,
        batch: &Batch<'_>,
    ) -> Result<Answer, tokio_postgres::Error> {
        let sent = || question.sent.iter().map(|at| batch[*at]);
        let workspaces = column(sent(), |(workspace, _)| workspace.as_uuid());
        let ids = column(sent(), |(_, event)| event.id.as_uuid());
        let kinds = column(sent(), |(_, event)| event.kind.as_str());
        let contacts = column(sent(), |(_, event)| event.contact.map(|it| it.as_uuid()));
        let lanes = column(sent(), |(workspace, event)| {
            i16::from(lane(workspace, event.contact))
        });
        let occurred = column(sent(), |(_, event)| event.occurred_at.as_micros());
        let recorded = column(sent(), |(_, event)| event.recorded_at.as_micros());
        let payloads = column(sent(), |(_, event)| event.payload.as_str());
        let pen = question.is_apart.then_some(self.pen);
        let values: [&(dyn ToSql + Sync); 12] = [
            &question.known.0,
            &MISSED_MAX,
            &question.asked,
            &workspaces,
            &ids,
            &kinds,
            &contacts,
            &lanes,
            &occurred,
            &recorded,
            &payloads,
            &pen,
        ];
        answer(&self.client.query_one(&self.append, &values).await?)
    }
}

fn column<'a, T>(
    sent: impl Iterator<Item = (WorkspaceId, &'a Event)>,
    part: impl Fn((WorkspaceId, &'a Event)) -> T,
) -> Vec<T> {
    sent.map(part).collect()
}

fn answer(row: &Row) -> Result<Answer, tokio_postgres::Error> {
    let uuids = |at| {
        let found = row.try_get::<_, Option<Vec<Uuid>>>(at);
        found.map(Option::unwrap_or_default)
    };
    let missed = uuids(2)?.into_iter().zip(uuids(3)?);
    Ok(Answer {
        before: Position(row.try_get(0)?),
        repeats: row.try_get::<_, Option<_>>(1)?.unwrap_or_default(),
        missed: missed.map(|(workspace, id)| key(workspace, id)).collect(),
    })
}

/// Whether the pool's connections are in the clear: only then may another be. They are sealed
/// wherever the server can, unless that is not wanted; so it is asked, as they ask it.
pub async fn is_plain(options: &PgConnectOptions) -> io::Result<bool> {
    let is_local = options.get_socket().is_some() || options.get_host().starts_with('/');
    if is_local || matches!(options.get_ssl_mode(), PgSslMode::Disable) {
        return Ok(true);
    }
    let mut stream = TcpStream::connect((options.get_host(), options.get_port())).await?;
    stream.write_all(&CAN_YOU_SEAL).await?;
    Ok(stream.read_u8().await? == CANNOT)
}

/// The same server as the pool's, as the same user; nothing where that cannot be said for certain.
fn config(options: &PgConnectOptions) -> Option<Config> {
    let must_be_sealed = !matches!(
        options.get_ssl_mode(),
        PgSslMode::Disable | PgSslMode::Allow | PgSslMode::Prefer
    );
    let user = options.get_username();
    let is_usual = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if must_be_sealed || !is_usual(user) {
        return None;
    }
    let mut config = Config::new();
    config
        .user(user)
        .dbname(options.get_database().unwrap_or(user))
        .port(options.get_port())
        .application_name("kurier")
        .keepalives_idle(SILENCE_LIMIT)
        .tcp_user_timeout(SILENCE_LIMIT);
    match options.get_socket() {
        Some(folder) => config.host_path(folder),
        None => config.host(options.get_host()),
    };
    if let Some(set) = options.get_options() {
        config.options(set);
    }
    if let Some(password) = password(options) {
        config.password(password);
    }
    Some(config)
}

/// Wherever it was found. Options tell it in a URL alone.
fn password(options: &PgConnectOptions) -> Option<Vec<u8>> {
    let options = options.clone().host("localhost").socket("/");
    let url = options.to_url_lossy();
    let only = format!("postgres://user:{}@localhost", url.password()?);
    let read: Config = only.parse().ok()?;
    read.get_password().map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    fn config_of(url: &str) -> Option<Config> {
        config(&url.parse().expect("a URL"))
    }

    #[test]
    fn it_goes_where_the_pool_goes() {
        let url = "postgres://ann_1:p%40ss%3A%2Fw%C3%B6rd@db.example:5433/kurier?options=-c%20lock_timeout=30s";
        let config = config_of(url).expect("plain");
        assert_eq!(config.get_user(), Some("ann_1"));
        assert_eq!(config.get_password(), Some("p@ss:/wörd".as_bytes()));
        assert_eq!(config.get_dbname(), Some("kurier"));
        assert_eq!(config.get_ports(), [5433]);
        let host = tokio_postgres::config::Host::Tcp("db.example".into());
        assert_eq!(config.get_hosts(), [host]);
        assert_eq!(config.get_options(), Some("-c lock_timeout=30s"));
    }

    #[test]
    fn a_socket_is_found_in_its_folder() {
        let config = config_of("postgres://ann@localhost/kurier?host=/run/pg").expect("plain");
        let host = tokio_postgres::config::Host::Unix("/run/pg".into());
        assert_eq!(config.get_hosts(), [host]);
    }

    #[test]
    fn what_is_to_be_sealed_is_left_alone() {
        for mode in ["require", "verify-ca", "verify-full"] {
            let url = format!("postgres://ann@localhost/kurier?sslmode={mode}");
            assert!(config_of(&url).is_none(), "{mode}");
        }
        assert!(config_of("postgres://ann%2Fb@localhost/kurier").is_none());
    }

    /// A server that says one byte to who connects, when it was asked the right thing.
    async fn answering(byte: u8) -> PgConnectOptions {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let port = listener.local_addr().expect("an address").port();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let mut asked = [0; 8];
            stream.read_exact(&mut asked).await.expect("asked");
            assert_eq!(asked, CAN_YOU_SEAL);
            stream.write_all(&[byte]).await.expect("said");
        });
        let options = PgConnectOptions::new_without_pgpass();
        options.host("127.0.0.1").port(port)
    }

    #[tokio::test]
    async fn a_server_that_seals_is_no_plain_one() {
        assert!(is_plain(&answering(b'N').await).await.expect("asked"));
        assert!(!is_plain(&answering(b'S').await).await.expect("asked"));
        let unwanted = answering(b'S').await.ssl_mode(PgSslMode::Disable);
        assert!(is_plain(&unwanted).await.expect("not asked"));
    }
}
