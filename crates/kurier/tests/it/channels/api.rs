//! Settings of channels, by API and by command, with secrets that nobody shows.

use std::sync::Arc;
use std::time::Duration;

use kurier::channel::{Outside, Registry};
use kurier::flow::channel::configure;
use kurier::secret::{SecretKey, Vault};
use kurier_core::message::channel::ChannelKind;
use kurier_core::net::Guard;
use kurier_store::{Scope, Store};
use reqwest::Method;
use serde_json::{Value, json};

use super::sink::Sink;
use super::{keys, text};
use crate::cli::{founded, on, reading, with_variables};
use crate::harness::{ADMIN_KEY, Answer, Api, Database, Server, WRITE_KEY, eventually, on_both};

on_both![
    a_channel_is_set_up_shown_tried_and_removed,
    all_faults_are_told_at_once,
    secrets_stay_until_they_are_changed,
    secrets_are_written_nowhere,
    another_key_opens_nothing,
    commands_do_the_same,
    a_change_is_seen_by_others_within_a_second,
    who_is_set_up_by_nobody_is_taken_by_the_outbox,
];

async fn put(api: &Api, name: &str, body: &Value) -> Answer {
    let request = api.bare(Method::PUT, &format!("/api/v1/channels/{name}"));
    let request = request.bearer_auth(&api.admin_key).body(body.to_string());
    Answer::of(request.send().await.expect("an answer")).await
}

async fn test(api: &Api, name: &str, to: &str) -> Value {
    let request = api.bare(Method::POST, &format!("/api/v1/channels/{name}/test"));
    let body = json!({ "to": to }).to_string();
    let request = request.bearer_auth(&api.admin_key).body(body);
    let answer = Answer::of(request.send().await.expect("an answer")).await;
    answer.expect(200).json()
}

async fn started(database: Database, variables: &[(&str, &str)]) -> Server {
    let keys = [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ("KURIER_OUTGOING_ALLOW", "127.0.0.0/8,hooks.internal"),
    ];
    Server::start_with(database, &[&keys, variables].concat()).await
}

fn email(sink: &Sink) -> Value {
    json!({"kind": "email", "settings": {
        "host": "localhost", "port": sink.port, "security": "starttls", "username": "kurier",
        "ca_certificate": keys()["ca"], "from": {"address": "hello@example.com"}}})
}

