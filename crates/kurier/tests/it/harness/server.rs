//! The server: started, killed, stopped and started again.

use std::io::BufRead as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::{ADMIN_KEY, Api, Database, WRITE_KEY};

pub const BINARY: &str = env!("CARGO_BIN_EXE_kurier");
const START_LIMIT: Duration = Duration::from_secs(30);
const STOP_LIMIT: Duration = Duration::from_secs(30);

pub struct Server {
    pub api: Api,
    pub database: Database,
    /// What the first start and every other one printed before `listening`.
    pub greeting: Vec<String>,
    logs: TempDir,
    child: Child,
}

impl Server {
    pub async fn start(database: Database) -> Self {
        let keys = [
            ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
            ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ];
        Self::start_with(database, &keys).await
    }

    pub async fn start_with(database: Database, variables: &[(&str, &str)]) -> Self {
        let logs = TempDir::new().expect("a temporary folder");
        Self::launch(database, logs, variables)
    }

    fn launch(database: Database, logs: TempDir, variables: &[(&str, &str)]) -> Self {
        let mut child = spawn(&database, &logs, variables);
        let stdout = child.stdout.take().expect("a pipe");
        let stdout = stdout.into_owned_fd().expect("a blocking pipe");
        let (greeting, url) = greeting(stdout.into(), &logs);
        Self {
            api: Api::new(&url, ADMIN_KEY, WRITE_KEY),
            database,
            greeting,
            logs,
            child,
        }
    }

    /// Ends the process as a power cut would.
    pub async fn kill9(mut self) -> Stopped {
        self.child.kill().await.expect("killed");
        self.stopped()
    }

    fn stopped(self) -> Stopped {
        Stopped {
            database: self.database,
            logs: self.logs,
        }
    }

    /// Says SIGTERM and nothing more.
    pub fn ask_to_stop(&self) {
        self.signal("-TERM");
    }

    /// Says a signal, as `kill` names it.
    pub fn signal(&self, signal: &str) {
        let pid = self.pid().to_string();
        let said = std::process::Command::new("kill")
            .args([signal, &pid])
            .status();
        assert!(said.expect("kill runs").success());
    }

    /// Waits for an end that was asked for.
    pub async fn wait(mut self) -> (ExitStatus, Stopped) {
        let ended = tokio::time::timeout(STOP_LIMIT, self.child.wait()).await;
        let status = ended.expect("stopped within 30 s").expect("an exit status");
        (status, self.stopped())
    }

    pub async fn terminate(self) -> Stopped {
        self.ask_to_stop();
        let (status, stopped) = self.wait().await;
        assert!(status.success(), "{status}: {}", stopped.log());
        stopped
    }

    pub fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// What the server has logged so far.
    pub fn log(&self) -> String {
        read_log(&self.logs)
    }
}

/// A server that has ended, with all it left behind.
pub struct Stopped {
    pub database: Database,
    logs: TempDir,
}

impl Stopped {
    pub async fn restart(self) -> Server {
        self.restart_with(&[]).await
    }

    pub async fn restart_with(self, variables: &[(&str, &str)]) -> Server {
        Server::launch(self.database, self.logs, variables)
    }

    /// Starts it once more, to die by itself at a place that it passes, listening or not yet.
    pub async fn dies_at(self, place: &str, variables: &[(&str, &str)]) -> Self {
        let variables = [variables, &[("TEST_DIE_AT", place)]].concat();
        let child = spawn(&self.database, &self.logs, &variables);
        assert_dies(child, place).await;
        self
    }

    pub fn log(&self) -> String {
        read_log(&self.logs)
    }
}

/// Waits for a process that is to die by itself.
pub async fn assert_dies(child: Child, place: &str) {
    let ended = tokio::time::timeout(STOP_LIMIT, child.wait_with_output()).await;
    let output = ended.unwrap_or_else(|_| panic!("{place}: the process lives on"));
    let status = output.expect("an exit status").status;
    assert_eq!(status.code(), None, "{place}: it ended otherwise");
}

pub fn spawn(database: &Database, logs: &TempDir, variables: &[(&str, &str)]) -> Child {
    let log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(logs.path().join("stderr"))
        .expect("a log file");
    let mut command = Command::from(command());
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .args(database.options())
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .kill_on_drop(true);
    command.spawn().expect("the binary starts")
}

fn read_log(logs: &TempDir) -> String {
    std::fs::read_to_string(logs.path().join("stderr")).expect("a log")
}

/// The binary, without the settings of whoever runs the tests.
pub fn command() -> std::process::Command {
    let mut command = std::process::Command::new(BINARY);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("KURIER_") {
            command.env_remove(name);
        }
    }
    command
}

/// The lines before `listening on`, and the address after it.
fn greeting(stdout: std::fs::File, logs: &TempDir) -> (Vec<String>, String) {
    let (lines, line) = mpsc::channel();
    std::thread::spawn(move || {
        for text in std::io::BufReader::new(stdout)
            .lines()
            .map_while(Result::ok)
        {
            // Nobody listens any more once the server does.
            let _ = lines.send(text);
        }
    });
    let mut greeting = Vec::new();
    loop {
        let Ok(text) = line.recv_timeout(START_LIMIT) else {
            let log: PathBuf = logs.path().join("stderr");
            panic!(
                "no start: {}",
                std::fs::read_to_string(log).unwrap_or_default()
            );
        };
        if let Some(url) = text.strip_prefix("listening on ") {
            return (greeting, url.to_owned());
        }
        greeting.push(text);
    }
}
