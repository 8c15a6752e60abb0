//! Who was erased is a member of nothing when the answer is given.

use serde_json::json;

use super::{EAGER, LIMIT, define, members};
use crate::harness::{Database, Server, eventually, on_both, unique};

on_both![
    an_erased_contact_is_a_member_of_nothing,
    nothing_of_an_erased_contact_is_in_a_snapshot
];

async fn an_erased_contact_is_a_member_of_nothing(database: Database) {
    let server = Server::start_with(database, &EAGER).await;
    let segment = define(&server.api, "TRUE").await;
    for n in 0..10 {
        let user = format!("u{n}");
        let traits = json!({"userId": user, "traits": {"plan": "pro"}});
        server.api.send("identify", traits).await;
        let contact = server.api.contact(&user).await;
        eventually("it is a member", LIMIT, async || {
            (members(&server.api, &segment).await.len() == 1).then_some(())
        })
        .await;
        let id = contact["id"].as_str().expect("an id");
        let path = format!("/api/v1/contacts/{id}");
        let report = server.api.delete(&path).await.expect(200).json();
        assert_eq!(report["done"], true);
        let rows = server.database.count("SELECT count(*) FROM member").await;
        assert_eq!(rows, 0, "the answer was given before");
    }
    super::books::audit(&server.database)
        .await
        .expect("told once");
}

fn files_with(server: &Server, mark: &str) -> Vec<String> {
    let mark = mark.as_bytes();
    let all = server.database.bytes().into_iter();
    let found = all.filter(|(_, bytes)| bytes.windows(mark.len()).any(|window| window == mark));
    found.map(|(place, _)| place).collect()
}

async fn fill(server: &Server) {
    for n in 0..15 {
        let item = |k| json!({"type": "track", "userId": format!("other{k}"), "event": "e", "properties": {"n": n}});
        let items: Vec<_> = (0..20).map(item).collect();
        server.api.batch(&items).await.expect(200);
    }
}

async fn nothing_of_an_erased_contact_is_in_a_snapshot(database: Database) {
    let mark = unique("canary");
    let server = Server::start_with(database, &EAGER).await;
    define(&server.api, "TRUE").await;
    let c = |n: u32| format!("{mark}{n}");
    let traits = json!({"email": c(1), c(2): {c(3): [c(4)]}});
    let identify = json!({"userId": c(5), "anonymousId": c(6), "traits": traits});
    server.api.send("identify", identify).await;
    let track = json!({"userId": c(5), "event": c(7), "properties": {c(8): c(9)}});
    server.api.send("track", track).await;
    fill(&server).await;
    let is_in_snapshot = || {
        files_with(&server, &mark)
            .iter()
            .any(|file| file.ends_with(".snapshot"))
    };
    eventually("a snapshot tells of it", LIMIT, async || {
        is_in_snapshot().then_some(())
    })
    .await;
    let contact = server.api.contact(&c(5)).await;
    let path = format!(
        "/api/v1/contacts/{}",
        contact["id"].as_str().expect("an id")
    );
    server.api.delete(&path).await.expect(200);
    assert_eq!(files_with(&server, &mark), Vec::<String>::new());
    fill(&server).await;
    eventually("another snapshot", LIMIT, async || {
        (!server.database.snapshots().is_empty()).then_some(())
    })
    .await;
    assert_eq!(files_with(&server, &mark), Vec::<String>::new());
    let stopped = server.terminate().await;
    let server = stopped.restart_with(&EAGER).await;
    server.api.settle().await;
    assert_eq!(files_with(&server, &mark), Vec::<String>::new());
}
