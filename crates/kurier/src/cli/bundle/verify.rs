//! `kurier bundle verify`: says step by step what holds.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use kurier_core::bundle::chain::Tree;
use kurier_core::bundle::{
    Digest, Envelope, Gathered, Given, Kind, Outcome, Policy, Report, verify,
};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::clock;
use crate::headers::read_tree;

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// A bundle, or all that /bundle answered
    file: PathBuf,
    /// Block headers: 80 bytes each, one after another, or JSON
    #[arg(long, value_name = "FILE")]
    headers: Option<PathBuf>,
    /// The height of the first header
    #[arg(long, default_value_t = 0)]
    start: u32,
    /// What was published, YAML or JSON; of evidence, the file in which it is kept
    #[arg(long, value_name = "FILE")]
    content: Option<PathBuf>,
    /// So many confirmations are asked for
    #[arg(long, default_value_t = 1)]
    min_confs: u32,
}

pub fn run(args: &VerifyArgs, as_json: bool) -> anyhow::Result<ExitCode> {
    let envelope = read_envelope(&args.file)?;
    let tree = args
        .headers
        .as_ref()
        .map(|path| tree_of(path, args, &envelope));
    let tree = tree.transpose()?;
    let content = args
        .content
        .as_ref()
        .map(|path| read_content(path, &envelope));
    let content = content.transpose()?;
    let given = Given {
        content: content.as_deref(),
        tree: tree.as_ref(),
        policy: Policy::new(args.min_confs, false)?,
        unstable: false,
    };
    let report = verify(&envelope, &given);
    tell(&report, as_json);
    Ok(match report.ready {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn tree_of(path: &Path, args: &VerifyArgs, envelope: &Envelope) -> anyhow::Result<Tree> {
    let now_s = clock::now().as_millis() / 1_000;
    read_tree(path, envelope.chain, args.start, now_s)
}

fn read_envelope(path: &Path) -> anyhow::Result<Envelope> {
    #[derive(Deserialize)]
    struct Answered {
        envelope: Box<RawValue>,
    }
    let shown = || format!("the bundle {}", path.display());
    let bytes = std::fs::read(path).with_context(shown)?;
    let bytes = match serde_json::from_slice::<Answered>(&bytes) {
        Ok(answered) => answered.envelope.get().as_bytes().to_vec(),
        Err(_) => bytes,
    };
    Envelope::parse(&bytes).with_context(shown)
}

/// As it is, if that is what was published; else in its canonical form.
fn read_content(path: &Path, envelope: &Envelope) -> anyhow::Result<Vec<u8>> {
    let shown = || format!("cannot read {}", path.display());
    let bytes = std::fs::read(path).with_context(shown)?;
    if Digest::of(&bytes) == envelope.content_sha256 {
        return Ok(bytes);
    }
    if envelope.kind == Kind::Evidence {
        return evidence_of(&bytes).with_context(shown);
    }
    let text = String::from_utf8_lossy(&bytes);
    match kurier_core::journey::read_document(&text) {
        Ok(document) => Ok(serde_json::to_vec(&document)?),
        Err(_) => Ok(bytes),
    }
}

/// What its version commits to, from all that was gathered.
fn evidence_of(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let gathered: Gathered = serde_json::from_slice(bytes)?;
    let summary = gathered.summary().context("there are no events in it")?;
    Ok(summary.canonical())
}

fn tell(report: &Report, as_json: bool) {
    if as_json {
        println!("{}", json!(report));
        return;
    }
    for step in &report.steps {
        let outcome = match step.outcome {
            Outcome::Holds => "holds",
            Outcome::Fails => "fails",
            Outcome::NotChecked => "open",
        };
        println!("{outcome:<6}{:<14}{}", step.name, step.why);
    }
    match report.ready {
        true => println!("the bundle is proven"),
        false => println!("the bundle is not proven"),
    }
}
