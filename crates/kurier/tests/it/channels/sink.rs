//! A server that keeps what it is sent.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::{installed, script};

const LIMIT: Duration = Duration::from_secs(30);

pub struct Sink {
    pub port: u16,
    lines: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Sink {
    pub async fn smtp(options: Value) -> Self {
        Self::start("sink_smtp.py", options).await
    }

    pub async fn http(options: Value) -> Self {
        Self::start("sink_http.py", options).await
    }

    async fn start(name: &str, options: Value) -> Self {
        let mut child = Command::new(&installed().python)
            .arg(script(name))
            .arg(options.to_string())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the sink starts");
        let stdout = child.stdout.take().expect("a pipe");
        let mut lines = BufReader::new(stdout).lines();
        let port = tokio::time::timeout(LIMIT, lines.next_line()).await;
        let port = port.expect("in time").expect("a line").expect("a port");
        Self {
            port: port.parse().expect("a number"),
            lines,
            _child: child,
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The next thing that came.
    pub async fn any(&mut self) -> Value {
        let line = tokio::time::timeout(LIMIT, self.lines.next_line()).await;
        let line = line.expect("nothing came").expect("a line");
        serde_json::from_str(&line.expect("the sink lives")).expect("JSON")
    }

    /// The next thing of a kind; others before it are passed over.
    pub async fn next(&mut self, kind: &str) -> Value {
        loop {
            let said = self.any().await;
            if said["kind"] == kind {
                return said;
            }
        }
    }

    /// Ends the sink and answers how many of a kind came that nobody asked for.
    pub async fn rest(mut self, kind: &str) -> usize {
        self._child.kill().await.expect("ended");
        let mut count = 0;
        while let Ok(Some(line)) = self.lines.next_line().await {
            let said: Value = serde_json::from_str(&line).unwrap_or_default();
            count += usize::from(said["kind"] == kind);
        }
        count
    }
}
