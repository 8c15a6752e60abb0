//! Verifying finds a row that was changed by hand, and names it; rebuilding mends it.

use kurier::flow::rebuild::{Portion, Work, rebuild_in};
use kurier_core::projection::ALL;
use serde_json::Value;
use tokio::sync::watch;

use super::{LIMIT, all_rows, happen, prove, restart, settled, stage};
use crate::cli::on;
use crate::harness::{Answer, Database, Server, eventually, on_both};

on_both![
    verify_finds_a_row_changed_by_hand_and_rebuild_mends_it,
    a_row_too_many_and_a_missing_one_are_named,
    an_event_delivered_twice_is_counted_once,
    a_rebuild_is_the_same_in_portions_of_any_size,
    over_http_a_task_goes_on_by_itself,
    a_paused_projection_rests_until_it_is_resumed,
    a_rebuild_during_load_loses_nothing,
];

async fn verify_finds_a_row_changed_by_hand_and_rebuild_mends_it(database: Database) {
    let server = stage(database).await;
    prove(&server.database);
    let contact = server.api.contact("u1-3").await;
    let change = "UPDATE contact SET event_count = 99, phone = '1' WHERE user_id = 'u1-3'";
    server.database.execute(change).await;
    let output = on(&server.database, &["projection", "verify", "contacts"]).expect(1);
    assert!(
        output.stdout.contains("contacts DIFFERS from the log"),
        "{}",
        output.stdout
    );
    let id = contact["id"].as_str().expect("an id");
    let line = format!("contact ({id}): phone, event_count differs");
    assert!(output.stdout.contains(&line), "{}", output.stdout);
    assert!(output.stdout.contains("= timeline"), "{}", output.stdout);
    let rebuilt = on(&server.database, &["projection", "rebuild", "contacts"]).expect(0);
    assert!(
        rebuilt.stdout.contains("rebuilt contacts"),
        "{}",
        rebuilt.stdout
    );
    prove(&server.database);
    assert_eq!(server.api.contact("u1-3").await, contact);
}

async fn a_row_too_many_and_a_missing_one_are_named(database: Database) {
    let server = stage(database).await;
    let member = "SELECT entered_at FROM member ORDER BY contact LIMIT 1";
    assert_eq!(server.database.rows(member).await.len(), 1);
    let first = "SELECT min(contact::text) FROM member";
    let first = match server.database.options()[0].as_str() {
        "--database-url" => format!("({first})::uuid"),
        _ => "(SELECT min(contact) FROM member)".to_owned(),
    };
    let remove = format!("DELETE FROM member WHERE contact = {first}");
    server.database.execute(&remove).await;
    server
        .database
        .execute("UPDATE daily_count SET kind = 'alias' WHERE kind = 'identify'")
        .await;
    let output = on(&server.database, &["projection", "verify", "segments"]).expect(1);
    assert!(
        output.stdout.contains("the row is missing"),
        "{}",
        output.stdout
    );
    let output = on(
        &server.database,
        &["projection", "verify", "daily", "--json"],
    )
    .expect(1);
    let json = output.json();
    assert_eq!(json["equal"], false);
    let named = json["differences"].as_array().expect("a list");
    let of = |in_view: bool| {
        let found = named.iter().find(|it| it["in_view"] == in_view);
        found.expect("both rows are named")["key"][1].clone()
    };
    assert_eq!((of(true), of(false)), ("alias".into(), "identify".into()));
}

/// The negative control stands beside it: without what is remembered it is counted twice.
async fn an_event_delivered_twice_is_counted_once(database: Database) {
    let stopped = stage(database).await.terminate().await;
    let sent = "SELECT sent FROM channel_health";
    let counted = stopped.database.count(sent).await;
    assert_eq!(counted, 2);
    let once = all_rows(&stopped.database).await;
    let names: Vec<String> = ALL.iter().map(|it| format!("'{}'", it.name())).collect();
    let names = names.join(", ");
    let again = format!("UPDATE checkpoint SET position = 0 WHERE name IN ({names})");
    stopped.database.execute(&again).await;
    let server = restart(stopped).await;
    settled(&server.api).await;
    assert_eq!(all_rows(&server.database).await, once);
    prove(&server.database);
    let stopped = server.terminate().await;
    stopped
        .database
        .execute("DELETE FROM processed_events")
        .await;
    let one = "UPDATE checkpoint SET position = 0 WHERE name = 'channel_health'";
    stopped.database.execute(one).await;
    let server = restart(stopped).await;
    settled(&server.api).await;
    assert_eq!(server.database.count(sent).await, 2 * counted);
}

