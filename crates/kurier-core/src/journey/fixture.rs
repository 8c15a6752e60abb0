//! Fixtures: what is given to a journey, and what is expected of it, so that journeys are
//! tested like code.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::document;
use super::simulate::{Message, Run, Simulation};
use crate::id::JourneyId;
use crate::time::Timestamp;
use crate::value::{Object, Value};

/// When a case begins that does not say so.
const BEGIN: &str = "2026-01-01T00:00:00Z";

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixture {
    /// The definition's file, as seen from this one.
    pub journey: String,
    /// Segments that the journey names, by name, as expressions.
    #[serde(default)]
    pub segments: BTreeMap<String, String>,
    pub cases: Vec<Case>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    pub given: Vec<Given>,
    pub expect: Expect,
}

/// One thing that happens: an event of a user, or only that time passes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// An instant, or `+1h` after what was given before.
    #[serde(default)]
    at: Option<String>,
    /// Whose event it is; as before, if it does not say.
    #[serde(default)]
    user: Option<String>,
    #[serde(default)]
    track: Option<String>,
    #[serde(default)]
    properties: Option<Object>,
    /// What is said of the user.
    #[serde(default)]
    identify: Option<Object>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// In the order in which they begin.
    #[serde(default)]
    runs: Vec<ExpectedRun>,
    /// In the order in which they are asked for.
    #[serde(default)]
    messages: Vec<ExpectedMessage>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedRun {
    user: String,
    #[serde(default)]
    key: Option<String>,
    /// The nodes it came to.
    path: Vec<String>,
    /// Why it ended; it still waits, if this does not say.
    #[serde(default)]
    ending: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedMessage {
    #[serde(default)]
    user: Option<String>,
    #[serde(default)]
    channel: Option<String>,
    template: String,
    /// An instant, or `+1h` after the case began.
    #[serde(default)]
    at: Option<String>,
}

/// One line of what differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// Expected, and did not happen.
    Missing(String),
    /// Happened, and was not expected.
    Extra(String),
    /// As expected: for reading the others in their place.
    Same(String),
}

impl Fixture {
    pub fn read(text: &str) -> Result<Self, String> {
        document::read_as(text)
    }
}

/// Runs a case on a definition that was found good. No difference: an empty list. An error:
/// the case itself cannot be run.
pub fn run_case(
    definition: &Value,
    segments: &BTreeMap<String, String>,
    case: &Case,
) -> Result<Vec<Difference>, String> {
    let mut simulation = Simulation::default();
    let begin = begin(case)?;
    simulation.pass_to(begin);
    for (name, expression) in segments {
        let made = simulation.define_segment(name, expression);
        made.map_err(|fault| format!("segment {name}: {fault:?}"))?;
    }
    simulation.publish(JourneyId::of_name("fixture"), 1, definition.clone());
    give(&mut simulation, &case.given, begin)?;
    Ok(compare(&simulation, &case.expect, begin))
}

fn begin(case: &Case) -> Result<Timestamp, String> {
    let epoch = BEGIN.parse().map_err(|error| format!("{error}"))?;
    let first = case.given.first().and_then(|given| given.at.as_deref());
    first.map_or(Ok(epoch), |at| instant(at, epoch))
}

/// An instant as it is written: absolute, or after another.
fn instant(text: &str, before: Timestamp) -> Result<Timestamp, String> {
    match text.strip_prefix('+') {
        Some(duration) => Ok(before.plus(super::duration::parse(duration.trim())?)),
        None => text
            .parse()
            .map_err(|error: crate::time::TimeError| error.to_string()),
    }
}

fn give(simulation: &mut Simulation, given: &[Given], begin: Timestamp) -> Result<(), String> {
    let (mut now, mut user) = (begin, None);
    for (index, item) in given.iter().enumerate() {
        let place = |error: String| format!("given[{index}]: {error}");
        if let Some(at) = item.at.as_deref().filter(|_| index > 0) {
            let at = instant(at, now).map_err(place)?;
            if at < now {
                return Err(place("is before what was given before".to_owned()));
            }
            now = at;
        }
        user = item.user.clone().or(user);
        simulation.pass_to(now);
        for raw in item.events(user.as_deref()).map_err(place)? {
            let said = simulation.say(&raw, now);
            said.map_err(|problems| place(format!("{problems:?}")))?;
        }
    }
    Ok(())
}

