//! What is wrong with a definition, and where: the node, the field, and for expressions the
//! characters.

use std::fmt;

use crate::expr::{Error, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The journey cannot be published.
    Fault,
    /// It can, but this is probably not meant.
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub severity: Severity,
    pub node: Option<String>,
    pub field: Option<String>,
    pub message: String,
    /// What to write instead.
    pub suggestion: Option<String>,
    /// The expression that is faulty, and where in it.
    pub expression: Option<(String, Span)>,
}

impl Fault {
    pub fn new(node: Option<&str>, field: Option<&str>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Fault,
            node: node.map(str::to_owned),
            field: field.map(str::to_owned),
            message: message.into(),
            suggestion: None,
            expression: None,
        }
    }

    pub fn warning(node: Option<&str>, field: Option<&str>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::new(node, field, message)
        }
    }

    pub fn of_expression(
        node: Option<&str>,
        field: Option<&str>,
        text: &str,
        error: &Error,
    ) -> Self {
        Self {
            suggestion: error.suggestion.clone(),
            expression: Some((text.to_owned(), error.span)),
            ..Self::new(node, field, error.message.as_str())
        }
    }

    pub fn is_fault(&self) -> bool {
        self.severity == Severity::Fault
    }

    /// Where it is, in words.
    pub fn place(&self) -> String {
        match (&self.node, &self.field) {
            (Some(node), Some(field)) => format!("node {node}, {field}"),
            (Some(node), None) => format!("node {node}"),
            (None, Some(field)) => field.clone(),
            (None, None) => "the journey".to_owned(),
        }
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