/// One event at a time, a few and many; with all rows in memory, and with none.
async fn a_rebuild_is_the_same_in_portions_of_any_size(database: Database) {
    let stopped = stage(database).await.terminate().await;
    let once = all_rows(&stopped.database).await;
    let store = stopped.database.store().await;
    let work = watch::Sender::new(Work::default());
    for events in [1, 7, 1_000] {
        for bytes_max in [0, 1 << 20] {
            let portion = Portion { events, bytes_max };
            for projection in ALL {
                let rebuilt = rebuild_in(portion, &store, *projection, &work).await;
                rebuilt.expect("rebuilt");
            }
            assert_eq!(all_rows(&stopped.database).await, once, "{portion:?}");
        }
    }
}

async fn ended(server: &Server, name: &str) -> Value {
    eventually("the task ends", LIMIT, async || {
        let path = format!("/api/v1/projections/{name}");
        let view = server.api.get(&path).await.expect(200).json();
        (!view["work"]["ended_at"].is_null()).then(|| view["work"].clone())
    })
    .await
}

async fn over_http_a_task_goes_on_by_itself(database: Database) {
    let server = stage(database).await;
    let post = async |path: &str| -> Answer {
        let request = server.api.bare(reqwest::Method::POST, path);
        let sent = request.bearer_auth(crate::harness::ADMIN_KEY).send().await;
        Answer::of(sent.expect("an answer")).await
    };
    post("/api/v1/projections/contacts/verify")
        .await
        .expect(202);
    let work = ended(&server, "contacts").await;
    assert_eq!(work["verdict"]["equal"], true, "{work}");
    let first = "DELETE FROM timeline WHERE position = (SELECT min(position) FROM timeline)";
    server.database.execute(first).await;
    post("/api/v1/projections/contacts/verify")
        .await
        .expect(202);
    let work = ended(&server, "contacts").await;
    assert_eq!(work["verdict"]["equal"], false, "{work}");
    post("/api/v1/projections/contacts/rebuild")
        .await
        .expect(202);
    let work = ended(&server, "contacts").await;
    assert_eq!(
        (&work["task"], &work["failure"]),
        (&"rebuild".into(), &Value::Null)
    );
    prove(&server.database);
    post("/api/v1/projections/nothing/rebuild")
        .await
        .expect_problem(404, "not_found");
}

async fn a_paused_projection_rests_until_it_is_resumed(database: Database) {
    let server = stage(database).await;
    on(&server.database, &["projection", "pause", "daily"]).expect(0);
    let before = server.database.rows("SELECT * FROM daily_count").await;
    happen(&server.api, 2).await;
    eventually("the others go on", LIMIT, async || {
        let list = server
            .api
            .get("/api/v1/projections")
            .await
            .expect(200)
            .json();
        let all = list["data"].as_array().expect("a list").clone();
        let of = |name: &str| all.iter().find(|it| it["name"] == name).cloned();
        let (contacts, daily) = (of("contacts")?, of("daily")?);
        assert_eq!(daily["paused"], true);
        (contacts["lag"] == 0 && daily["lag"].as_i64() > Some(0)).then_some(())
    })
    .await;
    assert_eq!(
        server.database.rows("SELECT * FROM daily_count").await,
        before
    );
    let list = on(&server.database, &["projection", "list"]).expect(0);
    assert!(list.stdout.contains("paused"), "{}", list.stdout);
    on(&server.database, &["projection", "resume", "daily"]).expect(0);
    settled(&server.api).await;
    assert_ne!(
        server.database.rows("SELECT * FROM daily_count").await,
        before
    );
    prove(&server.database);
}

async fn a_rebuild_during_load_loses_nothing(database: Database) {
    let server = stage(database).await;
    let api = server.api.clone();
    let load = tokio::spawn(async move {
        for round in 2..12 {
            happen(&api, round).await;
        }
    });
    while !load.is_finished() {
        let options = server.database.options();
        let rebuilt = tokio::task::spawn_blocking(move || {
            let mut arguments = vec!["projection", "rebuild", "--all"];
            arguments.extend(options.iter().map(String::as_str));
            crate::cli::kurier(&arguments)
        });
        rebuilt.await.expect("it ran").expect(0);
    }
    load.await.expect("the load ended");
    settled(&server.api).await;
    prove(&server.database);
    let contacts = server.database.count("SELECT count(*) FROM contact").await;
    assert_eq!(contacts, 55);
}
