//! Connecting: a name is looked up once, each of its addresses is asked about, and the very
//! address that was asked about is connected to. A name that means something else a moment
//! later cannot slip through.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use async_trait::async_trait;
use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use kurier_core::net::{Blocked, Host};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tower_service::Service;

use super::Outside;

/// Says which addresses a name stands for.
#[async_trait]
pub trait Resolve: Send + Sync {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// As the operating system knows names.
pub struct SystemNames;

#[async_trait]
impl Resolve for SystemNames {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((name, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error(transparent)]
    Blocked(#[from] Blocked),
    #[error("the name {0} is not known: {1}")]
    Name(String, io::Error),
    #[error("{0} does not answer: {1}")]
    Connect(SocketAddr, io::Error),
    #[error("no encrypted connection: {0}")]
    Tls(io::Error),
}

impl ConnectError {
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Blocked(_) => "blocked",
            Self::Name(..) => "dns",
            Self::Connect(..) => "connect",
            Self::Tls(_) => "tls",
        }
    }
}

#[derive(Clone)]
pub struct Connector {
    pub outside: Outside,
    pub tls: TlsConnector,
}

impl Connector {
    async fn connect(self, uri: Uri) -> Result<Wire, ConnectError> {
        let is_secure = uri.scheme_str() == Some("https");
        let host = Host::of(uri.host().unwrap_or_default())?;
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let addresses = self.addresses(&host, port).await?;
        let stream = reach(&addresses).await?;
        if !is_secure {
            return Ok(Wire::Plain(TokioIo::new(stream)));
        }
        let name = server_name(&host).map_err(ConnectError::Tls)?;
        let stream = self.tls.connect(name, stream).await;
        let stream = stream.map_err(ConnectError::Tls)?;
        Ok(Wire::Tls(Box::new(TokioIo::new(stream))))
    }

    /// The addresses that may be called; an error if there is none.
    async fn addresses(&self, host: &Host, port: u16) -> Result<Vec<SocketAddr>, ConnectError> {
        let found = match host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => {
                let found = self.outside.names.resolve(name).await;
                found.map_err(|e| ConnectError::Name(name.clone(), e))?
            }
        };
        let mut refusal = None;
        let mut open = Vec::new();
        for address in found {
            match self.outside.guard.check(host, address, port) {
                Ok(()) => open.push(SocketAddr::new(address, port)),
                Err(blocked) => refusal = Some(blocked),
            }
        }
        match (open.is_empty(), refusal) {
            (true, Some(blocked)) => Err(blocked.into()),
            (true, None) => {
                let none = io::Error::other("it has no address");
                Err(ConnectError::Name(host.to_string(), none))
            }
            (false, _) => Ok(open),
        }
    }
}

/// Connects to the first that answers.
async fn reach(addresses: &[SocketAddr]) -> Result<TcpStream, ConnectError> {
    let mut failed = None;
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // A request is one small write: waiting to fill a packet only delays it.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) => failed = Some(ConnectError::Connect(*address, error)),
        }
    }
    Err(failed.expect("there is at least one address"))
}

fn server_name(host: &Host) -> io::Result<ServerName<'static>> {
    match host {
        Host::Address(address) => Ok(ServerName::IpAddress((*address).into())),
        Host::Name(name) => ServerName::try_from(name.clone()).map_err(io::Error::other),
    }
}

impl Service<Uri> for Connector {
    type Response = Wire;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Wire, ConnectError>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

/// A connection, encrypted or not.
pub enum Wire {
    Plain(TokioIo<TcpStream>),
    Tls(Box<TokioIo<TlsStream<TcpStream>>>),
}

impl Connection for Wire {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_read(context, buffer),
        }
    }
}

impl Write for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, buffer),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_write(context, buffer),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(context),
        }
    }
}
