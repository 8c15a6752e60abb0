//! From a request to its ending, through a real server and real channels.

mod consent;
mod endings;
mod processes;
mod requests;

use std::time::Duration;

use serde_json::{Value, json};

use crate::channels::Sink;
use crate::harness::{ADMIN_KEY, Answer, Api, Database, Server, WRITE_KEY, eventually};

const LIMIT: Duration = Duration::from_secs(60);
/// Longer than any retry waits.
const LATER_MICROS: i64 = 2 * 86_400 * 1_000_000;
const SECRET_KEY: &str = "abababababababababababababababababababababababababababababababab";
pub const VARIABLES: [(&str, &str); 5] = [
    ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
    ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
    ("KURIER_OUTGOING_ALLOW", "127.0.0.0/8"),
    ("KURIER_SECRET_KEY", SECRET_KEY),
    ("KURIER_PUBLIC_URL", "https://kurier.example.com"),
];

/// A server that may call this machine, and a server to call.
pub struct Scene {
    pub server: Server,
    pub sink: Sink,
}

impl Scene {
    pub async fn http(database: Database) -> Self {
        let sink = Sink::http(json!({})).await;
        let server = Server::start_with(database, &VARIABLES).await;
        Self { server, sink }
    }

    async fn smtp(database: Database) -> Self {
        let sink = Sink::smtp(json!({})).await;
        let server = Server::start_with(database, &VARIABLES).await;
        let scene = Self { server, sink };
        let settings = json!({
            "host": "127.0.0.1", "port": scene.sink.port, "security": "none",
            "from": {"address": "kurier@example.com"},
        });
        set(
            &scene.server.api,
            "email",
            json!({"kind": "email", "settings": settings}),
        )
        .await;
        scene
    }

    fn api(&self) -> &Api {
        &self.server.api
    }

    /// Sets up the webhook so that its answers are as the path says.
    async fn hook(&self, path: &str, more: Value) {
        let mut settings = webhook(json!({"url": self.sink.url(path)}));
        merge(&mut settings, more);
        set(self.api(), "hook", settings).await;
    }

    /// Asks for a message by webhook; answers its id.
    async fn ask(&self) -> String {
        ask(
            self.api(),
            json!({"channel": "hook", "body": {"json": {"n": 1}}}),
        )
        .await
    }

    /// Waits until a message is in a state.
    async fn state(&self, id: &str, state: &str) -> Value {
        reaches(self.api(), id, state).await
    }

    /// Lets the time come for everything that waits for it.
    async fn later(&self) {
        let store = self.server.database.store().await;
        let later = kurier::clock::now().shifted(LATER_MICROS);
        store.queue.line(later).await.expect("in line");
    }

    /// The id that the next request carries.
    async fn webhook_id(&mut self) -> String {
        let request = self.sink.next("request").await;
        request["headers"]["webhook-id"]
            .as_str()
            .expect("an id")
            .to_owned()
    }
}

/// The settings of a webhook.
pub fn webhook(settings: Value) -> Value {
    let secrets = json!({"signing_secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"});
    json!({"kind": "webhook", "settings": settings, "secrets": secrets})
}

fn merge(into: &mut Value, more: Value) {
    if let (Some(into), Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}

async fn put(api: &Api, path: &str, body: &Value) -> Answer {
    let request = api.bare(reqwest::Method::PUT, path);
    let sent = request.bearer_auth(&api.admin_key).json(body).send().await;
    Answer::of(sent.expect("an answer")).await
}

async fn post(api: &Api, path: &str, body: &Value) -> Answer {
    let request = api.bare(reqwest::Method::POST, path);
    let sent = request.bearer_auth(&api.admin_key).json(body).send().await;
    Answer::of(sent.expect("an answer")).await
}

pub async fn set(api: &Api, channel: &str, settings: Value) {
    let path = format!("/api/v1/channels/{channel}");
    put(api, &path, &settings).await.expect(200);
}

pub async fn ask(api: &Api, message: Value) -> String {
    let accepted = post(api, "/api/v1/messages", &message).await.expect(202);
    accepted.json()["id"].as_str().expect("an id").to_owned()
}

async fn reaches(api: &Api, id: &str, state: &str) -> Value {
    let path = format!("/api/v1/messages/{id}");
    let what = format!("message {id} is {state}");
    eventually(&what, LIMIT, async || {
        let answer = api.get(&path).await;
        let message = (answer.status == 200).then(|| answer.json())?;
        (message["state"] == state).then_some(message)
    })
    .await
}
