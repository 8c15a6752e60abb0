//! Journeys from files: the examples hold what their tests say, and faults are told.

use std::fs;
use std::path::{Path, PathBuf};

use super::kurier;

fn examples() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("crates/");
    let folder = crates
        .parent()
        .expect("the repository")
        .join("examples/journeys");
    let files = fs::read_dir(folder).expect("the examples");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("an entry").path()).collect();
    files.sort();
    files
}

fn is_fixture(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".test.yaml")
}

#[test]
fn every_example_is_good_without_warnings_and_does_what_its_tests_say() {
    let (fixtures, definitions): (Vec<_>, Vec<_>) =
        examples().into_iter().partition(|path| is_fixture(path));
    assert!(definitions.len() >= 4);
    for definition in &definitions {
        let path = definition.to_str().expect("UTF-8");
        let checked = kurier(&["journey", "check", path]).expect(0);
        assert_eq!(checked.stderr, "", "{path}");
        let fixture = PathBuf::from(path.replace(".yaml", ".test.yaml"));
        assert!(fixtures.contains(&fixture), "{path} has no tests");
        let drawn = kurier(&["journey", "graph", path]).expect(0);
        assert!(drawn.stdout.starts_with("<svg"), "{}", drawn.stdout);
    }
    let mut arguments = vec!["journey", "test", "--json"];
    arguments.extend(fixtures.iter().map(|path| path.to_str().expect("UTF-8")));
    let tested = kurier(&arguments).expect(0).json();
    let cases = tested.as_array().expect("a list");
    assert!(
        cases.len() >= 14 && cases.iter().all(|case| case["good"] == true),
        "{tested}"
    );
}

fn write(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

const SMALL: &str = "name: t\nnodes:\n  - {id: start, node_type: trigger, event_type: go, next_node_id: done}\n  - {id: done, node_type: exit}\n";

#[test]
fn a_case_that_differs_fails_and_says_how() {
    let folder = tempfile::tempdir().expect("a folder");
    write(&folder, "j.yaml", SMALL);
    let fixture = write(
        &folder,
        "j.test.yaml",
        "journey: j.yaml\ncases:\n  - name: x\n    given: [{user: ann, track: go}]\n    expect: {runs: [{user: bob, path: [start, done], ending: exit}]}\n",
    );
    let output = kurier(&["journey", "test", &fixture]).expect(1);
    assert!(
        output.stdout.contains("- run  bob  start > done  exit"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("+ run  ann  start > done  exit"),
        "{}",
        output.stdout
    );
}

#[test]
fn what_cannot_be_read_is_told_and_does_not_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let faulty = write(&folder, "faulty.yaml", "name: t\nnodes: [");
    assert!(
        kurier(&["journey", "check", &faulty])
            .expect(1)
            .stderr
            .contains("is not YAML")
    );
    kurier(&["journey", "graph", &faulty]).expect(1);
    kurier(&["journey", "check", "/no/such/file"]).expect(1);
    let misspelt = write(&folder, "f.test.yaml", "journey: j.yaml\ncase: []\n");
    let output = kurier(&["journey", "test", &misspelt]).expect(1);
    assert!(output.stderr.contains("unknown field"), "{}", output.stderr);
    let good = write(&folder, "j.yaml", SMALL);
    let events = write(
        &folder,
        "e.ndjson",
        "{\"type\": \"track\", \"userId\": \"a\", \"event\": \"go\"}\n",
    );
    let output = kurier(&["journey", "simulate", &good, "--events", &events]).expect(1);
    assert!(output.stderr.contains("no timestamp"), "{}", output.stderr);
}

#[test]
fn a_simulation_takes_events_in_the_order_of_their_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = write(&folder, "j.yaml", SMALL);
    let line = |user: &str, day: u32| {
        format!(
            "{{\"type\": \"track\", \"userId\": \"{user}\", \"event\": \"go\", \"timestamp\": \"2026-01-0{day}T00:00:00Z\"}}\n"
        )
    };
    let text = line("c", 3) + &line("a", 1) + &line("b", 2);
    let events = write(&folder, "e.ndjson", &text);
    let simulate = |more: &[&str]| {
        let mut arguments = vec!["journey", "simulate", &good, "--events", &events, "--json"];
        arguments.extend(more);
        kurier(&arguments).expect(0).json()["runs"].clone()
    };
    assert_eq!(simulate(&[]), 3);
    assert_eq!(simulate(&["--from", "2026-01-02T00:00:00Z"]), 2);
    assert_eq!(simulate(&["--to", "2026-01-02T00:00:00Z"]), 2);
}