async fn a_channel_is_set_up_shown_tried_and_removed(database: Database) {
    let mut sink =
        Sink::smtp(json!({"certificate": keys()["server"], "password": "swordfish"})).await;
    let server = started(database, &[]).await;
    let api = &server.api;
    api.get("/api/v1/channels/email")
        .await
        .expect_problem(404, "not_found");
    let mut settings = email(&sink);
    settings["secrets"] = json!({"password": "swordfish"});
    settings["rate_limit_per_minute"] = json!(600);
    let set = put(api, "email", &settings).await.expect(200).json();
    assert_eq!(set["secrets"], json!({"password": "set"}));
    assert_eq!(
        (&set["kind"], &set["rate_limit_per_minute"]),
        (&json!("email"), &json!(600))
    );
    assert_eq!(
        (&set["max_retries"], &set["on_unknown"]),
        (&json!(5), &json!("resend"))
    );
    assert_eq!(set["settings"]["security"], "starttls");
    let tried = test(api, "email", "ann@example.net").await;
    assert_eq!(tried["outcome"], "sent", "{tried}");
    assert_eq!(tried["receipt"], "2.0.0 kept as 42");
    assert_eq!(sink.next("mail").await["user"], "kurier");
    let tried = test(api, "email", "reply-550-5.1.1@example.net").await;
    assert_eq!(
        (&tried["outcome"], &tried["blame"]),
        (&json!("refused"), &json!("recipient"))
    );
    assert_eq!(
        (&tried["code"], &tried["category"]),
        (&json!("smtp 550 5.1.1"), &json!("permanent"))
    );
    let tried = test(api, "email", "drop@example.net").await;
    assert_eq!(tried["outcome"], "unknown", "{tried}");
    let shown = api.get("/api/v1/channels/email").await.expect(200).json();
    let health = &shown["health"];
    assert_eq!(
        (&health["sent"], &health["refused"], &health["unknown"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(
        (&health["failing"], &health["last_code"]),
        (&json!(1), &json!("unknown"))
    );
    let list = api.get("/api/v1/channels").await.expect(200).json();
    assert_eq!(list["data"].as_array().map(Vec::len), Some(1));
    api.delete("/api/v1/channels/email").await.expect(204);
    api.delete("/api/v1/channels/email")
        .await
        .expect_problem(404, "not_found");
    // Now it is one that nobody set up: the outbox takes it.
    assert_eq!(
        test(api, "email", "ann@example.net").await["outcome"],
        "sent"
    );
    let other = api.bare(Method::POST, "/api/v1/channels/other/test");
    let other = other
        .bearer_auth(ADMIN_KEY)
        .send()
        .await
        .expect("an answer");
    Answer::of(other).await.expect_problem(404, "not_found");
    let kinds = server
        .database
        .rows("SELECT kind FROM log WHERE kind LIKE 'channel.%' ORDER BY position");
    assert_eq!(kinds.await, ["channel.configured", "channel.removed"]);
}

async fn all_faults_are_told_at_once(database: Database) {
    let server = started(database, &[]).await;
    let pointers = async |name: &str, body: Value| {
        let answer = put(&server.api, name, &body)
            .await
            .expect_problem(422, "bad_channel");
        let faults = answer.json()["errors"].as_array().expect("faults").clone();
        faults
            .iter()
            .map(|it| text(&it["pointer"]))
            .collect::<Vec<_>>()
    };
    let faulty = json!({"kind": "webhook", "max_retries": 99,
        "settings": {"url": "http://a@b/", "concurrency": 0}});
    let found = pointers("hook", faulty).await;
    assert_eq!(
        found,
        ["/max_retries", "/settings/url", "/settings/concurrency"]
    );
    let hook = json!({"kind": "webhook", "settings": {"url": "https://example.com/"}});
    assert_eq!(
        pointers("hook", hook.clone()).await,
        ["/secrets/signing_secret"]
    );
    let mut bad = hook.clone();
    bad["secrets"] = json!({"signing_secret": "short", "colour": "red", "n": 5});
    assert_eq!(
        pointers("hook", bad).await,
        ["/secrets/n", "/secrets/colour"]
    );
    let mut bad = hook.clone();
    bad["secrets"] = json!({"signing_secret": "short"});
    assert_eq!(pointers("hook", bad).await, ["/secrets"]);
    assert_eq!(pointers("Bad%20Name", hook).await, ["/name"]);
    let answer = put(&server.api, "hook", &json!({"kind": "pigeon"})).await;
    answer.expect_problem(422, "bad_channel");
    let request = server.api.bare(Method::PUT, "/api/v1/channels/hook");
    let request = request.bearer_auth(ADMIN_KEY).body("{");
    let answer = Answer::of(request.send().await.expect("an answer")).await;
    answer.expect_problem(400, "bad_json");
    assert_eq!(
        server.database.count("SELECT count(*) FROM channel").await,
        0
    );
}

async fn secrets_stay_until_they_are_changed(database: Database) {
    let sink = Sink::smtp(json!({})).await;
    let server = started(database, &[]).await;
    let api = &server.api;
    let mut settings = email(&sink);
    settings["secrets"] = json!({"password": "swordfish", "dkim_private_key": keys()["ed25519"]});
    put(api, "email", &settings).await.expect(200);
    let both = json!({"password": "set", "dkim_private_key": "set"});
    settings
        .as_object_mut()
        .expect("an object")
        .remove("secrets");
    settings["max_retries"] = json!(1);
    let set = put(api, "email", &settings).await.expect(200).json();
    assert_eq!((&set["secrets"], &set["max_retries"]), (&both, &json!(1)));
    settings["secrets"] = json!({"dkim_private_key": null});
    let set = put(api, "email", &settings).await.expect(200).json();
    assert_eq!(set["secrets"], json!({"password": "set"}));
    // Another server is not told what was meant for this one.
    settings["secrets"] = json!({});
    settings["settings"]["host"] = json!("mail.example.org");
    let answer = put(api, "email", &settings)
        .await
        .expect_problem(422, "bad_channel");
    assert_eq!(answer.json()["errors"][0]["pointer"], "/secrets/password");
    let outbox = put(api, "email", &json!({"kind": "outbox"}))
        .await
        .expect(200)
        .json();
    assert_eq!(outbox["secrets"], json!({}));
}

async fn secrets_are_written_nowhere(database: Database) {
    let sink = Sink::smtp(json!({})).await;
    let server = started(database, &[("KURIER_LOG", "trace")]).await;
    let mut settings = email(&sink);
    settings["settings"]["host"] = json!("127.0.0.1");
    settings["secrets"] = json!({"password": "swordfish-7f3a"});
    let set = put(&server.api, "email", &settings).await.expect(200);
    test(&server.api, "email", "ann@example.net").await;
    let hook = json!({"kind": "slack", "secrets": {"webhook_url": "http://127.0.0.1:9/T0/swordfish-7f3a"}});
    put(&server.api, "slack", &hook).await.expect(200);
    let tried = test(&server.api, "slack", "C1").await;
    assert_eq!(tried["outcome"], "refused", "{tried}");
    let shown = server.api.get("/api/v1/channels").await.expect(200);
    let metrics = server.api.get("/metrics").await.expect(200).text;
    let cli = on(&server.database, &["channel", "show", "email"]).expect(0);
    let mut places = server.database.bytes();
    places.push(("the log output".into(), server.log().into_bytes()));
    for (place, said) in [
        ("an answer", set.text),
        ("the list", shown.text),
        ("the metrics", metrics),
        ("a test", tried.to_string()),
        ("a command", cli.stdout),
    ] {
        places.push((place.to_owned(), said.into_bytes()));
    }
    for table in ["log", "channel"] {
        let rows = server
            .database
            .rows(&format!("SELECT * FROM {table}"))
            .await;
        places.push((table.to_owned(), rows.join("\n").into_bytes()));
    }
    let secret = b"swordfish-7f3a";
    for (place, bytes) in places {
        let found = bytes.windows(secret.len()).any(|window| window == secret);
        assert!(!found, "it is in {place}");
    }
}

async fn another_key_opens_nothing(database: Database) {
    let sink = Sink::smtp(json!({})).await;
    let (ours, theirs) = ("ab".repeat(32), "cd".repeat(32));
    let server = started(database, &[("KURIER_SECRET_KEY", &ours)]).await;
    let mut settings = email(&sink);
    settings["secrets"] = json!({"password": "swordfish"});
    put(&server.api, "email", &settings).await.expect(200);
    let stopped = server.terminate().await;
    let server = stopped
        .restart_with(&[("KURIER_SECRET_KEY", &theirs)])
        .await;
    let shown = server
        .api
        .get("/api/v1/channels/email")
        .await
        .expect(200)
        .json();
    assert!(text(&shown["fault"]).contains("another key"), "{shown}");
    let tried = test(&server.api, "email", "ann@example.net").await;
    assert_eq!(
        (&tried["code"], &tried["blame"]),
        (&json!("settings"), &json!("channel"))
    );
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), format!("{ours}\n")).expect("written");
    let path = file.path().display().to_string();
    let stopped = server.terminate().await;
    let server = stopped
        .restart_with(&[("KURIER_SECRET_KEY_FILE", &path)])
        .await;
    let shown = server
        .api
        .get("/api/v1/channels/email")
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&shown["fault"], &shown["secrets"]),
        (&Value::Null, &json!({"password": "set"}))
    );
}

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

