//! What a message says, by command: at once, and when it comes later.

use std::process::Stdio;

use serde_json::json;

use super::on;
use crate::harness::server::command;
use crate::harness::{Database, Server, on_both};

on_both![a_message_is_read_when_it_comes];

const JOURNEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/first-message/");

fn applied(database: &Database) {
    let (template, journey) = (
        format!("{JOURNEY}template.yaml"),
        format!("{JOURNEY}journey.yaml"),
    );
    on(database, &["template", "apply", &template]).expect(0);
    on(database, &["journey", "apply", &journey]).expect(0);
}

async fn a_message_is_read_when_it_comes(database: Database) {
    let server = Server::start(database).await;
    let database = &server.database;
    applied(database);
    let none = on(database, &["message", "read"]).expect(1);
    assert_eq!(none.stderr, "kurier: there is no such message\n");
    let newest = [
        "message",
        "read",
        "--journey",
        "First message",
        "--state",
        "sent",
    ];
    let late = on(database, &[&newest[..], &["--wait", "1"]].concat()).expect(1);
    assert_eq!(late.stderr, "kurier: no such message came within 1 s\n");
    let mut waiting = command();
    waiting
        .args(newest)
        .args(["--wait", "60"])
        .args(database.options());
    let waiting = waiting.stdout(Stdio::piped()).spawn().expect("it starts");
    let traits =
        json!({"userId": "ann", "traits": {"email": "ann@example.com", "first_name": "Ann"}});
    server.api.send("identify", traits).await;
    let booked =
        json!({"userId": "ann", "event": "course_booked", "properties": {"course": "Pottery"}});
    server.api.send("track", booked).await;
    let read = waiting.wait_with_output().expect("an end");
    assert_eq!(
        String::from_utf8_lossy(&read.stdout),
        "to       ann@example.com\nchannel  email\nstate    sent by outbox\n\
         subject  Your place is booked, Ann\n\nHi Ann,\n\nyour place in Pottery is booked. See you there!\n"
    );
    let json = on(database, &[&newest[..], &["--json"]].concat())
        .expect(0)
        .json();
    assert_eq!(json["subject"], "Your place is booked, Ann");
    assert_eq!(json["state"], "sent");
    let id = json["id"].as_str().expect("an id");
    let by_id = on(database, &["message", "read", id]).expect(0).stdout;
    assert_eq!(by_id.as_bytes(), read.stdout);
    on(database, &["message", "read", id, "--wait", "1"]).expect(2);
    on(database, &["message", "read", id, "--channel", "email"]).expect(2);
}

#[test]
fn the_first_message_of_the_readme_does_what_its_tests_say() {
    let path = format!("{JOURNEY}journey.test.yaml");
    let tested = super::kurier(&["journey", "test", &path]).expect(0).stdout;
    assert!(tested.ends_with("2 case(s), 0 failed\n"), "{tested}");
}
