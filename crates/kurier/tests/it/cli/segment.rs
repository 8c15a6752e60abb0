//! Segments by command, beside a server and without one.

use serde_json::{Value, json};

use super::{founded, kurier, on};
use crate::harness::{Database, Server, on_both, unique};

on_both![
    without_a_server_members_follow,
    without_a_server_members_are_given,
    beside_a_server_it_does_the_work,
    what_is_wrong_is_said_and_changes_nothing,
];

fn import(database: &Database, csv: &str) {
    let folder = tempfile::TempDir::new().expect("a folder");
    let file = folder.path().join("contacts.csv");
    std::fs::write(&file, csv).expect("written");
    let file = file.display().to_string();
    on(database, &["import", "contacts", &file]).expect(0);
}

fn sizes(database: &Database) -> Vec<(String, i64)> {
    let list = on(database, &["segment", "list", "--json"])
        .expect(0)
        .json();
    let size = |segment: &Value| {
        (
            segment["name"].as_str().expect("a name").to_owned(),
            segment["size"].as_i64().expect("a number"),
        )
    };
    list.as_array().expect("a list").iter().map(size).collect()
}

async fn without_a_server_members_follow(database: Database) {
    let database = &founded(database).await;
    import(database, "user_id,plan\nann,pro\nbob,free\n");
    let pros = "contact.plan = 'pro'";
    let create = ["segment", "create", "Pros", "--expression", pros, "--json"];
    let made = on(database, &create).expect(0).json();
    assert_eq!(
        (&made["size"], &made["expression"]),
        (&json!(1), &json!(pros))
    );
    // Nobody else reacts to what is imported now.
    import(database, "user_id,plan\ncleo,pro\ndora,pro\n");
    assert_eq!(sizes(database), [("Pros".to_owned(), 3)]);
    let preview = on(
        database,
        &["segment", "preview", "contact.plan != 'pro'", "--json"],
    );
    assert_eq!(preview.expect(0).json()["count"], 1);
    let explain = ["segment", "explain", "Pros", "--user-id"];
    let why = on(database, &[&explain[..], &["bob"]].concat()).expect(1);
    assert_eq!(
        why.stdout,
        "not a member\n  false  contact.plan = 'pro'  (contact.plan is 'free')\n"
    );
    on(database, &[&explain[..], &["ann"]].concat()).expect(0);
}

