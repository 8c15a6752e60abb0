//! Bundles from outside: the binary, both databases, a Redis of their own, blocks that are
//! mined here.

mod agreement;
mod commands;
mod death;
mod keyspace;
mod serve;

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::cli::with_variables;
use crate::harness::{ADMIN_KEY, Answer, Api, Database, Redis, Server, WRITE_KEY, eventually};

const LIMIT: Duration = Duration::from_secs(30);

/// A folder with a chain in it.
struct Chain {
    folder: tempfile::TempDir,
}

impl Chain {
    fn of(blocks: u32) -> Self {
        let chain = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        chain.mine(&["--blocks", &blocks.to_string()]);
        chain
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("chain.headers")
    }

    fn source(&self) -> String {
        format!("file://{}?chain=regtest", self.file().display())
    }

    fn mine(&self, options: &[&str]) -> Value {
        let file = self.file().display().to_string();
        let words = [&["headers", "mine", &file, "--json"], options].concat();
        let output = with_variables(&words, &[]);
        output.expect(0).json()
    }

    /// A server that looks at this chain every second.
    async fn serve(
        &self,
        database: Database,
        redis: Option<&Redis>,
        more: &[(&str, &str)],
    ) -> Server {
        let (source, url) = (self.source(), redis.map(Redis::url));
        let mut variables = vec![
            ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
            ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
            ("HEADERS_SOURCE", &source),
            ("POLICY_MIN_CONFS", "2"),
            ("CACHE_TTLS_JSON", "{\"headers\":1}"),
        ];
        if let Some(url) = &url {
            variables.push(("KURIER_REDIS_URL", url));
        }
        variables.extend(more);
        Server::start_with(database, &variables).await
    }
}

async fn post(api: &Api, method: Method, path: &str, body: &Value) -> Answer {
    let request = api
        .bare(method, path)
        .bearer_auth(&api.admin_key)
        .json(body);
    Answer::of(request.send().await.expect("an answer")).await
}

/// Publishes a template; answers its version's id.
async fn publish(api: &Api, name: &str) -> String {
    let document = json!({"name": name, "text": "Hello {{ contact.first_name }}"});
    let path = format!("/api/v1/templates/{name}");
    post(api, Method::PUT, &path, &document).await.expect(201);
    eventually("the version", LIMIT, async || {
        let all = api
            .get("/api/v1/versions?limit=500")
            .await
            .expect(200)
            .json();
        let found = all["data"].as_array()?.iter();
        let mut found = found.filter(|it| it["name"] == format!("{name}@1"));
        Some(found.next()?["versionId"].as_str()?.to_owned())
    })
    .await
}

/// The 32 bytes that a transaction is to carry for a version alone.
async fn commitment(api: &Api, id: &str) -> String {
    let bundle = api.get(&format!("/bundle/{id}")).await.expect(200).json();
    let text = |name: &str| bundle["envelope"][name].as_str().expect("text").to_owned();
    let content = text("contentSha256").parse().expect("a digest");
    let version = id.parse().expect("a digest");
    kurier_core::bundle::leaf(&text("tenant"), &version, &content).to_string()
}

/// Mines a transaction for a version and shows its proof.
async fn anchor(api: &Api, chain: &Chain, id: &str) -> Value {
    let mined = chain.mine(&["--commit", &commitment(api, id).await]);
    show(api, id, &mined).await.expect(201);
    mined
}

async fn show(api: &Api, id: &str, mined: &Value) -> Answer {
    let shown = json!({"tx": mined["tx"], "bump": mined["bump"], "header": mined["header"]});
    let path = format!("/api/v1/versions/{id}/proof");
    post(api, Method::POST, &path, &shown).await
}

async fn bundle(api: &Api, id: &str) -> Value {
    api.get(&format!("/bundle/{id}")).await.expect(200).json()
}

/// Waits until a bundle has so many confirmations; answers it.
async fn confirmed(api: &Api, id: &str, confs: i64) -> Value {
    eventually(&format!("{confs} confirmations"), LIMIT, async || {
        let answer = bundle(api, id).await;
        (answer["confs"] == confs).then_some(answer)
    })
    .await
}

async fn metric(api: &Api, name: &str) -> f64 {
    let text = api.get("/metrics").await.expect(200).text;
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let line = lines.find(|line| line.split(' ').next() == Some(name));
    line.map_or(0.0, |line| {
        let value = line.split(' ').next_back().expect("a value");
        value.parse().expect("a number")
    })
}

fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/bundles")
        .join(name)
}
