//! Where a value stands in an HTML or JSON part: where it cannot be made safe, it is refused
//! before anything is rendered.

use super::ast::{Node, Pipe};
use super::filter::Filter;
use super::render::Target;
use crate::expr::{Error, Span};

/// What is wrong with the places of values.
pub fn check(nodes: &[Node], target: Target) -> Vec<Error> {
    let mut walk = Walk { errors: Vec::new() };
    match target {
        Target::Html => drop(walk.html(nodes, Html::Text)),
        Target::Json => drop(walk.json(nodes, Json::default())),
        _ => {}
    }
    walk.errors
}

struct Walk {
    errors: Vec<Error>,
}

/// Where in HTML.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Html {
    Text,
    Comment,
    /// In a tag, outside of quotes; the name so far of what stands before a `=`.
    Tag {
        element: String,
        name: String,
    },
    Quoted {
        element: String,
        name: String,
        quote: char,
    },
    /// In `script` or `style`.
    Program(String),
}

/// Where in JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Json {
    in_string: bool,
    /// The character before was a `\`.
    is_escaped: bool,
}

impl Walk {
    fn html(&mut self, nodes: &[Node], mut at: Html) -> Html {
        for node in nodes {
            at = match node {
                Node::Text(text) => after_html(at, text),
                Node::Output { pipe, span } => {
                    self.html_output(pipe, *span, &at);
                    at
                }
                Node::Quote { span, .. } => {
                    self.html_quote(*span, &at);
                    at
                }
                _ => {
                    let ends = bodies(node).into_iter();
                    let ends = ends.map(|body| self.html(body, at.clone()));
                    ends.last().unwrap_or(at)
                }
            };
        }
        at
    }

    fn html_output(&mut self, pipe: &Pipe, span: Span, at: &Html) {
        if ends_with(pipe, Filter::Raw) {
            return;
        }
        let (message, suggestion) = match at {
            Html::Text | Html::Comment => return,
            Html::Quoted { name, .. } => {
                if !name.starts_with("on") && name != "srcdoc" {
                    return;
                }
                let message = format!("a value cannot be made safe in `{name}`");
                (message, "put it into a data- attribute")
            }
            Html::Tag { .. } => (
                "a value in a tag needs quotes around it".to_owned(),
                "write, for example, href=\"{{ … }}\"",
            ),
            Html::Program(element) => (
                format!("a value cannot be made safe in `{element}`"),
                "put it into an attribute or a text, or mark it `raw`",
            ),
        };
        self.errors
            .push(Error::new(span, message).suggest(suggestion));
    }

    /// Content brings its own elements.
    fn html_quote(&mut self, span: Span, at: &Html) {
        if !matches!(at, Html::Text | Html::Comment) {
            let error = Error::new(span, "content cannot stand within a tag");
            self.errors.push(error.suggest("put it between tags"));
        }
    }

    fn json_quote(&mut self, span: Span, at: Json) {
        if !at.in_string {
            let error = Error::new(span, "content outside of quotes would be no JSON");
            self.errors.push(error.suggest("write quotes around it"));
        }
    }

    fn json(&mut self, nodes: &[Node], mut at: Json) -> Json {
        for node in nodes {
            at = match node {
                Node::Text(text) => after_json(at, text),
                Node::Output { pipe, span } => {
                    self.json_output(pipe, *span, at);
                    at
                }
                Node::Quote { span, .. } => {
                    self.json_quote(*span, at);
                    at
                }
                _ => {
                    let ends = bodies(node).into_iter().map(|body| self.json(body, at));
                    ends.last().unwrap_or(at)
                }
            };
        }
        at
    }

    fn json_output(&mut self, pipe: &Pipe, span: Span, at: Json) {
        let is_whole = ends_with(pipe, Filter::Json);
        if ends_with(pipe, Filter::Raw) || is_whole != at.in_string {
            return;
        }
        let (message, suggestion) = match is_whole {
            true => (
                "`json` brings its own quotes",
                "remove `json`, or the quotes around it",
            ),
            false => (
                "a value outside of quotes would change the JSON around it",
                "write `| json` behind it, or quotes around it",
            ),
        };
        self.errors
            .push(Error::new(span, message).suggest(suggestion));
    }
}

