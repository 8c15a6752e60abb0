//! `kurier template check`: everything that is wrong with templates, at once.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::{load, tell};
use crate::http;

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Templates, YAML or JSON
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Fails if any template has a fault.
pub fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let (mut is_good, mut answers) = (true, Vec::new());
    for path in &args.files {
        let (document, compiled) = load(path)?;
        let faults = compiled.as_ref().err().cloned().unwrap_or_default();
        let reads = compiled
            .as_ref()
            .map(|compiled| compiled.reads())
            .unwrap_or_default();
        is_good &= compiled.is_ok();
        if args.json {
            let told: Vec<_> = faults.iter().map(http::template_fault_json).collect();
            let file = path.display().to_string();
            answers.push(
                json!({"file": file, "good": compiled.is_ok(), "reads": reads, "faults": told}),
            );
            continue;
        }
        tell(path, &document, &faults);
        if let Ok(compiled) = &compiled {
            let (path, name) = (path.display(), &compiled.name);
            let reads: Vec<String> = reads.into_iter().collect();
            println!("{path}: {name} is good, reads {}", words(&reads));
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

fn words(reads: &[String]) -> String {
    match reads.is_empty() {
        true => "nothing".to_owned(),
        false => reads.join(", "),
    }
}
