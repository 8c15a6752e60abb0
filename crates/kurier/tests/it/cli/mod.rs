//! The command line, beside a running server and without one.

mod contact;
mod import;
mod journey;
mod keys;
mod messages;
mod pipe;
mod published;
mod resume;
mod segment;
mod settings;
mod version;

use serde_json::Value;

use crate::harness::server::command;
use crate::harness::{Database, Server};

pub struct Output {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        self
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}", self.stdout))
    }
}

/// Runs a command without any database named.
pub fn kurier(arguments: &[&str]) -> Output {
    with_variables(arguments, &[])
}

pub fn with_variables(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = command();
    command.args(arguments).envs(variables.iter().copied());
    told(&command.output().expect("the binary runs"))
}

/// Runs a command that reads this.
pub fn reading(text: &str, arguments: &[&str]) -> Output {
    use std::io::Write as _;
    let mut command = command();
    let piped = std::process::Stdio::piped;
    command
        .args(arguments)
        .stdin(piped())
        .stdout(piped())
        .stderr(piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(text.as_bytes()).expect("written");
    drop(stdin);
    told(&child.wait_with_output().expect("the binary runs"))
}

fn told(output: &std::process::Output) -> Output {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    Output {
        code: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// Runs a command over a database.
pub fn on(database: &Database, arguments: &[&str]) -> Output {
    let options = database.options();
    let all: Vec<&str> = arguments
        .iter()
        .copied()
        .chain(options.iter().map(String::as_str))
        .collect();
    kurier(&all)
}

/// A database with its first workspace, and no server.
pub async fn founded(database: Database) -> Database {
    Server::start(database).await.terminate().await.database
}
