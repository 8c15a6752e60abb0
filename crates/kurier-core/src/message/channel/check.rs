//! What is wrong with settings, all of it at once.

use std::collections::BTreeMap;

use super::setup::{Email, Generic, Security, Sender, Setup, Slack, Sms, Twilio, Webhook};
use super::{ChannelSettings, Problem};
use crate::net::{Host, Target};

const RATE_MAX: u32 = 1_000_000;
const RETRIES_MAX: u32 = 50;
const WINDOW_SECONDS_MAX: u32 = 366 * 86_400;
const TIMEOUT_SECONDS_MAX: u32 = 600;
const CONCURRENCY_MAX: u32 = 1_000;
const TEXT_CHARS_MAX: usize = 10_000;

/// Collects problems at pointers below a place.
struct Checker {
    problems: Vec<Problem>,
}

impl ChannelSettings {
    /// All that is wrong with them.
    pub fn check(&self) -> Vec<Problem> {
        let mut checker = Checker {
            problems: Vec::new(),
        };
        checker.limits(self);
        match &self.setup {
            Setup::Email(email) => checker.email(email),
            Setup::Webhook(webhook) => checker.webhook(webhook),
            Setup::Slack(slack) => checker.slack(slack),
            Setup::Sms(Sms::Twilio(twilio)) => checker.twilio(twilio),
            Setup::Sms(Sms::Http(generic)) => checker.generic(generic),
            Setup::Outbox => {}
        }
        checker.problems
    }

    /// What is wrong with the secrets that are set, by their names.
    pub fn check_secrets(&self, set: &[&str]) -> Vec<Problem> {
        let at = |name: &str| format!("/secrets/{name}");
        let known = self.setup.secrets();
        let unknown = set.iter().filter(|name| !known.contains(name));
        let mut problems: Vec<Problem> = unknown
            .map(|name| {
                let detail = format!("a {} has no such secret", self.kind().as_str());
                Problem::new(at(name), detail)
            })
            .collect();
        let missing = needed(&self.setup, set);
        problems.extend(missing.map(|(name, why)| Problem::new(at(name), why)));
        problems
    }
}

/// A secret that is needed and not set, and what for.
fn needed(setup: &Setup, set: &[&str]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let has = |name: &str| set.contains(&name);
    let mut missing = Vec::new();
    let mut need = |name: &'static str, wanted: bool, why: &'static str| {
        if wanted && !has(name) {
            missing.push((name, why));
        }
    };
    match setup {
        Setup::Email(email) => {
            need(
                "password",
                email.username.is_some(),
                "a user needs a password",
            );
            need("dkim_private_key", email.dkim.is_some(), "DKIM needs a key");
        }
        Setup::Webhook(_) => need("signing_secret", true, "what is posted is signed"),
        Setup::Slack(_) => need(
            "token",
            !has("webhook_url"),
            "a token or a webhook_url is needed",
        ),
        Setup::Sms(Sms::Twilio(_)) => need("auth_token", true, "Twilio needs a token"),
        Setup::Sms(Sms::Http(_)) | Setup::Outbox => {}
    }
    missing.into_iter()
}

impl Checker {
    fn say(&mut self, pointer: &str, detail: impl Into<String>) {
        self.problems.push(Problem::new(pointer, detail));
    }

    fn demand(&mut self, good: bool, pointer: &str, detail: &str) {
        if !good {
            self.say(pointer, detail);
        }
    }

    fn limits(&mut self, it: &ChannelSettings) {
        let rate = it.rate_limit_per_minute;
        let good = rate.is_none_or(|rate| (1..=RATE_MAX).contains(&rate));
        self.demand(good, "/rate_limit_per_minute", "from 1 to 1000000");
        let good = it.max_retries <= RETRIES_MAX;
        self.demand(good, "/max_retries", "at most 50");
        if let Some(limit) = &it.contact_limit {
            self.demand(limit.max >= 1, "/contact_limit/max", "at least 1");
            let good = (1..=WINDOW_SECONDS_MAX).contains(&limit.window_seconds);
            self.demand(good, "/contact_limit/window_seconds", "from 1 to 31622400");
        }
        let breaker = &it.breaker;
        let good = breaker.failure_threshold >= 1;
        self.demand(good, "/breaker/failure_threshold", "at least 1");
        let good = breaker.success_threshold >= 1;
        self.demand(good, "/breaker/success_threshold", "at least 1");
        let good = (1..=86_400).contains(&breaker.timeout_seconds);
        self.demand(good, "/breaker/timeout_seconds", "from 1 to 86400");
    }

    fn email(&mut self, it: &Email) {
        let good = Host::of(&it.host).is_ok() || it.host.parse::<core::net::IpAddr>().is_ok();
        self.demand(good, "/settings/host", "neither a name nor an address");
        self.demand(it.port != Some(0), "/settings/port", "from 1 to 65535");
        let clear = it.username.is_some() && it.security == Security::None;
        let detail = "the password would cross the network in the clear: use starttls or tls";
        self.demand(!clear, "/settings/security", detail);
        self.sender("/settings/from", &it.from);
        if let Some(reply_to) = &it.reply_to {
            self.sender("/settings/reply_to", reply_to);
        }
        if let Some(dkim) = &it.dkim {
            let is_name = |text: &str| matches!(Host::of(text), Ok(Host::Name(_)));
            let good = is_name(&dkim.domain);
            self.demand(good, "/settings/dkim/domain", "not a domain's name");
            let good = is_name(&dkim.selector);
            self.demand(good, "/settings/dkim/selector", "not a selector's name");
        }
        if let Some(address) = &it.unsubscribe_mailto {
            let good = is_address(address);
            self.demand(
                good,
                "/settings/unsubscribe_mailto",
                "not an e-mail address",
            );
        }
        self.certificate(it.ca_certificate.as_deref());
        self.concurrency("/settings/pool_size", it.pool_size);
        self.timeout(it.timeout_seconds);
    }

