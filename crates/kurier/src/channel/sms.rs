//! SMS: Twilio and what looks like it, or any provider that takes one request.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Request;
use hyper::body::Bytes;
use kurier_core::message::channel::{self, Method};
use kurier_core::message::reply;
use kurier_core::message::{Letter, Outcome, Refusal};
use serde::Deserialize;

use super::http::{Http, Manner, Outside, Reply, escaped, form_encoded};
use super::{Channel, Unusable, no_recipient, unsendable};
use crate::secret::Secrets;

const FORM: &str = "application/x-www-form-urlencoded";

pub fn build(
    setup: &channel::Sms,
    secrets: &Secrets,
    outside: &Outside,
) -> Result<Arc<dyn Channel>, Unusable> {
    Ok(match setup {
        channel::Sms::Twilio(it) => Arc::new(Twilio::new(it, secrets, outside)?),
        channel::Sms::Http(it) => Arc::new(Generic::new(it, secrets, outside)?),
    })
}

/// Whom it goes to and what it says.
fn content(letter: &Letter) -> Result<(&str, &str), Outcome> {
    let to = letter.to.as_deref().ok_or_else(no_recipient)?;
    let text = letter
        .rendered
        .text
        .as_deref()
        .filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| unsendable("empty", "there is no text"))?;
    Ok((to, text))
}

struct Twilio {
    http: Http,
    url: String,
    authorization: String,
    /// Which of the two ways to name the sender, and the sender.
    from: (&'static str, String),
}

/// Both what was taken and what was not.
#[derive(Deserialize)]
struct TwilioAnswer {
    sid: Option<String>,
    code: Option<u32>,
    message: Option<String>,
}

impl Twilio {
    fn new(
        setup: &channel::Twilio,
        secrets: &Secrets,
        outside: &Outside,
    ) -> Result<Self, Unusable> {
        let token = secrets.get("auth_token").unwrap_or_default();
        let user = STANDARD.encode(format!("{}:{token}", setup.account_sid));
        let base = setup.base_url.trim_end_matches('/');
        let from = match (&setup.from, &setup.messaging_service_sid) {
            (Some(from), _) => ("From", from.clone()),
            (None, service) => ("MessagingServiceSid", service.clone().unwrap_or_default()),
        };
        let manner = Manner {
            concurrency: setup.concurrency,
            timeout_seconds: setup.timeout_seconds,
            ca_certificate: None,
        };
        Ok(Self {
            http: Http::new(outside, &manner)?,
            url: format!(
                "{base}/2010-04-01/Accounts/{}/Messages.json",
                setup.account_sid
            ),
            authorization: format!("Basic {user}"),
            from,
        })
    }

    fn request(&self, letter: &Letter) -> Result<Request<Bytes>, Outcome> {
        let (to, text) = content(letter)?;
        let form = form_encoded(&[("To", to), (self.from.0, &self.from.1), ("Body", text)]);
        let request = Request::post(&self.url)
            .header("content-type", FORM)
            .header("authorization", &self.authorization)
            .header("idempotency-key", letter.message.to_string())
            .header("user-agent", "Kurier")
            .body(Bytes::from(form));
        request.map_err(|_| unsendable("request", "the URL or the token is faulty"))
    }
}

fn read_twilio(reply: &Reply) -> Outcome {
    let answer = serde_json::from_str::<TwilioAnswer>(&reply.body).ok();
    if reply.is_success() {
        let receipt = answer.and_then(|answer| answer.sid);
        return Outcome::Sent { receipt };
    }
    let told = answer.and_then(|answer| {
        let text = answer.message.unwrap_or_default();
        reply::twilio(answer.code?, &text)
    });
    let retry_after = reply.retry_after;
    told.map_or_else(
        || reply.refusal(),
        |refusal| {
            Outcome::Refused(Refusal {
                retry_after,
                ..refusal
            })
        },
    )
}

#[async_trait]
impl Channel for Twilio {
    async fn send(&self, letter: &Letter) -> Outcome {
        let request = match self.request(letter) {
            Ok(request) => request,
            Err(outcome) => return outcome,
        };
        let answered = self.http.call(request, letter.at).await;
        answered.map_or_else(|outcome| outcome, |reply| read_twilio(&reply))
    }

