//! Looking at templates.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use kurier_core::projection::TemplateSummary;
use serde_json::json;

use crate::cli::desk::Desk;
use crate::cli::table;
use crate::flow::template;
use crate::http::TemplateView;

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn list(desk: &Desk) -> anyhow::Result<ExitCode> {
    let all = desk.app.store.templates.templates(desk.scope()).await?;
    if desk.json {
        let list: Vec<TemplateView> = all.iter().map(TemplateView::from).collect();
        println!("{}", json!(list));
        return Ok(ExitCode::SUCCESS);
    }
    let row = |template: TemplateSummary| {
        vec![
            template.name,
            template.version.to_string(),
            template.topic.unwrap_or_default(),
            template.retired_at.map_or("", |_| "yes").to_owned(),
            template.reads.join(" "),
        ]
    };
    let header = ["name", "version", "topic", "retired", "reads"];
    table::print(&header, all.into_iter().map(row));
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The template, by name
    template: String,
    /// Show this version; the newest if not said
    #[arg(long)]
    version: Option<u32>,
    /// Answer in JSON, with what is known of it
    #[arg(long)]
    pub json: bool,
}

/// Shows a template's document, which can be applied again.
pub async fn show(desk: &Desk, args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let found = find(desk, &args.template).await?;
    let document = template::document(&desk.app.store, desk.scope(), &found, args.version).await?;
    let document = document.context("there is no such version")?;
    match desk.json {
        true => {
            let view = TemplateView::from(&found);
            println!("{}", json!({"template": view, "document": document}));
        }
        false => println!("{}", serde_json::to_string_pretty(&document)?),
    }
    Ok(ExitCode::SUCCESS)
}

pub async fn find(desk: &Desk, name: &str) -> anyhow::Result<TemplateSummary> {
    let found = template::find(&desk.app.store, desk.scope(), name).await?;
    found.with_context(|| format!("there is no template `{name}`"))
}
