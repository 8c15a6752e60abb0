//! How fast channels are, to servers on this machine that take everything:
//! `cargo run --release --example post -- 20000`. Mails unsigned, signed with Ed25519 and
//! with RSA of 2048 bits if the PEM files are named after the number; then webhooks.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use kurier::channel::{Channel, Outside, build};
use kurier::clock;
use kurier::secret::Secrets;
use kurier_core::id::MessageId;
use kurier_core::message::channel::ChannelSettings;
use kurier_core::message::{Letter, Outcome, Rendered};
use kurier_core::net::Guard;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().context("how many?")?.parse()?;
    let (mail, web) = (mail_sink().await?, web_sink().await?);
    measure("mails", mail_channel(mail, None)?, count).await?;
    for path in arguments {
        let pem = std::fs::read_to_string(&path)?;
        let what = format!("mails signed with {path}");
        measure(&what, mail_channel(mail, Some(pem))?, count).await?;
    }
    measure("webhooks", web_channel(web)?, count).await
}

/// As many at once as the channel takes.
async fn measure(what: &str, channel: Arc<dyn Channel>, count: usize) -> anyhow::Result<()> {
    let began = Instant::now();
    let workers = channel.concurrency();
    let mut sending = tokio::task::JoinSet::new();
    for worker in 0..workers {
        let channel = channel.clone();
        sending.spawn(async move {
            for _ in (worker..count).step_by(workers) {
                let outcome = channel.send(&letter()).await;
                anyhow::ensure!(matches!(outcome, Outcome::Sent { .. }), "{outcome:?}");
            }
            Ok(())
        });
    }
    for done in sending.join_all().await {
        done?;
    }
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{what}: {:.0} a second, {workers} at once",
        count as f64 / seconds
    );
    Ok(())
}

fn letter() -> Letter {
    Letter {
        message: MessageId::new(clock::now(), clock::random()),
        attempt: 1,
        at: clock::now(),
        to: Some("ann@example.net".into()),
        rendered: Rendered {
            subject: Some("Your order, Jörg".into()),
            html: Some("<p>Hello Jörg,</p><p>it is on its way.</p>".repeat(20)),
            text: Some("Hello Jörg,\nit is on its way.\n".repeat(20)),
            json: None,
        },
        unsubscribe: Some("https://kurier.example.com/u/0123456789".into()),
        template: Some("order".into()),
        topic: Some("orders".into()),
    }
}

fn mail_channel(port: u16, pem: Option<String>) -> anyhow::Result<Arc<dyn Channel>> {
    let mut settings = json!({"kind": "email", "settings": {"host": "127.0.0.1", "port": port,
        "security": "none", "from": {"name": "Acme", "address": "hello@example.com"}}});
    if pem.is_some() {
        settings["settings"]["dkim"] = json!({"domain": "example.com", "selector": "k1"});
    }
    channel(settings, ("dkim_private_key", pem))
}

fn web_channel(port: u16) -> anyhow::Result<Arc<dyn Channel>> {
    let url = format!("http://127.0.0.1:{port}/");
    let settings = json!({"kind": "webhook", "settings": {"url": url}});
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned();
    channel(settings, ("signing_secret", Some(secret)))
}

fn channel(
    settings: Value,
    (name, secret): (&str, Option<String>),
) -> anyhow::Result<Arc<dyn Channel>> {
    let settings = ChannelSettings::read(settings).map_err(|e| anyhow::anyhow!("{e:?}"))?;
    let mut secrets = Secrets::default();
    secrets.set(name, secret);
    let outside = Outside::new(Guard::new(["127.0.0.0/8"])?);
    Ok(build(&settings, &secrets, &outside)?)
}

async fn mail_sink() -> anyhow::Result<u16> {
    listen(|stream| async move {
        let mut stream = BufReader::new(stream);
        stream.write_all(b"220 sink\r\n").await?;
        let mut line = String::new();
        while stream.read_line(&mut line).await? > 0 {
            let answer: &[u8] = match line.as_bytes().first_chunk() {
                Some(b"EHLO") => b"250-sink\r\n250 8BITMIME\r\n",
                Some(b"DATA") => {
                    stream.write_all(b"354 go on\r\n").await?;
                    while line != ".\r\n" {
                        line.clear();
                        stream.read_line(&mut line).await?;
                    }
                    b"250 2.0.0 kept\r\n"
                }
                _ => b"250 ok\r\n",
            };
            stream.write_all(answer).await?;
            line.clear();
        }
        Ok(())
    })
    .await
}

async fn web_sink() -> anyhow::Result<u16> {
    listen(|stream| async move {
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        let mut length = 0;
        while stream.read_line(&mut line).await? > 0 {
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse()?;
            }
            if line == "\r\n" {
                let mut body = vec![0; length];
                stream.read_exact(&mut body).await?;
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                stream.write_all(answer).await?;
            }
            line.clear();
        }
        Ok(())
    })
    .await
}

async fn listen<Serving>(
    serve: impl Fn(TcpStream) -> Serving + Send + 'static,
) -> anyhow::Result<u16>
where
    Serving: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            tokio::spawn(serve(stream));
        }
    });
    Ok(port)
}
