//! Death in the middle of an import: the old document or the new one, never half.

use super::export;
use crate::cli::{founded, on, with_variables};
use crate::harness::{Database, on_both};

on_both![death_between_any_two_steps_leaves_the_old_or_the_new];

fn text(version: usize) -> String {
    let parts = (0..40).map(|part| {
        format!("# Part {part}\n\nIt is version {version} of {part}.\n\nThis stays {part}.\n\n")
    });
    parts.collect()
}

async fn death_between_any_two_steps_leaves_the_old_or_the_new(database: Database) {
    let database = founded(database).await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.md");
    let path = path.to_str().expect("a path");
    let options = database.options();
    let mut words = vec!["content", "import", path];
    words.extend(options.iter().map(String::as_str));
    std::fs::write(path, text(0)).expect("written");
    with_variables(&words, &[]).expect(0);
    let places = ["decided", "appended", "read", "folded", "applied"];
    for (round, step) in places.into_iter().enumerate() {
        let before = export(&database);
        std::fs::write(path, text(round + 1)).expect("written");
        let place = format!("content.{step}");
        let died = with_variables(&words, &[("TEST_DIE_AT", &place)]);
        assert_eq!(died.code, None, "{place}: {}{}", died.stdout, died.stderr);
        let left = export(&database);
        let is_new = left != before;
        assert_eq!(is_new, step != "decided", "{place}");
        with_variables(&words, &[]).expect(0);
        let now = export(&database);
        if is_new {
            assert_eq!(now, left, "{place}: it was whole");
        }
        let said = format!("It is version {} of 39.", round + 1);
        assert!(
            now.values().any(|entry| entry.to_string().contains(&said)),
            "{place}"
        );
        assert_eq!(now.len(), before.len(), "{place}: no key more or less");
        on(&database, &["projection", "verify", "content"]).expect(0);
    }
}