async fn opened(database: &Database) -> (Store, Scope, Registry) {
    let store = database.store().await;
    let workspaces = store.access.workspaces().await.expect("listed");
    let key = SecretKey::read(&"ab".repeat(32)).expect("a key");
    let vault = Arc::new(Vault::new(Some(key), None));
    let outside = Outside::new(Guard::default());
    let registry = Registry::new(store.channels.clone(), vault, outside);
    (store, Scope(workspaces[0].id), registry)
}

async fn a_change_is_seen_by_others_within_a_second(database: Database) {
    let database = founded(database).await;
    let (store, scope, ours) = opened(&database).await;
    let (_, _, theirs) = opened(&database).await;
    let rate = async |registry: &Registry| {
        let found = registry.find(scope, "later").await.expect("looked");
        found.map(|found| (found.settings.rate_limit_per_minute, found.name))
    };
    assert_eq!(rate(&theirs).await, None);
    for number in 1..=3 {
        let written = json!({"kind": "outbox", "rate_limit_per_minute": number});
        configure(&store, &ours, scope, "later", written)
            .await
            .expect("set up");
        assert_eq!(
            rate(&ours).await,
            Some((Some(number), "later".into())),
            "at once"
        );
        eventually("the other sees it", Duration::from_secs(2), async || {
            (rate(&theirs).await? == (Some(number), "later".into())).then_some(())
        })
        .await;
    }
    // What was not changed is the same channel, with its connections.
    let written = json!({"kind": "outbox"});
    let first = ours
        .find(scope, "later")
        .await
        .expect("looked")
        .expect("there");
    configure(&store, &ours, scope, "other", written)
        .await
        .expect("set up");
    let again = ours
        .find(scope, "later")
        .await
        .expect("looked")
        .expect("there");
    assert!(Arc::ptr_eq(&first.channel, &again.channel));
    kurier::flow::channel::remove(&store, &ours, scope, "later")
        .await
        .expect("removed");
    eventually("the other sees it", Duration::from_secs(2), async || {
        rate(&theirs).await.is_none().then_some(())
    })
    .await;
}

async fn who_is_set_up_by_nobody_is_taken_by_the_outbox(database: Database) {
    let database = founded(database).await;
    let (store, scope, registry) = opened(&database).await;
    for kind in ChannelKind::ALL {
        let found = registry.find(scope, kind.as_str()).await.expect("looked");
        let found = found.expect("the outbox");
        assert_eq!(
            (found.name.as_str(), found.settings.kind()),
            ("outbox", ChannelKind::Outbox)
        );
        assert_eq!(found.revision, None);
    }
    assert!(
        registry
            .find(scope, "pigeon")
            .await
            .expect("looked")
            .is_none()
    );
    // A channel of one workspace is not another's.
    let written = json!({"kind": "outbox"});
    configure(&store, &registry, scope, "pigeon", written)
        .await
        .expect("set up");
    let (write, _) = database.found("other").await;
    assert!(!write.is_empty());
    let workspaces = store.access.workspaces().await.expect("listed");
    let other = workspaces
        .iter()
        .find(|it| it.name == "other")
        .expect("there");
    assert!(
        registry
            .find(Scope(other.id), "pigeon")
            .await
            .expect("looked")
            .is_none()
    );
    assert!(
        registry
            .find(scope, "pigeon")
            .await
            .expect("looked")
            .is_some()
    );
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
