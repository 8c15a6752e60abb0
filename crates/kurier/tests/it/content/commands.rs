//! `kurier content`, without a server and beside one.

use serde_json::json;

use super::{HANDBOOK, export, log_length};
use crate::cli::{founded, on, reading};
use crate::harness::{Database, on_both};

on_both![
    a_folder_is_imported_looked_at_and_exported,
    what_is_not_there_is_said,
    what_is_taken_away_is_gone_and_its_quotations_are_warned_of,
    a_dry_run_shows_the_difference_and_changes_nothing,
    keys_are_checked,
];

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("more")).expect("made");
    std::fs::write(folder.path().join("handbook.md"), HANDBOOK).expect("written");
    std::fs::write(folder.path().join("more/other.md"), "# Orders\n").expect("written");
    std::fs::write(folder.path().join("more/bad.md"), b"# \xff\n").expect("written");
    folder
}

async fn a_folder_is_imported_looked_at_and_exported(database: Database) {
    let database = founded(database).await;
    let folder = folder();
    let path = folder.path().to_str().expect("a path");
    let run = |words: &[&str]| on(&database, &[&["content"], words].concat());
    let imported = run(&["import", path, "--root", path]);
    assert!(
        imported
            .stderr
            .contains("more/bad.md: is not UTF-8 from byte 2")
    );
    let told = imported.expect(1).stdout;
    assert!(
        told.contains("3 documents: 2 new, 0 changed, 0 unchanged, 1 refused"),
        "{told}"
    );
    let again = run(&["import", path, "--root", path, "--lossy", "--json"])
        .expect(0)
        .json();
    let standings: Vec<_> = again.as_array().expect("a list").iter().collect();
    let standings: Vec<_> = standings.iter().map(|it| &it["standing"]).collect();
    assert_eq!(
        standings,
        [&json!("unchanged"), &json!("new"), &json!("unchanged")]
    );
    let shown = run(&["show", "para:refund_policy:001", "--as", "html"])
        .expect(0)
        .stdout;
    assert!(
        shown.starts_with("<h2>Refund policy</h2>\n<p>Money <strong>back"),
        "{shown}"
    );
    let tree = run(&["tree", "handbook.md"]).expect(0).stdout;
    assert!(
        tree.starts_with(
            "doc:handbook:001  Handbook\n  ch:orders:001  Orders\n    \
             chunk:orders_ship_within_two_days:001  Orders ship within two days.\n"
        ),
        "{tree}"
    );
    let source = run(&["export", "handbook.md"]).expect(0).stdout;
    assert_eq!(source, HANDBOOK);
    let section = run(&["export", "para:shipping:001"]).expect(0).stdout;
    assert_eq!(section, "## Shipping\n\nWe ship with care.\n");
    let both = run(&["export", "para:shipping:001", "ch:contact:001"]).expect(0);
    let second = "# Contact\n\nWrite to us at any time.\n";
    assert_eq!(both.stdout, format!("{section}{second}"));
    let options = database.options();
    let mut words = vec!["content", "import", "-", "--source", "piped.md"];
    words.extend(options.iter().map(String::as_str));
    reading("# Piped\n", &words).expect(0);
    run(&["show", "ch:piped:001"]).expect(0);
}

async fn what_is_not_there_is_said(database: Database) {
    let database = founded(database).await;
    let folder = folder();
    let run = |words: &[&str]| on(&database, &[&["content"], words].concat());
    let unknown = run(&["show", "para:none:001", "--used-by"]);
    assert!(
        unknown.stderr.contains("there is no content"),
        "{}",
        unknown.stderr
    );
    unknown.expect(1);
    let no_key = run(&["show", "refunds", "--used-by"]).expect(1).stderr;
    assert!(
        no_key.contains("keys are like para:refund_policy:001"),
        "{no_key}"
    );
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).expect("made");
    let empty = run(&["import", empty.to_str().expect("a path")])
        .expect(1)
        .stderr;
    assert!(empty.contains("there is no Markdown (.md, "), "{empty}");
    let unknown = run(&["show", "para:none:001"]);
    assert!(
        unknown
            .stderr
            .contains("there is no content `para:none:001`")
    );
    unknown.expect(1);
}