fn ends_with(pipe: &Pipe, filter: Filter) -> bool {
    pipe.filters
        .last()
        .is_some_and(|last| last.filter == filter)
}

fn bodies(node: &Node) -> Vec<&[Node]> {
    match node {
        Node::If(node) => {
            let branches = node.branches.iter().map(|(_, body)| body.as_slice());
            branches.chain([node.otherwise.as_slice()]).collect()
        }
        Node::Case(node) => {
            let whens = node.whens.iter().map(|(_, body)| body.as_slice());
            whens.chain([node.otherwise.as_slice()]).collect()
        }
        Node::For(node) => vec![&node.otherwise, &node.body],
        _ => Vec::new(),
    }
}

fn after_json(at: Json, text: &str) -> Json {
    text.chars().fold(at, |at, c| match (at.in_string, c) {
        (true, _) if at.is_escaped => Json {
            is_escaped: false,
            ..at
        },
        (true, '\\') => Json {
            is_escaped: true,
            ..at
        },
        (_, '"') => Json {
            in_string: !at.in_string,
            ..at
        },
        _ => at,
    })
}

fn after_html(mut at: Html, text: &str) -> Html {
    let mut rest = text;
    while !rest.is_empty() {
        (at, rest) = match at {
            Html::Text => in_text(rest),
            Html::Comment => match rest.find("-->") {
                Some(end) => (Html::Text, &rest[end + 3..]),
                None => (Html::Comment, ""),
            },
            Html::Tag { element, name } => in_tag(element, name, rest),
            Html::Quoted {
                element,
                name,
                quote,
            } => match rest.find(quote) {
                Some(end) => {
                    let name = String::new();
                    (Html::Tag { element, name }, &rest[end + 1..])
                }
                None => (
                    Html::Quoted {
                        element,
                        name,
                        quote,
                    },
                    "",
                ),
            },
            Html::Program(element) => in_program(element, rest),
        };
    }
    at
}

fn in_text(rest: &str) -> (Html, &str) {
    let Some(open) = rest.find('<') else {
        return (Html::Text, "");
    };
    let behind = &rest[open + 1..];
    if let Some(behind) = behind.strip_prefix("!--") {
        return (Html::Comment, behind);
    }
    let name = behind.strip_prefix(['/', '!']).unwrap_or(behind);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return (Html::Text, behind);
    }
    let length = name
        .find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))
        .unwrap_or(name.len());
    let is_closing = behind.starts_with('/');
    let element = match is_closing {
        true => String::new(),
        false => name[..length].to_ascii_lowercase(),
    };
    let tag = Html::Tag {
        element,
        name: String::new(),
    };
    (tag, &name[length..])
}

fn in_tag(element: String, mut name: String, rest: &str) -> (Html, &str) {
    for (at, c) in rest.char_indices() {
        let behind = &rest[at + c.len_utf8()..];
        match c {
            '>' if matches!(element.as_str(), "script" | "style") => {
                return (Html::Program(element), behind);
            }
            '>' => return (Html::Text, behind),
            '"' | '\'' if name.ends_with('=') => {
                name.pop();
                return (
                    Html::Quoted {
                        element,
                        name,
                        quote: c,
                    },
                    behind,
                );
            }
            '=' => name.push('='),
            c if c.is_whitespace() && name.ends_with('=') => {}
            c if c.is_whitespace() || c == '/' => name.clear(),
            _ if name.ends_with('=') => name.clear(),
            c => name.extend(c.to_lowercase()),
        }
    }
    (Html::Tag { element, name }, "")
}

fn in_program(element: String, rest: &str) -> (Html, &str) {
    let end = format!("</{element}");
    let found = rest.char_indices().find(|(at, _)| {
        rest.get(*at..at + end.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(&end))
    });
    match found {
        Some((at, _)) => {
            let tag = Html::Tag {
                element: String::new(),
                name: String::new(),
            };
            (tag, &rest[at + end.len()..])
        }
        None => (Html::Program(element), ""),
    }
}
