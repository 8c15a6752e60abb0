//! A part's tree becomes its text. All parts of a message share one budget.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::ast::{Case, For, If, Node, Over, Pipe, Source, Test};
use super::escape;
use super::fault::Why;
use super::filter::{Bench, Filter};
use super::limits::{Budget, Limit, MARKDOWN_BYTES_MAX, OUTPUT_BYTES_MAX, TEXT_BYTES_MAX};
use super::quotes::{Quotes, Shown};
use super::scope::{Frame, Scope};
use super::show::{push, show};
use crate::content::Key;
use crate::expr::Datum;
use crate::time::Timestamp;
use crate::value::{Object, Value};

/// What a part becomes, and so how values are escaped in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Html,
    Text,
    /// A header's line.
    Line,
    Json,
    /// Values are put in behind the Markdown's reading; see `markdown`.
    Markdown,
}

/// A value that stands outside of the text until its Markdown has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    pub text: String,
    /// It is HTML already.
    pub is_html: bool,
    /// It brings its own paragraphs.
    pub is_block: bool,
}

/// Marks a slot's number in Markdown.
pub const SLOT_OPEN: char = '\u{e000}';
pub const SLOT_CLOSE: char = '\u{e001}';

/// What rendering a message knows beside its parts.
pub struct Rendering<'a> {
    pub inputs: &'a Object,
    pub now: Timestamp,
    pub quotes: &'a Quotes,
    pub budget: Budget,
    pub missing: BTreeSet<String>,
    /// A missing value is a fault.
    pub is_strict: bool,
}

/// How far a value is safe where it is put.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Safety {
    Plain,
    /// It is HTML.
    Html,
    /// It is whatever the part is written in.
    Source,
}

pub struct Renderer<'a, 'r> {
    rendering: &'r mut Rendering<'a>,
    scope: Scope<'a>,
    target: Target,
    pub out: String,
    pub slots: Vec<Slot>,
}

impl<'a, 'r> Renderer<'a, 'r> {
    pub fn new(rendering: &'r mut Rendering<'a>, target: Target) -> Self {
        let scope = Scope::new(rendering.inputs, rendering.now);
        Self {
            rendering,
            scope,
            target,
            out: String::new(),
            slots: Vec::new(),
        }
    }

    pub fn nodes(&mut self, nodes: &'a [Node]) -> Result<(), Why> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'a Node) -> Result<(), Why> {
        self.rendering.budget.step()?;
        match node {
            Node::Text(text) => self.static_text(text),
            Node::Output { pipe, .. } => self.output(pipe),
            Node::Quote { key, .. } => self.quote(*key),
            Node::If(node) => self.conditional(node),
            Node::Case(node) => self.case(node),
            Node::For(node) => self.repeat(node),
            Node::Assign { name, pipe } => {
                let value = self.pipe(pipe)?.0;
                self.scope.assign(name, value);
                Ok(())
            }
        }
    }

    fn say(&mut self, text: &str) -> Result<(), Why> {
        let (max, limit) = match self.target {
            Target::Markdown => (MARKDOWN_BYTES_MAX, Limit::Markdown),
            _ => (OUTPUT_BYTES_MAX, Limit::Output),
        };
        Ok(push(&mut self.out, text, max, limit)?)
    }

    fn static_text(&mut self, text: &str) -> Result<(), Why> {
        match self.target {
            Target::Markdown => self.say(&without_marks(text)),
            _ => self.say(text),
        }
    }

    fn output(&mut self, pipe: &'a Pipe) -> Result<(), Why> {
        let (value, safety) = self.pipe(pipe)?;
        self.note_missing(pipe)?;
        let text = show(&value, &mut self.rendering.budget)?;
        // Escaping makes a text longer: it is paid for as any other.
        self.rendering.budget.work(text.len() as u64)?;
        match (self.target, safety) {
            (Target::Markdown, Safety::Source) => self.say(&without_marks(&text)),
            (Target::Markdown, safety) => self.slot(&text, safety == Safety::Html, false),
            (Target::Html, Safety::Plain) => self.say(&escape::html(bounded(&text)?)),
            (Target::Json, Safety::Plain) => self.say(&escape::json(bounded(&text)?)),
            _ => self.say(&text),
        }
    }

    /// Content is shown as the part shows things, whatever it holds.
    fn quote(&mut self, key: Key) -> Result<(), Why> {
        let shown = self.rendering.quotes.get(key);
        let Shown { html, text } = shown.ok_or(Why::NoContent(key))?;
        let length = html.len().max(text.len()) as u64;
        self.rendering.budget.work(length)?;
        match self.target {
            Target::Html => self.say(html),
            Target::Markdown => self.slot(html, true, true),
            Target::Json => self.say(&escape::json(bounded(text)?)),
            Target::Text | Target::Line => self.say(text),
        }
    }

