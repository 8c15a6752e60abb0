//! Keys for life: whatever is done to a document, its other nodes keep theirs.

use std::collections::BTreeSet;

use super::{HANDBOOK, export, import, keys_by_text, log_length, try_import};
use crate::cli::on;
use crate::harness::{Database, Server, on_both};

on_both![
    unchanged_input_writes_nothing,
    insert_move_edit_and_delete_leave_all_other_keys_alone,
    many_imports_at_once_give_every_key_once,
    a_rebuild_gives_the_same_keys,
    a_key_that_is_gone_is_never_given_again,
];

async fn unchanged_input_writes_nothing(database: Database) {
    let server = Server::start(database).await;
    import(&server.api, &[("a.md", HANDBOOK), ("b.md", "# B\n")]).await;
    let before = log_length(&server.database).await;
    let again = import(&server.api, &[("a.md", HANDBOOK), ("b.md", "# B\n")]).await;
    assert!(
        again.iter().all(|it| it["standing"] == "unchanged"),
        "{again:?}"
    );
    assert_eq!(again[0]["kept"], 10, "{again:?}");
    assert_eq!(log_length(&server.database).await, before);
    import(&server.api, &[("a.md", HANDBOOK), ("b.md", "# B 2\n")]).await;
    assert_eq!(log_length(&server.database).await, before + 1);
}

/// What was done, as the text and as what is expected of it.
async fn insert_move_edit_and_delete_leave_all_other_keys_alone(database: Database) {
    let server = Server::start(database).await;
    import(&server.api, &[("a.md", HANDBOOK)]).await;
    let first = keys_by_text(&export(&server.database));
    let ship = "Orders ship within two days.";
    let inserted = HANDBOOK.replace(ship, &format!("A word before.\n\n{ship}"));
    let moved = inserted.replace("We ship with care.\n\n", "");
    let moved = moved.replace("# Contact\n", "# Contact\n\nWe ship with care.\n");
    let edited = moved.replace("(https://x.de/r).", "(https://x.de/r), or sooner.");
    let deleted = edited.replace("Write to us at any time.\n", "");
    let mut before = first.clone();
    for (text, new, gone) in [
        (&inserted, 1, 0),
        (&moved, 0, 0),
        (&edited, 0, 0),
        (&deleted, 0, 1),
    ] {
        let outcome = import(&server.api, &[("a.md", text)]).await.remove(0);
        let count = |name: &str| outcome[name].as_array().map_or(0, Vec::len);
        assert_eq!((count("new"), count("gone")), (new, gone), "{outcome}");
        let now = keys_by_text(&export(&server.database));
        for (text, key) in &now {
            let known = before.get(text);
            assert!(
                known.is_none_or(|known| known == key),
                "{text}: {known:?}, {key}"
            );
        }
        before = now;
    }
    let policy = "Money **back** within [30 days](https://x.de/r)";
    let edited = before.get(&format!("{policy}, or sooner."));
    assert_eq!(edited, first.get(&format!("{policy}.")));
}

async fn many_imports_at_once_give_every_key_once(database: Database) {
    let server = Server::start(database).await;
    let mut imports = tokio::task::JoinSet::new();
    for number in 0..8 {
        let api = server.api.clone();
        imports.spawn(async move {
            let source = format!("{number}.md");
            let text = format!("# Same\n\nSame text {number}.\n\n## Same\n\nSame text {number}.\n");
            try_import(&api, &[(&source, &text)]).await
        });
    }
    let mut given = Vec::new();
    while let Some(answer) = imports.join_next().await {
        let answer = answer.expect("asked").expect(200).json();
        let new = answer["data"][0]["new"].as_array().expect("keys").clone();
        given.extend(
            new.iter()
                .map(|key| key.as_str().expect("a key").to_owned()),
        );
    }
    let distinct: BTreeSet<&String> = given.iter().collect();
    assert_eq!((given.len(), distinct.len()), (40, 40), "{given:?}");
    assert_eq!(keys_of(&server.database).len(), 40);
    assert!(distinct.contains(&"ch:same:008".to_owned()), "{distinct:?}");
}

fn keys_of(database: &Database) -> BTreeSet<String> {
    let all = export(database).into_iter();
    let nodes = all.filter(|(_, entry)| entry["kind"] == "hash");
    nodes.map(|(key, _)| key).collect()
}

async fn a_rebuild_gives_the_same_keys(database: Database) {
    let server = Server::start(database).await;
    import(&server.api, &[("a.md", HANDBOOK), ("b.md", HANDBOOK)]).await;
    import(&server.api, &[("a.md", "# Orders\n\nAll else is gone.\n")]).await;
    let before = export(&server.database);
    on(&server.database, &["projection", "verify", "content"]).expect(0);
    on(&server.database, &["projection", "rebuild", "content"]).expect(0);
    on(&server.database, &["projection", "verify", "content"]).expect(0);
    assert_eq!(export(&server.database), before);
    // The counters came back as well: the next number is the next one.
    let outcome = import(&server.api, &[("c.md", "# Orders\n")])
        .await
        .remove(0);
    assert_eq!(outcome["new"][1], "ch:orders:003", "{outcome}");
}

async fn a_key_that_is_gone_is_never_given_again(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    import(api, &[("a.md", "# One\n\nA text.\n")]).await;
    import(api, &[("a.md", "# One\n")]).await;
    let answer = api.get("/api/v1/content/chunk:text:001").await;
    let detail = answer.expect_problem(410, "gone").json()["detail"].clone();
    let detail = detail.as_str().expect("a text");
    assert!(detail.contains("is gone since 20"), "{detail}");
    assert!(
        detail.contains("import 2 took it away, by admin"),
        "{detail}"
    );
    let outcome = import(api, &[("a.md", "# One\n\nA text.\n")])
        .await
        .remove(0);
    assert_eq!(outcome["new"][0], "chunk:text:002");
    api.get("/api/v1/content/chunk:text:001")
        .await
        .expect_problem(410, "gone");
    api.get("/api/v1/content/chunk:text:003")
        .await
        .expect_problem(404, "not_found");
    api.delete("/api/v1/content/doc:a:001")
        .await
        .expect_problem(404, "not_found");
    api.delete("/api/v1/content/ch:one:001")
        .await
        .expect_problem(422, "not_a_document");
    let document = export(&server.database);
    let document = document
        .keys()
        .find(|key| key.starts_with("doc:"))
        .expect("one");
    let document = format!("/api/v1/content/{}", &document[..document.len().min(40)]);
    let document = document
        .split(":children")
        .next()
        .expect("a path")
        .to_owned();
    api.delete(&document).await.expect(204);
    api.get("/api/v1/content/ch:one:001")
        .await
        .expect_problem(410, "gone");
    assert!(export(&server.database).is_empty());
    on(&server.database, &["projection", "verify", "content"]).expect(0);
}
