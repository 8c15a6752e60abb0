//! `kurier journey check`: everything that is wrong with definitions, at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use kurier_core::id::SegmentId;
use kurier_core::journey::{Checked, Known};
use serde_json::json;

use super::{read, tell};
use crate::http;

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Definitions, YAML or JSON
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A channel that exists; if any is given, others do not
    #[arg(long, value_name = "NAME")]
    channel: Vec<String>,
    /// A template that exists; if any is given, others do not
    #[arg(long, value_name = "NAME")]
    template: Vec<String>,
    /// A segment that exists; if any is given, others do not
    #[arg(long, value_name = "NAME")]
    segment: Vec<String>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Fails if any definition has a fault; warnings are no faults.
pub fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let known = known(args);
    let (mut is_good, mut answers) = (true, Vec::new());
    for path in &args.files {
        let checked = kurier_core::journey::check(&read(path)?, 1, &known);
        is_good &= checked.definition.is_some();
        if args.json {
            answers.push(answer(path, &checked));
        } else {
            report(path, &checked);
        }
    }
    if args.json {
        println!("{}", json!(answers));
    }
    Ok(match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn known(args: &CheckArgs) -> Known {
    let set = |names: &[String]| {
        let names: BTreeSet<String> = names.iter().cloned().collect();
        Some(names).filter(|names| !names.is_empty())
    };
    let segments = args.segment.iter();
    let segments = segments.map(|name| (name.clone(), SegmentId::of_name(name)));
    let segments: BTreeMap<String, SegmentId> = segments.collect();
    Known {
        channels: set(&args.channel),
        templates: set(&args.template),
        segments: Some(segments).filter(|segments| !segments.is_empty()),
        ..Known::default()
    }
}

fn report(path: &Path, checked: &Checked) {
    tell(path, &checked.faults);
    if let Some(definition) = &checked.definition {
        let nodes = definition.nodes.len();
        println!(
            "{}: {} is good, {nodes} nodes",
            path.display(),
            definition.name
        );
    }
}

fn answer(path: &Path, checked: &Checked) -> serde_json::Value {
    let faults: Vec<_> = checked.faults.iter().map(http::fault_json).collect();
    json!({
        "file": path.display().to_string(),
        "good": checked.definition.is_some(),
        "faults": faults,
    })
}
