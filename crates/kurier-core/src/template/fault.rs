//! What is wrong with a template, and where; and why one could not be rendered.

use std::fmt;

use super::limits::Limit;
use crate::content::Key;
use crate::expr::{Error, Span};

/// One fault of a template's document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The field it is in.
    pub field: Option<String>,
    pub message: String,
    /// What to write instead.
    pub suggestion: Option<String>,
    /// Where in the field's text, in bytes.
    pub span: Option<Span>,
}

impl Fault {
    pub fn new(field: Option<&str>, message: impl Into<String>) -> Self {
        Self {
            field: field.map(str::to_owned),
            message: message.into(),
            suggestion: None,
            span: None,
        }
    }

    pub fn within(field: &str, error: Error) -> Self {
        Self {
            field: Some(field.to_owned()),
            message: error.message,
            suggestion: error.suggestion,
            span: Some(error.span),
        }
    }

    #[must_use]
    pub fn suggest(self, suggestion: impl Into<String>) -> Self {
        Self {
            suggestion: Some(suggestion.into()),
            ..self
        }
    }

    pub fn place(&self) -> &str {
        self.field.as_deref().unwrap_or("the template")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(), self.message)?;
        match &self.suggestion {
            Some(suggestion) => write!(f, "; {suggestion}"),
            None => Ok(()),
        }
    }
}

/// Why a template could not be rendered for its inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderFault {
    /// The part it happened in.
    pub part: &'static str,
    pub why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    Limit(Limit),
    /// The template is strict, and this has no value.
    Missing(String),
    /// A link of this kind would run a program.
    UnsafeLink(String),
    /// What it quotes is not there.
    NoContent(Key),
    /// A JSON part did not become JSON.
    NotJson(String),
}

impl RenderFault {
    /// What a machine may tell it by.
    pub const fn code(&self) -> &'static str {
        match &self.why {
            Why::Limit(_) => "limit",
            Why::Missing(_) => "missing",
            Why::NoContent(_) => "no_content",
            Why::UnsafeLink(_) => "unsafe_link",
            Why::NotJson(_) => "not_json",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => write!(f, "{limit}"),
            Self::Missing(path) => write!(f, "missing: `{path}` has no value"),
            Self::NoContent(key) => write!(f, "no_content: there is no `{key}`"),
            Self::UnsafeLink(scheme) => write!(f, "unsafe_link: a link begins with `{scheme}:`"),
            Self::NotJson(reason) => write!(f, "not_json: {reason}"),
        }
    }
}

impl fmt::Display for RenderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.part, self.why)
    }
}

impl std::error::Error for RenderFault {}

impl From<Limit> for Why {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}
