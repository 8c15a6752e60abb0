//! Servers of headers, as good and as bad as they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kurier_core::bundle::chain::{Chain, Header};
use kurier_core::bundle::mine_block;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::headers::{Headers, Setting};

/// How a server answers.
#[derive(Clone)]
pub enum Manner {
    Honest(Vec<Header>),
    /// So many of its headers have a wrong nonce, from the end.
    Lying(Vec<Header>, usize),
    Silent,
    Broken,
    TipOnly(Vec<Header>),
    /// Its first header is at a height, and it gives so many at a time at most.
    Paged(Vec<Header>, usize, usize),
    /// One header at a time, and each of them only once someone lets it go.
    Trickling(Vec<Header>, Arc<Semaphore>),
    /// It tells its tip at so many heights above its own.
    Raised(Vec<Header>, usize),
}

pub struct Server {
    pub url: String,
    pub asked: Arc<AtomicU64>,
    manner: Arc<std::sync::Mutex<Manner>>,
}

impl Server {
    pub async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let url = format!(
            "http://{}/tip?chain=regtest&timeout={}",
            listener.local_addr().expect("bound"),
            // Whoever trickles is never too slow to be listened to.
            if matches!(manner, Manner::Trickling(..)) {
                60
            } else {
                1
            }
        );
        let (asked, manner) = (
            Arc::new(AtomicU64::new(0)),
            Arc::new(std::sync::Mutex::new(manner)),
        );
        let server = Self {
            url,
            asked: asked.clone(),
            manner: manner.clone(),
        };
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (asked, manner) = (asked.clone(), manner.clone());
                tokio::spawn(async move {
                    let mut bytes = [0; 4_096];
                    let read = stream.read(&mut bytes).await.unwrap_or(0);
                    let head = String::from_utf8_lossy(&bytes[..read]).into_owned();
                    asked.fetch_add(1, Ordering::SeqCst);
                    let manner = manner.lock().expect("not poisoned").clone();
                    if let Manner::Trickling(_, gate) = &manner
                        && !head.starts_with("GET /tip")
                    {
                        gate.acquire().await.expect("open").forget();
                    }
                    match answer(&manner, &head) {
                        Some(answer) => drop(stream.write_all(&answer).await),
                        // It keeps the connection and says nothing.
                        None => drop(stream.read(&mut bytes).await),
                    }
                });
            }
        });
        server
    }

    pub fn now_is(&self, manner: Manner) {
        *self.manner.lock().expect("not poisoned") = manner;
    }
}

fn answer(manner: &Manner, head: &str) -> Option<Vec<u8>> {
    let (chain, lies, start, page) = match manner {
        Manner::Honest(chain) | Manner::TipOnly(chain) | Manner::Raised(chain, _) => {
            (chain, 0, 0, usize::MAX)
        }
        Manner::Lying(chain, lies) => (chain, *lies, 0, usize::MAX),
        Manner::Paged(chain, start, page) => (chain, 0, *start, *page),
        Manner::Trickling(chain, _) => (chain, 0, 0, 1),
        Manner::Silent => return None,
        Manner::Broken => return Some(empty("500 Internal Server Error")),
    };
    let mut told = chain.clone();
    let from = told.len() - lies;
    told[from..].iter_mut().for_each(|header| header.time += 7);
    let body = if head.starts_with("GET /tip") {
        let raised = match manner {
            Manner::Raised(_, by) => *by,
            _ => 0,
        };
        let height = start + told.len() - 1 + raised;
        format!(r#"{{"height":{height},"hash":"{}"}}"#, told.last()?.hash()).into_bytes()
    } else if matches!(manner, Manner::TipOnly(_)) {
        return Some(empty("404 Not Found"));
    } else {
        let number = |name: &str| -> usize {
            let rest = head.split(name).nth(1).unwrap_or_default();
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().unwrap_or(0)
        };
        let (from, count) = (number("from="), number("count="));
        told.iter()
            .skip(from.saturating_sub(start))
            .take(count.min(page))
            .flat_map(Header::bytes)
            .collect()
    };
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend(body);
    Some(answer)
}

fn empty(status: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").into_bytes()
}

pub fn chain_on(parent: &[Header], count: usize, salt: u64) -> Vec<Header> {
    let mut chain = parent.to_vec();
    for number in 0..count {
        let last = chain[chain.len() - 1];
        let txid = kurier_core::bundle::Hash256::of(&(salt * 1_000 + number as u64).to_le_bytes());
        let block = mine_block(&last, vec![txid], last.time + 600, 1_000).expect("soon");
        chain.push(block.header);
    }
    chain
}

pub fn genesis() -> Vec<Header> {
    vec![Chain::Regtest.genesis()]
}

pub fn headers(sources: &[&str]) -> Headers {
    let setting = Setting::parse(&sources.join(" ")).expect("good");
    let (every, limit) = (
        std::time::Duration::from_secs(30),
        std::time::Duration::from_secs(90),
    );
    Headers::new(&setting, every, limit, super::kit::now).expect("usable")
}
