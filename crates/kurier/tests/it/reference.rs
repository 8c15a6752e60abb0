//! Every example in `docs/reference` and `docs/guides` is run. A block marked `console` holds commands after
//! `$ ` and below each what it prints; `…` stands for anything. The blocks of a page run in
//! one shell, in an empty folder, beside a server of their own.

mod readme;
mod shell;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use self::shell::{Server, Shell, examples, matches};

fn root() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../..").into()
}

fn check_page(name: &str) {
    check("docs/reference", name);
}

fn check(place: &str, name: &str) {
    let page = fs::read_to_string(root().join(place).join(name)).expect("the page");
    let examples = examples(&page);
    assert!(!examples.is_empty(), "{name} has no examples");
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(folder.path());
    shell::check(name, &examples, Shell::beside(&server, folder.path()));
}

#[test]
fn ingest() {
    check_page("ingest.md");
}

#[test]
fn channels() {
    check_page("channels.md");
}

#[test]
fn bundles() {
    check_page("bundles.md");
}

#[test]
fn guide_bundles() {
    check("docs/guides", "bundles.md");
}

#[test]
fn guide_going_live() {
    check("docs/guides", "going-live.md");
}

#[test]
fn api() {
    check_page("api.md");
}

#[test]
fn contacts() {
    check_page("contacts.md");
}

#[test]
fn cli() {
    check_page("cli.md");
}

#[test]
fn expressions() {
    check_page("expressions.md");
}

#[test]
fn journeys() {
    check_page("journeys.md");
}

#[test]
fn keys_operations() {
    check_page("keys-operations.md");
}

#[test]
fn keys() {
    check_page("keys.md");
}

#[test]
fn content() {
    check_page("content.md");
}

#[test]
fn slack_workspaces() {
    check_page("slack-workspaces.md");
}

#[test]
fn messages() {
    check_page("messages.md");
}

#[test]
fn projections() {
    check_page("projections.md");
}

#[test]
fn segments() {
    check_page("segments.md");
}

#[test]
fn settings() {
    check_page("settings.md");
}

#[test]
fn suppressions() {
    check_page("suppressions.md");
}

#[test]
fn templates() {
    check_page("templates.md");
}

#[test]
fn users() {
    check_page("users.md");
}

#[test]
fn every_page_is_checked() {
    const CHECKED: &[&str] = &[
        "api.md",
        "bundles.md",
        "channels.md",
        "cli.md",
        "contacts.md",
        "content.md",
        "expressions.md",
        "ingest.md",
        "journeys.md",
        "keys-operations.md",
        "keys.md",
        "messages.md",
        "projections.md",
        "segments.md",
        "settings.md",
        "slack-workspaces.md",
        "suppressions.md",
        "templates.md",
        "users.md",
    ];
    const GUIDES: &[&str] = &["bundles.md", "first-journey.md", "going-live.md"];
    assert_eq!(pages("docs/reference"), CHECKED);
    assert_eq!(pages("docs/guides"), GUIDES);
}

/// The names of a folder's files, sorted.
fn pages(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.into_string().expect("UTF-8"));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn patterns_match_what_they_should() {
    assert!(matches("a…c\n", "abc\n"));
    assert!(matches("a…", "abc"));
    assert!(matches("…", "anything"));
    assert!(matches("a…c…e", "abcde"));
    assert!(!matches("a…c", "abcd"));
    assert!(!matches("abc", "abcd"));
    assert!(!matches("a…c…e", "abde"));
}

#[test]
fn every_command_and_setting_is_in_the_reference() {
    let help = Command::new(env!("CARGO_BIN_EXE_kurier"))
        .arg("--help")
        .output()
        .expect("help");
    let help = String::from_utf8(help.stdout).expect("UTF-8");
    let commands = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    let page = fs::read_to_string(root().join("docs/reference/cli.md")).expect("the page");
    let names: Vec<&str> = commands
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 4, "{help}");
    let missing: Vec<&&str> = names
        .iter()
        .filter(|name| !page.contains(&format!("## kurier {name}\n")))
        .collect();
    assert!(missing.is_empty(), "cli.md does not tell of {missing:?}");
}

#[test]
fn every_filter_and_limit_is_in_the_reference() {
    use kurier_core::template::{Filter, Limit};
    let page = fs::read_to_string(root().join("docs/reference/templates.md")).expect("the page");
    let is_told =
        |name: &str| page.contains(&format!("`{name}`")) || page.contains(&format!("`{name}: "));
    let filters = Filter::ALL.iter().map(|filter| filter.name());
    let limits = Limit::ALL.iter().map(|limit| limit.as_str());
    let missing: Vec<&str> = filters
        .chain(limits)
        .filter(|name| !is_told(name))
        .collect();
    assert!(
        missing.is_empty(),
        "templates.md does not tell of {missing:?}"
    );
}
