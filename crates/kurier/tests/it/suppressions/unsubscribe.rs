//! RFC 8058 as mail programs do it: a POST unsubscribes, a GET never does.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{Guard, list, message, told};
use crate::harness::{Answer, Database, Request, Server, eventually, on_both};

on_both![
    one_post_unsubscribes,
    looking_changes_nothing,
    the_page_offers_everything,
    two_posts_at_once_are_one,
    a_link_of_one_workspace_is_nothing_to_another,
    what_is_no_link_is_not_found,
    bodies_are_bounded,
    the_timeline_of_the_contact_tells_of_it
];

const LIMIT: Duration = Duration::from_secs(60);
const FORM: &str = "application/x-www-form-urlencoded";

async fn sent(request: Request) -> Answer {
    Answer::of(request.send().await.expect("an answer")).await
}

/// As mail programs do it: no key, no cookie, no origin.
fn post(server: &Server, path: &str, kind: &str, body: &str) -> Request {
    let request = server.api.bare(Method::POST, path);
    request.header("content-type", kind).body(body.to_owned())
}

fn one_click(server: &Server, path: &str) -> Request {
    post(server, path, FORM, "List-Unsubscribe=One-Click")
}

#[track_caller]
fn assert_done(answer: &Answer) {
    assert_eq!(answer.status, 200, "{}", answer.text);
    for absent in ["location", "refresh", "set-cookie"] {
        assert_eq!(answer.header(absent), None, "{absent}");
    }
}

async fn one_post_unsubscribes(database: Database) {
    let server = Server::start(database).await;
    let guard = Guard::of(&server.database, "default").await;
    let form = one_click(&server, &guard.link(message(1), "ann@x.de", "News"));
    assert_done(&sent(form).await);
    assert_eq!(guard.verdict("Ann@X.de ", "news").await, "opted_out");
    assert_eq!(guard.verdict("ann@x.de", "offers").await, "");
    assert_eq!(guard.verdict("ann@x.de", "").await, "");
    let parts = "--xyz\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\n\
                 One-Click\r\n--xyz--\r\n";
    let path = guard.link(message(2), "ben@x.de", "news");
    let parts = post(&server, &path, "multipart/form-data; boundary=xyz", parts);
    assert_done(&sent(parts).await);
    assert_eq!(guard.verdict("ben@x.de", "news").await, "opted_out");
    // A gateway that lost the body does not lose the wish; nor does a phone number.
    let bare = server
        .api
        .bare(Method::POST, &guard.link(message(3), "+49 228 1", "news"));
    assert_done(&sent(bare).await);
    assert_eq!(guard.verdict("0049 (0)228 1", "news").await, "opted_out");
    // Again is as good as once.
    assert_done(&sent(one_click(&server, &path)).await);
    let sources: Vec<_> = list(&server.api, "")
        .await
        .iter()
        .map(|it| it["source"].clone())
        .collect();
    assert_eq!(json!(sources), json!(["page", "one_click", "one_click"]));
    assert_eq!(told(&server.database, "address.suppressed").await, 3);
}

async fn looking_changes_nothing(database: Database) {
    let server = Server::start(database).await;
    let guard = Guard::of(&server.database, "default").await;
    let path = guard.link(message(1), "ann@x.de", "news");
    for _ in 0..100 {
        let page = sent(server.api.bare(Method::GET, &path)).await.expect(200);
        assert!(
            page.text.contains("<form method=\"post\">"),
            "{}",
            page.text
        );
    }
    for query in ["?List-Unsubscribe=One-Click", "?topics=all"] {
        sent(server.api.bare(Method::GET, &format!("{path}{query}")))
            .await
            .expect(200);
    }
    let head = sent(server.api.bare(Method::HEAD, &path)).await.expect(200);
    assert_eq!(head.text, "");
    for method in [Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS] {
        let answer = sent(server.api.bare(method.clone(), &path)).await;
        assert_eq!(answer.status, 405, "{method}");
    }
    assert_eq!(guard.verdict("ann@x.de", "news").await, "");
    assert_eq!(told(&server.database, "address.suppressed").await, 0);
}

async fn the_page_offers_everything(database: Database) {
    let server = Server::start(database).await;
    let guard = Guard::of(&server.database, "default").await;
    let path = guard.link(message(1), "ann@x.de", "a <b> & c");
    let german = server
        .api
        .bare(Method::GET, &path)
        .header("accept-language", "de-DE,en;q=0.5");
    let page = sent(german).await.expect(200);
    assert!(page.text.contains("<h1>Abbestellen</h1>"), "{}", page.text);
    assert!(page.text.contains("a &lt;b&gt; &amp; c"), "{}", page.text);
    assert!(
        !page.text.contains("<script") && !page.text.contains("http"),
        "{}",
        page.text
    );
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(
        page.text.contains("name=\"topics\" value=\"all\""),
        "{}",
        page.text
    );
    assert_done(&sent(post(&server, &path, FORM, "topics=all")).await);
    assert_eq!(guard.verdict("ann@x.de", "offers").await, "opted_out");
    // What has no topic is not advertising: it still goes.
    assert_eq!(guard.verdict("ann@x.de", "").await, "");
    let rows = list(&server.api, "topic=*").await;
    assert_eq!(rows[0]["source"], "page");
    assert_eq!(rows[0]["address"], json!(null));
}

