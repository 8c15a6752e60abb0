//! The bytes below SMTP, and encryption, which begins here: whatever a stranger put between
//! the answer to STARTTLS and the first encrypted byte ends the connection. Small packets go at
//! once: the end of a mail would wait 40 ms for the answer to what is before it otherwise.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use kurier_core::message::channel::{self, Security};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::channel::Unusable;
use crate::channel::http::tls;

const REPLY_BYTES_MAX: usize = 16 * 1024;
/// After STARTTLS a server does not greet again; who reads SMTP above us expects it to.
const GREETING: &[u8] = b"220 encrypted\r\n";

/// Why there is no connection.
pub enum ConnectError {
    /// A code, and what went wrong.
    Wire(&'static str, io::Error),
    /// The server did not want us.
    Reply(u16, String),
    NoStarttls,
    Smtp(Error),
}

impl From<Error> for ConnectError {
    fn from(error: Error) -> Self {
        Self::Smtp(error)
    }
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> Self {
        Self::Wire("connect", error)
    }
}

/// Where mails are taken to.
pub struct Server {
    host: String,
    port: u16,
    security: Security,
    tls: TlsConnector,
    /// What we call ourselves.
    pub hello: String,
}

impl Server {
    pub fn new(setup: &channel::Email) -> Result<Self, Unusable> {
        let domain = setup.from.address.rsplit('@').next();
        let domain = domain.filter(|domain| domain.is_ascii());
        Ok(Self {
            host: setup.host.clone(),
            port: setup.port(),
            security: setup.security,
            tls: tls::connector(setup.ca_certificate.as_deref())?,
            hello: domain.unwrap_or("localhost").to_owned(),
        })
    }

    pub async fn connect(&self) -> Result<Box<dyn AsyncTokioStream>, ConnectError> {
        let mut stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        match self.security {
            Security::None => Ok(Box::new(stream)),
            Security::Tls => self.encrypt(stream, b"").await,
            Security::Starttls => {
                self.negotiate(&mut stream).await?;
                self.encrypt(stream, GREETING).await
            }
        }
    }

    async fn encrypt(
        &self,
        stream: TcpStream,
        before: &'static [u8],
    ) -> Result<Box<dyn AsyncTokioStream>, ConnectError> {
        let untrusted = |e| ConnectError::Wire("tls", e);
        let name = ServerName::try_from(self.host.clone()).map_err(io::Error::other);
        let name = name.map_err(untrusted)?;
        let stream = self.tls.connect(name, stream).await.map_err(untrusted)?;
        Ok(Box::new(Encrypted { before, stream }))
    }

    /// From the greeting to the last byte in the clear.
    async fn negotiate(&self, stream: &mut TcpStream) -> Result<(), ConnectError> {
        expect(220, reply(stream).await?)?;
        let hello = format!("EHLO {}\r\n", self.hello);
        stream.write_all(hello.as_bytes()).await?;
        let offered = expect(250, reply(stream).await?)?;
        let mut words = offered.split_whitespace();
        if !words.any(|word| word.eq_ignore_ascii_case("STARTTLS")) {
            return Err(ConnectError::NoStarttls);
        }
        stream.write_all(b"STARTTLS\r\n").await?;
        expect(220, reply(stream).await?).map(drop)
    }
}

fn expect(wanted: u16, (code, text): (u16, String)) -> Result<String, ConnectError> {
    if code == wanted {
        Ok(text)
    } else {
        Err(ConnectError::Reply(code, text))
    }
}

/// One reply, and not a byte more.
async fn reply(stream: &mut TcpStream) -> Result<(u16, String), ConnectError> {
    let odd = |why| ConnectError::Wire("tls", io::Error::other(why));
    let mut bytes = Vec::new();
    loop {
        if let Some((code, text, length)) = whole(&bytes) {
            let is_all = length == bytes.len();
            return is_all
                .then_some((code, text))
                .ok_or_else(|| odd("the server said more than it was asked"));
        }
        let mut part = [0; 512];
        let read = stream.read(&mut part).await?;
        bytes.extend_from_slice(&part[..read]);
        if read == 0 || bytes.len() > REPLY_BYTES_MAX {
            return Err(io::Error::other("the server's reply has no end").into());
        }
    }
}

/// The code, the text and the length of a reply that is complete.
fn whole(bytes: &[u8]) -> Option<(u16, String, usize)> {
    let mut said = Vec::new();
    let mut length = 0;
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    for line in lines.filter(|line| line.ends_with(b"\n")) {
        length += line.len();
        let line = String::from_utf8_lossy(line);
        let code = line.get(..3).and_then(|code| code.parse().ok());
        said.push(line.get(4..).unwrap_or_default().trim().to_owned());
        if line.as_bytes().get(3) != Some(&b'-') {
            return Some((code.unwrap_or(0), said.join(" "), length));
        }
    }
    None
}

#[derive(Debug)]
struct Encrypted {
    before: &'static [u8],
    stream: TlsStream<TcpStream>,
}

impl AsyncTokioStream for Encrypted {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.get_ref().0.peer_addr()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.before.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let (now, later) = self
            .before
            .split_at(self.before.len().min(buffer.remaining()));
        buffer.put_slice(now);
        self.before = later;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_whole_or_not_yet() {
        let of = |text: &str| whole(text.as_bytes());
        assert_eq!(of("220 hi\r\n"), Some((220, "hi".into(), 8)));
        assert_eq!(of("250-a\r\n250 b\r\n"), Some((250, "a b".into(), 14)));
        assert_eq!(of("250-a\r\n250 b\r\nmore"), Some((250, "a b".into(), 14)));
        assert_eq!(of("220\r\n"), Some((220, String::new(), 5)));
        let odd = whole(b"220 \xff\r\n").map(|it| it.2);
        assert_eq!(odd, Some(7), "counted in bytes");
        assert_eq!(of("nonsense\r\n").map(|it| it.0), Some(0));
        for part in ["", "2", "220 hi", "250-a\r\n", "250-a\r\n250 b"] {
            assert_eq!(of(part), None, "{part:?}");
        }
    }
}
