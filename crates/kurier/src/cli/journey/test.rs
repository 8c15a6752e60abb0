//! `kurier journey test`: fixtures, for people and for their CI.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use kurier_core::journey::{Case, Difference, Fixture, Known, run_case};
use kurier_core::value::Value;
use serde_json::json;

use super::{good, read};

#[derive(Debug, Args)]
pub struct TestArgs {
    /// Fixtures, YAML or JSON; each names its definition
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// What became of one case.
struct Outcome {
    file: PathBuf,
    case: String,
    result: Result<Vec<Difference>, String>,
}

impl Outcome {
    fn is_good(&self) -> bool {
        self.result.as_ref().is_ok_and(Vec::is_empty)
    }
}

/// Fails if any case differs from what it expects.
pub fn run(args: &TestArgs) -> anyhow::Result<ExitCode> {
    let mut outcomes = Vec::new();
    for path in &args.files {
        outcomes.extend(run_file(path)?);
    }
    let failed = outcomes.iter().filter(|outcome| !outcome.is_good()).count();
    if args.json {
        let answers: Vec<_> = outcomes.iter().map(answer).collect();
        println!("{}", json!(answers));
    } else {
        outcomes.iter().for_each(report);
        println!("{} case(s), {failed} failed", outcomes.len());
    }
    Ok(match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

fn run_file(path: &Path) -> anyhow::Result<Vec<Outcome>> {
    let fixture = match Fixture::read(&read(path)?) {
        Ok(fixture) => fixture,
        Err(error) => anyhow::bail!("{}: {error}", path.display()),
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let definition = folder.join(&fixture.journey);
    let Some((_, document)) = good(&definition, &Known::default())? else {
        anyhow::bail!("{} cannot be run", definition.display());
    };
    let cases = fixture.cases.iter();
    Ok(cases
        .map(|case| run_one(path, &fixture, &document, case))
        .collect())
}

fn run_one(path: &Path, fixture: &Fixture, document: &Value, case: &Case) -> Outcome {
    Outcome {
        file: path.to_owned(),
        case: case.name.clone(),
        result: run_case(document, &fixture.segments, case),
    }
}

fn report(outcome: &Outcome) {
    let word = if outcome.is_good() {
        "ok    "
    } else {
        "FAILED"
    };
    println!("{word} {}: {}", outcome.file.display(), outcome.case);
    match &outcome.result {
        Err(error) => println!("       {error}"),
        Ok(differences) => {
            for difference in differences {
                let (mark, line) = match difference {
                    Difference::Missing(line) => ('-', line),
                    Difference::Extra(line) => ('+', line),
                    Difference::Same(line) => (' ', line),
                };
                println!("       {mark} {line}");
            }
        }
    }
}

fn answer(outcome: &Outcome) -> serde_json::Value {
    let (error, differences) = match &outcome.result {
        Ok(differences) => (None, Some(differences)),
        Err(error) => (Some(error), None),
    };
    json!({
        "file": outcome.file.display().to_string(),
        "case": outcome.case,
        "good": outcome.is_good(),
        "differences": differences,
        "error": error,
    })
}