async fn two_posts_at_once_are_one(database: Database) {
    let server = Server::start(database).await;
    let guard = Guard::of(&server.database, "default").await;
    let path = guard.link(message(1), "ann@x.de", "news");
    let posts = (0..8).map(|_| tokio::spawn(sent(one_click(&server, &path))));
    for post in posts.collect::<Vec<_>>() {
        assert_done(&post.await.expect("answered"));
    }
    assert_eq!(
        server
            .database
            .count("SELECT count(*) FROM suppression")
            .await,
        1
    );
    assert_eq!(told(&server.database, "address.suppressed").await, 1);
}

async fn a_link_of_one_workspace_is_nothing_to_another(database: Database) {
    let server = Server::start(database).await;
    let (write_key, admin_key) = server.database.found("other").await;
    let ours = Guard::of(&server.database, "default").await;
    let theirs = Guard::of(&server.database, "other").await;
    sent(one_click(
        &server,
        &ours.link(message(1), "ann@x.de", "news"),
    ))
    .await
    .expect(200);
    assert_eq!(ours.verdict("ann@x.de", "news").await, "opted_out");
    assert_eq!(theirs.verdict("ann@x.de", "news").await, "");
    let other = server.api.with_keys(&admin_key, &write_key);
    assert!(list(&other, "").await.is_empty());
    let release = other
        .delete("/api/v1/suppressions/ann@x.de?topic=news")
        .await;
    release.expect_problem(404, "not_found");
    assert_eq!(list(&server.api, "").await.len(), 1);
    // Signed by us and said to be theirs: neither believes it.
    let mut forged = Guard::of(&server.database, "other").await;
    forged.workspace.key = ours.workspace.key.clone();
    let path = forged.link(message(1), "ann@x.de", "news");
    sent(one_click(&server, &path))
        .await
        .expect_problem(404, "not_found");
}

async fn what_is_no_link_is_not_found(database: Database) {
    let server = Server::start(database).await;
    let guard = Guard::of(&server.database, "default").await;
    let path = guard.link(message(1), "ann@x.de", "news");
    let cut = &path[..path.len() - 1];
    let long = format!("/unsubscribe/{}", "A".repeat(5_000));
    for path in [cut, "/unsubscribe/x", "/unsubscribe/%00%ff", &long] {
        for request in [server.api.bare(Method::GET, path), one_click(&server, path)] {
            sent(request).await.expect_problem(404, "not_found");
        }
    }
    sent(one_click(&server, cut))
        .await
        .expect_problem(404, "not_found");
    let browser = server
        .api
        .bare(Method::GET, cut)
        .header("accept", "text/html,*/*");
    let page = sent(browser).await.expect(404);
    assert!(
        page.text.contains("This link is not valid"),
        "{}",
        page.text
    );
    assert_eq!(told(&server.database, "address.suppressed").await, 0);
}

async fn bodies_are_bounded(database: Database) {
    let server = Server::start(database).await;
    let guard = Guard::of(&server.database, "default").await;
    let path = guard.link(message(1), "ann@x.de", "news");
    let large = post(&server, &path, FORM, &"x".repeat(5_000));
    sent(large).await.expect_problem(413, "too_large");
    assert_eq!(guard.verdict("ann@x.de", "news").await, "");
    let other = post(&server, &path, "image/png", "\u{1}\u{2}");
    assert_done(&sent(other).await);
}

/// A journey that sends at once what was asked for.
fn greeting() -> Value {
    json!({"name": "Greeting", "nodes": [
        {"id": "start", "node_type": "trigger", "event_type": "hello", "next_node_id": "mail"},
        {"id": "mail", "node_type": "send_message", "channel": "outbox", "template": "t", "next_node_id": "done"},
        {"id": "done", "node_type": "exit"}]})
}

async fn the_timeline_of_the_contact_tells_of_it(database: Database) {
    let server = Server::start(database).await;
    let (api, guard) = (&server.api, Guard::of(&server.database, "default").await);
    crate::journeys::publish(api, &greeting()).await;
    let traits = json!({"email": "ann@x.de"});
    api.send("identify", json!({"userId": "ann", "traits": traits}))
        .await;
    api.send("track", json!({"userId": "ann", "event": "hello"}))
        .await;
    let mail = eventually("a message", LIMIT, async || {
        let list = api.get("/api/v1/messages").await.expect(200).json();
        list["data"][0]["id"].as_str().map(str::to_owned)
    });
    let mail = mail.await;
    let id = mail.parse().expect("an id");
    let path = guard.link(id, "ann@x.de", "news");
    sent(one_click(&server, &path)).await.expect(200);
    super::add(api, &json!({"address": "ann@x.de", "topic": "offers"}))
        .await
        .expect(200);
    api.delete("/api/v1/suppressions/ann@x.de?topic=offers")
        .await
        .expect(204);
    let contact = api.contact("ann").await;
    let rows = list(api, "address=ann@x.de").await;
    assert_eq!((rows.len(), &rows[0]["contact"]), (1, &contact["id"]));
    // How the address reads is known of the contact, and kept nowhere else.
    assert_eq!(rows[0]["address"], "ann@x.de");
    let kept = "SELECT count(*) FROM suppression WHERE address IS NOT NULL";
    assert_eq!(server.database.count(kept).await, 0);
    let events = api
        .events(&contact)
        .await
        .into_iter()
        .map(|event| event["properties"].clone());
    let said: Vec<Value> = events
        .filter(|said| !said["address_key"].is_null())
        .collect();
    let key = guard.key("ann@x.de");
    let offers = json!({"address_key": key, "topic": "offers", "reason": "manual",
        "source": "api", "by": "admin key"});
    let news = json!({"address_key": key, "topic": "news", "reason": "unsubscribed",
        "source": "one_click", "message": mail});
    assert_eq!(json!(said), json!([offers, offers, news]));
}
