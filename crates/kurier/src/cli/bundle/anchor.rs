//! `kurier bundle anchor` and `kurier bundle prove`: wallets are the user's; they are given a
//! commitment and answer with a transaction and, once it is mined, its proof.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use kurier_core::bundle::{Commitment, Digest, Evidence, Shown, Subject};
use serde_json::json;

use super::look::find;
use crate::channel::Fetch;
use crate::cli::desk::Desk;
use crate::config::{Anchoring, Config};
use crate::flow::version::{self, Showing, ShowingBatch, Unanchored};
use crate::headers::Headers;

const ANSWER_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// A wallet may ask its owner.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Debug, Args)]
pub struct AnchorArgs {
    /// The command that makes the transaction, instead of the one that is set
    #[arg(long, conflicts_with = "url")]
    command: Option<String>,
    /// The URL that the commitment is posted to, instead of the one that is set
    #[arg(long)]
    url: Option<String>,
    /// Commit also to versions whose transaction is in no block: it may be lost
    #[arg(long)]
    again: bool,
    /// Only say what would be committed to
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub struct ProveArgs {
    /// Its id, or its name: welcome@3
    #[arg(required_unless_present = "batch")]
    version: Option<String>,
    /// JSON: "tx", and "bump", "tsc" or "beef"; "commitment" if it was not committed to alone
    #[arg(required_unless_present = "batch")]
    file: Option<PathBuf>,
    /// Such a file, for all versions that its transaction is known to commit to
    #[arg(long, value_name = "FILE", conflicts_with_all = ["version", "file"])]
    batch: Option<PathBuf>,
}

/// A proof as a file holds it.
#[derive(serde::Deserialize)]
struct Given {
    commitment: Option<Commitment>,
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

pub async fn run(desk: &Desk, config: &Config, args: &AnchorArgs) -> anyhow::Result<ExitCode> {
    let (store, scope) = (&desk.app.store, desk.scope());
    let unanchored = match args.again {
        true => Unanchored::gather_again(store, scope, headers(desk)).await?,
        false => Unanchored::gather(store, scope).await?,
    };
    let Some(unanchored) = unanchored else {
        return nothing_to_anchor(desk).await;
    };
    let (root, count) = (unanchored.root(), unanchored.versions.len());
    if args.dry_run {
        let told = format!("{count} version(s) would be committed to by {root}");
        return said(desk, &told, json!({"root": root, "versions": count}));
    }
    let given = json!({"root": root, "versions": count, "workspace": desk.scope().0});
    let answer = match who(config, args)? {
        Anchoring::Command(command) => ask_command(&command, &root, &given.to_string())?,
        Anchoring::Url(url) => ask_url(&url, &given.to_string()).await?,
    };
    let shown: Shown = serde_json::from_slice(&answer).context("the answer is not understood")?;
    let evidence = version::read(&shown, &root, headers(desk))?;
    unanchored
        .anchored(&desk.app.store, desk.scope(), &evidence)
        .await?;
    desk.app.versions.drain().await?;
    tell(desk, count, &root, &evidence)
}

/// Those whose transaction may be lost are not passed over in silence.
async fn nothing_to_anchor(desk: &Desk) -> anyhow::Result<ExitCode> {
    let waiting = version::waiting(&desk.app.store, desk.scope()).await?;
    let told = match waiting {
        0 => "all versions are anchored".to_owned(),
        count => format!(
            "all versions are anchored, {count} of them by a transaction that was shown in no \
             block yet: `prove --batch` shows its proof, `anchor --again` makes another"
        ),
    };
    said(desk, &told, json!({"anchored": 0, "waiting": waiting}))
}

fn who(config: &Config, args: &AnchorArgs) -> anyhow::Result<Anchoring> {
    let given = match (&args.command, &args.url) {
        (Some(command), _) => Some(Anchoring::Command(command.clone())),
        (None, Some(url)) => Some(Anchoring::Url(url.clone())),
        (None, None) => config.anchoring.clone(),
    };
    given.context("who makes the transaction? Give --command or --url, or set anchor_command")
}

fn headers(desk: &Desk) -> Option<&Headers> {
    desk.app.bundles.as_ref().map(|bundles| bundles.headers())
}

fn ask_command(command: &str, root: &Digest, given: &str) -> anyhow::Result<Vec<u8>> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .env("ANCHOR_ROOT", root.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run `{command}`"))?;
    if let Some(mut input) = child.stdin.take() {
        // A command that reads the variable need not read this.
        let _ = input.write_all(given.as_bytes());
    }
    let mut answer = Vec::new();
    let output = child.stdout.take().context("its output is piped")?;
    output.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
    let status = child.wait()?;
    match status.success() {
        true => Ok(answer),
        false => bail!("`{command}` failed: {status}; nothing was anchored"),
    }
}

async fn ask_url(url: &str, given: &str) -> anyhow::Result<Vec<u8>> {
    let fetch = Fetch::of(url, PATIENCE)?;
    let answer = fetch
        .post(url, given.as_bytes().to_vec(), ANSWER_BYTES_MAX as usize)
        .await;
    answer.map_err(|why| anyhow::anyhow!("{url}: {why}; nothing was anchored"))
}

fn tell(desk: &Desk, count: usize, root: &Digest, evidence: &Evidence) -> anyhow::Result<ExitCode> {
    let txid = kurier_core::bundle::Hash256::of(&evidence.tx);
    let height = evidence.block.as_ref().map(|(bump, _)| bump.height());
    let place = height.map_or("not mined yet".to_owned(), |height| {
        format!("in block {height}")
    });
    let told = format!("{count} version(s) anchored by transaction {txid}, {place}");
    let answer = json!({"anchored": count, "root": root, "txid": txid, "blockHeight": height});
    said(desk, &told, answer)
}

fn said(desk: &Desk, told: &str, answer: serde_json::Value) -> anyhow::Result<ExitCode> {
    match desk.json {
        true => println!("{answer}"),
        false => println!("{told}"),
    }
    Ok(ExitCode::SUCCESS)
}

fn read_given(path: &Path) -> anyhow::Result<(Option<Commitment>, Shown)> {
    let shown_path = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {shown_path}"))?;
    let not_understood = || format!("{shown_path} is no proof as JSON");
    let given: Given = serde_json::from_slice(&bytes).with_context(not_understood)?;
    let rest = serde_json::to_string(&given.rest)?;
    let shown = serde_json::from_str(&rest).with_context(not_understood)?;
    Ok((given.commitment, shown))
}

pub async fn prove(desk: &Desk, args: &ProveArgs) -> anyhow::Result<ExitCode> {
    match (&args.version, &args.file, &args.batch) {
        (_, _, Some(file)) => prove_batch(desk, file).await,
        (Some(version), Some(file), None) => prove_one(desk, version, file).await,
        _ => bail!("name a version and a file, or a file with --batch"),
    }
}

async fn prove_batch(desk: &Desk, file: &Path) -> anyhow::Result<ExitCode> {
    let (_, shown) = read_given(file)?;
    let (store, scope) = (&desk.app.store, desk.scope());
    match version::show_batch(store, scope, &shown, headers(desk)).await? {
        ShowingBatch::NotCommitted => {
            bail!("no version is known that this transaction commits to")
        }
        ShowingBatch::Faulty(fault) => bail!("{fault}"),
        ShowingBatch::Done { versions, evidence } => {
            desk.app.versions.drain().await?;
            let txid = kurier_core::bundle::Hash256::of(&evidence.tx);
            let told = format!("transaction {txid} is shown for {versions} version(s)");
            said(desk, &told, json!({"versions": versions, "txid": txid}))
        }
    }
}

async fn prove_one(desk: &Desk, named: &str, file: &Path) -> anyhow::Result<ExitCode> {
    let (commitment, shown) = read_given(file)?;
    let known = find(desk, named).await?;
    let commitment = match commitment {
        Some(commitment) => commitment,
        None => known_commitment(desk, &known.id, &shown).await?,
    };
    let subject = Subject {
        version: known.id,
        commitment,
    };
    let (store, headers) = (&desk.app.store, headers(desk));
    match version::show(store, desk.scope(), subject, &shown, headers).await? {
        Showing::NoSuchVersion => bail!("there is no version {}", known.id),
        Showing::Faulty(fault) => bail!("{fault}"),
        Showing::Done { evidence, .. } => {
            desk.app.versions.drain().await?;
            let txid = kurier_core::bundle::Hash256::of(&evidence.tx);
            let told = format!("transaction {txid} is shown for {}", known.version.name);
            said(desk, &told, json!({"versionId": known.id, "txid": txid}))
        }
    }
}

/// A transaction that was shown before commits to the version as it did then.
async fn known_commitment(desk: &Desk, id: &Digest, shown: &Shown) -> anyhow::Result<Commitment> {
    let versions = &desk.app.store.versions;
    let proofs = versions.version_proofs(desk.scope(), id).await?;
    let tx = shown.tx.as_ref().map(|tx| &tx.0);
    let before = proofs.into_iter().find(|proof| Some(&proof.tx) == tx);
    Ok(before.map_or(Commitment::OpReturn {}, |proof| proof.commitment))
}
