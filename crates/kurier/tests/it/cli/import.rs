//! Imports: what goes in, what is refused and where.

use serde_json::json;

use super::{founded, on};
use crate::harness::{Database, Server, on_both};

on_both![
    csv_columns_are_mapped_and_faults_named_by_line,
    ndjson_is_read_line_by_line,
    events_are_imported_with_their_own_times,
    an_import_beside_a_server_is_seen_by_it,
    who_was_erased_comes_back_only_on_purpose,
    a_corrected_mapping_imports_the_file_anew,
];

/// A file to import, gone with the test.
pub fn file(name: &str, content: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("written");
    let path = path.display().to_string();
    (folder, path)
}

async fn csv_columns_are_mapped_and_faults_named_by_line(database: Database) {
    let database = founded(database).await;
    let content = b"\xef\xbb\xbfuser_id;E-Mail;Plan;zip;secret\n\
        u1; Ann@Example.com ;pro;04103;x\n\
        u2;bob;free;1;x\n\
        ;;free;1;x\n\
        u4;dan@example.com;\"two\nlines\";12;x\n\
        u5;e@example.com;\xff;1;x\n\
        u6;short\n";
    let (_folder, path) = file("people.csv", content);
    let arguments = [
        "import",
        "contacts",
        &path,
        "--delimiter",
        ";",
        "--map",
        "email=E-Mail",
        "--map",
        "plan=Plan",
        "--map",
        "secret=",
    ];
    let dry = on(&database, &[&arguments[..], &["--dry-run"]].concat()).expect(1);
    assert!(
        dry.stdout
            .starts_with("2 would be imported, 0 known already, 4 faulty, of 6 lines"),
        "{}",
        dry.stdout
    );
    assert_eq!(database.count("SELECT count(*) FROM contact").await, 0);
    let report = on(&database, &arguments).expect(1);
    assert!(
        report
            .stdout
            .starts_with("2 imported, 0 known already, 4 faulty, of 6 lines"),
        "{}",
        report.stdout
    );
    for line in [
        "line 3: email `bob` is not an e-mail address",
        "line 4: user_id is missing",
        "line 7: ",
        "line 8: ",
    ] {
        assert!(report.stderr.contains(line), "{line}: {}", report.stderr);
    }
    let server = Server::start(database).await;
    let ann = server.api.contact("u1").await;
    // What looks like a number and is none stays text; what is left out is nowhere.
    assert_eq!(
        ann["attributes"],
        json!({"email": "Ann@Example.com", "plan": "pro", "zip": "04103"})
    );
    let dan = server.api.contact("u4").await;
    assert_eq!(dan["attributes"]["plan"], "two\nlines");
    assert_eq!(dan["attributes"]["zip"], 12);
    let wrong = on(
        &server.database,
        &["import", "contacts", &path, "--map", "email=Mail"],
    )
    .expect(1);
    assert!(
        wrong.stderr.contains("there is no column `Mail`"),
        "{}",
        wrong.stderr
    );
}

async fn ndjson_is_read_line_by_line(database: Database) {
    let database = founded(database).await;
    let content = b"\xef\xbb\xbf{\"user_id\":\"n1\",\"x\":1,\"attributes\":{\"y\":[2]}}\n\
        {\"user_id\":\"n\xff2\"}\n\
        [1]\n\
        \n\
        {\"email\":\"n5@example.com\"}\n\
        {\"userId\":6,\"gone\":null}";
    let (_folder, path) = file("people.ndjson", content);
    let report = on(&database, &["import", "contacts", &path, "--json"])
        .expect(1)
        .json();
    let lines: Vec<_> = report["faults"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|f| &f["line"])
        .collect();
    assert_eq!(lines, [&json!(2), &json!(3)], "{report}");
    assert_eq!(
        (&report["imported"], &report["lines"]),
        (&json!(3), &json!(5))
    );
    // Faulty lines are named every time, and what is in stays in once.
    let again = on(&database, &["import", "contacts", &path, "--json"])
        .expect(1)
        .json();
    assert_eq!(
        (&again["imported"], &again["known"], &again["faulty"]),
        (&json!(0), &json!(3), &json!(2))
    );
    let server = Server::start(database).await;
    assert_eq!(
        server.api.contact("n1").await["attributes"],
        json!({"x": 1, "y": [2]})
    );
    assert_eq!(
        server.api.contact("n5@example.com").await["email"],
        "n5@example.com"
    );
    assert_eq!(server.api.contact("6").await["event_count"], 1);
}

