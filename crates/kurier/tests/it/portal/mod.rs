//! What the web interface stands on: who signs in, what is served, what is told as it happens.

mod assets;
mod demo;
mod import;
mod live;
mod looks;
mod session;
mod users;

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{ADMIN_KEY, Answer, Api, Request};

pub const PASSWORD: &str = "correct horse battery";

/// Somebody with a browser: the cookie goes along by itself, the token is sent by our page.
#[derive(Clone)]
pub struct Browser {
    api: Api,
    pub cookie: String,
    pub csrf: String,
}

impl Browser {
    /// Takes what an answer that signs in has given.
    pub fn of(api: &Api, answer: &Answer) -> Self {
        let cookie = answer.header("set-cookie").expect("a cookie");
        let cookie = cookie.split(';').next().expect("a value");
        let csrf = answer.json()["csrf"].as_str().expect("a token").to_owned();
        Self {
            api: api.clone(),
            cookie: cookie.to_owned(),
            csrf,
        }
    }

    /// A request as another site could make the browser send it.
    pub fn bare(&self, method: Method, path: &str) -> Request {
        self.api.bare(method, path).header("cookie", &self.cookie)
    }

    pub fn request(&self, method: Method, path: &str) -> Request {
        self.bare(method, path).header("x-csrf-token", &self.csrf)
    }

    pub async fn get(&self, path: &str) -> Answer {
        sent(self.request(Method::GET, path)).await
    }

    pub async fn send(&self, method: Method, path: &str, body: Value) -> Answer {
        sent(self.request(method, path).body(body.to_string())).await
    }
}

pub async fn sent(request: Request) -> Answer {
    Answer::of(request.send().await.expect("an answer")).await
}

/// A request with a JSON body and nothing else.
pub async fn post(api: &Api, path: &str, body: Value) -> Answer {
    sent(api.bare(Method::POST, path).json(&body)).await
}

pub async fn sign_in(api: &Api, email: &str, password: &str) -> Answer {
    let body = json!({"email": email, "password": password});
    post(api, "/api/v1/session", body).await
}

/// Makes the first owner, ann@example.com.
pub async fn set_up(api: &Api) -> Browser {
    let body = json!({"key": ADMIN_KEY, "email": "Ann@Example.com", "name": "Ann",
        "password": PASSWORD});
    let answer = post(api, "/api/v1/setup", body).await.expect(201);
    Browser::of(api, &answer)
}

/// Makes a user and signs them in.
pub async fn join(api: &Api, role: &str) -> Browser {
    let email = format!("{role}@example.com");
    let body = json!({"email": email, "name": role, "role": role, "password": PASSWORD});
    let request = api.bare(Method::POST, "/api/v1/users");
    sent(request.bearer_auth(ADMIN_KEY).json(&body))
        .await
        .expect(201);
    let answer = sign_in(api, &email, PASSWORD).await.expect(200);
    Browser::of(api, &answer)
}
