//! Looking: lists, previews, reasons.

use std::process::ExitCode;

use anyhow::Context as _;
use kurier_core::expr::{Checked, Place};
use kurier_core::projection::SegmentSummary;
use serde_json::json;

use super::{ExplainArgs, PreviewArgs, Which};
use crate::cli::desk::Desk;
use crate::cli::eval::{print_reasons, reasons_json, underlined};
use crate::cli::table;
use crate::{clock, http};

pub async fn list(desk: &mut Desk) -> anyhow::Result<ExitCode> {
    desk.catch_up().await?;
    let all = desk.app.store.segments.segments(desk.scope()).await?;
    if desk.json {
        let journeys = desk.app.store.journeys.journeys(desk.scope()).await?;
        let view = |segment| http::segment_json(segment, &journeys);
        let list: Vec<_> = all.into_iter().map(view).collect();
        println!("{}", json!(list));
        return Ok(ExitCode::SUCCESS);
    }
    let row = |segment: SegmentSummary| {
        vec![
            segment.definition.segment.to_string(),
            segment.definition.name,
            segment.size.to_string(),
            segment.definition.expression.unwrap_or_default(),
        ]
    };
    let header = ["id", "name", "size", "expression"];
    table::print(&header, all.into_iter().map(row));
    Ok(ExitCode::SUCCESS)
}

pub async fn show(desk: &mut Desk, which: &Which) -> anyhow::Result<ExitCode> {
    desk.catch_up().await?;
    let segment = desk.segment(&which.segment).await?;
    say(desk, segment).await
}

/// What there is to say of a segment.
pub async fn say(desk: &Desk, segment: SegmentSummary) -> anyhow::Result<ExitCode> {
    let journeys = desk.app.store.journeys.journeys(desk.scope()).await?;
    if desk.json {
        println!("{}", http::segment_json(segment, &journeys));
        return Ok(ExitCode::SUCCESS);
    }
    let id = segment.definition.segment;
    let users = journeys.iter().filter(|journey| journey.uses(id));
    let users: Vec<&str> = users.map(|journey| journey.name.as_str()).collect();
    println!("id          {}", segment.definition.segment);
    println!("name        {}", segment.definition.name);
    let expression = segment.definition.expression.as_deref();
    println!("expression  {}", expression.unwrap_or("none: it is static"));
    println!("size        {}", segment.size);
    println!("created at  {}", segment.created_at);
    println!("changed at  {}", segment.changed_at);
    if !users.is_empty() {
        println!("used by     {}", users.join(", "));
    }
    Ok(ExitCode::SUCCESS)
}

pub async fn preview(desk: &Desk, args: &PreviewArgs) -> anyhow::Result<ExitCode> {
    let Some(checked) = good(&args.expression) else {
        return Ok(ExitCode::from(2));
    };
    desk.fold().await?;
    let now = args.now.unwrap_or_else(clock::now);
    let found = desk
        .app
        .previews
        .at(desk.grant.workspace.id, checked, now)
        .await?;
    if desk.json {
        println!("{}", json!({"count": found.count, "sample": found.sample}));
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} contact(s)", found.count);
    found.sample.iter().for_each(|id| println!("  {id}"));
    let more = found.count - found.sample.len() as u64;
    if more > 0 {
        println!("  and {more} more");
    }
    Ok(ExitCode::SUCCESS)
}

/// The expression, or its faults underlined.
pub fn good(text: &str) -> Option<Checked> {
    match Checked::new(text, Place::SEGMENT) {
        Ok(checked) => Some(checked),
        Err(errors) => {
            errors
                .iter()
                .for_each(|error| eprintln!("{}", underlined(text, error)));
            None
        }
    }
}

pub async fn explain(desk: &Desk, args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    desk.app.segments.drain().await?;
    let segment = desk.segment(&args.which.segment).await?.definition.segment;
    let workspace = &desk.grant.workspace;
    let id = match (&args.user_id, args.id) {
        (Some(user_id), _) => workspace.key.contact_of_user(user_id),
        (None, id) => id.context("give --id or --user-id")?,
    };
    desk.fold().await?;
    let engines = desk.app.reactor.engines();
    let explained = engines
        .get(&workspace.id)
        .and_then(|engine| engine.realm().explain(segment, id, clock::now()));
    let (member, reasons) = explained.context("there is no such contact")?;
    if desk.json {
        let reasons = reasons_json(&reasons);
        println!("{}", json!({"member": member, "reasons": reasons}));
    } else {
        println!("{}", if member { "a member" } else { "not a member" });
        print_reasons(&reasons);
    }
    Ok(if member {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
