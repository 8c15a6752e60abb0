//! Values: literals, paths, and the filters they go through.

use super::super::ast::{Applied, INPUTS, Path, Pipe, Root, Source};
use super::super::filter::Filter;
use super::super::limits::FILTERS_MAX;
use super::super::token::Token;
use super::{Parser, Tokens, input};
use crate::expr::{Error, Span, closest};
use crate::value::{DEPTH_MAX, Value};

/// What a loop says of where it is.
const FORLOOP: &[&str] = &["index", "index0", "first", "last", "length"];

impl Parser<'_> {
    /// `contact.name | default: 'friend' | upcase`
    pub(super) fn pipe(&mut self, tokens: &mut Tokens) -> Option<Pipe> {
        let source = self.source(tokens)?;
        let mut filters: Vec<Applied> = Vec::new();
        while tokens.take("|") {
            let span = tokens.span();
            if filters.len() == FILTERS_MAX {
                self.error(
                    span,
                    format!("a value goes through at most {FILTERS_MAX} filters"),
                );
                return None;
            }
            if filters
                .last()
                .is_some_and(|last| last.filter == Filter::Raw)
            {
                let message = "`raw` says that nothing is escaped, so it comes last";
                self.suggest(span, message, "move `raw` to the end");
            }
            filters.push(self.filter(tokens)?);
        }
        Some(Pipe { source, filters })
    }

    fn filter(&mut self, tokens: &mut Tokens) -> Option<Applied> {
        let (token, span) = tokens.next();
        let Token::Word(name) = token else {
            self.suggest(span, "expected a filter", "write, for example, | upcase");
            return None;
        };
        let Some(filter) = Filter::named(&name) else {
            self.unknown_filter(&name, span);
            return None;
        };
        let args = self.args(tokens)?;
        let (least, most) = filter.args();
        if args.len() < least || args.len() > most {
            let message = format!("`{name}` takes {}", words(least, most));
            self.suggest(span, message, format!("write {}", filter.usage()));
        } else if let Some(fault) = filter.check(&args) {
            self.error(span, fault);
        }
        Some(Applied { filter, args })
    }

    fn unknown_filter(&mut self, name: &str, span: Span) {
        let error = Error::new(span, format!("there is no filter `{name}`"));
        let known = Filter::ALL.iter().map(|filter| filter.name());
        self.errors.push(match closest(name, known) {
            Some(near) => error.suggest(format!("did you mean {near}?")),
            None => error,
        });
    }

    fn args(&mut self, tokens: &mut Tokens) -> Option<Vec<Source>> {
        let mut args = Vec::new();
        if !tokens.take(":") {
            return Some(args);
        }
        loop {
            args.push(self.source(tokens)?);
            if !tokens.take(",") {
                return Some(args);
            }
        }
    }

    /// A literal or a path.
    pub(super) fn source(&mut self, tokens: &mut Tokens) -> Option<Source> {
        let is_negative = tokens.take("-");
        let (token, span) = tokens.next();
        let literal = match token {
            Token::Int(int) => Value::Int(if is_negative { -int } else { int }),
            Token::Float(float) => Value::Float(if is_negative { -float } else { float }),
            Token::Text(text) if !is_negative => Value::Text(text),
            Token::Word(word) if !is_negative => return self.word(&word, span, tokens),
            _ => {
                self.error(
                    span,
                    format!("expected a value, found {}", self.found(span)),
                );
                return None;
            }
        };
        Some(Source::Literal(literal))
    }

    fn found(&self, span: Span) -> String {
        match &self.text[span.start..span.end] {
            "" => "the end".to_owned(),
            found => format!("`{found}`"),
        }
    }

    fn word(&mut self, word: &str, span: Span, tokens: &mut Tokens) -> Option<Source> {
        match word {
            "true" => return Some(Source::Literal(Value::Bool(true))),
            "false" => return Some(Source::Literal(Value::Bool(false))),
            "nil" | "null" => return Some(Source::Literal(Value::Null)),
            _ => {}
        }
        let names = self.names(tokens)?;
        let end = tokens.all[tokens.at.saturating_sub(1)].1;
        let path = self.path(word, names, span.to(end))?;
        if let Root::Input(_) = path.root {
            self.reads(path.dotted());
        }
        Some(Source::Path(path))
    }

    fn names(&mut self, tokens: &mut Tokens) -> Option<Vec<String>> {
        let mut names = Vec::new();
        while tokens.take(".") {
            let (token, span) = tokens.next();
            match token {
                Token::Word(name) => names.push(name),
                Token::Text(name) if !name.is_empty() && !name.contains(['.', '"', '\'']) => {
                    names.push(name);
                }
                _ => {
                    let message =
                        format!("expected a name after the dot, found {}", self.found(span));
                    self.error(span, message);
                    return None;
                }
            }
            if names.len() > DEPTH_MAX {
                self.error(span, format!("a path has at most {DEPTH_MAX} names"));
                return None;
            }
        }
        Some(names)
    }

    fn path(&mut self, word: &str, mut names: Vec<String>, span: Span) -> Option<Path> {
        // `contact.attributes.plan` and `contact.plan` are one thing, as in conditions.
        if word == "contact" && names.len() > 1 && names[0] == "attributes" {
            names.remove(0);
        }
        let root = match word {
            "now" if names.is_empty() => Root::Now,
            "forloop" if !self.loops.is_empty() => return self.forloop(names, span),
            _ if self.is_local(word) => Root::Local(word.to_owned()),
            _ => match input(word) {
                Some(root) => Root::Input(root),
                None => return self.unknown_word(word, span),
            },
        };
        if names.is_empty() && matches!(root, Root::Input("contact" | "journey")) {
            let message = format!("which value of the {word}?");
            let example = match word {
                "contact" => "write, for example, contact.first_name",
                _ => "write, for example, journey.state.cart_id",
            };
            self.suggest(span, message, example);
            return None;
        }
        Some(Path { root, names })
    }

    fn is_local(&self, word: &str) -> bool {
        self.assigned.contains(word) || self.loops.iter().any(|name| name == word)
    }

    fn forloop(&mut self, names: Vec<String>, span: Span) -> Option<Path> {
        let is_known = matches!(names.as_slice(), [name] if FORLOOP.contains(&name.as_str()));
        if !is_known {
            let known = FORLOOP.join(", ");
            self.error(span, format!("a loop knows its {known}"));
            return None;
        }
        let root = Root::ForLoop;
        Some(Path { root, names })
    }

    fn unknown_word(&mut self, word: &str, span: Span) -> Option<Path> {
        let error = match word {
            "forloop" => Error::new(span, "`forloop` means something only inside a loop"),
            _ => Error::new(span, format!("`{word}` is not known here")),
        };
        let given = self.given();
        let locals = given.iter().map(String::as_str);
        let known = INPUTS.iter().copied().chain(["now"]).chain(locals);
        self.errors.push(match closest(word, known) {
            Some(near) if near != word => error.suggest(format!("did you mean {near}?")),
            _ => error.suggest(format!("write contact.{word}, data.{word} or '{word}'")),
        });
        None
    }
}

fn words(least: usize, most: usize) -> String {
    let noun = if most == 1 { "argument" } else { "arguments" };
    match (least, most) {
        (0, 0) => "no arguments".to_owned(),
        _ if least == most => format!("{least} {noun}"),
        _ => format!("{least} to {most} {noun}"),
    }
}
