//! A Redis of a test's own, that may be stopped and started again.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const DEADLINE: Duration = Duration::from_secs(30);

pub struct Redis {
    port: u16,
    folder: TempDir,
    child: Option<Child>,
    /// What `redis-cli` needs to be told to reach it.
    cli: Vec<String>,
}

impl Redis {
    pub fn start() -> Self {
        let mut redis = Self::new(Vec::new());
        redis.start_again();
        redis
    }

    /// With the certificate `redis.crt` of a folder, which `ca.crt` has signed.
    pub fn start_encrypted(folder: &Path) -> Self {
        let path = |name: &str| folder.join(name).display().to_string();
        let cli = ["--tls", "--cacert", &path("ca.crt"), "-h", "localhost"];
        let mut redis = Self::new(cli.map(str::to_owned).to_vec());
        let port = redis.port.to_string();
        let (cert, key, ca) = (path("redis.crt"), path("redis.key"), path("ca.crt"));
        redis.launch(&[
            "--port",
            "0",
            "--tls-port",
            &port,
            "--tls-cert-file",
            &cert,
            "--tls-key-file",
            &key,
            "--tls-ca-cert-file",
            &ca,
            "--tls-auth-clients",
            "no",
        ]);
        redis
    }

    fn new(cli: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        Self {
            port,
            folder: TempDir::new().expect("a temporary folder"),
            child: None,
            cli,
        }
    }

    /// Empty, as after a loss.
    pub fn start_again(&mut self) {
        let port = self.port.to_string();
        self.launch(&["--port", &port]);
    }

    fn launch(&mut self, options: &[&str]) {
        let mut program = Command::new("redis-server");
        program
            .args(options)
            .args([
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
                "--dir",
            ])
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

    /// What `SAVE` has written.
    pub fn dump(&self) -> Vec<u8> {
        std::fs::read(self.folder.path().join("dump.rdb")).expect("a dump")
    }

    pub const fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// What `redis-cli` prints.
    pub fn cli(&self, words: &[&str]) -> String {
        let mut program = Command::new("redis-cli");
        program.args(["-p", &self.port.to_string()]);
        program.args(&self.cli).args(words);
        let output = program.output().expect("redis-cli is installed");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.stop();
    }
}