impl Given {
    /// What a client would send.
    fn events(&self, user: Option<&str>) -> Result<Vec<String>, String> {
        if self.track.is_none() && self.identify.is_none() {
            return Ok(Vec::new());
        }
        let user = user.ok_or("says no user, and none was said before")?;
        let mut events = Vec::new();
        if let Some(traits) = &self.identify {
            events.push(json!({"type": "identify", "userId": user, "traits": traits}).to_string());
        }
        if let Some(event) = &self.track {
            let properties = self.properties.clone().unwrap_or_default();
            events.push(
                json!({"type": "track", "userId": user, "event": event, "properties": properties})
                    .to_string(),
            );
        }
        Ok(events)
    }
}

fn compare(simulation: &Simulation, expect: &Expect, begin: Timestamp) -> Vec<Difference> {
    let mut differences = Vec::new();
    let runs: Vec<&Run> = simulation.runs().iter().collect();
    line_up(
        &expect.runs,
        &runs,
        ExpectedRun::line,
        run_line,
        &mut differences,
    );
    let messages: Vec<&Message> = simulation.messages().iter().collect();
    let expected = |message: &ExpectedMessage| message.line(begin);
    line_up(
        &expect.messages,
        &messages,
        expected,
        message_line,
        &mut differences,
    );
    let is_same = |difference: &Difference| matches!(difference, Difference::Same(_));
    match differences.iter().all(is_same) {
        true => Vec::new(),
        false => differences,
    }
}

/// Compares one by one; what is expected says which fields are looked at.
fn line_up<E, A>(
    expected: &[E],
    actual: &[&A],
    expected_line: impl Fn(&E) -> Line,
    actual_line: impl Fn(&A) -> Line,
    differences: &mut Vec<Difference>,
) {
    for index in 0..expected.len().max(actual.len()) {
        let wanted = expected.get(index).map(&expected_line);
        let found = actual.get(index).map(|actual| actual_line(actual));
        match (wanted, found) {
            (Some(wanted), Some(found)) if found.fits(&wanted) => {
                differences.push(Difference::Same(wanted.text()));
            }
            (wanted, found) => {
                differences.extend(wanted.map(|line| Difference::Missing(line.text())));
                differences.extend(found.map(|line| Difference::Extra(line.text())));
            }
        }
    }
}

/// What is said about a run or a message, part by part; an empty part is not said.
struct Line(Vec<String>);

impl Line {
    fn fits(&self, wanted: &Self) -> bool {
        let mut pairs = self.0.iter().zip(&wanted.0);
        pairs.all(|(found, wanted)| wanted.is_empty() || found == wanted)
    }

    fn text(&self) -> String {
        let said: Vec<&str> = self.0.iter().map(String::as_str).collect();
        let said: Vec<&str> = said.into_iter().filter(|part| !part.is_empty()).collect();
        said.join("  ")
    }
}

impl ExpectedRun {
    fn line(&self) -> Line {
        let ending = self.ending.as_deref().unwrap_or("waiting");
        Line(vec![
            "run".to_owned(),
            self.user.clone(),
            self.key.clone().unwrap_or_default(),
            self.path.join(" > "),
            ending.to_owned(),
        ])
    }
}

fn run_line(run: &Run) -> Line {
    let ending = run.ending.map_or("waiting", |ending| ending.as_str());
    Line(vec![
        "run".to_owned(),
        run.user.clone(),
        run.key.clone().unwrap_or_default(),
        run.nodes().join(" > "),
        ending.to_owned(),
    ])
}

impl ExpectedMessage {
    fn line(&self, begin: Timestamp) -> Line {
        let at = self.at.as_deref().map(|at| {
            let parsed = instant(at, begin);
            parsed.map_or_else(|_| at.to_owned(), |at| at.to_string())
        });
        Line(vec![
            "message".to_owned(),
            self.user.clone().unwrap_or_default(),
            self.channel.clone().unwrap_or_default(),
            self.template.clone(),
            at.unwrap_or_default(),
        ])
    }
}

fn message_line(message: &Message) -> Line {
    Line(vec![
        "message".to_owned(),
        message.user.clone(),
        message.request.channel.clone(),
        message.request.template_name().to_owned(),
        message.at.to_string(),
    ])
}
