//! An import that was cut off goes on; one that was done changes nothing.

use std::time::Duration;

use super::import::file;
use super::{founded, on};
use crate::harness::server::command;
use crate::harness::{Database, eventually, on_both};

on_both![
    a_second_import_changes_nothing,
    an_import_that_was_killed_goes_on
];

const LINES: usize = 20_000;
const IMPORTED: &str = "SELECT count(*) FROM log WHERE contact IS NOT NULL";

fn people(count: usize) -> String {
    let rows = (0..count).map(|n| format!("u{n},u{n}@example.com,{n}\n"));
    format!("user_id,email,number\n{}", rows.collect::<String>())
}

async fn a_second_import_changes_nothing(database: Database) {
    let database = founded(database).await;
    let (_folder, path) = file("people.csv", people(2_500).as_bytes());
    on(&database, &["import", "contacts", &path]).expect(0);
    let log = database.rows("SELECT * FROM log ORDER BY position").await;
    let again = on(&database, &["import", "contacts", &path]).expect(0);
    assert!(
        again
            .stdout
            .starts_with("0 imported, 2500 known already, 0 faulty"),
        "{}",
        again.stdout
    );
    // A copy under another name is the same import.
    let (_other, copy) = file("copy.txt", people(2_500).as_bytes());
    let copied = on(&database, &["import", "contacts", &copy, "--json"])
        .expect(0)
        .json();
    assert_eq!(
        (&copied["imported"], &copied["known"]),
        (&0.into(), &2_500.into())
    );
    assert_eq!(
        database.rows("SELECT * FROM log ORDER BY position").await,
        log
    );
}

async fn an_import_that_was_killed_goes_on(database: Database) {
    let database = founded(database).await;
    let (_folder, path) = file("people.csv", people(LINES).as_bytes());
    let mut import = tokio::process::Command::from(command());
    import
        .args(["import", "contacts", &path])
        .args(database.options())
        .kill_on_drop(true);
    import
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let mut child = import.spawn().expect("the binary starts");
    eventually("some lines are in", Duration::from_secs(30), async || {
        (database.count(IMPORTED).await > 0).then_some(())
    })
    .await;
    child.kill().await.expect("killed");
    let before = database.count(IMPORTED).await;
    assert!(
        (1..LINES as i64).contains(&before),
        "killed in the middle: {before}"
    );
    let report = on(&database, &["import", "contacts", &path, "--json"])
        .expect(0)
        .json();
    assert_eq!(report["lines"], LINES);
    assert_eq!(report["faulty"], 0);
    assert_eq!(report["known"].as_i64(), Some(before), "{report}");
    assert_eq!(database.count(IMPORTED).await, LINES as i64);
    let once = "SELECT count(*) FROM contact WHERE event_count = 1 AND standing = 'live'";
    assert_eq!(database.count(once).await, LINES as i64);
}
