//! A template that was found good: to be kept, and rendered as often as is asked for. There
//! is no other way to render one, so what is shown is what is sent.

use std::collections::BTreeSet;

use super::document::{self, Document};
use super::fault::{Fault, RenderFault, Why};
use super::limits::{Budget, FAULTS_MAX, Limit, OUTPUT_BYTES_MAX};
use super::parse::{Parsed, parse};
use super::quotes::Quotes;
use super::render::{Renderer, Rendering, Slot, Target};
use super::{context, escape, links, markdown, plain};
use crate::content::Key;
use crate::expr::Span;
use crate::message::Rendered;
use crate::time::Timestamp;
use crate::value::{Object, Value};

#[derive(Debug)]
pub struct Compiled {
    pub name: String,
    pub topic: Option<String>,
    is_strict: bool,
    subject: Option<Part>,
    preheader: Option<Part>,
    body: Option<Part>,
    text: Option<Part>,
}

#[derive(Debug)]
struct Part {
    field: &'static str,
    target: Target,
    parsed: Parsed,
}

/// What came of rendering, and which values were missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    pub rendered: Rendered,
    pub missing: BTreeSet<String>,
}

impl Compiled {
    /// Compiles a document, or says everything that is wrong with it.
    pub fn new(document: &Value) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let document = document::read(document)?;
        let compiled = Self::of(document, &mut faults);
        faults.truncate(FAULTS_MAX);
        match faults.is_empty() {
            true => Ok(compiled),
            false => Err(faults),
        }
    }

    fn of(document: Document, faults: &mut Vec<Fault>) -> Self {
        let mut part = |field, target, text: Option<String>| {
            text.map(|text| Part::new(field, target, &text, faults))
        };
        let (body, target, text) = match document.body {
            Some((field, target, text)) => (field, target, Some(text)),
            None => ("text", Target::Text, None),
        };
        Self {
            name: document.name,
            topic: document.topic,
            is_strict: document.is_strict,
            subject: part("subject", Target::Line, document.subject),
            preheader: part("preheader", Target::Text, document.preheader),
            body: part(body, target, text),
            text: part("text", Target::Text, document.text),
        }
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        let all = [&self.subject, &self.preheader, &self.body, &self.text];
        all.into_iter().flatten()
    }

    /// What it reads of its inputs, dotted: `contact.first_name`.
    pub fn reads(&self) -> BTreeSet<String> {
        let reads = self.parts().flat_map(|part| part.parsed.reads.iter());
        reads.cloned().collect()
    }

    /// What it quotes of content, and where: the field, and the place in it.
    pub fn quotes(&self) -> impl Iterator<Item = (&'static str, Key, Span)> + '_ {
        self.parts().flat_map(|part| {
            let quotes = part.parsed.quotes.iter();
            quotes.map(|(key, span)| (part.field, *key, *span))
        })
    }

    /// Renders it for its inputs, at an instant.
    pub fn render(&self, inputs: &Object, now: Timestamp) -> Result<Rendered, RenderFault> {
        self.render_noting(inputs, now).map(|noted| noted.rendered)
    }

    /// The same, and says which values were missing.
    pub fn render_noting(&self, inputs: &Object, now: Timestamp) -> Result<Noted, RenderFault> {
        self.render_quoting(inputs, now, &Quotes::default())
    }

    /// The same, with what it quotes of content.
    pub fn render_quoting(
        &self,
        inputs: &Object,
        now: Timestamp,
        quotes: &Quotes,
    ) -> Result<Noted, RenderFault> {
        let mut rendering = Rendering {
            inputs,
            now,
            quotes,
            budget: Budget::default(),
            missing: BTreeSet::new(),
            is_strict: self.is_strict,
        };
        let mut rendered = Rendered::default();
        if let Some(part) = &self.subject {
            let (subject, _) = part.render(&mut rendering)?;
            rendered.subject = Some(escape::line(&subject));
        }
        if let Some(part) = &self.body {
            self.body(part, &mut rendering, &mut rendered)?;
        }
        if let Some(part) = &self.text {
            rendered.text = Some(part.render(&mut rendering)?.0);
        }
        Ok(Noted {
            rendered,
            missing: rendering.missing,
        })
    }

    fn body<'a>(
        &'a self,
        part: &'a Part,
        rendering: &mut Rendering<'a>,
        rendered: &mut Rendered,
    ) -> Result<(), RenderFault> {
        let (text, slots) = part.render(rendering)?;
        let html = match part.target {
            Target::Json => {
                rendered.json = Some(json(text).map_err(|why| part.fault(why))?);
                return Ok(());
            }
            Target::Markdown => page(&text, &slots).map_err(|limit| part.fault(limit.into()))?,
            _ => text,
        };
        links::check(&html).map_err(|why| part.fault(why))?;
        if self.text.is_none() {
            rendered.text = Some(plain::text_of(&html));
        }
        rendered.html = Some(self.with_preheader(html, rendering)?);
        Ok(())
    }

    /// A preheader is what a list of mails shows behind the subject: hidden, and first.
    fn with_preheader<'a>(
        &'a self,
        html: String,
        rendering: &mut Rendering<'a>,
    ) -> Result<String, RenderFault> {
        let Some(part) = &self.preheader else {
            return Ok(html);
        };
        let (text, _) = part.render(rendering)?;
        let hidden = format!(
            "<div style=\"display:none;max-height:0;overflow:hidden\">{}</div>",
            escape::html(&escape::line(&text))
        );
        let at = body_start(&html);
        if html.len() + hidden.len() > OUTPUT_BYTES_MAX {
            return Err(part.fault(Limit::Output.into()));
        }
        Ok([&html[..at], &hidden, &html[at..]].concat())
    }
}

