//! Connections to one mail server, and the few commands that hand a mail over.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kurier_core::message::channel;
use kurier_core::message::reply::{self, Enhanced};
use kurier_core::message::{Blame, Category, Outcome};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail as MailFrom, Rcpt, Rset};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};
use lettre::transport::smtp::response::Response;

use super::Mail;
use super::wire::{ConnectError, Server};
use crate::channel::http::unknown;
use crate::channel::{Unusable, refused, unreachable};
use crate::secret::Secrets;

/// Servers end a connection that was idle for a while: we are first.
const IDLE_MAX: Duration = Duration::from_secs(30);
/// Servers end a connection that has carried much.
const MAILS_MAX: u32 = 1_000;

/// Notes the moment from which on a lost answer means that nobody knows.
pub struct Stage<'a>(pub &'a AtomicBool);

impl Stage<'_> {
    fn hand_over(&self) {
        self.0.store(true, Ordering::Release);
    }
}

pub struct Pool {
    server: Server,
    credentials: Option<Credentials>,
    /// Newest last, so that those that are not needed grow old. Held only to push and pop.
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    connection: AsyncSmtpConnection,
    since: Instant,
    mails: u32,
}

impl Pool {
    pub fn new(setup: &channel::Email, secrets: &Secrets) -> Result<Self, Unusable> {
        let user = setup.username.clone();
        let password = secrets.get("password").unwrap_or_default().to_owned();
        Ok(Self {
            server: Server::new(setup)?,
            credentials: user.map(|user| Credentials::new(user, password)),
            idle: Mutex::default(),
        })
    }

    /// Hands a mail over. A kept connection may have died unnoticed: then a new one is made,
    /// once, as long as nothing was handed over.
    pub async fn send(&self, mail: &Mail, stage: &Stage<'_>) -> Outcome {
        if let Some(mut kept) = self.take() {
            match begin(&mut kept.connection, mail).await {
                Err(Trouble::Smtp(error)) if is_stale(&error) => {}
                begun => return self.go_on(kept, begun, mail, stage).await,
            }
        }
        let mut fresh = match self.connect().await {
            Ok(connection) => Idle {
                connection,
                since: Instant::now(),
                mails: 0,
            },
            Err(error) => return error.meaning(),
        };
        let begun = begin(&mut fresh.connection, mail).await;
        self.go_on(fresh, begun, mail, stage).await
    }

    /// The mail itself, after sender and recipient were taken.
    async fn go_on(
        &self,
        mut at: Idle,
        begun: Result<(), Trouble>,
        mail: &Mail,
        stage: &Stage<'_>,
    ) -> Outcome {
        match begun {
            Ok(()) => {}
            Err(Trouble::Smtp(error)) => return self.refuse(at, &error).await,
            Err(Trouble::NoUtf8) => {
                self.keep(at);
                return no_utf8();
            }
        }
        stage.hand_over();
        match at.connection.message(&mail.bytes).await {
            Ok(response) => {
                self.keep(at);
                Outcome::Sent {
                    receipt: receipt(&response),
                }
            }
            Err(error) if error.status().is_none() => {
                unknown(&format!("the connection ended unanswered: {error}"))
            }
            Err(error) => {
                self.keep(at);
                meaning(&error)
            }
        }
    }

    /// Says what an answer means, and keeps the connection if it can go on.
    async fn refuse(&self, mut at: Idle, error: &Error) -> Outcome {
        let is_open = error.status().is_some_and(|code| u16::from(code) != 421);
        if is_open && at.connection.command(Rset).await.is_ok() {
            self.keep(at);
        }
        meaning(error)
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, ConnectError> {
        let wire = self.server.connect().await?;
        let hello = ClientId::Domain(self.server.hello.clone());
        let connection = AsyncSmtpConnection::connect_with_transport(wire, &hello);
        let mut connection = connection.await?;
        if let Some(credentials) = &self.credentials {
            let mechanisms = [Mechanism::Plain, Mechanism::Login];
            connection.auth(&mechanisms, credentials).await?;
        }
        Ok(connection)
    }

    fn take(&self) -> Option<Idle> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|it| it.since.elapsed() < IDLE_MAX);
        idle.pop()
    }

    fn keep(&self, used: Idle) {
        let kept = Idle {
            since: Instant::now(),
            mails: used.mails + 1,
            ..used
        };
        if kept.mails < MAILS_MAX && !kept.connection.has_broken() {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push(kept);
        }
    }
}

/// Why a mail was not even begun.
enum Trouble {
    Smtp(Error),
    NoUtf8,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Smtp(error)
    }
}

fn no_utf8() -> Outcome {
    let detail = "the mail server takes no addresses with letters beyond ASCII";
    refused((Category::Permanent, Blame::Recipient), "smtputf8", detail)
}

/// Sender, recipient, and leave to go on.
async fn begin(connection: &mut AsyncSmtpConnection, mail: &Mail) -> Result<(), Trouble> {
    let mut options = Vec::new();
    let server = connection.server_info();
    if mail.needs_utf8() {
        if !server.supports_feature(Extension::SmtpUtfEight) {
            return Err(Trouble::NoUtf8);
        }
        options.push(MailParameter::SmtpUtfEight);
        options.push(MailParameter::Body(MailBodyParameter::EightBitMime));
    }
    let from = Some(mail.from.clone());
    connection.command(MailFrom::new(from, options)).await?;
    connection
        .command(Rcpt::new(mail.to.clone(), vec![]))
        .await?;
    connection.command(Data).await?;
    Ok(())
}

/// Whether the connection was dead before we used it.
fn is_stale(error: &Error) -> bool {
    error.status().is_none_or(|code| u16::from(code) == 421)
}

fn receipt(response: &Response) -> Option<String> {
    response.first_line().map(reply::one_line)
}

impl ConnectError {
    fn meaning(&self) -> Outcome {
        match self {
            Self::Wire(code, error) => unreachable(code, &error.to_string()),
            Self::Smtp(error) => meaning(error),
            Self::Reply(code, text) => replied(*code, text),
            Self::NoStarttls => {
                let detail = "the mail server does not offer STARTTLS";
                refused((Category::Permanent, Blame::Channel), "smtp", detail)
            }
        }
    }
}

fn replied(code: u16, text: &str) -> Outcome {
    Outcome::Refused(reply::smtp(code, Enhanced::of(text), text))
}

/// What an error means that came before anything was handed over, or with an answer.
fn meaning(error: &Error) -> Outcome {
    let text = error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string);
    if let Some(code) = error.status() {
        return replied(code.into(), &text);
    }
    if error.is_client() {
        // The server lacks a way to log in that we know.
        return refused((Category::Permanent, Blame::Channel), "smtp", &text);
    }
    unreachable("connect", &error.to_string())
}
