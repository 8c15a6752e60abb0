//! Which Kurier this is: the same answer by command, by the doctor and by the server.

use std::process::Command;

use super::{kurier, on};
use crate::harness::{Database, Server, on_both};

on_both![the_doctor_and_the_server_name_the_build];

/// The version with the commit that this test and the program were built from.
fn build() -> String {
    let checkout = || {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let mut git = Command::new("git");
        git.args(["-C", root, "log", "-1", "--abbrev=8", "--format=%h %cs"]);
        let named = git.output().ok().filter(|it| it.status.success())?;
        Some(
            String::from_utf8(named.stdout)
                .expect("text")
                .trim()
                .to_owned(),
        )
    };
    let commit = option_env!("KURIER_COMMIT").map(str::to_owned);
    let commit = commit
        .or_else(checkout)
        .unwrap_or_else(|| "unknown".to_owned());
    format!("{} ({commit})", env!("CARGO_PKG_VERSION"))
}

#[test]
fn the_version_names_the_commit() {
    for option in ["--version", "-V"] {
        let version = kurier(&[option]).expect(0).stdout;
        assert_eq!(version, format!("kurier {}\n", build()));
    }
}

async fn the_doctor_and_the_server_name_the_build(database: Database) {
    let server = Server::start(database).await;
    let ready = server.api.get("/readyz").await.expect(200).json();
    let (version, commit) = (ready["version"].as_str(), ready["commit"].as_str());
    let shown = format!(
        "{} ({}",
        version.expect("a version"),
        commit.expect("a commit")
    );
    assert!(build().starts_with(&shown), "{shown}");
    assert!(!commit.expect("a commit").contains(' '), "{shown}");
    let doctor = on(&server.database, &["doctor"]).expect(0).stdout;
    let line = format!("ok   version      {}\n", build());
    assert!(doctor.starts_with(&line), "{doctor}");
}