    fn slot(&mut self, text: &str, is_html: bool, is_block: bool) -> Result<(), Why> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(Limit::Text.into());
        }
        let mark = format!("{SLOT_OPEN}{}{SLOT_CLOSE}", self.slots.len());
        self.slots.push(Slot {
            text: text.to_owned(),
            is_html,
            is_block,
        });
        self.say(&mark)
    }

    fn note_missing(&mut self, pipe: &'a Pipe) -> Result<(), Why> {
        let is_expected = pipe.filters.iter().any(|it| it.filter.is_for_missing());
        let Source::Path(path) = &pipe.source else {
            return Ok(());
        };
        if is_expected || *self.source(&pipe.source)? != Value::Null {
            return Ok(());
        }
        let path = path.dotted();
        if self.rendering.is_strict {
            return Err(Why::Missing(path));
        }
        self.rendering.missing.insert(path);
        Ok(())
    }

    fn pipe(&mut self, pipe: &'a Pipe) -> Result<(Cow<'a, Value>, Safety), Why> {
        let mut value = self.source(&pipe.source)?;
        let mut safety = Safety::Plain;
        for applied in &pipe.filters {
            let args = applied.args.iter().map(|arg| self.source(arg));
            let args = args.collect::<Result<Vec<_>, _>>()?;
            let mut bench = Bench {
                budget: &mut self.rendering.budget,
                now: self.rendering.now,
            };
            value = applied.filter.apply(value, &args, &mut bench)?;
            // Whatever is done to a safe text may make it unsafe again.
            safety = match applied.filter {
                Filter::Raw => Safety::Source,
                Filter::Escape | Filter::NewlineToBr => Safety::Html,
                Filter::Json if self.target == Target::Json => Safety::Source,
                _ => Safety::Plain,
            };
        }
        let is_html = self.target == Target::Html || self.target == Target::Markdown;
        if safety == Safety::Html && !is_html {
            safety = Safety::Plain;
        }
        Ok((value, safety))
    }

    fn source(&mut self, source: &'a Source) -> Result<Cow<'a, Value>, Limit> {
        match source {
            Source::Literal(value) => Ok(Cow::Borrowed(value)),
            Source::Path(path) => self.scope.value(path, &mut self.rendering.budget),
        }
    }

    fn holds(&mut self, test: &Test) -> Result<bool, Limit> {
        self.rendering.budget.step()?;
        let budget = &mut self.rendering.budget;
        let holds = self.scope.holds(&test.plan, test.weight, budget)?;
        Ok(holds != test.negated)
    }

    fn conditional(&mut self, node: &'a If) -> Result<(), Why> {
        for (test, body) in &node.branches {
            if self.holds(test)? {
                return self.nodes(body);
            }
        }
        self.nodes(&node.otherwise)
    }

    fn case(&mut self, node: &'a Case) -> Result<(), Why> {
        let subject = self.pipe(&node.subject)?.0;
        for (values, body) in &node.whens {
            for value in values {
                self.rendering.budget.step()?;
                let value = self.source(value)?;
                if self.is_equal(&subject, &value)? {
                    return self.nodes(body);
                }
            }
        }
        self.nodes(&node.otherwise)
    }

    /// As conditions compare; and nothing equals nothing.
    fn is_equal(&mut self, a: &Value, b: &Value) -> Result<bool, Limit> {
        if let (Value::Text(a), Value::Text(b)) = (a, b) {
            self.rendering.budget.work(a.len().min(b.len()) as u64)?;
        }
        let (a, b) = (Datum::of(Some(a)), Datum::of(Some(b)));
        Ok(a.equals(&b) || (a.is_missing() && b.is_missing()))
    }

    fn repeat(&mut self, node: &'a For) -> Result<(), Why> {
        let limit = match &node.limit {
            Some(limit) => count(&*self.source(limit)?),
            None => usize::MAX,
        };
        match &node.over {
            Over::Items(source) => match self.source(source)? {
                Cow::Borrowed(Value::List(list)) => {
                    let items = list.iter().map(Cow::Borrowed);
                    self.each(node, items, list.len().min(limit))
                }
                Cow::Owned(Value::List(list)) => {
                    let length = list.len().min(limit);
                    self.each(node, list.into_iter().map(Cow::Owned), length)
                }
                _ => self.nodes(&node.otherwise),
            },
            Over::Range(first, last) => {
                let (first, last) = (self.source(first)?, self.source(last)?);
                let (Some(first), Some(last)) = (int(&first), int(&last)) else {
                    return self.nodes(&node.otherwise);
                };
                let length = last.checked_sub(first).and_then(|gap| gap.checked_add(1));
                let length = usize::try_from(length.unwrap_or(i64::MAX).max(0));
                let items = (first..=last).map(|int| Cow::Owned(Value::Int(int)));
                self.each(node, items, length.unwrap_or(usize::MAX).min(limit))
            }
        }
    }

    fn each(
        &mut self,
        node: &'a For,
        items: impl Iterator<Item = Cow<'a, Value>>,
        length: usize,
    ) -> Result<(), Why> {
        if length == 0 {
            return self.nodes(&node.otherwise);
        }
        for (index, item) in items.take(length).enumerate() {
            self.rendering.budget.iterate()?;
            self.scope.enter(Frame {
                name: &node.name,
                item,
                index,
                length,
            });
            let done = self.nodes(&node.body);
            self.scope.leave();
            done?;
        }
        Ok(())
    }
}

/// A text that is about to be escaped.
fn bounded(text: &str) -> Result<&str, Limit> {
    match text.len() > OUTPUT_BYTES_MAX {
        true => Err(Limit::Output),
        false => Ok(text),
    }
}

fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(int) => Some(*int),
        Value::Float(float) => Some(*float as i64),
        Value::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn count(value: &Value) -> usize {
    int(value).map_or(0, |int| usize::try_from(int).unwrap_or(0))
}

/// Nobody but the renderer marks slots.
fn without_marks(text: &str) -> Cow<'_, str> {
    match text.contains([SLOT_OPEN, SLOT_CLOSE]) {
        true => Cow::Owned(text.replace([SLOT_OPEN, SLOT_CLOSE], "\u{fffd}")),
        false => Cow::Borrowed(text),
    }
}
