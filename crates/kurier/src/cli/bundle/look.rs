//! `kurier bundle list` and `kurier bundle show`.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use kurier_core::bundle::{Digest, Kind};
use kurier_core::projection::{Anchor, PublishedVersion};
use kurier_store::VersionQuery;
use serde_json::json;

use crate::bundle::Answer;
use crate::cli::desk::Desk;
use crate::cli::table;
use crate::flow::version;
use crate::http::{ProofView, VersionView};

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only of this kind: journey, template, content or evidence
    #[arg(long, value_parser = kind)]
    kind: Option<Kind>,
    /// Only those anchored so far: none, committed or mined
    #[arg(long, value_parser = anchor)]
    anchor: Option<Anchor>,
    /// How many at most
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Its id, or its name: welcome@3
    version: String,
    /// Generations of ancestors in the bundle
    #[arg(long, default_value_t = 0)]
    depth: u32,
    /// Print the bundle itself, to verify it elsewhere
    #[arg(long)]
    envelope: bool,
}

fn kind(text: &str) -> Result<Kind, String> {
    let wanted = "a kind is journey, template, content or evidence";
    Kind::named(text).ok_or_else(|| wanted.to_owned())
}

fn anchor(text: &str) -> Result<Anchor, String> {
    Anchor::named(text).ok_or_else(|| "it is none, committed or mined".to_owned())
}

pub async fn list(desk: &Desk, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let query = VersionQuery {
        kind: args.kind,
        anchor: args.anchor,
        after: None,
        limit: args.limit,
    };
    let page = desk
        .app
        .store
        .versions
        .published(desk.scope(), &query)
        .await?;
    if desk.json {
        let views: Vec<VersionView> = page.versions.iter().map(VersionView::from).collect();
        println!("{}", json!(views));
        return Ok(ExitCode::SUCCESS);
    }
    let row = |known: &PublishedVersion| {
        vec![
            known.version.name.clone(),
            known.version.kind.as_str().to_owned(),
            known.anchor.as_str().to_owned(),
            known.published_at.to_string(),
            known.id.to_string(),
        ]
    };
    let header = ["name", "kind", "anchor", "published", "id"];
    table::print(&header, page.versions.iter().map(row));
    if page.has_more {
        println!("there are more: --limit shows them");
    }
    Ok(ExitCode::SUCCESS)
}

/// A version by its id or its name.
pub async fn find(desk: &Desk, named: &str) -> anyhow::Result<PublishedVersion> {
    let (store, scope) = (&desk.app.store, desk.scope());
    if let Ok(id) = named.parse::<Digest>() {
        let found = version::find(store, scope, &id).await?;
        return found.with_context(|| format!("there is no version {id}"));
    }
    let query = VersionQuery {
        limit: usize::MAX,
        ..VersionQuery::default()
    };
    let mut all = store.versions.published(scope, &query).await?.versions;
    all.retain(|known| known.version.name == named);
    match all.len() {
        0 => bail!("there is no version `{named}`; `kurier bundle list` shows what there is"),
        1 => Ok(all.remove(0)),
        // A journey and a template may have one name.
        _ => bail!(
            "{} versions are called `{named}`; name one by its id",
            all.len()
        ),
    }
}

pub async fn show(desk: &Desk, args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let known = find(desk, &args.version).await?;
    let Some(bundles) = &desk.app.bundles else {
        return show_proofs(desk, &known).await;
    };
    let answer = bundles.answer(desk.scope(), known.id, args.depth).await?;
    let answer = answer.context("it was there a moment ago")?;
    match (args.envelope, desk.json) {
        (true, _) => println!("{}", answer.envelope),
        (false, true) => println!("{}", serde_json::to_string(&answer)?),
        (false, false) => tell(&known, &answer),
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(known: &PublishedVersion, answer: &Answer) {
    println!("{} {}", known.version.name, known.id);
    let confs = answer
        .confs
        .map_or("unknown".to_owned(), |confs| confs.to_string());
    println!("state   {}, confirmations: {confs}", answer.state.as_str());
    let ready = if answer.ready { "yes" } else { "no" };
    println!("ready   {ready}, {} asked for", answer.policy_min_confs);
    if let Some(tip) = &answer.tip {
        println!("tip     {} {}", tip.height, tip.hash);
    }
    if answer.unstable {
        println!("the headers are old or disputed: this may change");
    }
}

/// Without headers it can only be said what was shown.
async fn show_proofs(desk: &Desk, known: &PublishedVersion) -> anyhow::Result<ExitCode> {
    let versions = &desk.app.store.versions;
    let proofs = versions.version_proofs(desk.scope(), &known.id).await?;
    let proofs: Vec<ProofView> = proofs.iter().map(ProofView::from).collect();
    if desk.json {
        let view = VersionView::from(known);
        println!("{}", json!({"version": view, "proofs": proofs}));
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} {}", known.version.name, known.id);
    println!("anchor  {}", known.anchor.as_str());
    for proof in &proofs {
        let place = proof
            .block_height
            .map_or("not mined yet".to_owned(), |height| {
                format!("in block {height}")
            });
        println!("shown   transaction {}, {place}", proof.txid);
    }
    println!("HEADERS_SOURCE says where block headers are; without it nothing is confirmed");
    Ok(ExitCode::SUCCESS)
}