async fn events_are_imported_with_their_own_times(database: Database) {
    let database = founded(database).await;
    let content = br#"{"type":"track","userId":"u","event":"Old","messageId":"m1","timestamp":"2020-01-01T00:00:00Z","sentAt":"2020-01-01T00:00:05Z"}
{"type":"identify","userId":"u","traits":{"plan":"pro"}}
{"type":"nonsense","userId":"u"}
not JSON
{"type":"track","userId":"u","event":"Old","messageId":"m1"}
"#;
    let (_folder, path) = file("events.ndjson", content);
    let report = on(&database, &["import", "events", &path]).expect(1);
    assert!(
        report
            .stdout
            .starts_with("2 imported, 1 known already, 2 faulty, of 5 lines"),
        "{}",
        report.stdout
    );
    assert!(
        report.stderr.contains("line 3: type must be one of"),
        "{}",
        report.stderr
    );
    assert!(report.stderr.contains("line 4: "), "{}", report.stderr);
    let server = Server::start(database).await;
    let contact = server.api.contact("u").await;
    let events = server.api.events(&contact).await;
    assert_eq!(events.len(), 2);
    assert_eq!(events[1]["occurred_at"], "2020-01-01T00:00:00Z");
    assert_eq!(contact["attributes"]["plan"], "pro");
}

async fn an_import_beside_a_server_is_seen_by_it(database: Database) {
    let server = Server::start(database).await;
    let rows: String = (0..5_000)
        .map(|n| format!("u{n},u{n}@example.com\n"))
        .collect();
    let (_folder, path) = file("many.csv", format!("user_id,email\n{rows}").as_bytes());
    let api = server.api.clone();
    let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
    let load = tokio::spawn(async move {
        let mut sent = 0;
        while stopped.try_recv().is_err() {
            api.send("track", json!({"userId": "u7", "event": "meanwhile"}))
                .await;
            sent += 1;
        }
        sent
    });
    let options = server.database.options();
    let all = [vec!["import".to_owned(), "contacts".into(), path], options].concat();
    let import = tokio::task::spawn_blocking(move || {
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        super::kurier(&all)
    });
    let report = import.await.expect("it runs").expect(0);
    assert!(
        report.stdout.starts_with("5000 imported"),
        "{}",
        report.stdout
    );
    stop.send(()).expect("the load still runs");
    let sent: i64 = load.await.expect("nothing failed meanwhile");
    assert_eq!(
        server.api.contact("u4999").await["email"],
        "u4999@example.com"
    );
    assert_eq!(server.api.contact("u7").await["event_count"], sent + 1);
    assert_eq!(
        server.database.count("SELECT count(*) FROM contact").await,
        5_000
    );
}

async fn who_was_erased_comes_back_only_on_purpose(database: Database) {
    let server = Server::start(database).await;
    let made = server
        .api
        .upsert(&json!({"user_id": "u", "email": "ann@example.com"}))
        .await
        .expect(201)
        .json();
    let path = format!("/api/v1/contacts/{}", made["id"].as_str().expect("an id"));
    server.api.delete(&path).await.expect(200);
    let content =
        b"user_id,email\nsomeone,ANN@example.com\nu,other@example.com\nbob,bob@example.com\n";
    let (_folder, path) = file("people.csv", content);
    let refused = on(&server.database, &["import", "contacts", &path]).expect(1);
    assert!(
        refused
            .stdout
            .starts_with("1 imported, 0 known already, 2 faulty"),
        "{}",
        refused.stdout
    );
    for line in [
        "line 2: this contact was erased",
        "line 3: this contact was erased",
    ] {
        assert!(refused.stderr.contains(line), "{}", refused.stderr);
    }
    assert!(
        refused.stderr.contains("--include-erased"),
        "{}",
        refused.stderr
    );
    let forced = on(
        &server.database,
        &["import", "contacts", &path, "--include-erased"],
    )
    .expect(0);
    assert!(
        forced
            .stdout
            .starts_with("2 imported, 1 known already, 0 faulty"),
        "{}",
        forced.stdout
    );
    assert!(server.api.contact("someone").await["erased_before"].is_string());
    assert!(server.api.contact("u").await["erased_before"].is_string());
    assert!(server.api.contact("bob").await["erased_before"].is_null());
}

/// The same lines in the same manner are known; in another they say something else.
async fn a_corrected_mapping_imports_the_file_anew(database: Database) {
    let server = Server::start(database).await;
    let (_folder, path) = file("people.csv", b"user_id,Tarif\nu1,pro\nu2,free\n");
    let import = |map: &[&str]| {
        let arguments = [&["import", "contacts", &path][..], map].concat();
        on(&server.database, &arguments).expect(0).stdout
    };
    let mapped = ["--map", "plan=Tarif"];
    for (map, said) in [
        (&[][..], "2 imported, 0 known already"),
        (&mapped[..], "2 imported, 0 known already"),
        (&mapped[..], "0 imported, 2 known already"),
        (&[][..], "0 imported, 2 known already"),
    ] {
        let told = import(map);
        assert!(told.starts_with(said), "{map:?}: {told}");
    }
    let contact = server.api.contact("u1").await;
    assert_eq!(contact["attributes"]["plan"], "pro", "{contact}");
}
