//! Readers that go before everything is written, as `head` does: no command minds, and a server goes on.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::json;

use super::import::file;
use super::{founded, on};
use crate::harness::server::command;
use crate::harness::{Api, Database, eventually, on_both};

on_both![
    lists_end_quietly_when_their_reader_has_gone,
    a_change_is_made_whole_although_nobody_reads_of_it,
];

const CONTACTS: usize = 3_000;

/// Runs a command whose reader goes after the first line.
fn head(arguments: &[&str], database: Option<&Database>) -> (String, ExitStatus, String) {
    let mut child = command()
        .args(arguments)
        .args(database.map(Database::options).unwrap_or_default())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    // Without a buffer of its own, so that the rest stays in the pipe.
    let mut reader = BufReader::with_capacity(1, stdout);
    reader.read_line(&mut line).expect("a line");
    drop(reader);
    let mut stderr = String::new();
    let mut errors = child.stderr.take().expect("a pipe");
    errors.read_to_string(&mut stderr).expect("UTF-8");
    (line, child.wait().expect("an end"), stderr)
}

#[track_caller]
fn assert_quiet(arguments: &[&str], database: Option<&Database>) {
    let (line, status, stderr) = head(arguments, database);
    assert!(!line.is_empty(), "{arguments:?} prints nothing: {stderr}");
    assert_eq!(
        (status.code(), stderr.as_str()),
        (Some(0), ""),
        "{arguments:?}"
    );
}

#[test]
fn a_long_answer_ends_quietly_when_its_reader_has_gone() {
    assert_quiet(&["openapi"], None);
    assert_quiet(&["--help"], None);
    assert_quiet(&["eval", "2 > 1"], None);
}

/// More than a pipe holds of each.
async fn lists_end_quietly_when_their_reader_has_gone(database: Database) {
    let database = founded(database).await;
    let rows = (0..CONTACTS).map(|at| format!("user-{at},user-{at}@example.com,pro\n"));
    let csv = format!("id,email,plan\n{}", rows.collect::<String>());
    let (_folder, path) = file("contacts.csv", csv.as_bytes());
    on(&database, &["import", "contacts", &path]).expect(0);
    on(
        &database,
        &["segment", "create", "All", "--expression", "TRUE"],
    )
    .expect(0);
    for arguments in [
        &["segment", "members", "All", "--csv"][..],
        &["segment", "members", "All", "--limit", "3000"],
        &["segment", "members", "All", "--limit", "3000", "--json"],
        &["segment", "list"],
        &["contact", "show", "--user-id", "user-1"],
        &["contact", "export", "--user-id", "user-1"],
        &["projection", "list"],
        &["doctor"],
        &["log", "status"],
        &["api-key", "list"],
    ] {
        assert_quiet(arguments, Some(&database));
    }
}

async fn a_change_is_made_whole_although_nobody_reads_of_it(database: Database) {
    let database = founded(database).await;
    let folder = tempfile::tempdir().expect("a folder");
    let names: Vec<String> = (0..20).map(|at| format!("template-{at}")).collect();
    let mut arguments = vec!["template".to_owned(), "apply".to_owned()];
    for name in &names {
        let path = folder.path().join(name);
        let document = json!({"name": name, "text": "Hello"});
        std::fs::write(&path, document.to_string()).expect("written");
        arguments.push(path.display().to_string());
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    assert_quiet(&arguments, Some(&database));
    let list = on(&database, &["template", "list", "--json"]).expect(0);
    assert_eq!(list.json().as_array().map(Vec::len), Some(names.len()));
}

/// A full disk is told of: what should have been written is not there.
#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full");
    let mut openapi = command();
    openapi.arg("openapi").stdout(full.expect("a full device"));
    let ended = openapi.stderr(Stdio::piped()).output().expect("it runs");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.starts_with("kurier: standard output: No space left"),
        "{stderr}"
    );
}

/// Both outputs lead to a reader that goes after the first line.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_goes_on_when_the_reader_of_its_log_has_gone() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("an address").to_string();
    drop(free);
    let folder = tempfile::tempdir().expect("a folder");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut serve = command();
    serve
        .args(["serve", "--listen", &address, "--data"])
        .arg(folder.path())
        .env("KURIER_LOG", "debug")
        .env("KURIER_BOOTSTRAP_WRITE_KEY", crate::harness::WRITE_KEY)
        .env("KURIER_BOOTSTRAP_ADMIN_KEY", crate::harness::ADMIN_KEY)
        .stderr(writer.try_clone().expect("the same pipe"))
        .stdout(writer);
    let mut server = Stopping(serve.spawn().expect("the server starts"));
    // The command keeps the pipe's end open as long as it lives.
    drop(serve);
    let mut line = String::new();
    let mut reader = BufReader::with_capacity(1, reader);
    reader.read_line(&mut line).expect("a line");
    drop(reader);
    let api = Api::new(
        &format!("http://{address}"),
        crate::harness::ADMIN_KEY,
        crate::harness::WRITE_KEY,
    );
    eventually("it answers", Duration::from_secs(30), async || {
        let asked = api.bare(reqwest::Method::GET, "/readyz").send().await;
        asked.is_ok().then_some(())
    })
    .await;
    api.send("track", json!({"userId": "u", "event": "e"}))
        .await;
    assert_eq!(api.contact("u").await["event_count"], 1);
    assert_eq!(server.terminate(), Some(0));
}

struct Stopping(std::process::Child);

impl Stopping {
    fn terminate(&mut self) -> Option<i32> {
        let pid = self.0.id().to_string();
        let said = std::process::Command::new("kill")
            .args(["-TERM", &pid])
            .status();
        assert!(said.expect("kill runs").success());
        self.0.wait().expect("an end").code()
    }
}

impl Drop for Stopping {
    fn drop(&mut self) {
        // It has ended already unless the test failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
