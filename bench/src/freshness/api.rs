//! Kurier's API as the benchmark uses it.

use std::net::SocketAddr;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::ADMIN_KEY;
use crate::client::Client;

pub struct Api(Client);

impl Api {
    pub async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self(Client::connect(address).await?))
    }

    async fn call(&mut self, method: &str, path: &str, body: &str) -> anyhow::Result<(u16, Value)> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ADMIN_KEY}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = self.0.send(request.as_bytes()).await?;
        Ok((answer.status, serde_json::from_slice(answer.body)?))
    }

    /// Sets a channel up.
    pub async fn channel(&mut self, name: &str, setup: &Value) -> anyhow::Result<()> {
        let path = format!("/api/v1/channels/{name}");
        let (status, told) = self.call("PUT", &path, &setup.to_string()).await?;
        anyhow::ensure!(status < 300, "{status}: {told}");
        Ok(())
    }

    /// Makes a segment and answers its id.
    pub async fn segment(&mut self, name: &str, expression: &str) -> anyhow::Result<String> {
        let body = json!({"name": name, "expression": expression}).to_string();
        let (status, made) = self.call("POST", "/api/v1/segments", &body).await?;
        let id = made["id"].as_str();
        Ok(id.with_context(|| format!("{status}: {made}"))?.to_owned())
    }

    /// Whether the reactor says that a contact is a member.
    pub async fn explains(&mut self, segment: &str, contact: &str) -> anyhow::Result<bool> {
        let path = format!("/api/v1/segments/{segment}/explain/{contact}");
        let (_, explained) = self.call("GET", &path, "").await?;
        Ok(explained["member"] == json!(true))
    }

    /// Whether the list of members has a contact: it is the first after the id before it.
    pub async fn lists(
        &mut self,
        segment: &str,
        before: &str,
        contact: &str,
    ) -> anyhow::Result<bool> {
        let path = format!("/api/v1/segments/{segment}/members?limit=1&cursor={before}");
        let (_, page) = self.call("GET", &path, "").await?;
        Ok(page["data"][0]["contact"] == json!(contact))
    }

    /// How many contacts an expression holds for at an instant, or now.
    pub async fn preview(&mut self, expression: &str, now: Option<&str>) -> anyhow::Result<u64> {
        let body = json!({"expression": expression, "now": now}).to_string();
        let (status, preview) = self.call("POST", "/api/v1/segments/preview", &body).await?;
        preview["count"]
            .as_u64()
            .with_context(|| format!("{status}: {preview}"))
    }
}
