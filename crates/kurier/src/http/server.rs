//! The listener: connections with deadlines, and an end that lets requests finish.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioTimer;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::connection::Connection;
use super::front::Front;
use crate::app::App;
use crate::keyring::Shown;

/// A client that has not sent its headers by then is gone or means harm.
const HEADERS_TIMEOUT: Duration = Duration::from_secs(15);
/// When no connection can be accepted (too many open files), wait before the next try.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Serves until `stop` is done; then nobody else is let in.
pub async fn serve(listener: TcpListener, app: Arc<App>, stop: impl Future<Output = ()>) -> Open {
    let front = Front::new(app.clone());
    let connections = GracefulShutdown::new();
    let (stops, stopping) = watch::channel(false);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEADERS_TIMEOUT);
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_RETRY).await;
            continue;
        };
        // Answers are small and whole: waiting to fill a packet only costs latency.
        let _ = stream.set_nodelay(true);
        let connection = Connection {
            stream,
            front: front.clone(),
            http: http.clone(),
            patience: HEADERS_TIMEOUT,
            stopping: stopping.clone(),
            shown: Shown::default(),
        };
        tokio::spawn(connection.serve(connections.watcher()));
    }
    drop(listener);
    stops.send_replace(true);
    // Who listens for news would never be done.
    app.pulse.stop();
    Open(connections)
}

/// Connections on which requests may be under way.
pub struct Open(GracefulShutdown);

impl Open {
    /// Lets requests under way finish, until then at most.
    pub async fn drain(self, until: Instant) {
        if timeout_at(until, self.0.shutdown()).await.is_err() {
            tracing::warn!("requests were still under way when the time was up");
        }
    }
}