async fn without_a_server_members_are_given(database: Database) {
    let database = &founded(database).await;
    import(database, "user_id,plan\nann,pro\nbob,free\ndora,pro\n");
    on(database, &["segment", "create", "VIPs"]).expect(0);
    let file = std::env::temp_dir().join(unique("vips"));
    std::fs::write(&file, "bob\n\n  dora \n").expect("written");
    let file = file.display().to_string();
    let added = on(
        database,
        &["segment", "add", "VIPs", "ann", "--file", &file],
    )
    .expect(0);
    assert_eq!(added.stdout, "3 member(s)\n");
    std::fs::remove_file(&file).expect("removed");
    let members = on(database, &["segment", "members", "VIPs", "--json"])
        .expect(0)
        .json();
    let first = members[0]["contact"].as_str().expect("an id");
    let remove = ["segment", "remove", "VIPs", "--by", "id", first];
    assert_eq!(on(database, &remove).expect(0).stdout, "2 member(s)\n");
    let shown = on(database, &["segment", "members", "VIPs", "--limit", "1"])
        .expect(0)
        .stdout;
    assert!(
        shown.ends_with("and 1 more; --limit shows more, --csv writes all\n"),
        "{shown}"
    );
    let csv = [
        "segment",
        "members",
        "VIPs",
        "--csv",
        "--attributes",
        "plan",
    ];
    let csv = on(database, &csv).expect(0).stdout;
    assert!(
        csv.starts_with("id,user_id,email,phone,entered_at,plan\n"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 3);
    let change = ["segment", "change", "VIPs", "--name", "Friends"];
    assert!(
        on(database, &change)
            .expect(0)
            .stdout
            .contains("name        Friends\n")
    );
    assert_eq!(sizes(database), [("Friends".to_owned(), 2)]);
    on(database, &["segment", "delete", "Friends"]).expect(0);
    assert_eq!(sizes(database), []);
}

async fn beside_a_server_it_does_the_work(database: Database) {
    let server = Server::start(database).await;
    let (api, database) = (&server.api, &server.database);
    api.send(
        "identify",
        json!({"userId": "ann", "traits": {"plan": "pro"}}),
    )
    .await;
    let create = [
        "segment",
        "create",
        "Pros",
        "--expression",
        "contact.plan = 'pro'",
        "--json",
    ];
    let made = on(database, &create).expect(0).json();
    assert_eq!(made["size"], 1);
    let path = format!("/api/v1/segments/{}", made["id"].as_str().expect("an id"));
    assert_eq!(api.get(&path).await.expect(200).json(), made);
    on(database, &["segment", "create", "VIPs"]).expect(0);
    assert_eq!(
        on(database, &["segment", "add", "VIPs", "ann"])
            .expect(0)
            .stdout,
        "1 member(s)\n"
    );
    assert_eq!(
        sizes(database),
        [("Pros".to_owned(), 1), ("VIPs".to_owned(), 1)]
    );
    // The server has kept the lease: it reacts as before.
    api.send(
        "identify",
        json!({"userId": "bob", "traits": {"plan": "pro"}}),
    )
    .await;
    let all = json!({"name": "All", "expression": "TRUE"});
    crate::segments::members::post(api, "/api/v1/segments", &all)
        .await
        .expect(201);
    assert_eq!(api.get(&path).await.expect(200).json()["size"], 2);
    assert!(
        !server.log().contains("another process reacts"),
        "{}",
        server.log()
    );
}

async fn what_is_wrong_is_said_and_changes_nothing(database: Database) {
    let database = &founded(database).await;
    import(database, "user_id\nann\n");
    let faulty = on(
        database,
        &["segment", "create", "x", "--expression", "plan = 1"],
    )
    .expect(2);
    assert!(
        faulty
            .stderr
            .starts_with("  plan = 1\n  ^^^^ `plan` is not"),
        "{}",
        faulty.stderr
    );
    on(database, &["segment", "preview", "contact.a ="]).expect(2);
    on(database, &["segment", "create", ""]).expect(1);
    on(
        database,
        &["segment", "create", "All", "--expression", "TRUE"],
    )
    .expect(0);
    let refused = on(database, &["segment", "add", "All", "ann"]).expect(1);
    assert!(
        refused.stderr.contains("follow from its expression"),
        "{}",
        refused.stderr
    );
    on(database, &["segment", "create", "VIPs"]).expect(0);
    let strangers = on(database, &["segment", "add", "VIPs", "ann", "zed", "yan"]).expect(1);
    assert_eq!(
        strangers.stderr,
        "zed: there is no such contact\nyan: there is no such contact\nnobody was added or removed\n"
    );
    let nonsense = on(database, &["segment", "add", "VIPs", "--by", "id", "ann"]).expect(1);
    assert!(
        nonsense.stderr.starts_with("ann: is no contact's id\n"),
        "{}",
        nonsense.stderr
    );
    on(database, &["segment", "add", "VIPs"]).expect(2);
    on(database, &["segment", "create", "VIPs"]).expect(0);
    let both = on(database, &["segment", "show", "VIPs"]).expect(1);
    assert!(
        both.stderr.contains("2 segments are called `VIPs`"),
        "{}",
        both.stderr
    );
    let none = on(database, &["segment", "show", "nothing"]).expect(1);
    assert_eq!(none.stderr, "kurier: there is no segment `nothing`\n");
    assert_eq!(sizes(database).iter().map(|(_, size)| size).sum::<i64>(), 1);
    for command in ["create", "members", "preview", "explain", "add"] {
        let help = kurier(&["segment", command, "--help"]).expect(0).stdout;
        assert!(help.contains("Example"), "{help}");
    }
}
