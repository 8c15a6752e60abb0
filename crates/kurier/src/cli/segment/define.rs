//! Making, changing and deleting.

use std::process::ExitCode;

use anyhow::bail;
use kurier_core::event::Kind;
use kurier_core::id::SegmentId;
use kurier_core::segment::{Definition, Fault};
use serde_json::json;

use super::look::{good, say};
use super::{ChangeArgs, CreateArgs, Which};
use crate::cli::desk::Desk;
use crate::{clock, flow};

pub async fn create(desk: &mut Desk, args: &CreateArgs) -> anyhow::Result<ExitCode> {
    let id = SegmentId::new(clock::now(), clock::random());
    let expression = args.expression.as_deref();
    define(desk, Kind::SegmentCreated, id, (&args.name, expression)).await
}

pub async fn change(desk: &mut Desk, args: &ChangeArgs) -> anyhow::Result<ExitCode> {
    desk.app.segments.drain().await?;
    let known = desk.segment(&args.which.segment).await?.definition;
    let name = args.name.as_deref().unwrap_or(&known.name);
    let expression = match (&args.expression, args.is_static) {
        (Some(expression), _) => Some(expression.as_str()),
        (None, true) => None,
        (None, false) => known.expression.as_deref(),
    };
    define(
        desk,
        Kind::SegmentChanged,
        known.segment,
        (name, expression),
    )
    .await
}

async fn define(
    desk: &mut Desk,
    kind: Kind,
    id: SegmentId,
    (name, expression): (&str, Option<&str>),
) -> anyhow::Result<ExitCode> {
    if expression.is_some_and(|text| good(text).is_none()) {
        return Ok(ExitCode::from(2));
    }
    let definition = match Definition::new(id, name, expression) {
        Ok(definition) => definition,
        Err(Fault::Name(detail)) => bail!("{detail}"),
        Err(Fault::Expression(_)) => bail!("the expression is faulty"),
    };
    let position = flow::segment::define(&desk.app.store, desk.scope(), kind, &definition).await?;
    desk.settle(position).await?;
    let segment = desk.segment(&id.to_string()).await?;
    say(desk, segment).await
}

pub async fn delete(desk: &mut Desk, which: &Which) -> anyhow::Result<ExitCode> {
    desk.app.segments.drain().await?;
    let known = desk.segment(&which.segment).await?.definition;
    desk.app.journeys.drain().await?;
    let (store, scope) = (&desk.app.store, desk.scope());
    if let Some(detail) = flow::journey::use_of(store, scope, known.segment).await? {
        bail!("{detail}");
    }
    let position = flow::segment::delete(&desk.app.store, desk.scope(), known.segment).await?;
    desk.settle(position).await?;
    if desk.json {
        println!("{}", json!({"deleted": known.segment}));
    } else {
        println!("deleted {}", known.segment);
    }
    Ok(ExitCode::SUCCESS)
}
