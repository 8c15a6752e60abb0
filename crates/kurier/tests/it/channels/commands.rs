//! `kurier channel`, without a server.

use serde_json::json;

use super::sink::Sink;
use crate::cli::{founded, on, reading, with_variables};
use crate::harness::{Database, on_both};

on_both![commands_do_the_same];

async fn commands_do_the_same(database: Database) {
    let mut sink = Sink::http(json!({})).await;
    let database = founded(database).await;
    let folder = tempfile::tempdir().expect("a folder");
    let (file, secret) = (
        folder.path().join("hook.json"),
        folder.path().join("secret"),
    );
    let settings = json!({"kind": "webhook", "settings": {"url": sink.url("/ok")}});
    std::fs::write(&file, settings.to_string()).expect("written");
    std::fs::write(&secret, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").expect("written");
    let secret = format!("signing_secret={}", secret.display());
    let file = file.display().to_string();
    let set = ["channel", "set", "hook", &file, "--secret-file", &secret];
    let said = on(&database, &set).expect(0).stdout;
    assert_eq!(said, "set up hook; servers use it within a second\n");
    let list = on(&database, &["channel", "list"]).expect(0).stdout;
    assert!(
        list.lines()
            .nth(1)
            .expect("a row")
            .starts_with("hook  webhook  enabled"),
        "{list}"
    );
    let shown = on(&database, &["channel", "show", "hook", "--json"])
        .expect(0)
        .json();
    assert_eq!(shown["secrets"], json!({"signing_secret": "set"}));
    // Shut unless the machine is opened by a setting.
    let tried = on(&database, &["channel", "test", "hook"]).expect(1).stdout;
    assert!(
        tried.starts_with("hook refused it (blocked): 127.0.0.1 is not called"),
        "{tried}"
    );
    let options = database.options();
    let all = ["channel", "test", "hook", "--json"].into_iter();
    let all: Vec<&str> = all.chain(options.iter().map(String::as_str)).collect();
    let open = [("KURIER_OUTGOING_ALLOW", "127.0.0.1")];
    let tried = with_variables(&all, &open).expect(0).json();
    assert_eq!(tried["outcome"], "sent");
    assert_eq!(
        sink.next("request").await["headers"]["webhook-id"],
        tried["message"]
    );
    let mut arguments = vec!["channel", "set", "later", "-", "--json"];
    arguments.extend(options.iter().map(String::as_str));
    let set = reading(r#"{"kind": "outbox", "enabled": false}"#, &arguments)
        .expect(0)
        .json();
    assert_eq!(set["enabled"], false);
    let bad = reading(
        r#"{"kind": "outbox", "max_retries": 51, "breaker": {"timeout_seconds": 0}}"#,
        &arguments,
    );
    let said = bad.expect(1).stderr;
    assert!(
        said.contains("/max_retries: at most 50\n/breaker/timeout_seconds: from 1 to 86400"),
        "{said}"
    );
    let gone = on(&database, &["channel", "remove", "hook", "--json"])
        .expect(0)
        .json();
    assert_eq!(gone, json!({"removed": "hook"}));
    on(&database, &["channel", "show", "hook"]).expect(1);
    on(&database, &["channel", "remove", "hook"]).expect(1);
}

/// With PostgreSQL and no folder there is nowhere to keep a key.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_place_for_a_key_the_error_says_what_to_set() {
    let database = founded(Database::postgres().await).await;
    let options = database.options();
    let url = &options[..2];
    let set = ["channel", "set", "slack", "-"].into_iter();
    let set: Vec<&str> = set.chain(url.iter().map(String::as_str)).collect();
    let settings = r#"{"kind": "slack", "secrets": {"token": "xoxb-1"}}"#;
    let said = reading(settings, &set).expect(1).stderr;
    assert!(
        said.contains("set KURIER_SECRET_KEY or KURIER_SECRET_KEY_FILE"),
        "{said}"
    );
    // What has no secret needs no key.
    reading(r#"{"kind": "outbox"}"#, &set).expect(0);
}
