//! Sinks: servers that take everything and keep nothing but the count, each on a thread of
//! its own.

mod http;
mod smtp;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::{TcpListener, TcpStream};

#[derive(Debug, Clone, Copy)]
pub enum Protocol {
    Http,
    Smtp,
}

pub struct Sink {
    pub address: SocketAddr,
    count: Arc<AtomicUsize>,
}

impl Sink {
    /// Listens for as long as the program runs.
    pub fn start(protocol: Protocol) -> anyhow::Result<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        std::thread::spawn(move || runtime.block_on(accept(listener, protocol, counted)));
        Ok(Self { address, count })
    }

    /// How many letters came.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

async fn accept(
    listener: std::net::TcpListener,
    protocol: Protocol,
    count: Arc<AtomicUsize>,
) -> anyhow::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(serve(stream, protocol, count.clone()));
    }
}

async fn serve(stream: TcpStream, protocol: Protocol, count: Arc<AtomicUsize>) {
    let served = match protocol {
        Protocol::Http => http::serve(stream, &count).await,
        Protocol::Smtp => smtp::serve(stream, &count).await,
    };
    if let Err(error) = served {
        eprintln!("    a sink lost a connection: {error}");
    }
}
