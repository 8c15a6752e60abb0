//! `kurier eval`: an expression over a contact and events from files, with the reasons.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use kurier_core::expr::{Checked, Error, EventFact, FOREVER, Facts, Place, Reason, Verdict};
use kurier_core::time::Timestamp;
use kurier_core::value::{Object, Value};
use serde_json::json;

use crate::clock;

/// Far more than an expression may have, so that it is said how much that is.
const TEXT_READ_MAX: u64 = 16 * 1024 * 1024;

/// So many characters of a line are shown.
const SHOWN_MAX: usize = 110;

#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The expression, such as "contact.plan = 'pro'"; - reads it from standard input
    expression: String,
    /// A contact as JSON: its attributes, or what the API shows of it
    #[arg(long, value_name = "FILE")]
    contact: Option<PathBuf>,
    /// Its events as NDJSON, as in POST /v1/batch, in the order in which they arrived
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// The time at which to evaluate [default: now]
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Succeeds if the expression holds; the exit code is 1 if it does not, 2 if it is faulty.
pub fn run(args: &EvalArgs) -> anyhow::Result<ExitCode> {
    let expression = match args.expression.as_str() {
        "-" => std::io::read_to_string(std::io::stdin().take(TEXT_READ_MAX))?,
        text => text.to_owned(),
    };
    let checked = match Checked::new(&expression, Place::SEGMENT) {
        Ok(checked) => checked,
        Err(errors) => {
            errors
                .iter()
                .for_each(|error| eprintln!("{}", underlined(&expression, error)));
            return Ok(ExitCode::from(2));
        }
    };
    let mut facts = args
        .contact
        .as_deref()
        .map_or_else(|| Ok(Facts::default()), read_contact)?;
    if let Some(path) = &args.events {
        facts.events = read_events(path)?;
    }
    let now = args.now.unwrap_or_else(clock::now);
    let verdict = checked.evaluate(&facts, None, now);
    let reasons = checked.explain(&facts, None, now);
    report(&checked, verdict, &reasons, args.json);
    Ok(if verdict.holds {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn read_contact(path: &std::path::Path) -> anyhow::Result<Facts> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut object: Object =
        serde_json::from_str(&text).context("the contact is not a JSON object")?;
    let mut facts = Facts::default();
    if !matches!(object.get("attributes"), Some(Value::Object(_))) {
        facts.attributes = object;
        return Ok(facts);
    }
    let text = |value: Option<&Value>| value.and_then(Value::as_text).cloned();
    facts.id = text(object.get("id"));
    facts.user_id = text(object.get("user_id"));
    facts.created_at = text(object.get("created_at"))
        .map(|time| time.parse())
        .transpose()?;
    if let Some(Value::Object(attributes)) = object.remove("attributes") {
        facts.attributes = attributes;
    }
    Ok(facts)
}

fn read_events(path: &std::path::Path) -> anyhow::Result<Vec<EventFact>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| read_event(line).with_context(|| format!("line {}", number + 1)))
        .collect()
}

fn read_event(line: &str) -> anyhow::Result<EventFact> {
    let object: Object = serde_json::from_str(line)?;
    let text = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| object.get(*name)?.as_text().cloned())
    };
    let Some(event_type) = text(&["event", "event_type", "name", "type"]) else {
        bail!("the event has no name");
    };
    let time = text(&[
        "timestamp",
        "event_time",
        "occurred_at",
        "originalTimestamp",
    ]);
    let properties = match object.get("properties") {
        Some(Value::Object(properties)) => properties.clone(),
        _ => Object::new(),
    };
    let event_time = time.context("the event has no timestamp")?.parse()?;
    Ok(EventFact {
        event_type,
        event_time,
        properties,
    })
}

fn report(checked: &Checked, verdict: Verdict, reasons: &[Reason], as_json: bool) {
    let until = (verdict.until != FOREVER).then_some(verdict.until);
    if as_json {
        let reasons = reasons_json(reasons);
        let canonical = checked.canonical();
        println!(
            "{}",
            json!({"holds": verdict.holds, "until": until, "canonical": canonical, "reasons": reasons})
        );
        return;
    }
    let until = until.map_or_else(
        || "as long as nothing changes".to_owned(),
        |until| format!("until {until}"),
    );
    println!(
        "{}, {until}",
        if verdict.holds {
            "holds"
        } else {
            "does not hold"
        }
    );
    print_reasons(reasons);
}

pub fn reasons_json(reasons: &[Reason]) -> Vec<serde_json::Value> {
    let reasons = reasons.iter();
    reasons
        .map(|r| json!({"condition": r.condition, "holds": r.holds, "found": r.found}))
        .collect()
}

pub fn print_reasons(reasons: &[Reason]) {
    for reason in reasons {
        let mark = if reason.holds { "true " } else { "false" };
        let found = if reason.found.is_empty() {
            String::new()
        } else {
            format!("  ({})", reason.found)
        };
        println!("  {mark}  {}{found}", reason.condition);
    }
}

/// The line of the text that is wrong, its place underlined, and what is wrong.
pub fn underlined(text: &str, error: &Error) -> String {
    let start = text[..error.span.start]
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let end = text[error.span.start..]
        .find('\n')
        .map_or(text.len(), |at| error.span.start + at);
    let line = &text[start..end];
    let indent = text[start..error.span.start].chars().count();
    let width = text[error.span.start..error.span.end.clamp(error.span.start, end)]
        .chars()
        .count()
        .max(1);
    // A long line is shown around its fault only.
    let skipped = indent.saturating_sub(60);
    let shown: String = line.chars().skip(skipped).take(SHOWN_MAX).collect();
    let marks = "^".repeat(width.min(SHOWN_MAX + skipped - indent));
    format!(
        "  {shown}\n  {}{marks} {error}",
        " ".repeat(indent - skipped)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_underlined_where_they_are() {
        let text = "contact.plan = 'pro'\nAND contact.ägé LIKE 'x'";
        let errors = kurier_core::expr::parse(text).expect_err("faulty");
        assert_eq!(
            underlined(text, &errors[0]),
            "  AND contact.ägé LIKE 'x'\n                  ^^^^ expected a comparison, found `LIKE`; use CONTAINS, STARTS_WITH, ENDS_WITH or MATCHES"
        );
    }
}
