//! Requests that go out: one at a time from a bounded number of places, over connections that
//! are kept, to addresses that the guard lets through. Redirects are not followed, an answer
//! is read only so far, and what is said of a failure is what is known.

mod connect;
mod fetch;
mod form;
mod outgoing;
pub(super) mod tls;

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, RETRY_AFTER};
use hyper::{Request, Response};
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kurier_core::message::reply::{self, Status};
use kurier_core::message::{Blame, Category, Outcome};
use kurier_core::net::{Guard, Target};
use kurier_core::time::Timestamp;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

pub use connect::Resolve;
pub use fetch::Fetch;
pub(super) use form::{escaped, form_encoded};

use super::{Unusable, late, refused, unreachable};
use connect::{ConnectError, Connector, SystemNames};
use outgoing::Outgoing;

/// Of an answer no more is read than this.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Many servers close a connection that was idle for five seconds: we are first.
const IDLE_MAX: Duration = Duration::from_secs(4);

/// The world as channels may call it.
#[derive(Clone)]
pub struct Outside {
    pub guard: Arc<Guard>,
    pub names: Arc<dyn Resolve>,
}

impl Outside {
    pub fn new(guard: Guard) -> Self {
        Self {
            guard: Arc::new(guard),
            names: Arc::new(SystemNames),
        }
    }
}

/// How a channel calls.
pub(super) struct Manner<'a> {
    pub concurrency: u32,
    pub timeout_seconds: u32,
    pub ca_certificate: Option<&'a str>,
}

pub(super) struct Http {
    client: Client<Connector, Outgoing>,
    places: Semaphore,
    pub concurrency: usize,
    pub timeout: Duration,
}

/// What a server answered.
pub(super) struct Reply {
    pub status: u16,
    pub retry_after: Option<u64>,
    /// As far as it was read.
    pub body: String,
}

impl Reply {
    pub const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// What a status that is no success means.
    pub fn refusal(&self) -> Outcome {
        Outcome::Refused(reply::http(&Status {
            status: self.status,
            retry_after: self.retry_after,
            text: &self.body,
        }))
    }
}

impl Http {
    pub fn new(outside: &Outside, manner: &Manner<'_>) -> Result<Self, Unusable> {
        let connector = Connector {
            outside: outside.clone(),
            tls: tls::connector(manner.ca_certificate)?,
        };
        let concurrency = manner.concurrency as usize;
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE_MAX)
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(concurrency)
            .build(connector);
        Ok(Self {
            client,
            places: Semaphore::new(concurrency),
            concurrency,
            timeout: Duration::from_secs(manner.timeout_seconds.into()),
        })
    }

    /// Sends a request and reads the answer; where there is none, says what that means.
    pub async fn call(&self, request: Request<Bytes>, now: Timestamp) -> Result<Reply, Outcome> {
        let _place = self.places.acquire().await.expect("it is never closed");
        check(&request)?;
        let deadline = Instant::now() + self.timeout;
        let (parts, body) = request.into_parts();
        let (body, handed) = Outgoing::new(body);
        let asked = self.client.request(Request::from_parts(parts, body));
        let response = match timeout_at(deadline, asked).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(failure(&error, handed.is_over())),
            Err(_) if handed.is_over() => return Err(unknown("the time was up, unanswered")),
            Err(_) => return Err(late()),
        };
        let (status, retry_after) = head(&response, now);
        Ok(Reply {
            status,
            retry_after,
            body: read(response.into_body(), deadline).await,
        })
    }
}

/// The connector reads the host as the guard does; the rest of the URL is looked at here.
fn check(request: &Request<Bytes>) -> Result<(), Outcome> {
    let checked = Target::of(&request.uri().to_string());
    let shut = |blocked: kurier_core::net::Blocked| shut(&blocked.to_string());
    checked.map(drop).map_err(shut)
}

fn head(response: &Response<Incoming>, now: Timestamp) -> (u16, Option<u64>) {
    let headers: &HeaderMap = response.headers();
    let value = headers.get(RETRY_AFTER).and_then(|it| it.to_str().ok());
    let retry_after = value.and_then(|value| reply::retry_after(value, now));
    (response.status().as_u16(), retry_after)
}

/// Reads the start of an answer's body. Whether it was taken, its head has said: what is
/// lost of the rest is lost.
async fn read(mut body: Incoming, deadline: Instant) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < BODY_BYTES_MAX {
        let Ok(Some(Ok(frame))) = timeout_at(deadline, body.frame()).await else {
            break;
        };
        let data = frame.into_data().unwrap_or_default();
        let room = BODY_BYTES_MAX - bytes.len();
        bytes.extend_from_slice(&data[..data.len().min(room)]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn failure(error: &legacy::Error, is_over: bool) -> Outcome {
    let source = error.source();
    if let Some(error) = source.and_then(|it| it.downcast_ref::<ConnectError>()) {
        return match error {
            ConnectError::Blocked(blocked) => shut(&blocked.to_string()),
            other => unreachable(other.code(), &other.to_string()),
        };
    }
    let detail = source.map_or_else(|| error.to_string(), ToString::to_string);
    if is_over && !error.is_connect() {
        return unknown(&format!("the connection ended unanswered: {detail}"));
    }
    unreachable("connect", &detail)
}

fn shut(detail: &str) -> Outcome {
    refused((Category::Permanent, Blame::Channel), "blocked", detail)
}

pub(super) fn unknown(detail: &str) -> Outcome {
    Outcome::Unknown {
        detail: reply::one_line(detail),
    }
}
