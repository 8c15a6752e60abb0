//! A Redis of a test's own, that may be stopped and started again.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kurier_store::kv::{Redis as Client, Timeouts};
use tempfile::TempDir;

const DEADLINE: Duration = Duration::from_secs(30);

pub struct Redis {
    port: u16,
    folder: TempDir,
    child: Option<Child>,
}

impl Redis {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let mut redis = Self {
            port,
            folder: TempDir::new().expect("a temporary folder"),
            child: None,
        };
        redis.start_again();
        redis
    }

    /// Empty, as after a loss.
    pub fn start_again(&mut self) {
        let mut program = Command::new("redis-server");
        program
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no", "--dir"])
            .arg(self.folder.path())
            .stdout(Stdio::null());
        self.child = Some(program.spawn().expect("redis-server is installed"));
        let began = Instant::now();
        while self.cli(&["PING"]) != "PONG" {
            assert!(began.elapsed() < DEADLINE, "Redis does not start");
        }
    }

    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("killed");
            child.wait().expect("ended");
        }
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// What `redis-cli` prints.
    pub fn cli(&self, words: &[&str]) -> String {
        let mut program = Command::new("redis-cli");
        program.args(["-p", &self.port.to_string()]).args(words);
        let output = program.output().expect("redis-cli is installed");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub async fn client(&self) -> Arc<Client> {
        let timeouts = Timeouts::default();
        let client = Client::open(&self.url(), timeouts).await;
        Arc::new(client.expect("a good address"))
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.stop();
    }
}