impl Part {
    fn new(field: &'static str, target: Target, text: &str, faults: &mut Vec<Fault>) -> Self {
        let parsed = parse(text).and_then(|parsed| {
            let errors = context::check(&parsed.nodes, target);
            errors.is_empty().then_some(parsed).ok_or(errors)
        });
        let parsed = parsed.unwrap_or_else(|errors| {
            let errors = errors.into_iter().take(FAULTS_MAX);
            faults.extend(errors.map(|error| Fault::within(field, error)));
            Parsed::default()
        });
        Self {
            field,
            target,
            parsed,
        }
    }

    const fn fault(&self, why: Why) -> RenderFault {
        RenderFault {
            part: self.field,
            why,
        }
    }

    fn render<'a>(
        &'a self,
        rendering: &mut Rendering<'a>,
    ) -> Result<(String, Vec<Slot>), RenderFault> {
        let mut renderer = Renderer::new(rendering, self.target);
        let done = renderer.nodes(&self.parsed.nodes);
        done.map_err(|why| self.fault(why))?;
        Ok((renderer.out, renderer.slots))
    }
}

/// A whole document around what the Markdown became.
fn page(text: &str, slots: &[Slot]) -> Result<String, Limit> {
    let body = markdown::to_html(text, slots)?;
    Ok(format!(
        "<!DOCTYPE html>\n<html>\n<head><meta charset=\"utf-8\"></head>\n<body>\n{body}</body>\n</html>\n"
    ))
}

fn body_start(html: &str) -> usize {
    let is_body = |at: &usize| {
        let tag = html.get(*at..at + 5);
        tag.is_some_and(|tag| tag.eq_ignore_ascii_case("<body"))
    };
    let body = html.match_indices('<').map(|(at, _)| at).find(is_body);
    let end = body.and_then(|at| html[at..].find('>').map(|end| at + end + 1));
    end.unwrap_or(0)
}

/// It must be JSON by now.
fn json(text: String) -> Result<String, Why> {
    match crate::value::validate(&text) {
        Ok(()) => Ok(text),
        Err(reason) => Err(Why::NotJson(format!("what it became is no JSON: {reason}"))),
    }
}
