//! Channels against real servers that keep what they are sent, and misbehave when told to.

mod api;
mod commands;
pub mod email;
mod email_faults;
mod guard;
mod outgoing;
mod providers;
mod registry;
mod sink;
mod webhook;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use kurier::channel::{Channel, Outside, build};
use kurier::clock;
use kurier::secret::Secrets;
use kurier_core::id::MessageId;
use kurier_core::message::channel::ChannelSettings;
use kurier_core::message::{Blame, Category, Letter, Outcome, Rendered};
use kurier_core::net::Guard;
use serde_json::{Value, json};

pub use sink::Sink;

use crate::harness::kit::{Installed, Kit, run};

/// The foreign servers and readers.
const KIT: Kit = Kit {
    name: "channels",
    python: &[
        "aiosmtpd==1.4.6",
        "dkimpy==1.1.8",
        "pynacl==1.6.2",
        "standardwebhooks==1.1.0",
        "trustme==1.2.1",
    ],
    node: &["standardwebhooks@1.1.1"],
};

fn installed() -> &'static Installed {
    static INSTALLED: OnceLock<Installed> = OnceLock::new();
    INSTALLED.get_or_init(|| KIT.install())
}

fn script(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/channels");
    folder.join(name)
}

/// Certificates and keys, made anew for this run of the tests.
fn keys() -> &'static Value {
    static KEYS: OnceLock<Value> = OnceLock::new();
    KEYS.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder").keep();
        let mut python = Command::new(&installed().python);
        let printed = run(python.arg(script("keys.py")).arg(&folder));
        serde_json::from_str(&printed).expect("keys as JSON")
    })
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// A world in which this machine may be called.
fn open_outside() -> Outside {
    Outside::new(Guard::new(["127.0.0.0/8"]).expect("a network"))
}

fn channel(settings: Value, secrets: &[(&str, &str)]) -> Arc<dyn Channel> {
    channel_in(&open_outside(), settings, secrets)
}

fn channel_in(outside: &Outside, settings: Value, secrets: &[(&str, &str)]) -> Arc<dyn Channel> {
    let settings = ChannelSettings::read(settings).expect("good settings");
    let mut kept = Secrets::default();
    for (name, value) in secrets {
        kept.set(name, Some((*value).to_owned()));
    }
    build(&settings, &kept, outside).unwrap_or_else(|e| panic!("{e}"))
}

fn letter(to: &str) -> Letter {
    Letter {
        message: MessageId::new(clock::now(), clock::random()),
        attempt: 1,
        at: clock::now(),
        to: Some(to.to_owned()),
        rendered: Rendered {
            subject: Some("Hello".into()),
            text: Some("Hello Ann,\nthis is a test.\n".into()),
            ..Rendered::default()
        },
        unsubscribe: None,
        template: Some("welcome".into()),
        topic: None,
    }
}

#[track_caller]
fn sent(outcome: Outcome) -> Option<String> {
    match outcome {
        Outcome::Sent { receipt } => receipt,
        other => panic!("not sent: {other:?}"),
    }
}

/// Category, blame and code of a refusal.
#[track_caller]
fn refused(outcome: Outcome) -> (Category, Blame, String) {
    match outcome {
        Outcome::Refused(it) => (it.category, it.blame, it.code),
        other => panic!("not refused: {other:?}"),
    }
}

#[track_caller]
fn unknown(outcome: &Outcome) {
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
}

/// Asks a script, which reads its question from standard input.
fn ask(command: &mut Command, question: &str) -> String {
    use std::io::Write as _;
    use std::process::Stdio;
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(question.as_bytes()).expect("asked");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn webhook_settings(url: &str) -> Value {
    json!({"kind": "webhook", "settings": {"url": url, "timeout_seconds": 2}})
}
