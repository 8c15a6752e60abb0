//! Who was erased is forgotten, and is still not written to.

use serde_json::json;

use super::{Guard, add, list, message};
use crate::cli::on;
use crate::harness::{Api, Database, Server, on_both, unique};

on_both![
    an_erased_address_stays_suppressed_when_it_comes_back,
    an_import_of_contacts_releases_nobody
];

async fn unsubscribe(api: &Api, path: &str) {
    let request = api.bare(reqwest::Method::POST, path);
    let answer = request.body("List-Unsubscribe=One-Click").send().await;
    assert_eq!(answer.expect("an answer").status(), 200);
}

#[track_caller]
fn assert_gone(database: &Database, mark: &str) {
    for (place, bytes) in database.bytes() {
        let found = bytes
            .windows(mark.len())
            .any(|window| window == mark.as_bytes());
        assert!(!found, "{mark} is in {place}");
    }
}

async fn an_erased_address_stays_suppressed_when_it_comes_back(database: Database) {
    let server = Server::start(database).await;
    let (api, guard) = (&server.api, Guard::of(&server.database, "default").await);
    let mark = unique("canary");
    let (old, new) = (format!("{mark}-old@x.de"), format!("{mark}@x.de"));
    let digits: String = mark
        .bytes()
        .map(|byte| char::from(b'0' + byte % 10))
        .collect();
    let phone = format!("+49{}", &digits[..11]);
    for email in [&old, &new] {
        let traits = json!({"email": email, "phone": phone});
        api.send("identify", json!({"userId": mark, "traits": traits}))
            .await;
    }
    let contact = api.contact(&mark).await;
    let many = json!([{"address": old}, {"address": new}, {"address": phone, "topic": "sms"},
        {"address": "other@x.de"}]);
    add(api, &many).await.expect(200);
    unsubscribe(api, &guard.link(message(1), &new, "news")).await;
    assert_eq!(list(api, "").await.len(), 5);
    let path = format!(
        "/api/v1/contacts/{}",
        contact["id"].as_str().expect("an id")
    );
    api.delete(&path).await.expect(200);
    for text in [mark.as_str(), &phone[3..]] {
        assert_gone(&server.database, text);
    }
    let known = list(api, "")
        .await
        .into_iter()
        .filter(|row| !row["address"].is_null());
    let known: Vec<_> = known.map(|row| row["address"].clone()).collect();
    assert_eq!(json!(known), json!(["other@x.de"]));
    // It comes back, by API and by SDK, and is known again.
    api.upsert(&json!({"user_id": "again", "email": new}))
        .await
        .expect(201);
    api.send(
        "identify",
        json!({"userId": mark, "traits": {"email": old}}),
    )
    .await;
    api.settle().await;
    for address in [&old, &new] {
        assert_eq!(guard.verdict(address, "").await, "suppressed");
    }
    assert_eq!(guard.verdict(&phone, "sms").await, "opted_out");
    assert_eq!(list(api, &format!("address={new}")).await.len(), 2);
    // A link in an old mail still works.
    unsubscribe(api, &guard.link(message(2), &new, "offers")).await;
    assert_eq!(list(api, "topic=offers").await.len(), 1);
}

async fn an_import_of_contacts_releases_nobody(database: Database) {
    let server = Server::start(database).await;
    let (api, guard) = (&server.api, Guard::of(&server.database, "default").await);
    add(
        api,
        &json!([{"address": "ann@x.de"}, {"address": "ben@x.de", "topic": "news"}]),
    )
    .await
    .expect(200);
    let file = tempfile::Builder::new()
        .suffix(".csv")
        .tempfile()
        .expect("a file");
    std::fs::write(file.path(), "email,plan\nANN@x.de,pro\nben@x.de,pro\n").expect("written");
    let path = file.path().to_str().expect("UTF-8");
    on(&server.database, &["import", "contacts", path]).expect(0);
    let contact = api.contact("ann@x.de").await;
    assert_eq!(guard.verdict("ann@x.de", "").await, "suppressed");
    assert_eq!(guard.verdict("ben@x.de", "news").await, "opted_out");
    let path = format!(
        "/api/v1/contacts/{}",
        contact["id"].as_str().expect("an id")
    );
    api.delete(&path).await.expect(200);
    let path = file.path().to_str().expect("UTF-8");
    on(
        &server.database,
        &["import", "contacts", path, "--include-erased"],
    )
    .expect(0);
    assert_eq!(guard.verdict("ann@x.de", "").await, "suppressed");
}
