//! Templates by command, beside a server and without one.

use std::fs;

use serde_json::json;

use crate::cli::{founded, kurier, on};
use crate::harness::{Database, Server, on_both};

on_both![
    without_a_server_templates_are_applied_shown_and_previewed,
    beside_a_server_both_see_the_same_template,
];

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn files_are_checked_and_rendered_without_any_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = file(
        &folder,
        "good.yaml",
        "name: hi\nsubject: Hi {{ contact.name }}\nmarkdown: '**{{ data.n | plus: 1 }}** {{ contact.none }}'\n",
    );
    let checked = kurier(&["template", "check", &good]).expect(0).stdout;
    assert_eq!(
        checked,
        format!("{good}: hi is good, reads contact.name, contact.none, data.n\n")
    );
    let (contact, data) = (
        file(&folder, "c.json", r#"{"name": "Ann"}"#),
        file(&folder, "d.json", r#"{"n": 1}"#),
    );
    let render = [
        "template",
        "render",
        &good,
        "--contact",
        &contact,
        "--data-file",
        &data,
    ];
    let text = kurier(&[&render[..], &["--part", "text"]].concat()).expect(0);
    assert_eq!(
        (text.stdout.as_str(), text.stderr.as_str()),
        ("2\n", "contact.none has no value\n")
    );
    let json = kurier(&[&render[..], &["--json"]].concat())
        .expect(0)
        .json();
    assert_eq!(
        (&json["subject"], &json["missing"]),
        (&json!("Hi Ann"), &json!(["contact.none"]))
    );
}

#[test]
fn what_is_wrong_with_files_is_told_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = file(
        &folder,
        "bad.yaml",
        "name: bad\ntext: |\n  Hi\n  {{ contact.name | upcas }}\n",
    );
    let refused = kurier(&["template", "check", &bad]).expect(1).stderr;
    let told = format!(
        "{bad}: text, line 2:\n  {{{{ contact.name | upcas }}}}\n                    ^^^^^ there is no filter `upcas`; did you mean upcase?\n"
    );
    assert_eq!(refused, told);
    let faults = kurier(&["template", "check", &bad, "--json"])
        .expect(1)
        .json();
    assert_eq!(
        (&faults[0]["good"], &faults[0]["faults"][0]["span"]["start"]),
        (&json!(false), &json!(21))
    );
    let hostile = file(
        &folder,
        "h.yaml",
        "name: h\ntext: '{% for i in (1..99999) %}x{% endfor %}'\n",
    );
    let refused = kurier(&["template", "render", &hostile]).expect(1).stderr;
    assert_eq!(
        refused,
        "kurier: text: limit: its loops run more than 10,000 times\n"
    );
    let refused = kurier(&["template", "render", &hostile, "--json"])
        .expect(1)
        .json();
    assert_eq!(refused["code"], "limit");
    for command in ["render", "apply", "preview"] {
        let help = kurier(&["template", command, "--help"]).expect(0).stdout;
        assert!(help.contains("Example"), "{help}");
    }
}

/// What stands in a folder of examples.
fn examples(folder: &str) -> Vec<String> {
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/");
    let entries = fs::read_dir(format!("{crates}{folder}")).expect("the examples");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let paths = paths.map(|path| path.to_str().expect("UTF-8").to_owned());
    paths.collect()
}

#[test]
fn every_journey_of_the_examples_has_its_templates() {
    let templates = examples("templates");
    let mut arguments = vec!["template", "check", "--json"];
    arguments.extend(templates.iter().map(String::as_str));
    let checked = kurier(&arguments).expect(0).json();
    assert_eq!(checked.as_array().map(Vec::len), Some(templates.len()));
    let names: Vec<&str> = templates
        .iter()
        .filter_map(|path| path.rsplit('/').next())
        .collect();
    let journeys = examples("journeys");
    let mut named = 0;
    for path in journeys.iter().filter(|path| !path.ends_with(".test.yaml")) {
        let text = fs::read_to_string(path).expect("read");
        for part in text.split("template: ").skip(1) {
            let name = part.split([',', '}', '\n', ' ']).next().unwrap_or_default();
            assert!(
                names.contains(&format!("{name}.yaml").as_str()),
                "{path}: {name}"
            );
            named += 1;
        }
    }
    assert!(named >= 14, "{named}");
}

async fn without_a_server_templates_are_applied_shown_and_previewed(database: Database) {
    let database = &founded(database).await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = file(
        &folder,
        "hi.yaml",
        "name: hi\ntopic: news\ntext: \"Hi {{ contact.name | default: 'you' }}, {{ data.n }}\"\n",
    );
    let applied = on(database, &["template", "apply", &path]).expect(0).stdout;
    assert_eq!(applied, format!("{path}: published hi, version 1\n"));
    let again = on(database, &["template", "apply", &path, "--json"])
        .expect(0)
        .json();
    assert_eq!(
        (&again[0]["published"], &again[0]["version"]),
        (&json!(false), &json!(1))
    );
    let list = on(database, &["template", "list"]).expect(0).stdout;
    let lines: Vec<Vec<&str>> = list
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        lines,
        [
            vec!["NAME", "VERSION", "TOPIC", "RETIRED", "READS"],
            vec!["hi", "1", "news", "contact.name", "data.n"]
        ]
    );
    let shown = on(database, &["template", "show", "hi", "--json"])
        .expect(0)
        .json();
    assert_eq!(
        (&shown["template"]["version"], &shown["document"]["topic"]),
        (&json!(1), &json!("news"))
    );
    let people = file(&folder, "people.csv", "user_id,name\nann,Ann\n");
    on(database, &["import", "contacts", &people]).expect(0);
    let preview = on(database, &["template", "preview", "hi", "--user", "ann"]).expect(0);
    assert_eq!(
        (preview.stdout.as_str(), preview.stderr.as_str()),
        ("--- text\nHi Ann,\n", "data.n has no value\n")
    );
    let nobody = on(database, &["template", "preview", "hi", "--user", "bob"]).expect(1);
    assert_eq!(nobody.stderr, "kurier: there is no such contact\n");
    let bad = file(&folder, "bad.yaml", "name: bad\n");
    let refused = on(database, &["template", "apply", &path, &bad])
        .expect(1)
        .stderr;
    assert!(
        refused.ends_with("has no body; write markdown, html, text or json\nnothing was changed\n"),
        "{refused}"
    );
    let none = on(database, &["template", "show", "none"]).expect(1);
    assert_eq!(none.stderr, "kurier: there is no template `none`\n");
}

async fn beside_a_server_both_see_the_same_template(database: Database) {
    let server = Server::start(database).await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = file(&folder, "hi.yaml", "name: hi\ntext: one\n");
    on(&server.database, &["template", "apply", &path]).expect(0);
    let second = json!({"text": "two"});
    let answer = crate::journeys::put(&server.api, "/api/v1/templates/hi", &second).await;
    assert_eq!(answer.expect(200).json()["version"], 2);
    let list = on(&server.database, &["template", "list", "--json"])
        .expect(0)
        .json();
    assert_eq!(list[0]["version"], 2);
    let old = on(
        &server.database,
        &["template", "show", "hi", "--version", "1"],
    )
    .expect(0);
    assert!(old.stdout.contains("\"text\": \"one\""), "{}", old.stdout);
}