    fn sender(&mut self, at: &str, sender: &Sender) {
        let good = is_address(&sender.address);
        self.demand(good, &format!("{at}/address"), "not an e-mail address");
        let name = sender.name.as_deref().unwrap_or_default();
        let good = name.chars().count() <= 200 && !name.chars().any(char::is_control);
        self.demand(
            good,
            &format!("{at}/name"),
            "a name has one line of at most 200 characters",
        );
    }

    fn webhook(&mut self, it: &Webhook) {
        self.url("/settings/url", &it.url);
        self.headers(&it.headers);
        self.certificate(it.ca_certificate.as_deref());
        self.concurrency("/settings/concurrency", it.concurrency);
        self.timeout(it.timeout_seconds);
    }

    fn slack(&mut self, it: &Slack) {
        self.url("/settings/api_url", &it.api_url);
        self.concurrency("/settings/concurrency", it.concurrency);
        self.timeout(it.timeout_seconds);
    }

    fn twilio(&mut self, it: &Twilio) {
        self.url("/settings/base_url", &it.base_url);
        let mut sid = it.account_sid.bytes();
        let good = !it.account_sid.is_empty() && sid.all(|byte| byte.is_ascii_alphanumeric());
        self.demand(good, "/settings/account_sid", "letters and digits");
        let good = it.from.is_some() != it.messaging_service_sid.is_some();
        self.demand(
            good,
            "/settings/from",
            "either `from` or `messaging_service_sid`",
        );
        self.concurrency("/settings/concurrency", it.concurrency);
        self.timeout(it.timeout_seconds);
    }

    fn generic(&mut self, it: &Generic) {
        self.url("/settings/url", &it.url);
        self.headers(&it.headers);
        let kind = &it.content_type;
        let good = kind == "application/json" || kind == "application/x-www-form-urlencoded";
        let detail = "application/json or application/x-www-form-urlencoded";
        self.demand(good, "/settings/content_type", detail);
        let good = it.body.contains("{to}") && it.body.contains("{text}");
        self.demand(good, "/settings/body", "it needs {to} and {text}");
        let good = it.body.len() <= TEXT_CHARS_MAX;
        self.demand(good, "/settings/body", "at most 10000 bytes");
        if kind == "application/json" {
            let good = serde_json::from_str::<serde_json::Value>(&it.body).is_ok();
            self.demand(good, "/settings/body", "not JSON");
        }
        self.concurrency("/settings/concurrency", it.concurrency);
        self.timeout(it.timeout_seconds);
    }

    fn url(&mut self, at: &str, url: &str) {
        if let Err(blocked) = Target::of(url) {
            self.say(at, blocked.to_string());
        }
    }

    fn headers(&mut self, headers: &BTreeMap<String, String>) {
        const OURS: &[&str] = &[
            "host",
            "content-length",
            "content-type",
            "transfer-encoding",
            "connection",
            "webhook-id",
            "webhook-timestamp",
            "webhook-signature",
            "idempotency-key",
            "authorization",
        ];
        for (name, value) in headers {
            let at = format!(
                "/settings/headers/{}",
                name.replace('~', "~0").replace('/', "~1")
            );
            let is_token = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            let good = !name.is_empty() && name.bytes().all(is_token);
            self.demand(
                good,
                &at,
                "a header's name has letters, digits, `-` and `_`",
            );
            let ours = OURS.contains(&name.to_ascii_lowercase().as_str());
            self.demand(
                !ours,
                &at,
                "this header is Kurier's own to write, or a secret",
            );
            let good = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
            self.demand(good, &at, "a header's value has one line of ASCII");
        }
    }

    fn certificate(&mut self, pem: Option<&str>) {
        let good = pem.is_none_or(|pem| pem.contains("-----BEGIN CERTIFICATE-----"));
        self.demand(good, "/settings/ca_certificate", "not a certificate in PEM");
    }

    fn concurrency(&mut self, at: &str, number: u32) {
        self.demand(
            (1..=CONCURRENCY_MAX).contains(&number),
            at,
            "from 1 to 1000",
        );
    }

    fn timeout(&mut self, seconds: u32) {
        let good = (1..=TIMEOUT_SECONDS_MAX).contains(&seconds);
        self.demand(good, "/settings/timeout_seconds", "from 1 to 600");
    }
}

/// Strict enough that nothing can be smuggled in; whether it exists, its server knows.
fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let odd = |c: char| c.is_whitespace() || c.is_control() || "<>()[],;:\\\"@".contains(c);
    let good_local = (1..=64).contains(&local.len()) && !local.contains(odd);
    let good_domain = (1..=253).contains(&domain.len())
        && !domain.contains(odd)
        && domain.split('.').all(|label| !label.is_empty());
    good_local && good_domain
}
