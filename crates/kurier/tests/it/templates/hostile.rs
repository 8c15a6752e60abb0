//! Templates that are made to bring a server down: each is answered with the limit it passes,
//! and the server neither grows nor goes.

use serde_json::json;

use crate::harness::{Database, Server, on_both};
use crate::journeys::post;

on_both![hostile_templates_pass_a_limit_and_the_server_goes_on];

const GROWTH_KB_MAX: u64 = 64 * 1024;

/// How much memory a process takes, and how much it took at most.
fn memory_kb(process: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("there");
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let number = line.and_then(|line| line.split_whitespace().next().map(str::to_owned));
    number.expect("a number").parse().expect("a number")
}

fn payloads() -> Vec<(&'static str, String, &'static str)> {
    let doubling = format!(
        "{{% assign s = 'x' %}}{}{{{{ s }}}}",
        "{% assign s = s | append: s %}".repeat(40)
    );
    let nested = format!(
        "{}x{}",
        "{% for i in (1..1000) %}".repeat(9),
        "{% endfor %}".repeat(9)
    );
    let deep = "{% if contact.a = 1 %}".repeat(10_000);
    let table = format!(
        "|{}\n|{}\n{}",
        "a|".repeat(7_000),
        "-|".repeat(7_000),
        "|x\n".repeat(7_000)
    );
    vec![
        (
            "text",
            doubling,
            "limit: a text made on the way is larger than 256 KiB",
        ),
        (
            "text",
            "{% for i in (1..1000000000) %}{{ i }}{% endfor %}".into(),
            "limit: its loops run more than 10,000 times",
        ),
        (
            "html",
            nested,
            "limit: its loops run more than 10,000 times",
        ),
        (
            "text",
            "{{ data.long | replace: 'x', data.long }}".into(),
            "limit: a text made on the way is larger than 256 KiB",
        ),
        (
            "text",
            "{{ data.long | split: '' | join: data.long }}".into(),
            "limit: a list made on the way has more than 10,000 items",
        ),
        (
            "text",
            "{% for i in (1..9999) %}{% if data.long matches '(x+x+)+y' %}{% endif %}{% endfor %}"
                .into(),
            "limit: the texts made on the way are larger than 4 MiB together",
        ),
        (
            "html",
            "{% for i in (1..9999) %}{{ data.long }}{% endfor %}".into(),
            "limit: output is larger than 1 MiB",
        ),
        (
            "markdown",
            table,
            "limit: its tables could have more than 20,000 cells",
        ),
        ("markdown", "`a".repeat(30_000), ""),
        ("text", deep, "blocks nest at most 32 deep"),
    ]
}

async fn hostile_templates_pass_a_limit_and_the_server_goes_on(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    // The first one pays for what every request needs.
    let path = "/api/v1/templates/x/preview";
    post(
        api,
        path,
        &json!({"document": {"name": "x", "markdown": "x"}}),
    )
    .await
    .expect(200);
    for (part, text, limit) in payloads() {
        // The most it ever took is counted from here.
        std::fs::write(format!("/proc/{}/clear_refs", server.pid()), "5").expect("counted anew");
        let before = memory_kb(server.pid(), "VmRSS:");
        let body =
            json!({"data": {"long": "x".repeat(100_000)}, "document": {"name": "x", part: text}});
        let answer = post(api, path, &body).await;
        let growth = memory_kb(server.pid(), "VmHWM:").saturating_sub(before);
        assert!(growth < GROWTH_KB_MAX, "grew by {growth} KB for {limit}");
        if limit.is_empty() {
            // What takes the reader of Markdown the most and passes no limit.
            answer.expect(200);
            continue;
        }
        let answer = answer.expect(422);
        let detail = answer.json()["detail"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(detail.contains(limit), "{detail} instead of {limit}");
    }
    api.assert_alive().await;
}