    fn concurrency(&self) -> usize {
        self.http.concurrency
    }

    fn timeout(&self) -> Duration {
        self.http.timeout
    }
}

struct Generic {
    http: Http,
    setup: channel::Generic,
    authorization: Option<String>,
}

impl Generic {
    fn new(
        setup: &channel::Generic,
        secrets: &Secrets,
        outside: &Outside,
    ) -> Result<Self, Unusable> {
        let manner = Manner {
            concurrency: setup.concurrency,
            timeout_seconds: setup.timeout_seconds,
            ca_certificate: None,
        };
        Ok(Self {
            http: Http::new(outside, &manner)?,
            setup: setup.clone(),
            authorization: secrets.get("authorization").map(str::to_owned),
        })
    }

    fn request(&self, letter: &Letter) -> Result<Request<Bytes>, Outcome> {
        let (to, text) = content(letter)?;
        let id = letter.message.to_string();
        let method = match self.setup.method {
            Method::Post => hyper::Method::POST,
            Method::Put => hyper::Method::PUT,
        };
        let mut request = Request::builder()
            .method(method)
            .uri(&self.setup.url)
            .header("content-type", &self.setup.content_type)
            .header("idempotency-key", &id)
            .header("user-agent", "Kurier");
        for (name, value) in &self.setup.headers {
            request = request.header(name, value);
        }
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization);
        }
        let values = [("{to}", to), ("{text}", text), ("{id}", &id)];
        let body = filled(&self.setup.body, &values, self.setup.content_type == FORM);
        let request = request.body(Bytes::from(body));
        request.map_err(|_| unsendable("request", "the URL or a header is faulty"))
    }
}

/// The body with its values, in one pass: what a value says is never filled in again.
fn filled(body: &str, values: &[(&str, &str)], is_form: bool) -> String {
    let written = |value: &str| {
        if is_form {
            escaped(value)
        } else {
            in_json(value)
        }
    };
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let found = values.iter().find(|(name, _)| rest.starts_with(name));
        match found {
            Some((name, value)) => {
                out.push_str(&written(value));
                rest = &rest[name.len()..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// Text as it stands between a JSON string's quotes.
fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The provider's own name for it, where it tells one.
fn receipt(body: &str) -> Option<String> {
    let answer: serde_json::Value = serde_json::from_str(body).ok()?;
    let named = ["id", "message_id", "messageId", "sid"];
    let mut found = named.iter().filter_map(|name| answer.get(name)?.as_str());
    found.next().map(reply::one_line)
}

#[async_trait]
impl Channel for Generic {
    async fn send(&self, letter: &Letter) -> Outcome {
        let request = match self.request(letter) {
            Ok(request) => request,
            Err(outcome) => return outcome,
        };
        match self.http.call(request, letter.at).await {
            Ok(reply) if reply.is_success() => Outcome::Sent {
                receipt: receipt(&reply.body),
            },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_filled_in_once_and_written_as_they_must_be() {
        let values = [("{to}", "+1"), ("{text}", "a \"b\"\n{to}"), ("{id}", "7")];
        let body = r#"{"a": "{to}", "b": "{text}", "c": {"id": "{id}"}}"#;
        let json = filled(body, &values, false);
        let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(read["b"], "a \"b\"\n{to}");
        assert_eq!(read["c"]["id"], "7");
        let form = filled("to={to}&text={text}", &values, true);
        assert_eq!(form, "to=%2B1&text=a+%22b%22%0A%7Bto%7D");
    }

    #[test]
    fn receipts_are_what_the_provider_calls_it() {
        assert_eq!(receipt(r#"{"id": "x1"}"#).as_deref(), Some("x1"));
        assert_eq!(
            receipt(r#"{"message_id": "x2", "n": 1}"#).as_deref(),
            Some("x2")
        );
        assert_eq!(receipt("ok"), None);
    }
}
