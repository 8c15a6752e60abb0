//! One connection. While what comes is plain it is answered here; with the first request that
//! is not, the connection is hyper's until its end.

use std::io::Cursor;
use std::pin::pin;
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, join};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::answer::Answer;
use super::front::Front;
use super::observe;
use super::plain::Plain;
use crate::keyring::Shown;

/// Plain requests are no larger, and a connection that waits takes no more.
const BUFFER_BYTES: usize = 8 * 1024;

pub struct Connection {
    pub stream: TcpStream,
    pub front: Front,
    pub http: http1::Builder,
    /// So long nothing may come.
    pub patience: Duration,
    pub stopping: watch::Receiver<bool>,
    pub shown: Shown,
}

impl Connection {
    /// Serves until the client or the server has enough; `watcher` is kept as long.
    pub async fn serve(mut self, watcher: Watcher) {
        let Some(unusual) = self.serve_plain().await else {
            return;
        };
        let front = self.front;
        let service = service_fn(move |request| front.clone().answer(request));
        let (reader, writer) = self.stream.into_split();
        let stream = join(Cursor::new(unusual).chain(reader), writer);
        let connection = self.http.serve_connection(TokioIo::new(stream), service);
        // What broke is the client's connection, and they know.
        let _: Result<(), hyper::Error> = watcher.watch(connection).await;
    }

    /// Answers plain requests; what came that is none, or nothing if this is the end.
    async fn serve_plain(&mut self) -> Option<Vec<u8>> {
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        let mut answer = Answer::default();
        let mut stopping = self.stopping.clone();
        let mut stop = pin!(stopping.wait_for(|stops| *stops));
        let mut idle = pin!(tokio::time::sleep(self.patience));
        let mut used = Instant::now();
        loop {
            tokio::select! {
                biased;
                read = self.stream.read_buf(&mut buffer) => (read.ok()? > 0).then_some(())?,
                _ = &mut stop => return None,
                // Set once for many requests: each for itself would cost more than its answer.
                () = &mut idle => {
                    let left = self.patience.checked_sub(used.elapsed())?;
                    idle.as_mut().reset((Instant::now() + left).into());
                    continue;
                }
            }
            let mut done = 0;
            while let Some(plain) = Plain::of(&buffer[done..]) {
                used = Instant::now();
                done += plain.bytes;
                let is_last = self.answer(plain, used, &mut answer).await;
                self.stream.write_all(answer.bytes()).await.ok()?;
                (!is_last).then_some(())?;
            }
            buffer.drain(..done);
            if !buffer.is_empty() {
                return Some(buffer);
            }
        }
    }

    /// Whether it is the last answer: the server is about to stop.
    async fn answer(&mut self, plain: Plain<'_>, began: Instant, answer: &mut Answer) -> bool {
        let route = plain.straight.route();
        let accepted = self.front.accept(plain, &mut self.shown).await;
        let is_last = *self.stopping.borrow();
        let status = answer.write(accepted, is_last).await;
        observe::record(route, status, began.elapsed());
        is_last
    }
}
