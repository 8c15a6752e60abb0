//! A client for the server under test.

use std::time::Duration;

use base64::Engine as _;
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};

use super::request::{Asked, Request};
use super::{contract, eventually};

/// Folding may lag behind when the machine is busy.
const SETTLE_LIMIT: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub struct Api {
    pub url: String,
    pub admin_key: String,
    pub write_key: String,
    pub http: Client,
}

/// What the server answered, read to its end.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    pub async fn of(response: Response) -> Self {
        let asked = response.extensions().get::<Asked>().cloned();
        let answer = Self {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response.text().await.expect("a whole body"),
        };
        if let Some(asked) = asked {
            let kind = answer.header("content-type");
            contract::check_body(&asked, answer.status, kind, &answer.text);
        }
        answer
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {}", self.text))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// A problem in every form that some client looks for.
    #[track_caller]
    pub fn expect_problem(self, status: u16, code: &str) -> Self {
        let answer = self.expect(status);
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json")
        );
        let body = answer.json();
        assert_eq!(body["code"], code, "{body}");
        assert_eq!(body["status"], status);
        assert_eq!(body["type"], format!("urn:kurier:problem:{code}"));
        assert!(body["title"].is_string());
        assert_eq!(body["message"], body["detail"]);
        assert_eq!(body["meta"]["error"], body["detail"]);
        assert!(body["detail"].as_str().is_some_and(|text| !text.is_empty()));
        answer
    }
}

impl Api {
    pub fn new(url: &str, admin_key: &str, write_key: &str) -> Self {
        let builder = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(Duration::from_secs(60));
        Self {
            url: url.to_owned(),
            admin_key: admin_key.to_owned(),
            write_key: write_key.to_owned(),
            http: builder.build().expect("a client"),
        }
    }

    /// The same server, asked with another key.
    pub fn with_keys(&self, admin_key: &str, write_key: &str) -> Self {
        Self {
            admin_key: admin_key.to_owned(),
            write_key: write_key.to_owned(),
            ..self.clone()
        }
    }

    /// A request without a key.
    pub fn bare(&self, method: Method, path: &str) -> Request {
        Request::new(&self.http, method, format!("{}{path}", self.url))
    }

    pub async fn get(&self, path: &str) -> Answer {
        let request = self.bare(Method::GET, path).bearer_auth(&self.admin_key);
        Answer::of(request.send().await.expect("an answer")).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        let request = self.bare(Method::DELETE, path).bearer_auth(&self.admin_key);
        Answer::of(request.send().await.expect("an answer")).await
    }

    pub async fn upsert(&self, contact: &Value) -> Answer {
        let request = self
            .bare(Method::POST, "/api/v1/contacts")
            .bearer_auth(&self.admin_key)
            .json(contact);
        Answer::of(request.send().await.expect("an answer")).await
    }

    /// An ingest request, keyed as the SDKs do.
    pub fn ingest(&self, path: &str, body: impl Into<reqwest::Body>) -> Request {
        let user = base64::engine::general_purpose::STANDARD.encode(format!("{}:", self.write_key));
        self.bare(Method::POST, path)
            .header("authorization", format!("Basic {user}"))
            .header("content-type", "application/json")
            .body(body)
    }

    pub async fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> Answer {
        Answer::of(self.ingest(path, body).send().await.expect("an answer")).await
    }

    pub async fn send(&self, kind: &str, item: Value) {
        let answer = self.post(&format!("/v1/{kind}"), item.to_string()).await;
        assert_eq!(
            (answer.status, answer.text.as_str()),
            (200, r#"{"success":true}"#)
        );
    }

    pub async fn batch(&self, items: &[Value]) -> Answer {
        self.post("/v1/batch", json!({ "batch": items }).to_string())
            .await
    }

    /// Waits until everything that was accepted can be read.
    pub async fn settle(&self) {
        eventually("the projection catches up", SETTLE_LIMIT, async || {
            let ready = self.get("/readyz").await.expect(200).json();
            (ready["projection_lag"] == 0).then_some(())
        })
        .await;
    }

    /// The contact with this user id, once everything is folded.
    pub async fn contact(&self, user_id: &str) -> Value {
        self.settle().await;
        let query = [("user_id", user_id)];
        let request = self.bare(Method::GET, "/api/v1/contacts").query(&query);
        let response = request.bearer_auth(&self.admin_key).send().await;
        let list = Answer::of(response.expect("an answer"))
            .await
            .expect(200)
            .json();
        assert_eq!(
            list["data"].as_array().map(Vec::len),
            Some(1),
            "{user_id}: {list}"
        );
        list["data"][0].clone()
    }

    pub async fn events(&self, contact: &Value) -> Vec<Value> {
        let id = contact["id"].as_str().expect("an id");
        let page = self
            .get(&format!("/api/v1/contacts/{id}/events?limit=500"))
            .await;
        let page = page.expect(200).json();
        assert_eq!(page["has_more"], false);
        page["data"].as_array().expect("a list").clone()
    }

    /// The value of a counter with these labels, 0 if it was never counted.
    pub async fn metric(&self, series: &str) -> u64 {
        let text = self.get("/metrics").await.expect(200).text;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.map_or(0, |value| value.parse().expect("a whole number"))
    }

    #[track_caller]
    pub fn assert_alive(&self) -> impl Future<Output = ()> {
        let api = self.clone();
        async move {
            assert_eq!(api.get("/healthz").await.expect(200).text, "ok\n");
        }
    }
}
