//! Signing in and out: cookies, tokens against other sites, and limits.

use reqwest::Method;
use serde_json::json;

use super::{Browser, PASSWORD, join, post, sent, set_up, sign_in};
use crate::harness::{ADMIN_KEY, Database, Server, WRITE_KEY, on_both};

on_both![
    the_first_owner_is_made_with_an_admin_key,
    whoever_signs_in_is_told_who_they_are,
    a_cookie_alone_changes_nothing,
    other_sites_do_not_sign_in,
    signing_out_ends_it,
    wrong_passwords_have_to_wait,
    a_session_outlives_a_restart,
    acts_are_signed_with_the_address,
    nothing_secret_is_kept_or_told,
];

async fn the_first_owner_is_made_with_an_admin_key(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let nobody = sent(api.bare(Method::GET, "/api/v1/session")).await;
    let nobody = nobody.expect_problem(401, "setup_required");
    assert_eq!(nobody.json()["demo"], false);
    let setup = |key: &str, email: &str, password: &str| {
        let body = json!({"key": key, "email": email, "name": "Ann", "password": password});
        post(api, "/api/v1/setup", body)
    };
    setup("unknown-key-0123", "a@x.de", PASSWORD)
        .await
        .expect_problem(401, "unauthorized");
    setup(WRITE_KEY, "a@x.de", PASSWORD)
        .await
        .expect_problem(403, "forbidden");
    let faulty = setup(ADMIN_KEY, "nonsense", "short").await;
    let faulty = faulty.expect_problem(422, "bad_user").json();
    let pointers: Vec<_> = faulty["errors"].as_array().expect("all faults").to_vec();
    let pointers: Vec<_> = pointers.iter().map(|it| it["pointer"].clone()).collect();
    assert_eq!(pointers, ["/email", "/password"]);
    let ann = set_up(api).await;
    let me = ann.get("/api/v1/session").await.expect(200).json();
    assert_eq!(me["user"]["role"], "owner");
    let again = setup(ADMIN_KEY, "bob@x.de", PASSWORD).await;
    again.expect_problem(409, "conflict");
    let nobody = sent(api.bare(Method::GET, "/api/v1/session")).await;
    nobody.expect_problem(401, "signed_out");
}

async fn whoever_signs_in_is_told_who_they_are(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    set_up(api).await;
    let answer = sign_in(api, " ANN@example.com ", PASSWORD)
        .await
        .expect(200);
    let cookie = answer.header("set-cookie").expect("a cookie").to_owned();
    for part in ["Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=1209600"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "{cookie}");
    let me = answer.json();
    assert_eq!(me["user"]["email"], "ann@example.com");
    assert_eq!(me["user"]["name"], "Ann");
    assert_eq!(me["workspace"]["name"], "default");
    assert_eq!(me["demo"], false);
    let ann = Browser::of(api, &answer);
    assert_eq!(ann.get("/api/v1/session").await.expect(200).json(), me);
    let request = api.bare(Method::POST, "/api/v1/session");
    let request = request.header("x-forwarded-proto", "https");
    let body = json!({"email": "ann@example.com", "password": PASSWORD});
    let behind = sent(request.json(&body)).await.expect(200);
    let cookie = behind.header("set-cookie").expect("a cookie");
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    post(api, "/api/v1/session", json!({"demo": true}))
        .await
        .expect_problem(403, "forbidden");
    post(api, "/api/v1/session", json!({"email": "ann@example.com"}))
        .await
        .expect_problem(400, "bad_json");
}

async fn a_cookie_alone_changes_nothing(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let body = json!({"name": "All", "expression": "TRUE"}).to_string();
    let path = "/api/v1/segments";
    let forged = ann.bare(Method::POST, path).body(body.clone());
    sent(forged).await.expect_problem(403, "csrf");
    let wrong = ann.bare(Method::POST, path).body(body.clone());
    let wrong = wrong.header("x-csrf-token", "0".repeat(64));
    sent(wrong).await.expect_problem(403, "csrf");
    let other = join(&server.api, "editor").await;
    let theirs = ann.bare(Method::POST, path).body(body.clone());
    let theirs = theirs.header("x-csrf-token", &other.csrf);
    sent(theirs).await.expect_problem(403, "csrf");
    let list = ann.get(path).await.expect(200).json();
    assert_eq!(list["data"], json!([]));
    let out = ann.bare(Method::DELETE, "/api/v1/session");
    sent(out).await.expect_problem(403, "csrf");
    sent(ann.request(Method::POST, path).body(body))
        .await
        .expect(201);
    // Looking needs no token.
    sent(ann.bare(Method::GET, path)).await.expect(200);
}

