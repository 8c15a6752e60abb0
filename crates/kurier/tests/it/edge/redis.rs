//! A Redis of a test's own, reached by a socket in a folder of its own.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kurier_store::kv::{Kv as _, Redis, Timeouts};
use tempfile::TempDir;

use crate::harness::eventually;

pub struct Server {
    folder: TempDir,
    child: Child,
}

impl Server {
    pub async fn start() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let child = launch(&folder);
        let server = Self { folder, child };
        server.wait().await;
        server
    }

    async fn wait(&self) {
        let limit = Duration::from_secs(20);
        eventually("Redis answers", limit, async || {
            let redis = self.open().await;
            redis.ping().await.ok()
        })
        .await;
    }

    pub fn url(&self) -> String {
        let socket = self.folder.path().join("socket");
        format!("redis+unix://{}", socket.display())
    }

    pub async fn open(&self) -> Redis {
        let timeouts = Timeouts::default();
        Redis::open(&self.url(), timeouts).await.expect("prepared")
    }

    /// Says a command, and what Redis answers.
    pub fn say(&self, words: &[&str]) -> String {
        let socket = self.folder.path().join("socket");
        let said = Command::new("redis-cli")
            .arg("-s")
            .arg(socket)
            .args(words)
            .output();
        let said = said.expect("redis-cli runs");
        assert!(said.status.success(), "{words:?}: {said:?}");
        String::from_utf8(said.stdout)
            .expect("text")
            .trim()
            .to_owned()
    }

    /// Ends it with everything it holds.
    pub fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }

    pub async fn start_again(&mut self) {
        self.child = launch(&self.folder);
        self.wait().await;
    }
}

fn launch(folder: &TempDir) -> Child {
    let mut command = Command::new("redis-server");
    command
        .args(["--port", "0", "--save", "", "--appendonly", "no"])
        // Texts stand in a dump as they are.
        .args(["--rdbcompression", "no"])
        .arg("--unixsocket")
        .arg(folder.path().join("socket"))
        .arg("--dir")
        .arg(folder.path())
        .stdout(Stdio::null());
    command.spawn().expect("redis-server starts")
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
