//! Rebuilding and verifying, with a bar on a terminal.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use kurier_core::projection::Projection;
use kurier_store::Store;
use serde_json::json;
use tokio::sync::watch;

use crate::flow::rebuild::{self, Stage, Verified, Work};
use crate::http::VerdictView;

pub async fn rebuild(
    store: &Store,
    projection: &'static dyn Projection,
    as_json: bool,
) -> anyhow::Result<()> {
    let (work, began) = (watch::Sender::new(Work::default()), Instant::now());
    let bar = bar(projection, &work, as_json);
    let position = rebuild::rebuild(store, projection, &work).await;
    bar.finish_and_clear();
    let (position, took) = (position?, began.elapsed());
    if as_json {
        let took_ms = took.as_millis() as u64;
        let done = json!({"name": projection.name(), "position": position, "took_ms": took_ms});
        println!("{done}");
    } else {
        let name = projection.name();
        println!("rebuilt {name}: {position} events in {}", seconds(took));
    }
    Ok(())
}

pub async fn verify_all(
    store: &Store,
    projections: &[&'static dyn Projection],
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let mut is_equal = true;
    for projection in projections {
        is_equal &= verify(store, *projection, as_json).await?;
    }
    let code = if is_equal {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    };
    Ok(code)
}

async fn verify(
    store: &Store,
    projection: &'static dyn Projection,
    as_json: bool,
) -> anyhow::Result<bool> {
    let (work, began) = (watch::Sender::new(Work::default()), Instant::now());
    let bar = bar(projection, &work, as_json);
    let verified = rebuild::verify(store, projection, &work).await;
    bar.finish_and_clear();
    let (verified, took) = (verified?, began.elapsed());
    if as_json {
        let mut json = serde_json::to_value(VerdictView::of_all(&verified))?;
        json["name"] = projection.name().into();
        println!("{json}");
    } else {
        print(projection, &verified, took);
    }
    Ok(verified.is_equal())
}

fn print(projection: &dyn Projection, verified: &Verified, took: Duration) {
    let verdict = match verified.is_equal() {
        true => "is what the log says",
        false => "DIFFERS from the log",
    };
    let (name, position) = (projection.name(), verified.position);
    println!(
        "{name} {verdict}, up to event {position} ({})",
        seconds(took)
    );
    for table in &verified.tables {
        let mark = if table.is_equal { "=" } else { "≠" };
        println!(
            "  {mark} {} {} rows, digest {}",
            table.table, table.rows, table.digest
        );
    }
    for difference in VerdictView::of_all(verified).differences() {
        println!("  {difference}");
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

fn bar(projection: &dyn Projection, work: &watch::Sender<Work>, as_json: bool) -> ProgressBar {
    if as_json {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    let style = "{prefix} {msg} {wide_bar} {human_pos}/{human_len} events, {per_sec}, {eta} left";
    bar.set_style(ProgressStyle::with_template(style).expect("the template is valid"));
    bar.set_prefix(projection.name());
    let (shown, mut watched) = (bar.clone(), work.subscribe());
    tokio::spawn(async move {
        while !shown.is_finished() && watched.changed().await.is_ok() {
            let work = *watched.borrow();
            shown.set_length(u64::try_from(work.of).unwrap_or(0));
            shown.set_position(u64::try_from(work.done).unwrap_or(0));
            shown.set_message(stage(work.stage));
        }
    });
    bar
}

const fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Folding => "folding",
        Stage::Writing => "writing",
        Stage::Comparing => "comparing",
        Stage::Swapping => "swapping",
    }
}
