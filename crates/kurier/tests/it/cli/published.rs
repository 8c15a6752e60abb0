//! Journeys of a workspace by command, beside a server and without one.

use std::fs;

use serde_json::{Value, json};

use super::{founded, kurier, on};
use crate::harness::{Database, Server, on_both};
use crate::journeys::cart;

on_both![
    without_a_server_journeys_are_applied_and_shown,
    beside_a_server_both_see_the_same,
    what_is_wrong_changes_nothing,
];

fn file(folder: &tempfile::TempDir, name: &str, definition: &Value) -> String {
    let path = folder.path().join(name);
    fs::write(&path, definition.to_string()).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

/// The templates that the journeys here name.
fn publish_templates(database: &Database, folder: &tempfile::TempDir) {
    for name in ["t", "two", "other"] {
        let document = json!({"name": name, "text": "Hi {{ contact.name }}"});
        let path = file(folder, &format!("{name}.json"), &document);
        on(database, &["template", "apply", &path]).expect(0);
    }
}

async fn without_a_server_journeys_are_applied_and_shown(database: Database) {
    let database = &founded(database).await;
    let folder = tempfile::tempdir().expect("a folder");
    publish_templates(database, &folder);
    let (one, two) = (cart("One", "t"), cart("Two", "t"));
    let (one, two) = (file(&folder, "1.json", &one), file(&folder, "2.json", &two));
    let applied = on(database, &["journey", "apply", &one, &two]).expect(0);
    let told = format!("{one}: published One, version 1\n{two}: published Two, version 1\n");
    assert_eq!(applied.stdout, told);
    let again = on(database, &["journey", "apply", &one, "--publish", "--json"]);
    let again = again.expect(0).json();
    assert_eq!(
        (&again[0]["published"], &again[0]["version"]),
        (&json!(false), &json!(1))
    );
    file(&folder, "2.json", &cart("Two", "other"));
    let draft = on(database, &["journey", "apply", &two, "--draft"]).expect(0);
    assert_eq!(draft.stdout, format!("{two}: the draft of Two is saved\n"));
    let three = file(&folder, "3.json", &json!({"name": "Three"}));
    on(database, &["journey", "apply", &three, "--draft"]).expect(0);
    assert_eq!(
        on(database, &["journey", "pause", "One"]).expect(0).stdout,
        "One is paused\n"
    );
    let list = on(database, &["journey", "list"]).expect(0).stdout;
    let lines: Vec<Vec<&str>> = list
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines[0], ["NAME", "STANDING", "VERSION", "DRAFT", "ID"]);
    assert_eq!(lines[1][..3], ["One", "paused", "1"]);
    assert_eq!(lines[2][..2], ["Three", "draft"]);
    assert_eq!(lines[3][..4], ["Two", "active", "1", "yes"]);
    let refused = on(database, &["journey", "pause", "One"]).expect(1);
    assert!(
        refused.stderr.contains("`One` is paused"),
        "{}",
        refused.stderr
    );
    on(database, &["journey", "resume", "One"]).expect(0);
    let retired = on(database, &["journey", "retire", "One", "--json"])
        .expect(0)
        .json();
    assert_eq!(retired["standing"], "retired");
    let shown = on(database, &["journey", "show", "Two", "--json"])
        .expect(0)
        .json();
    assert_eq!(shown["draft"], cart("Two", "other"));
    assert_eq!(shown["definition"], cart("Two", "t"));
    let shown = on(database, &["journey", "show", "Two"]).expect(0).stdout;
    assert!(
        shown.contains("standing    active\nversion     1\ndraft       yes\n"),
        "{shown}"
    );
    let stats = on(database, &["journey", "stats", "Two"]).expect(0).stdout;
    assert_eq!(stats, "0 entered, 0 active, none ended\n");
    let runs = on(database, &["journey", "instances", "Two", "--json"]).expect(0);
    assert_eq!(runs.json(), json!([]));
}

async fn beside_a_server_both_see_the_same(database: Database) {
    let server = Server::start(database).await;
    let (api, database) = (&server.api, &server.database);
    let folder = tempfile::tempdir().expect("a folder");
    publish_templates(database, &folder);
    let path = file(&folder, "cart.json", &cart("Cart", "t"));
    on(database, &["journey", "apply", &path]).expect(0);
    let shown = on(database, &["journey", "show", "Cart", "--json"])
        .expect(0)
        .json();
    let address = format!("/api/v1/journeys/{}", shown["id"].as_str().expect("an id"));
    let publish = format!("{address}/publish");
    let second = crate::journeys::post(api, &publish, &cart("Cart", "two")).await;
    assert_eq!(second.expect(200).json()["version"], 2);
    assert_eq!(
        api.get(&address).await.expect(200).json()["definition"],
        cart("Cart", "two")
    );
    let list = on(database, &["journey", "list", "--json"])
        .expect(0)
        .json();
    assert_eq!(list[0]["version"], 2);
    on(database, &["journey", "pause", "Cart"]).expect(0);
    let resumed = crate::journeys::tell(api, &format!("{address}/resume")).await;
    assert_eq!(resumed.expect(200).json()["standing"], "active");
}

async fn what_is_wrong_changes_nothing(database: Database) {
    let database = &founded(database).await;
    let folder = tempfile::tempdir().expect("a folder");
    publish_templates(database, &folder);
    let good = file(&folder, "good.json", &cart("Good", "t"));
    let mut faulty = cart("Bad", "t");
    faulty["nodes"][1]["next_node_id"] = json!("don");
    faulty["nodes"][2]["channel"] = json!("pigeon");
    faulty["nodes"][2]["template"] = json!("twoo");
    let bad = file(&folder, "bad.json", &faulty);
    let refused = on(database, &["journey", "apply", &good, &bad]).expect(1);
    let told = [
        "fault: node wait, next_node_id: there is no node `don`; did you mean `done`?",
        "fault: node mail, channel: there is no channel `pigeon`",
        "fault: node mail, template: there is no template `twoo`; did you mean `two`?",
        "nothing was changed",
    ];
    for told in told {
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
    let nameless = file(&folder, "nameless.json", &json!({"nodes": []}));
    let refused = on(database, &["journey", "apply", &nameless, "--draft"]).expect(1);
    assert!(
        refused.stderr.contains("fault: name: is missing"),
        "{}",
        refused.stderr
    );
    on(database, &["journey", "apply", "/no/such/file"]).expect(1);
    on(
        database,
        &["journey", "apply", &good, "--draft", "--publish"],
    )
    .expect(2);
    let list = on(database, &["journey", "list", "--json"]).expect(0);
    assert_eq!(list.json(), json!([]));
    let none = on(database, &["journey", "show", "nothing"]).expect(1);
    assert_eq!(none.stderr, "kurier: there is no journey `nothing`\n");
    on(database, &["journey", "trigger", "x"]).expect(2);
    on(database, &["journey", "apply", &good]).expect(0);
    let stranger = on(database, &["journey", "trigger", "Good", "--user", "ann"]).expect(1);
    assert_eq!(stranger.stderr, "kurier: there is no such contact\n");
    let reserved = [
        "journey",
        "trigger",
        "Good",
        "--user",
        "ann",
        "--state",
        "step_count=1",
    ];
    on(database, &reserved).expect(2);
    for command in ["apply", "instances", "trigger"] {
        let help = kurier(&["journey", command, "--help"]).expect(0).stdout;
        assert!(help.contains("Example"), "{help}");
    }
}
