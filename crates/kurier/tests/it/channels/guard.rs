//! What must not be called is not called, however its address is come by.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use kurier::channel::{Outside, Resolve};
use kurier_core::message::{Blame, Category};
use kurier_core::net::Guard;
use serde_json::json;

use super::sink::Sink;
use super::{channel_in, letter, refused, sent, webhook_settings};

const SECRET: (&str, &str) = ("signing_secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");

/// Answers something else every time, as a name does that is made to deceive.
struct Rebinding {
    answers: Vec<Vec<IpAddr>>,
    asked: AtomicUsize,
}

#[async_trait]
impl Resolve for Rebinding {
    async fn resolve(&self, _name: &str) -> std::io::Result<Vec<IpAddr>> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(self.answers[turn.min(self.answers.len() - 1)].clone())
    }
}

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// A public address that nobody answers at: the network for tests of a provider.
const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 31, 196, 1));

#[tokio::test(flavor = "multi_thread")]
async fn this_machine_is_shut_unless_it_is_opened() {
    let mut sink = Sink::http(json!({})).await;
    let shut = Outside::new(Guard::default());
    for url in [
        sink.url("/ok"),
        format!("http://localhost:{}/ok", sink.port),
        format!("http://localhost.:{}/ok", sink.port),
        format!("http://[::ffff:127.0.0.1]:{}/ok", sink.port),
        format!("http://[::1]:{}/ok", sink.port),
        format!("http://0.0.0.0:{}/ok", sink.port),
    ] {
        let hook = channel_in(&shut, webhook_settings(&url), &[SECRET]);
        let (category, blame, code) = refused(hook.send(&letter("a@b.c")).await);
        let expected = (Category::Permanent, Blame::Channel, "blocked");
        assert_eq!((category, blame, code.as_str()), expected, "{url}");
    }
    let open = Outside::new(Guard::new(["127.0.0.0/8"]).expect("a network"));
    let hook = channel_in(&open, webhook_settings(&sink.url("/ok")), &[SECRET]);
    sent(hook.send(&letter("a@b.c")).await);
    let request = sink.next("request").await;
    assert_eq!(request["path"], "/ok");
    assert_eq!(sink.rest("request").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_turns_inward_is_refused() {
    let sink = Sink::http(json!({})).await;
    let names = Arc::new(Rebinding {
        answers: vec![vec![HERE], vec![PUBLIC], vec![HERE]],
        asked: AtomicUsize::new(0),
    });
    let outside = Outside {
        guard: Arc::new(Guard::default()),
        names: names.clone(),
    };
    let mut settings = webhook_settings(&format!("http://rebind.example:{}/", sink.port));
    settings["settings"]["timeout_seconds"] = json!(1);
    let hook = channel_in(&outside, settings, &[SECRET]);
    let blocked = |code: String| assert_eq!(code, "blocked");
    blocked(refused(hook.send(&letter("a@b.c")).await).2);
    // Public when it is asked about: the public address is what is called, and nothing else,
    // though the name means this machine a moment later.
    let code = refused(hook.send(&letter("a@b.c")).await).2;
    assert!(["connect", "timeout"].contains(&code.as_str()), "{code}");
    assert_eq!(
        names.asked.load(Ordering::SeqCst),
        2,
        "asked once for each connection"
    );
    blocked(refused(hook.send(&letter("a@b.c")).await).2);
    assert_eq!(sink.rest("request").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_addresses_only_open_ones_are_called() {
    let sink = Sink::http(json!({})).await;
    let names = |answers: Vec<IpAddr>| {
        Arc::new(Rebinding {
            answers: vec![answers],
            asked: AtomicUsize::new(0),
        })
    };
    let inner = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    let outside = Outside {
        guard: Arc::new(Guard::new(["127.0.0.1"]).expect("an address")),
        names: names(vec![inner, HERE]),
    };
    let url = format!("http://both.example:{}/", sink.port);
    let hook = channel_in(&outside, webhook_settings(&url), &[SECRET]);
    sent(hook.send(&letter("a@b.c")).await);
    let outside = Outside {
        guard: Arc::new(Guard::default()),
        names: names(vec![inner, HERE]),
    };
    let hook = channel_in(&outside, webhook_settings(&url), &[SECRET]);
    assert_eq!(refused(hook.send(&letter("a@b.c")).await).2, "blocked");
}
