//! The bytes below SMTP. Small packets go at once: a command that waits for the answer to the
//! one before, and an end that follows its mail, would each wait for 40 ms otherwise.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;

use super::pool::ConnectError;

pub async fn connect(
    host: &str,
    port: u16,
    tls: Option<&TlsConnector>,
) -> Result<Box<dyn AsyncTokioStream>, ConnectError> {
    let unreached = |e| ConnectError::Wire("connect", e);
    let stream = TcpStream::connect((host, port)).await.map_err(unreached)?;
    stream.set_nodelay(true).map_err(unreached)?;
    let Some(tls) = tls else {
        return Ok(Box::new(stream));
    };
    let untrusted = |e| ConnectError::Wire("tls", e);
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other);
    let name = name.map_err(untrusted)?;
    let stream = tls.connect(name, stream).await.map_err(untrusted)?;
    Ok(Box::new(Encrypted(stream)))
}

#[derive(Debug)]
struct Encrypted(TlsStream<TcpStream>);

impl AsyncTokioStream for Encrypted {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.get_ref().0.peer_addr()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
