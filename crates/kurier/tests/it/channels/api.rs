//! Settings of channels, by API and by command, with secrets that nobody shows.

use reqwest::Method;
use serde_json::{Value, json};

use super::sink::Sink;
use super::{keys, text};
use crate::cli::on;
use crate::harness::{ADMIN_KEY, Answer, Api, Database, Server, WRITE_KEY, on_both};

on_both![
    a_channel_is_set_up_shown_tried_and_removed,
    all_faults_are_told_at_once,
    secrets_stay_until_they_are_changed,
    secrets_are_written_nowhere,
    another_key_opens_nothing,
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
