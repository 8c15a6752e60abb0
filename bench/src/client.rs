//! The least HTTP client that will do, so that measuring costs little of the two cores that
//! the measured has to share with it.

use std::net::SocketAddr;

use anyhow::{Context as _, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A connection that is kept alive.
pub struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

pub struct Answer<'a> {
    pub status: u16,
    pub body: &'a [u8],
}

impl Client {
    pub async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)
            .await
            .with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(16 * 1024),
        })
    }

    /// Sends a whole request and waits for the whole answer.
    pub async fn send(&mut self, request: &[u8]) -> anyhow::Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                bail!("the server closed the connection");
            }
            if let Some((status, range)) = whole_answer(&self.buffer)? {
                return Ok(Answer {
                    status,
                    body: &self.buffer[range],
                });
            }
        }
    }

    pub async fn get(&mut self, path: &str) -> anyhow::Result<Answer<'_>> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        self.send(request.as_bytes()).await
    }
}

/// The status and where the body is, once all of it is there.
fn whole_answer(bytes: &[u8]) -> anyhow::Result<Option<(u16, std::ops::Range<usize>)>> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = std::str::from_utf8(&bytes[..end]).context("a head that is not text")?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.get(9..12)?.parse().ok());
    let status = status.context("an answer without a status")?;
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    let length = length.context("an answer without Content-Length")?;
    let body = end + 4..end + 4 + length;
    Ok((bytes.len() >= body.end).then_some((status, body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_when_its_body_is() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nx: y\r\n\r\nok";
        assert_eq!(whole_answer(text).expect("valid"), Some((200, 44..46)));
        assert_eq!(whole_answer(&text[..45]).expect("valid"), None);
        assert_eq!(whole_answer(&text[..20]).expect("valid"), None);
        assert!(whole_answer(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
