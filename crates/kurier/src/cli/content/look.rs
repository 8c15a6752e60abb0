//! Looking at content.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use serde_json::json;

use super::{documents, key, node};
use crate::cli::desk::Desk;
use crate::flow::content::{Found, Held, used};
use crate::http::{ContentItem, ContentNodeView, Shape, UsedView};

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The key of a document or a node
    key: String,
    /// Show it with everything below it, as a channel would
    #[arg(long, value_name = "SHAPE")]
    r#as: Option<Shape>,
    /// List the templates and journeys that quote it
    #[arg(long)]
    used_by: bool,
}

pub async fn show(desk: &Desk, args: &ShowArgs) -> anyhow::Result<ExitCode> {
    if args.used_by {
        return show_used(desk, args).await;
    }
    let (held, at) = node(desk, &args.key).await?;
    let view = ContentNodeView::of(&held, at, args.r#as);
    match (desk.json, &view.rendered) {
        (true, _) => println!("{}", json!(view)),
        (false, Some(rendered)) => println!("{rendered}"),
        (false, None) => print(&view),
    }
    Ok(ExitCode::SUCCESS)
}

fn print(view: &ContentNodeView) {
    let item = &view.item;
    println!("key       {}", item.key);
    println!("document  {} ({})", item.document, item.source);
    let lines = [
        ("title", item.title.clone()),
        (
            "path",
            (!view.path.is_empty()).then(|| view.path.join(" > ")),
        ),
        ("parent", view.parent.clone()),
        ("previous", view.previous.clone()),
        ("next", view.next.clone()),
        ("nodes", item.nodes.map(|nodes| nodes.to_string())),
    ];
    for (name, value) in lines {
        if let Some(value) = value {
            println!("{name:<9} {value}");
        }
    }
    println!("\n{}", view.text);
}

/// Also of what is gone: that is when one wants to know.
async fn show_used(desk: &Desk, args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let key = key(&args.key)?;
    let mut used = used(&desk.app, desk.scope(), &[key]).await?;
    let view = UsedView::from(used.remove(&key).unwrap_or_default());
    let found = desk.app.library.find(desk.scope(), key).await?;
    if view.templates.is_empty() && matches!(found, Found::Unknown) {
        bail!("there is no content `{key}`");
    }
    if desk.json {
        println!("{}", json!(view));
        return Ok(ExitCode::SUCCESS);
    }
    if view.templates.is_empty() {
        println!("nobody quotes {key}");
    }
    for (what, names) in [("template", &view.templates), ("journey", &view.journeys)] {
        names.iter().for_each(|name| println!("{what} {name}"));
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub struct TreeArgs {
    /// Documents, by source or key; all if none is named
    #[arg(value_name = "DOCUMENT")]
    documents: Vec<String>,
}

pub async fn tree(desk: &Desk, args: &TreeArgs) -> anyhow::Result<ExitCode> {
    let documents = documents(desk, &args.documents).await?;
    if documents.is_empty() && !desk.json {
        eprintln!("there are no documents yet: `kurier content import PATH` takes them in");
    }
    for held in documents {
        match desk.json {
            true => println!("{}", json!(branch(&held, 0))),
            false => print_tree(&held),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// No deeper than a document, its chapters, paragraphs, subparagraphs and chunks.
fn branch(held: &Held, at: usize) -> serde_json::Value {
    let tree = held.tree();
    let children: Vec<_> = tree.children(at).map(|at| branch(held, at)).collect();
    let mut item = json!(ContentItem::of(held, at));
    item["children"] = json!(children);
    item
}

fn print_tree(held: &Held) {
    let tree = held.tree();
    let nodes = &held.body.document.nodes;
    let mut depths = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        let depth = tree.parent(at).map_or(0, |parent| depths[parent] + 1);
        depths.push(depth);
        let indent = "  ".repeat(depth);
        let said = node.title.as_deref().map(str::to_owned);
        let said = said.unwrap_or_else(|| beginning(&held.text(at)));
        println!("{}", format!("{indent}{}  {said}", node.key).trim_end());
    }
}

/// The first words of a text, on one line.
fn beginning(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(BEGINNING_CHARS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

/// As much of a chunk is shown in a tree.
const BEGINNING_CHARS: usize = 50;