async fn other_sites_do_not_sign_in(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    set_up(api).await;
    let body = json!({"email": "ann@example.com", "password": PASSWORD}).to_string();
    let form = api.bare(Method::POST, "/api/v1/session").body(body.clone());
    let form = form.header("content-type", "text/plain");
    sent(form).await.expect_problem(415, "bad_content_type");
    for (site, status) in [
        ("cross-site", 403),
        ("same-site", 403),
        ("same-origin", 200),
    ] {
        let request = api.bare(Method::POST, "/api/v1/session").body(body.clone());
        let request = request.header("content-type", "application/json");
        let request = request.header("sec-fetch-site", site);
        assert_eq!(sent(request).await.status, status, "{site}");
    }
}

async fn signing_out_ends_it(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let elsewhere = sign_in(&server.api, "ann@example.com", PASSWORD).await;
    let elsewhere = Browser::of(&server.api, &elsewhere.expect(200));
    let out = ann.send(Method::DELETE, "/api/v1/session", json!({})).await;
    let cookie = out.expect(204).header("set-cookie").map(str::to_owned);
    assert!(
        cookie.is_some_and(|it| it.starts_with("kurier_session=;") && it.contains("Max-Age=0"))
    );
    let gone = ann.get("/api/v1/session").await;
    gone.expect_problem(401, "signed_out");
    let gone = ann.get("/api/v1/contacts").await;
    gone.expect_problem(401, "signed_out");
    elsewhere.get("/api/v1/contacts").await.expect(200);
}

async fn wrong_passwords_have_to_wait(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    set_up(api).await;
    for email in ["ann@example.com", "nobody@example.com"] {
        for _ in 0..5 {
            let wrong = sign_in(api, email, "not the password").await;
            let wrong = wrong.expect_problem(401, "wrong_password").json();
            assert_eq!(
                wrong["detail"],
                "the e-mail address or the password is wrong"
            );
        }
        let wait = sign_in(api, email, PASSWORD).await;
        let wait = wait.expect_problem(429, "too_many_attempts");
        let seconds: u32 = wait
            .header("retry-after")
            .and_then(|it| it.parse().ok())
            .expect("seconds");
        assert!((1..=60).contains(&seconds), "{seconds}");
    }
}

async fn a_session_outlives_a_restart(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let server = server.terminate().await.restart().await;
    let ann = Browser {
        api: server.api.clone(),
        ..ann
    };
    ann.get("/api/v1/session").await.expect(200);
}

async fn acts_are_signed_with_the_address(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let body = json!({"name": "All", "expression": "TRUE"});
    ann.send(Method::POST, "/api/v1/segments", body)
        .await
        .expect(201);
    let act = crate::harness::eventually(
        "the act is told",
        std::time::Duration::from_secs(30),
        async || {
            let audit = ann.get("/api/v1/audit").await.expect(200).json();
            let acts = audit["data"].as_array().expect("a list").clone();
            acts.into_iter().find(|it| it["kind"] == "segment.created")
        },
    );
    assert_eq!(act.await["operator"], "ann@example.com");
    let audit = ann.get("/api/v1/audit").await.expect(200).json();
    let acts = audit["data"].as_array().expect("a list");
    let made = acts.iter().find(|it| it["kind"] == "user.created");
    let made = made.expect("the owner was made");
    assert_eq!(made["subject"], "ann@example.com");
    assert_eq!(made["operator"], "admin key");
}

async fn nothing_secret_is_kept_or_told(database: Database) {
    let variables = [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ("KURIER_LOG", "debug"),
    ];
    let server = Server::start_with(database, &variables).await;
    let api = &server.api;
    let ann = set_up(api).await;
    let token = ann.cookie.trim_start_matches("kurier_session=").to_owned();
    sign_in(api, "ann@example.com", "a wrong password")
        .await
        .expect(401);
    let body = json!({"name": "site", "scopes": ["ingest"]});
    let key = ann
        .send(Method::POST, "/api/v1/api-keys", body)
        .await
        .expect(201)
        .json();
    let key = key["key"].as_str().expect("the key").to_owned();
    let list = ann.get("/api/v1/api-keys").await.expect(200).text;
    let users = ann.get("/api/v1/users").await.expect(200).text;
    assert!(!users.contains("argon2"), "{users}");
    let metrics = api.get("/metrics").await.expect(200).text;
    api.settle().await;
    let mut places = server.database.bytes();
    places.push(("the log output".into(), server.log().into_bytes()));
    places.push(("the metrics".into(), metrics.into_bytes()));
    places.push(("the list of keys".into(), list.into_bytes()));
    places.push(("the list of users".into(), users.into_bytes()));
    for (place, bytes) in places {
        for secret in [PASSWORD, "a wrong password", &token, &ann.csrf, &key] {
            let mut windows = bytes.windows(secret.len());
            assert!(
                !windows.any(|it| it == secret.as_bytes()),
                "{place}: {secret}"
            );
        }
    }
}
