//! Slack: a bot's `chat.postMessage`, or the incoming webhook of one channel.

use std::time::Duration;

use async_trait::async_trait;
use hyper::Request;
use hyper::body::Bytes;
use kurier_core::message::channel;
use kurier_core::message::reply;
use kurier_core::message::{Letter, Outcome, Refusal};
use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{Http, Manner, Outside, Reply, unknown};
use super::{Channel, Unusable, no_recipient, unsendable};
use crate::secret::Secrets;

const BLOCKS_MAX: usize = 50;
const SECTION_CHARS_MAX: usize = 3_000;
/// What is shown where blocks cannot be.
const FALLBACK_CHARS_MAX: usize = 4_000;

pub struct Slack {
    http: Http,
    way: Way,
}

enum Way {
    Bot {
        url: String,
        token: String,
        channel: Option<String>,
    },
    Incoming {
        url: String,
    },
}

/// What a bot is answered.
#[derive(Deserialize)]
struct Answer {
    ok: bool,
    error: Option<String>,
    ts: Option<String>,
}

impl Slack {
    pub fn new(
        setup: &channel::Slack,
        secrets: &Secrets,
        outside: &Outside,
    ) -> Result<Self, Unusable> {
        let manner = Manner {
            concurrency: setup.concurrency,
            timeout_seconds: setup.timeout_seconds,
            ca_certificate: None,
        };
        let way = match (secrets.get("token"), secrets.get("webhook_url")) {
            (Some(token), _) => Way::Bot {
                url: format!("{}/chat.postMessage", setup.api_url.trim_end_matches('/')),
                token: token.to_owned(),
                channel: setup.channel.clone(),
            },
            (None, Some(url)) => Way::Incoming {
                url: url.to_owned(),
            },
            (None, None) => return Err(Unusable("it has neither token nor webhook_url".into())),
        };
        let http = Http::new(outside, &manner)?;
        Ok(Self { http, way })
    }

    fn request(&self, letter: &Letter) -> Result<Request<Bytes>, Outcome> {
        let mut body = body(letter)?;
        let request = match &self.way {
            Way::Bot {
                url,
                token,
                channel,
            } => {
                let to = letter.to.as_ref().or(channel.as_ref());
                body["channel"] = json!(to.ok_or_else(no_recipient)?);
                Request::post(url).header("authorization", format!("Bearer {token}"))
            }
            Way::Incoming { url } => Request::post(url),
        };
        let request = request
            .header("content-type", "application/json; charset=utf-8")
            .header("user-agent", "Kurier")
            .body(Bytes::from(body.to_string()));
        // The URL and the token are secrets: what is wrong with them is not told.
        request.map_err(|_| unsendable("request", "the token or the webhook_url is faulty"))
    }
}

fn body(letter: &Letter) -> Result<Value, Outcome> {
    let rendered = &letter.rendered;
    let text = rendered.text.as_deref().or(rendered.subject.as_deref());
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    let (blocks, fallback) = match &rendered.json {
        Some(json) => given(json)?,
        None => (sections(text), None),
    };
    check(&blocks)?;
    let text = text.map(str::to_owned).or(fallback);
    if text.is_none() && blocks.is_empty() {
        return Err(unsendable("empty", "there is nothing to say"));
    }
    let text: String = text
        .unwrap_or_default()
        .chars()
        .take(FALLBACK_CHARS_MAX)
        .collect();
    let mut body = json!({ "text": text });
    if !blocks.is_empty() {
        body["blocks"] = Value::Array(blocks);
    }
    Ok(body)
}

/// A template's blocks: a list, or an object that holds one and a text.
fn given(json: &str) -> Result<(Vec<Value>, Option<String>), Outcome> {
    let bad = || {
        unsendable(
            "blocks",
            "the template's JSON is neither blocks nor has them",
        )
    };
    let read = serde_json::from_str(json).map_err(|e| unsendable("json", &e.to_string()))?;
    match read {
        Value::Array(blocks) => Ok((blocks, None)),
        Value::Object(mut object) => {
            let text = object
                .get("text")
                .and_then(Value::as_str)
                .map(str::to_owned);
            match object.remove("blocks") {
                Some(Value::Array(blocks)) => Ok((blocks, text)),
                _ => Err(bad()),
            }
        }
        _ => Err(bad()),
    }
}

/// Text as sections that are short enough.
fn sections(text: Option<&str>) -> Vec<Value> {
    let characters: Vec<char> = text.unwrap_or_default().chars().collect();
    let parts = characters.chunks(SECTION_CHARS_MAX).map(|part| {
        let text: String = part.iter().collect();
        json!({"type": "section", "text": {"type": "mrkdwn", "text": text}})
    });
    parts.collect()
}

/// What Slack would refuse is not sent.
fn check(blocks: &[Value]) -> Result<(), Outcome> {
    if blocks.len() > BLOCKS_MAX {
        let detail = format!("{} blocks; Slack takes {BLOCKS_MAX}", blocks.len());
        return Err(unsendable("blocks", &detail));
    }
    let length = |block: &Value| {
        let text = block["text"]["text"].as_str().unwrap_or_default();
        text.chars().count()
    };
    let is_section = |block: &&Value| block["type"] == "section";
    let longest = blocks.iter().filter(is_section).map(length).max();
    if longest.unwrap_or(0) > SECTION_CHARS_MAX {
        let detail = format!("a section has more than {SECTION_CHARS_MAX} characters");
        return Err(unsendable("blocks", &detail));
    }
    if blocks.iter().any(|block| !block["type"].is_string()) {
        return Err(unsendable("blocks", "a block has no type"));
    }
    Ok(())
}

/// A bot is answered 200 whatever happened; the body says what.
fn read_bot(reply: &Reply) -> Outcome {
    if !reply.is_success() {
        return reply.refusal();
    }
    match serde_json::from_str::<Answer>(&reply.body) {
        Ok(Answer { ok: true, ts, .. }) => Outcome::Sent { receipt: ts },
        Ok(Answer { error, .. }) => Outcome::Refused(Refusal {
            retry_after: reply.retry_after,
            ..reply::slack(&error.unwrap_or_default())
        }),
        Err(_) => unknown("the answer is not Slack's"),
    }
}

/// A webhook answers `ok`, or a status and an error in plain text.
fn read_incoming(reply: &Reply) -> Outcome {
    let said = reply.body.trim();
    match reply.status {
        200..=299 => Outcome::Sent { receipt: None },
        400 | 403 | 404 | 410 if is_word(said) => Outcome::Refused(reply::slack(said)),
        _ => reply.refusal(),
    }
}

fn is_word(text: &str) -> bool {
    let mut bytes = text.bytes();
    !text.is_empty() && bytes.all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

#[async_trait]
impl Channel for Slack {
    async fn send(&self, letter: &Letter) -> Outcome {
        let request = match self.request(letter) {
            Ok(request) => request,
            Err(outcome) => return outcome,
        };
        match (self.http.call(request, letter.at).await, &self.way) {
            (Ok(reply), Way::Bot { .. }) => read_bot(&reply),
            (Ok(reply), Way::Incoming { .. }) => read_incoming(&reply),
            (Err(outcome), _) => outcome,
        }
    }

    fn concurrency(&self) -> usize {
        self.http.concurrency
    }

    fn timeout(&self) -> Duration {
        self.http.timeout
    }
}
