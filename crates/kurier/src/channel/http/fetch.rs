//! Asking a server that an operator named in the settings: its own host is open, whatever
//! network it is in, and what it answers is read only so far.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE};
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kurier_core::net::{Guard, Host, Target};
use tokio::time::timeout;

use super::connect::{Connector, SystemNames};
use super::{IDLE_MAX, Outside, tls};
use crate::channel::Unusable;

pub struct Fetch {
    client: Client<Connector, Full<Bytes>>,
    patience: Duration,
}

impl Fetch {
    /// For URLs of the same host as this one.
    pub fn of(url: &str, patience: Duration) -> Result<Self, Unusable> {
        let unusable = |e: &dyn std::fmt::Display| Unusable(format!("{url}: {e}"));
        let target = Target::of(url).map_err(|e| unusable(&e))?;
        let host = match &target.host {
            Host::Name(name) => name.clone(),
            Host::Address(address) => address.to_string(),
        };
        let guard = Guard::new([host.as_str()]).map_err(|e| unusable(&e))?;
        let outside = Outside {
            guard: Arc::new(guard),
            names: Arc::new(SystemNames),
        };
        let tls = tls::connector(None)?;
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE_MAX)
            .pool_timer(TokioTimer::new())
            .build(Connector { outside, tls });
        Ok(Self { client, patience })
    }

    pub async fn get(&self, url: &str, bytes_max: usize) -> Result<Vec<u8>, String> {
        self.ask(Method::GET, url, Vec::new(), bytes_max).await
    }

    /// Posts JSON.
    pub async fn post(
        &self,
        url: &str,
        body: Vec<u8>,
        bytes_max: usize,
    ) -> Result<Vec<u8>, String> {
        self.ask(Method::POST, url, body, bytes_max).await
    }

    async fn ask(
        &self,
        method: Method,
        url: &str,
        body: Vec<u8>,
        bytes_max: usize,
    ) -> Result<Vec<u8>, String> {
        let request = Request::builder()
            .method(method)
            .uri(url)
            .header(ACCEPT, "application/octet-stream, application/json")
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| error.to_string())?;
        match timeout(self.patience, self.answer(request, bytes_max)).await {
            Ok(answer) => answer,
            Err(_) => Err(format!(
                "no answer within {} s",
                self.patience.as_secs_f32()
            )),
        }
    }

    async fn answer(
        &self,
        request: Request<Full<Bytes>>,
        bytes_max: usize,
    ) -> Result<Vec<u8>, String> {
        let response = self.client.request(request).await;
        let response = response.map_err(|error| cause(&error))?;
        let status = response.status();
        let mut body = response.into_body();
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| error.to_string())?;
            bytes.extend_from_slice(&frame.into_data().unwrap_or_default());
            if bytes.len() > bytes_max {
                return Err(format!("its answer has more than {bytes_max} bytes"));
            }
        }
        match status.is_success() {
            true => Ok(bytes),
            false => Err(format!("it answers {}", status.as_u16())),
        }
    }
}

fn cause(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
