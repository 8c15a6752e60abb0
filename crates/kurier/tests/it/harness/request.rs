//! A request to the server under test. Its answer has to be one that the API's description names.

use reqwest::{Body, Method, RequestBuilder, Response, Url};
use serde::Serialize;

use super::contract;

pub struct Request {
    builder: RequestBuilder,
    method: Method,
}

/// The operation that an answer belongs to.
#[derive(Clone)]
pub struct Asked {
    pub method: Method,
    pub url: Url,
}

impl Request {
    pub fn new(client: &reqwest::Client, method: Method, url: String) -> Self {
        Self {
            builder: client.request(method.clone(), url),
            method,
        }
    }

    fn with(self, change: impl FnOnce(RequestBuilder) -> RequestBuilder) -> Self {
        Self {
            builder: change(self.builder),
            method: self.method,
        }
    }

    pub fn bearer_auth(self, key: impl std::fmt::Display) -> Self {
        self.with(|it| it.bearer_auth(key))
    }

    pub fn basic_auth(self, user: &str, password: Option<&str>) -> Self {
        self.with(|it| it.basic_auth(user, password))
    }

    pub fn header(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.with(|it| it.header(name, value.as_ref()))
    }

    pub fn body(self, body: impl Into<Body>) -> Self {
        self.with(|it| it.body(body))
    }

    pub fn json(self, body: &(impl Serialize + ?Sized)) -> Self {
        self.with(|it| it.json(body))
    }

    pub fn query(self, query: &(impl Serialize + ?Sized)) -> Self {
        self.with(|it| it.query(query))
    }

    /// Sends it. Status and media type are compared at once, the body when it is read as an [`super::Answer`].
    pub async fn send(self) -> reqwest::Result<Response> {
        let mut response = self.builder.send().await?;
        let asked = Asked {
            method: self.method,
            url: response.url().clone(),
        };
        let kind = response.headers().get("content-type");
        let kind = kind.map(|it| it.to_str().expect("text"));
        contract::check_head(&asked, response.status().as_u16(), kind);
        response.extensions_mut().insert(asked);
        Ok(response)
    }
}
