//! Webhooks, as standardwebhooks.com has them: an id that stays, a time, and a signature for
//! every secret, so that a secret can be changed without a gap.

use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use hyper::Request;
use hyper::body::Bytes;
use kurier_core::message::channel;
use kurier_core::message::{Letter, Outcome};
use serde::Serialize;
use serde_json::value::RawValue;
use sha2::Sha256;

use super::http::{Http, Manner, Outside};
use super::{Channel, Unusable, unsendable};
use crate::secret::Secrets;

const PREFIX: &str = "whsec_";
/// What the standard asks of a secret.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

pub struct Webhook {
    http: Http,
    url: String,
    headers: Vec<(String, String)>,
    secrets: Vec<Hmac<Sha256>>,
}

/// What is posted.
#[derive(Serialize)]
struct Posted<'a> {
    r#type: &'a str,
    timestamp: String,
    data: Data<'a>,
}

/// The template's own document, or what there is of text.
#[derive(Serialize)]
#[serde(untagged)]
enum Data<'a> {
    Given(&'a RawValue),
    Written {
        id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        subject: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        html: Option<&'a str>,
    },
}

impl Webhook {
    pub fn new(
        setup: &channel::Webhook,
        secrets: &Secrets,
        outside: &Outside,
    ) -> Result<Self, Unusable> {
        let manner = Manner {
            concurrency: setup.concurrency,
            timeout_seconds: setup.timeout_seconds,
            ca_certificate: setup.ca_certificate.as_deref(),
        };
        let headers = setup.headers.iter();
        Ok(Self {
            http: Http::new(outside, &manner)?,
            url: setup.url.clone(),
            headers: headers.map(|(k, v)| (k.clone(), v.clone())).collect(),
            secrets: read_secrets(secrets.get("signing_secret").unwrap_or_default())?,
        })
    }

    fn request(&self, letter: &Letter, body: Vec<u8>) -> Result<Request<Bytes>, Outcome> {
        let id = letter.message.to_string();
        let seconds = letter.at.as_millis().div_euclid(1_000).to_string();
        let signature = self.signature(&id, &seconds, &body);
        let mut request = Request::post(&self.url)
            .header("content-type", "application/json")
            .header("user-agent", "Kurier")
            .header("webhook-id", &id)
            .header("webhook-timestamp", &seconds)
            .header("webhook-signature", &signature);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Bytes::from(body));
        request.map_err(|e| unsendable("request", &e.to_string()))
    }

    /// One for every secret.
    fn signature(&self, id: &str, seconds: &str, body: &[u8]) -> String {
        let signed = self.secrets.iter().map(|secret| {
            let mut mac = secret.clone();
            for part in [id.as_bytes(), b".", seconds.as_bytes(), b".", body] {
                mac.update(part);
            }
            format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
        });
        signed.collect::<Vec<_>>().join(" ")
    }
}

/// Several secrets stand with spaces between; each is 24 to 64 bytes in base64.
fn read_secrets(text: &str) -> Result<Vec<Hmac<Sha256>>, Unusable> {
    let bad =
        || Unusable("a signing secret is `whsec_` and 24 to 64 random bytes in base64".to_owned());
    let read = |word: &str| {
        let encoded = word.strip_prefix(PREFIX).unwrap_or(word);
        let bytes = STANDARD.decode(encoded).ok();
        let bytes = bytes.filter(|bytes| SECRET_BYTES.contains(&bytes.len()));
        let bytes = bytes.ok_or_else(bad)?;
        Ok(Hmac::new_from_slice(&bytes).expect("HMAC takes a key of any length"))
    };
    let secrets: Vec<_> = text
        .split_whitespace()
        .map(read)
        .collect::<Result<_, _>>()?;
    if secrets.is_empty() {
        Err(bad())
    } else {
        Ok(secrets)
    }
}

fn body(letter: &Letter) -> Result<Vec<u8>, Outcome> {
    let rendered = &letter.rendered;
    let data = match &rendered.json {
        Some(json) => {
            let given = serde_json::from_str(json);
            Data::Given(given.map_err(|e| unsendable("json", &e.to_string()))?)
        }
        None => Data::Written {
            id: letter.message.to_string(),
            to: letter.to.as_deref(),
            subject: rendered.subject.as_deref(),
            text: rendered.text.as_deref(),
            html: rendered.html.as_deref(),
        },
    };
    let posted = Posted {
        r#type: letter.template.as_deref().unwrap_or("message"),
        timestamp: letter.at.to_string(),
        data,
    };
    serde_json::to_vec(&posted).map_err(|e| unsendable("json", &e.to_string()))
}

#[async_trait]
impl Channel for Webhook {
    async fn send(&self, letter: &Letter) -> Outcome {
        let request = body(letter).and_then(|body| self.request(letter, body));
        let request = match request {
            Ok(request) => request,
            Err(outcome) => return outcome,
        };
        match self.http.call(request, letter.at).await {
            Ok(reply) if reply.is_success() => Outcome::Sent { receipt: None },
            Ok(reply) => reply.refusal(),
            Err(outcome) => outcome,
        }
    }

    fn concurrency(&self) -> usize {
        self.http.concurrency
    }

    fn timeout(&self) -> Duration {
        self.http.timeout
    }
}
