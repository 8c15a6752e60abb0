//! The suppression list by command, beside a server and without one.

use serde_json::json;

use super::Guard;
use crate::cli::{founded, on};
use crate::harness::{Database, on_both};

on_both![the_list_is_kept_by_command, a_file_is_imported_once];

async fn the_list_is_kept_by_command(database: Database) {
    let database = founded(database).await;
    let run = |arguments: &[&str]| on(&database, &[&["suppression"], arguments].concat());
    let added = run(&["add", "Ann@x.de", "+49 228 1", "--reason", "bounced"]).expect(0);
    assert_eq!(added.stdout, "2 added, 0 known already\n");
    let added = run(&["add", "ann@x.de", "--topic", "news", "--json"]).expect(0);
    assert_eq!(added.json(), json!({"added": 1, "known": 0}));
    let checked = run(&["check", "ANN@x.de"]).expect(1);
    assert_eq!(checked.stdout, "ann@x.de: suppressed\n");
    let removed = run(&["remove", "ann@x.de"]).expect(0);
    assert_eq!(removed.stdout, "ann@x.de may be sent to again\n");
    assert_eq!(
        run(&["remove", "ann@x.de", "--json"]).expect(1).json(),
        json!({"removed": false})
    );
    assert_eq!(
        run(&["check", "ann@x.de"]).expect(0).stdout,
        "ann@x.de: may be sent to\n"
    );
    let checked = run(&["check", "ann@x.de", "--topic", "news", "--json"]).expect(1);
    assert_eq!(
        checked.json(),
        json!({"sent": false, "reason": "opted_out"})
    );
    let listed = run(&["list", "--json"]).expect(0).json();
    let addresses: Vec<_> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| &it["address"])
        .collect();
    assert_eq!(json!(addresses), json!(["ann@x.de", "+492281"]));
    let listed = run(&["list", "--reason", "bounced"]).expect(0).stdout;
    assert!(
        listed.contains("+492281") && !listed.contains("ann"),
        "{listed}"
    );
    let limited = run(&["list", "--limit", "1", "--json"]).expect(0).json();
    assert_eq!(limited.as_array().map(Vec::len), Some(1));
    let wrong = run(&["add", "nobody"]).expect(1).stderr;
    assert!(wrong.contains("nobody: address is neither"), "{wrong}");
    run(&["add", "a@x", "--reason", "whim"]).expect(1);
    run(&["add"]).expect(2);
}

async fn a_file_is_imported_once(database: Database) {
    let database = founded(database).await;
    let file = tempfile::Builder::new()
        .suffix(".csv")
        .tempfile()
        .expect("a file");
    let lines = (0..2_500).map(|n| format!("n{n}@x.de,,\n"));
    let text = format!(
        "Email,Topic,Reason\n{}ann@x.de,news,complained\nnobody,,\nben@x.de,,whim\n",
        lines.collect::<String>()
    );
    std::fs::write(file.path(), text).expect("written");
    let path = file.path().to_str().expect("UTF-8");
    let arguments = [
        "suppression",
        "import",
        path,
        "--reason",
        "bounced",
        "--json",
    ];
    let imported = on(&database, &arguments).expect(1);
    let report = json!({"lines": 2503, "added": 2501, "known": 0, "faulty": 2});
    assert_eq!(imported.json(), report);
    assert!(
        imported.stderr.contains("line 2503: address is neither"),
        "{}",
        imported.stderr
    );
    let again = on(&database, &arguments).expect(1).json();
    assert_eq!(
        again,
        json!({"lines": 2503, "added": 0, "known": 2501, "faulty": 2})
    );
    let guard = Guard::of(&database, "default").await;
    assert_eq!(guard.verdict("n2499@x.de", "").await, "suppressed");
    assert_eq!(guard.verdict("ann@x.de", "").await, "");
    assert_eq!(guard.verdict("ann@x.de", "news").await, "opted_out");
    let bounced = [
        "suppression",
        "list",
        "--reason",
        "bounced",
        "--limit",
        "9999",
        "--json",
    ];
    let listed = on(&database, &bounced).expect(0).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(2_500));
    std::fs::write(file.path(), "name\nann\n").expect("written");
    let wrong = on(&database, &["suppression", "import", path])
        .expect(1)
        .stderr;
    assert!(wrong.contains("there are: name"), "{wrong}");
}