async fn what_is_taken_away_is_gone_and_its_quotations_are_warned_of(database: Database) {
    let database = founded(database).await;
    let folder = folder();
    let run = |words: &[&str]| on(&database, &[&["content"], words].concat());
    let path = folder.path().to_str().expect("a path");
    run(&["import", path, "--root", path, "--lossy"]).expect(0);
    let template = folder.path().join("hello.yaml");
    let quoting = "name: hello\ntext: '{{ content(\"ch:orders:002\") }}'\n";
    std::fs::write(&template, quoting).expect("written");
    let template = template.to_str().expect("a path");
    on(&database, &["template", "apply", template]).expect(0);
    let withdrawn = run(&["withdraw", "more/other.md"]).expect(0);
    assert!(
        withdrawn
            .stdout
            .starts_with("withdrew more/other.md: 2 keys are gone")
    );
    let warned = "warning: ch:orders:002 goes, and is quoted by template hello\n";
    assert_eq!(withdrawn.stderr, warned);
    let gone = run(&["show", "ch:orders:002"]);
    assert!(
        gone.stderr.contains("took it away, by command line"),
        "{}",
        gone.stderr
    );
}

async fn a_dry_run_shows_the_difference_and_changes_nothing(database: Database) {
    let database = founded(database).await;
    let folder = folder();
    let path = folder.path().join("handbook.md");
    let path = path.to_str().expect("a path");
    let run = |words: &[&str]| on(&database, &[&["content", "import", path], words].concat());
    let before = log_length(&database).await;
    let dry = run(&["--dry-run"]).expect(0).stdout;
    assert!(dry.contains("  + para:refund_policy:001\n"), "{dry}");
    assert!(dry.contains("would import 1 document: 1 new"), "{dry}");
    assert_eq!(log_length(&database).await, before);
    run(&[]).expect(0);
    let changed = HANDBOOK
        .replace("two days.", "two days, as a rule.")
        .replace("We ship with care.\n", "");
    std::fs::write(path, changed).expect("written");
    let kept = export(&database);
    let dry = run(&["--dry-run"]).expect(0).stdout;
    let lines: Vec<&str> = dry.lines().filter(|line| line.starts_with("  ")).collect();
    assert_eq!(
        lines,
        [
            "  ~ chunk:orders_ship_within_two_days:001",
            "  - chunk:we_ship_care:001"
        ]
    );
    assert_eq!(export(&database), kept);
}

async fn keys_are_checked(database: Database) {
    let database = founded(database).await;
    let folder = folder();
    let path = folder.path().join("handbook.md");
    on(
        &database,
        &["content", "import", path.to_str().expect("a path")],
    )
    .expect(0);
    let report = on(&database, &["content", "check", "--json"])
        .expect(0)
        .json();
    assert_eq!(report["format_violations"], json!([]));
    assert_eq!(report["duplicates"], json!([]));
    assert!(
        report["total_keys"]
            .as_u64()
            .is_some_and(|total| total > 20),
        "{report}"
    );
    let options = database.options();
    let mut words = vec!["content", "check", "-"];
    words.extend(options.iter().map(String::as_str));
    let keys =
        "doc:portfolio_strategies:001\nDoc:Portfolio:001\nch:x_y:001\nch:x_y:001\npara:x_y:001\n";
    let told = reading(keys, &words).expect(1).stdout;
    assert!(
        told.contains("error: not the form of a key: Doc:Portfolio:001"),
        "{told}"
    );
    assert!(told.contains("error: there twice: ch:x_y:001"), "{told}");
    assert!(
        told.contains("info: several types are called x_y: ch, para"),
        "{told}"
    );
}
