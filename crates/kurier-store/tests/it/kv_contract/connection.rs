//! What only Redis can do: not be there.

use std::net::SocketAddr;

use kurier_store::kv::{Error, Kv, KvExt, Redis, Timeouts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::kv_contract::ground::redis_url;

/// How many calls may fail after Redis is back: each failing one has the connection reopened.
const FAILURES_MAX: usize = 3;

/// Passes one connection after the other on to Redis, until it is stopped.
async fn relay(listener: TcpListener) -> JoinHandle<()> {
    let client = redis::Client::open(redis_url()).unwrap();
    let server = client.get_connection_info().addr().to_string();
    tokio::spawn(async move {
        loop {
            let (mut near, _) = listener.accept().await.unwrap();
            let mut far = TcpStream::connect(&server).await.unwrap();
            // A connection that breaks is what this is for.
            let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
        }
    })
}

async fn stop(relay: JoinHandle<()>) {
    relay.abort();
    assert!(relay.await.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_redis_that_comes_back_is_found_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let first = relay(listener).await;
    let redis = Redis::open(&format!("redis://{address}/"), Timeouts::default())
        .await
        .unwrap();
    assert_eq!(redis.ping().await, Ok(()));
    stop(first).await;
    for _ in 0..5 {
        let ping = redis.ping().await;
        assert!(matches!(ping, Err(Error::Unavailable(_))), "{ping:?}");
    }
    let second = relay(TcpListener::bind(address).await.unwrap()).await;
    let mut failures = 0;
    while redis.ping().await.is_err() {
        failures += 1;
        assert!(failures <= FAILURES_MAX, "the connection is not reopened");
    }
    stop(second).await;
}

/// Port 1 is reserved, and nobody listens there.
#[tokio::test]
async fn a_redis_that_is_not_there_is_unavailable() {
    let redis = Redis::open("redis://127.0.0.1:1/", Timeouts::default())
        .await
        .unwrap();
    for _ in 0..3 {
        let ping = redis.ping().await;
        assert!(matches!(ping, Err(Error::Unavailable(_))), "{ping:?}");
        let get = redis.get("key").await;
        assert!(matches!(get, Err(Error::Unavailable(_))), "{get:?}");
    }
}

/// The server accepts and then says nothing, as a stopped process or a lost network does.
#[tokio::test]
async fn a_redis_that_says_nothing_is_unavailable() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}/", silent.local_addr().unwrap());
    let short = std::time::Duration::from_millis(20);
    let redis = Redis::open(
        &url,
        Timeouts {
            connect: short,
            response: short,
        },
    )
    .await
    .unwrap();
    let get = redis.get("key").await;
    assert!(matches!(get, Err(Error::Unavailable(_))), "{get:?}");
}

#[tokio::test]
async fn an_address_that_is_none_is_refused() {
    let redis = Redis::open("http://127.0.0.1/", Timeouts::default()).await;
    assert!(matches!(redis.err(), Some(Error::Refused(_))));
}

/// Answers every command of a connection alike: its first connections with the given lines, and
/// all later ones with OK.
async fn answer_alike(listener: TcpListener, mut first: Vec<&'static str>) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let line = first.pop().unwrap_or("+OK\r\n");
        let mut bytes = [0; 4096];
        // Every command is an array, and nothing else these clients send has a star in it.
        while let Ok(length @ 1..) = stream.read(&mut bytes).await {
            let commands = bytes[..length].iter().filter(|&&byte| byte == b'*').count();
            stream
                .write_all(line.repeat(commands).as_bytes())
                .await
                .unwrap();
        }
    }
}

/// The connection manager of the crate would remember the refusal for ever.
#[tokio::test]
async fn a_refused_password_may_be_accepted_later() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://:password@{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(answer_alike(listener, vec!["-WRONGPASS no\r\n"]));
    let redis = Redis::open(&url, Timeouts::default()).await.unwrap();
    let ping = redis.ping().await;
    assert!(matches!(ping, Err(Error::Refused(_))), "{ping:?}");
    assert_eq!(redis.ping().await, Ok(()));
    server.abort();
}

/// Redis answers while it loads its data, but not yet what it was asked.
#[tokio::test]
async fn a_redis_that_is_loading_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(answer_alike(listener, vec!["-LOADING soon\r\n"]));
    let redis = Redis::open(&url, Timeouts::default()).await.unwrap();
    for _ in 0..2 {
        let get = redis.get("key").await;
        assert!(matches!(get, Err(Error::Unavailable(_))), "{get:?}");
        let ping = redis.ping().await;
        assert!(matches!(ping, Err(Error::Unavailable(_))), "{ping:?}");
    }
    server.abort();
}
