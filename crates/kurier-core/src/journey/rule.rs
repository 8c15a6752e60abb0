//! Expressions inside a definition: rules, which hold or do not, and sources, which are values.

use super::scene::Scene;
use crate::expr::{Checked, Condition, Datum, Error, Place, Reads, Span, Subject, Term, Verdict};
use crate::time::Timestamp;
use crate::value::Value;

/// So many reasons are kept of a verdict, and so much of each.
const REASONS_MAX: usize = 8;
const REASON_CHARS_MAX: usize = 240;

/// What a journey says of itself under `journey.`; everything else stands under
/// `journey.state.`.
pub const JOURNEY_FIELDS: &[&str] = &["id", "name", "version", "key"];

/// Keys of the state that Kurier sets.
pub const RESERVED_KEYS: &[&str] = &[
    "entry_time",
    "trigger_event_id",
    "wait_until",
    "wait_start_time",
    "last_condition_check",
    "last_message_id",
    "last_message_channel",
    "step_count",
];

/// A condition of a journey.
#[derive(Debug, Clone)]
pub struct Rule {
    checked: Checked,
    reads: Reads,
}

impl Default for Rule {
    fn default() -> Self {
        Self::new("TRUE", Place::JOURNEY).expect("TRUE is an expression")
    }
}

impl Rule {
    pub fn new(text: &str, place: Place) -> Result<Self, Vec<Error>> {
        let checked = Checked::new(text, place)?;
        let reads = checked.plan.reads();
        check_paths(text, &reads)?;
        Ok(Self { checked, reads })
    }

    pub const fn reads(&self) -> &Reads {
        &self.reads
    }

    pub fn canonical(&self) -> String {
        self.checked.canonical()
    }

    pub fn verdict(&self, scene: &Scene<'_>, now: Timestamp) -> Verdict {
        self.checked.evaluate(scene, scene.event_in_scope(), now)
    }

    /// Why the verdict is what it is.
    pub fn because(&self, scene: &Scene<'_>, now: Timestamp) -> Vec<String> {
        let reasons = self.checked.explain(scene, scene.event_in_scope(), now);
        let words = reasons.iter().take(REASONS_MAX).map(|reason| {
            let holds = if reason.holds { "TRUE" } else { "FALSE" };
            match reason.found.as_str() {
                "" => format!("{} is {holds}", reason.condition),
                found => format!("{} is {holds}: {found}", reason.condition),
            }
        });
        words
            .map(|text| text.chars().take(REASON_CHARS_MAX).collect())
            .collect()
    }

    pub fn state_keys(&self) -> Vec<String> {
        state_keys(&self.reads)
    }
}

/// A value taken from the event, the contact, the journey or the text itself.
#[derive(Debug, Clone)]
pub struct Source {
    term: Term,
    text: String,
    reads: Reads,
}

impl Source {
    pub fn new(text: &str, place: Place) -> Result<Self, Vec<Error>> {
        let wanted = || {
            let span = Span::new(0, text.len());
            vec![
                Error::new(span, "a value is wanted here")
                    .suggest("write, for example, event.properties.cart_id"),
            ]
        };
        // The language knows conditions only; a test for NULL holds just the value's term.
        let checked = Checked::new(&format!("{text} IS NULL"), place).map_err(|errors| {
            errors
                .into_iter()
                .map(|error| within(error, text))
                .collect::<Vec<_>>()
        })?;
        let reads = checked.plan.reads();
        check_paths(text, &reads)?;
        match checked.plan.condition {
            Condition::IsNull {
                term,
                negated: false,
            } if !is_folded(&term) => Ok(Self {
                term,
                text: text.to_owned(),
                reads,
            }),
            _ => Err(wanted()),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn state_keys(&self) -> Vec<String> {
        state_keys(&self.reads)
    }

    /// The value; a missing one, a list of objects or an object is none.
    pub fn value(&self, scene: &Scene<'_>, now: Timestamp) -> Option<Value> {
        datum(&self.term, scene, now).into_value()
    }
}

/// Values over many events are not kept: they would be old the next moment.
fn is_folded(term: &Term) -> bool {
    match term {
        Term::Fold(_) => true,
        Term::Shifted(base, _) => is_folded(base),
        _ => false,
    }
}

/// Places in what was added to the text are at its end.
fn within(error: Error, text: &str) -> Error {
    let span = Span::new(
        error.span.start.min(text.len()),
        error.span.end.min(text.len()),
    );
    Error { span, ..error }
}

fn datum<'a>(term: &'a Term, scene: &'a Scene<'_>, now: Timestamp) -> Datum<'a> {
    match term {
        Term::Const(scalar) => Datum::of_scalar(scalar),
        Term::Now(micros) => Datum::Time(now.shifted(*micros)),
        Term::Contact(field) => scene.contact(field),
        Term::Event(field) => match scene.event_in_scope() {
            Some(event) => scene.event(event, field),
            None => Datum::Missing,
        },
        Term::Journey(names) => scene.journey(names),
        Term::Shifted(base, micros) => {
            let time = datum(base, scene, now).as_time();
            time.map_or(Datum::Missing, |time| Datum::Time(time.shifted(*micros)))
        }
        Term::Given(_) | Term::Fold(_) => Datum::Missing,
    }
}

/// Custom keys of the state that are read.
fn state_keys(reads: &Reads) -> Vec<String> {
    let keys = reads
        .journey
        .iter()
        .filter_map(|path| path.strip_prefix("state."));
    let keys = keys.map(|path| path.split('.').next().unwrap_or(path));
    keys.filter(|key| !RESERVED_KEYS.contains(key))
        .map(str::to_owned)
        .collect()
}

/// `journey.` has a closed list of names under it.
fn check_paths(text: &str, reads: &Reads) -> Result<(), Vec<Error>> {
    let known = |path: &&String| {
        path.strip_prefix("state.")
            .is_some_and(|key| !key.is_empty())
            || JOURNEY_FIELDS.contains(&path.as_str())
    };
    let unknown = reads.journey.iter().filter(|path| !known(path));
    let errors: Vec<Error> = unknown
        .map(|path| {
            let whole = format!("journey.{path}");
            let start = text.find(&whole).unwrap_or(0);
            let span = Span::new(start, (start + whole.len()).min(text.len()));
            let message = format!(
                "a journey has no `{path}`; it has {} and state",
                JOURNEY_FIELDS.join(", ")
            );
            Error::new(span, message).suggest(format!("write journey.state.{path}"))
        })
        .collect();
    match errors.is_empty() {
        true => Ok(()),
        false => Err(errors),
    }
}

/// A value as the key of a run.
pub fn key_text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}
