//! The command line, beside a running server and without one.

mod contact;
mod import;
mod keys;
mod resume;
mod settings;

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
    let output = command.output().expect("the binary runs");
    Output {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
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
