//! Tags: what begins a block, what parts it, what ends it.

use super::super::ast::{Case, For, If, Node, Over, Test};
use super::super::limits::PATTERN_WEIGHT;
use super::super::token::Token;
use super::{Parser, Tag};
use crate::expr::{Checked, Condition, Error, Place, Span, TextTest, closest};

const TAGS: &[&str] = &[
    "if",
    "elsif",
    "else",
    "endif",
    "unless",
    "endunless",
    "case",
    "when",
    "endcase",
    "for",
    "endfor",
    "assign",
    "raw",
    "endraw",
    "comment",
    "endcomment",
];

/// Whether a tag parts or ends the block it stands in.
pub fn is_end(inner: &str) -> bool {
    let word = inner.split(|c: char| c.is_whitespace()).next();
    matches!(
        word,
        Some("elsif" | "else" | "when" | "endif" | "endunless" | "endcase" | "endfor")
    )
}

impl Parser<'_> {
    pub(super) fn block(&mut self, tag: Tag, depth: usize) -> Option<Node> {
        if matches!(tag.word.as_str(), "if" | "unless" | "case" | "for")
            && self.is_too_deep(tag.span, depth)
        {
            return None;
        }
        match tag.word.as_str() {
            "if" => Some(self.conditional(tag, depth, false)),
            "unless" => Some(self.conditional(tag, depth, true)),
            "case" => self.case(tag, depth),
            "for" => self.repeat(tag, depth),
            "assign" => self.assignment(tag),
            _ => {
                self.unknown_tag(&tag);
                None
            }
        }
    }

    fn unknown_tag(&mut self, tag: &Tag) {
        let error = Error::new(tag.span, format!("there is no tag `{}`", tag.word));
        self.errors
            .push(match closest(&tag.word, TAGS.iter().copied()) {
                Some(near) => error.suggest(format!("did you mean {near}?")),
                None if matches!(tag.word.as_str(), "include" | "render" | "layout") => {
                    error.suggest("a template sees nothing but its inputs")
                }
                None => error.suggest("there are if, unless, case, for, assign, raw and comment"),
            });
    }

    fn conditional(&mut self, tag: Tag, depth: usize, negated: bool) -> Node {
        let end = if negated { "endunless" } else { "endif" };
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        let mut test = self.test(&tag, negated);
        let mut is_last = false;
        loop {
            let body = self.nodes(depth + 1);
            match test.take() {
                Some(test) => branches.push((test, body)),
                None if is_last => otherwise = body,
                None => {}
            }
            let Some(next) = self.take_tag() else {
                self.unended(&tag, end);
                break;
            };
            match next.word.as_str() {
                word if word == end => break,
                "elsif" if !is_last => test = self.test(&next, false),
                "else" if !is_last => is_last = true,
                _ => self.misplaced(&next, &tag, end),
            }
        }
        Node::If(If {
            branches,
            otherwise,
        })
    }

    fn unended(&mut self, tag: &Tag, end: &str) {
        let message = format!("`{}` has no end", tag.word);
        self.suggest(tag.span, message, format!("write {{% {end} %}}"));
    }

    fn misplaced(&mut self, next: &Tag, tag: &Tag, end: &str) {
        let message = format!("`{}` does not belong in `{}`", next.word, tag.word);
        self.suggest(
            next.span,
            message,
            format!("end it with {{% {end} %}} first"),
        );
    }

    fn test(&mut self, tag: &Tag, negated: bool) -> Option<Test> {
        let span = tag.tokens.span();
        let text = &self.text[span.start..span.end];
        let lead = text.len() - text.trim_start().len();
        let (text, start) = (text.trim(), span.start + lead);
        if text.is_empty() {
            let message = format!("`{}` needs a condition", tag.word);
            self.suggest(
                tag.span,
                message,
                "write, for example, contact.plan = 'pro'",
            );
            return None;
        }
        let given = self.given();
        let names: Vec<&str> = given.iter().map(String::as_str).collect();
        match Checked::given(text, Place::TEMPLATE, &names) {
            Ok(checked) => Some(self.checked(&checked, negated)),
            Err(errors) => {
                let placed = errors.into_iter().map(|error| Error {
                    span: Span::new(start + error.span.start, start + error.span.end),
                    ..error
                });
                self.errors.extend(placed);
                None
            }
        }
    }

    fn checked(&mut self, checked: &Checked, negated: bool) -> Test {
        let reads = checked.plan.reads();
        for path in reads.contact {
            self.reads(format!("contact.{path}"));
        }
        for path in reads.journey {
            self.reads(format!("journey.{path}"));
        }
        for path in reads.given {
            if path == "data" || path.starts_with("data.") {
                self.reads(path);
            }
        }
        let weight = if has_pattern(&checked.plan.condition) {
            PATTERN_WEIGHT
        } else {
            1
        };
        Test {
            plan: checked.plan.clone(),
            negated,
            weight,
        }
    }

    fn case(&mut self, mut tag: Tag, depth: usize) -> Option<Node> {
        let subject = self.pipe(&mut tag.tokens);
        self.expect_end(&tag.tokens);
        // What stands before the first `when` is never said.
        self.nodes(depth + 1);
        let (mut whens, mut otherwise, mut is_last) = (Vec::new(), Vec::new(), false);
        loop {
            let Some(mut next) = self.take_tag() else {
                self.unended(&tag, "endcase");
                break;
            };
            match next.word.as_str() {
                "endcase" => break,
                "when" if !is_last => {
                    let values = self.values(&mut next);
                    whens.push((values, self.nodes(depth + 1)));
                }
                "else" if !is_last => {
                    is_last = true;
                    otherwise = self.nodes(depth + 1);
                }
                _ => {
                    self.misplaced(&next, &tag, "endcase");
                    self.nodes(depth + 1);
                }
            }
        }
        Some(Node::Case(Case {
            subject: subject?,
            whens,
            otherwise,
        }))
    }

    /// `a, b` or `a or b`.
    fn values(&mut self, tag: &mut Tag) -> Vec<super::super::ast::Source> {
        let mut values = Vec::new();
        loop {
            values.extend(self.source(&mut tag.tokens));
            if !tag.tokens.take(",") && !tag.tokens.take_word("or") {
                break;
            }
        }
        self.expect_end(&tag.tokens);
        values
    }

    fn repeat(&mut self, mut tag: Tag, depth: usize) -> Option<Node> {
        let head = self.head(&mut tag);
        let name = head.as_ref().map_or("", |(name, ..)| name).to_owned();
        self.loops.push(name);
        let body = self.nodes(depth + 1);
        self.loops.pop();
        let mut otherwise = Vec::new();
        let mut is_last = false;
        loop {
            let Some(next) = self.take_tag() else {
                self.unended(&tag, "endfor");
                break;
            };
            match next.word.as_str() {
                "endfor" => break,
                "else" if !is_last => {
                    is_last = true;
                    otherwise = self.nodes(depth + 1);
                }
                _ => {
                    self.misplaced(&next, &tag, "endfor");
                    self.nodes(depth + 1);
                }
            }
        }
        let (name, over, limit) = head?;
        Some(Node::For(For {
            name,
            over,
            limit,
            body,
            otherwise,
        }))
    }

    /// `item in data.items limit: 5`
    fn head(&mut self, tag: &mut Tag) -> Option<(String, Over, Option<super::super::ast::Source>)> {
        let name = self.variable(&mut tag.tokens)?;
        if !tag.tokens.take_word("in") {
            let span = tag.tokens.span();
            self.suggest(span, "expected `in`", format!("write {name} in data.items"));
            return None;
        }
        let over = self.over(tag)?;
        let mut limit = None;
        if tag.tokens.take_word("limit") {
            if !tag.tokens.take(":") {
                let span = tag.tokens.span();
                self.suggest(span, "expected `:`", "write limit: 5");
            }
            limit = self.source(&mut tag.tokens);
        }
        self.expect_end(&tag.tokens);
        Some((name, over, limit))
    }

    fn over(&mut self, tag: &mut Tag) -> Option<Over> {
        if !tag.tokens.take("(") {
            return self.source(&mut tag.tokens).map(Over::Items);
        }
        let first = self.source(&mut tag.tokens)?;
        let dots = tag.tokens.take("..");
        let last = self.source(&mut tag.tokens)?;
        if !dots || !tag.tokens.take(")") {
            self.suggest(tag.span, "this is no range", "write (1..5)");
            return None;
        }
        Some(Over::Range(first, last))
    }

    fn assignment(&mut self, mut tag: Tag) -> Option<Node> {
        let name = self.variable(&mut tag.tokens)?;
        if !tag.tokens.take("=") {
            let span = tag.tokens.span();
            self.suggest(
                span,
                "expected `=`",
                format!("write assign {name} = contact.plan"),
            );
            return None;
        }
        let pipe = self.pipe(&mut tag.tokens);
        if pipe.is_some() && *tag.tokens.peek() != Token::End {
            self.expect_end(&tag.tokens);
        }
        self.assign(&name, tag.span);
        Some(Node::Assign { name, pipe: pipe? })
    }
}

fn has_pattern(condition: &Condition) -> bool {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => parts.iter().any(has_pattern),
        Condition::Not(inner) => has_pattern(inner),
        Condition::Text { test, .. } => matches!(test, TextTest::Matches(_)),
        _ => false,
    }
}
