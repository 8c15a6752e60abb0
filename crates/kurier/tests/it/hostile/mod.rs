//! What nobody honest sends: each gets its clear answer, and the server goes on.

mod bodies;
mod content;
mod overload;
mod slow;
mod wire;

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::Api;

/// A connection to the server, without anything that understands HTTP.
async fn connect(api: &Api) -> TcpStream {
    let address = api.url.strip_prefix("http://").expect("an http address");
    TcpStream::connect(address).await.expect("connected")
}

/// Writes bytes as they are and reads until the server closes.
async fn exchange(api: &Api, bytes: &[u8]) -> String {
    let mut stream = connect(api).await;
    // The server may have had enough before it has read everything.
    let _ = stream.write_all(bytes).await;
    read_to_end(&mut stream, Duration::from_secs(10)).await
}

async fn read_to_end(stream: &mut TcpStream, limit: Duration) -> String {
    let mut answer = Vec::new();
    let read = tokio::time::timeout(limit, stream.read_to_end(&mut answer)).await;
    assert!(
        read.is_ok(),
        "still open after {limit:?}: {}",
        String::from_utf8_lossy(&answer)
    );
    String::from_utf8_lossy(&answer).into_owned()
}

/// The head of an ingest request with the right key.
fn head(api: &Api, more: &str) -> String {
    let key = &api.write_key;
    format!("POST /v1/track HTTP/1.1\r\nHost: kurier\r\nAuthorization: Bearer {key}\r\n{more}\r\n")
}

#[track_caller]
fn assert_status(answer: &str, status: u16) {
    let line = answer.lines().next().unwrap_or_default();
    assert!(
        line.starts_with(&format!("HTTP/1.1 {status} ")),
        "{status} expected: {answer}"
    );
}
