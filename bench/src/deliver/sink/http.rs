//! HTTP/1.1, kept alive: every request is answered with 204.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const ANSWER: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

pub async fn serve(mut stream: TcpStream, count: &AtomicUsize) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(16 * 1024);
    loop {
        while let Some(end) = end_of_request(&buffer)? {
            buffer.drain(..end);
            count.fetch_add(1, Ordering::Relaxed);
            stream.write_all(ANSWER).await?;
        }
        if stream.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
    }
}

/// Where the first request ends, once all of it is there.
fn end_of_request(bytes: &[u8]) -> io::Result<Option<usize>> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = std::str::from_utf8(&bytes[..end]).map_err(io::Error::other)?;
    let length = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    let length = length.ok_or_else(|| io::Error::other("a request without Content-Length"))?;
    let end = end + 4 + length;
    Ok((bytes.len() >= end).then_some(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_ends_with_its_body() {
        let text = b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nokPOST";
        assert_eq!(end_of_request(text).expect("valid"), Some(text.len() - 4));
        assert_eq!(end_of_request(&text[..38]).expect("valid"), None);
        assert_eq!(end_of_request(&text[..20]).expect("valid"), None);
    }
}
