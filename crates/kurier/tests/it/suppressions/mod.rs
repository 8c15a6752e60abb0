//! Suppressions, opt-outs and unsubscribing, from outside.

mod api;
mod command;
mod erase;
mod unsubscribe;

use kurier::links::Links;
use kurier_core::id::{AddressKey, MessageId};
use kurier_core::message::{Address, SkipReason};
use kurier_store::{Scope, Store, Workspace};
use reqwest::Method;
use serde_json::Value;

use crate::harness::{Answer, Api, Database};

/// Kurier's own eyes on a database: what a deliverer asks right before it sends.
pub struct Guard {
    pub store: Store,
    pub workspace: Workspace,
}

impl Guard {
    pub async fn of(database: &Database, workspace: &str) -> Self {
        let store = database.store().await;
        let all = store.access.workspaces().await.expect("listed");
        let own = all.into_iter().find(|it| it.name == workspace);
        Self {
            store,
            workspace: own.expect("the workspace"),
        }
    }

    pub fn key(&self, address: &str) -> AddressKey {
        let address = Address::guessed(address).expect("an address");
        address.key(&self.workspace.key)
    }

    /// Why a message would be kept back; empty if it would not.
    pub async fn verdict(&self, address: &str, topic: &str) -> &'static str {
        let topic = Some(topic).filter(|topic| !topic.is_empty());
        let topic = topic.map(|topic| topic.parse().expect("a topic"));
        let asked = vec![(self.key(address), topic)];
        let scope = Scope(self.workspace.id);
        let standing = self.store.suppressions.standing(scope, asked).await;
        standing.expect("judged")[0].map_or("", SkipReason::as_str)
    }

    /// The path of the link in a message to an address about a topic.
    pub fn link(&self, message: MessageId, address: &str, topic: &str) -> String {
        let links = Links::new(Some("https://kurier.example.com/".into()));
        let address = Address::guessed(address).expect("an address");
        let topic = topic.parse().expect("a topic");
        let link = links.unsubscribe(&self.workspace, message, &address, &topic);
        let link = link.expect("a link");
        let path = link.strip_prefix("https://kurier.example.com");
        path.expect("behind the public address").to_owned()
    }
}

pub fn message(number: u8) -> MessageId {
    MessageId::from_bytes([number; 16])
}

pub async fn add(api: &Api, body: &Value) -> Answer {
    let request = api.bare(Method::POST, "/api/v1/suppressions");
    let request = request.bearer_auth(&api.admin_key).json(body);
    Answer::of(request.send().await.expect("an answer")).await
}

pub async fn list(api: &Api, query: &str) -> Vec<Value> {
    let page = api.get(&format!("/api/v1/suppressions?{query}")).await;
    let page = page.expect(200).json();
    page["data"].as_array().expect("a list").clone()
}

/// How many events of a kind stand in the log.
pub async fn told(database: &Database, kind: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM log WHERE kind = '{kind}'");
    database.count(&sql).await
}
