//! Operands: literals, paths, `now()`, aggregates, and times moved by durations.

use super::super::ast::{Aggregate, Function, Literal, Operand, OperandKind, Path, Root};
use super::super::error::{Error, closest};
use super::super::lex::{Symbol, Token, parse_time};
use super::Parser;

/// Paths that mean the event in a WHERE, without saying so.
const BARE: &[&str] = &["event_type", "event_time", "properties"];
/// Words that hold a condition together: none of them is a value.
const KEYWORDS: &[&str] = &[
    "AND", "OR", "NOT", "IN", "IS", "BETWEEN", "WHERE", "EXISTS", "LIKE",
];

impl Parser<'_> {
    pub(super) fn operand(&mut self, depth: usize) -> Result<Operand, Error> {
        let start = self.span();
        self.count();
        let kind = self.term(depth)?;
        let mut operand = Operand {
            kind,
            span: start.to(self.last_span()),
        };
        while let Some(sign) = self.sign() {
            let Token::Duration(micros) = *self.peek() else {
                let message = format!(
                    "only a duration can be added or taken away, not {}",
                    self.found()
                );
                return Err(
                    Error::new(self.span(), message).suggest("write, for example, now() - 7d")
                );
            };
            self.advance();
            let base = Box::new(operand);
            let kind = OperandKind::Shifted {
                base,
                micros: sign * micros,
            };
            operand = Operand {
                kind,
                span: start.to(self.last_span()),
            };
            self.count();
        }
        Ok(operand)
    }

    fn sign(&mut self) -> Option<i64> {
        let sign = match self.peek() {
            Token::Symbol(Symbol::Plus) => 1,
            Token::Symbol(Symbol::Minus) => -1,
            _ => return None,
        };
        self.advance();
        Some(sign)
    }

    fn term(&mut self, depth: usize) -> Result<OperandKind, Error> {
        if let Some(literal) = self.literal()? {
            return Ok(OperandKind::Literal(literal));
        }
        let word = match self.peek().clone() {
            Token::Word(word)
                if !KEYWORDS
                    .iter()
                    .any(|known| word.eq_ignore_ascii_case(known)) =>
            {
                word
            }
            _ => {
                let message = format!("expected a value, found {}", self.found());
                return Err(Error::new(self.span(), message));
            }
        };
        if *self.peek_second() == Token::Symbol(Symbol::Open) {
            return self.call(&word, depth);
        }
        self.path(&word).map(OperandKind::Path)
    }

    /// A literal, if one stands here.
    fn literal(&mut self) -> Result<Option<Literal>, Error> {
        let literal = match self.peek().clone() {
            Token::Number(number) => Literal::Number(number),
            Token::Text(text) => Literal::Text(text),
            Token::Duration(micros) => Literal::Duration(micros),
            Token::Symbol(Symbol::Minus) => return self.negative().map(Some),
            Token::Word(word) => match word.to_ascii_uppercase().as_str() {
                "TRUE" => Literal::Bool(true),
                "FALSE" => Literal::Bool(false),
                "NULL" => Literal::Null,
                "TIMESTAMP" => return self.time(),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(literal))
    }

    fn negative(&mut self) -> Result<Literal, Error> {
        self.advance();
        let Token::Number(number) = *self.peek() else {
            let message = format!("expected a number after the minus, found {}", self.found());
            return Err(Error::new(self.span(), message));
        };
        self.advance();
        Ok(Literal::Number(-number))
    }

    fn time(&mut self) -> Result<Option<Literal>, Error> {
        let Token::Text(text) = self.peek_second().clone() else {
            return Ok(None);
        };
        self.advance();
        let time = parse_time(&text, self.span())?;
        self.advance();
        Ok(Some(Literal::Time(time)))
    }

    pub(super) fn list(&mut self) -> Result<Vec<Literal>, Error> {
        let open = self.span();
        if !self.take_symbol(Symbol::Open) {
            let message = format!("IN needs a list in parentheses, found {}", self.found());
            return Err(Error::new(self.span(), message).suggest("write IN ('a', 'b')"));
        }
        let mut list = Vec::new();
        loop {
            self.count();
            let Some(literal) = self.literal()? else {
                let message = format!("a list holds plain values, not {}", self.found());
                return Err(Error::new(self.span(), message));
            };
            list.push(literal);
            if !self.take_symbol(Symbol::Comma) {
                break;
            }
        }
        self.close(open);
        Ok(list)
    }

    fn call(&mut self, word: &str, depth: usize) -> Result<OperandKind, Error> {
        if word.eq_ignore_ascii_case("now") {
            self.advance();
            self.advance();
            return match self.take_symbol(Symbol::Close) {
                true => Ok(OperandKind::Now),
                false => {
                    Err(Error::new(self.span(), "now() takes nothing").suggest("write now() - 7d"))
                }
            };
        }
        match Function::ALL
            .iter()
            .find(|function| word.eq_ignore_ascii_case(function.text()))
        {
            Some(function) => self.aggregate(*function, depth),
            None => {
                let error = Error::new(self.span(), format!("there is no function `{word}`"));
                let known = Function::ALL
                    .iter()
                    .map(|f| f.text())
                    .chain(["EXISTS", "now"]);
                Err(match closest(word, known) {
                    Some(near) => error.suggest(format!("did you mean {near}?")),
                    None => error.suggest("there are COUNT, SUM, AVG, MIN, MAX, EXISTS and now()"),
                })
            }
        }
    }

    fn aggregate(&mut self, function: Function, depth: usize) -> Result<OperandKind, Error> {
        self.advance();
        let open = self.span();
        self.advance();
        if !self.take_word("event") {
            let message = format!(
                "{} is over `event`, not over {}",
                function.text(),
                self.found()
            );
            let suggestion = format!("write {}(event.properties.amount WHERE …)", function.text());
            return Err(Error::new(self.span(), message).suggest(suggestion));
        }
        let names = self.names()?;
        let filter = self.filter(depth);
        self.close(open);
        Ok(OperandKind::Aggregate(Box::new(Aggregate {
            function,
            names,
            filter,
        })))
    }

    fn path(&mut self, word: &str) -> Result<Path, Error> {
        let root = Root::ALL
            .iter()
            .find(|root| word.eq_ignore_ascii_case(root.text()));
        if let Some(root) = root {
            self.advance();
            let mut names = self.names()?;
            // `contact.attributes.plan` and `contact.plan` are one thing.
            if *root == Root::Contact && names.len() > 1 && names[0] == "attributes" {
                names.remove(0);
            }
            return Ok(Path { root: *root, names });
        }
        if let Some(bare) = BARE.iter().find(|bare| word.eq_ignore_ascii_case(bare)) {
            self.advance();
            let mut names = vec![(*bare).to_owned()];
            names.extend(self.names()?);
            return Ok(Path {
                root: Root::Event,
                names,
            });
        }
        if self.given.contains(&word) {
            self.advance();
            let mut names = vec![word.to_owned()];
            names.extend(self.names()?);
            let root = Root::Given;
            return Ok(Path { root, names });
        }
        let error = Error::new(
            self.span(),
            format!("`{word}` is not a value this language knows"),
        );
        let roots = Root::ALL.iter().map(|root| root.text());
        let known = roots.chain(BARE.iter().copied());
        let near = closest(word, known.chain(self.given.iter().copied()));
        Err(match near {
            Some(near) => error.suggest(format!("did you mean {near}?")),
            None => error.suggest(format!(
                "write contact.{word} for an attribute, '{word}' for a text"
            )),
        })
    }

    /// `{ "." name }`; a name with other characters stands in quotes.
    fn names(&mut self) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        while self.take_symbol(Symbol::Dot) {
            match self.peek().clone() {
                Token::Word(name) | Token::Text(name) if !name.is_empty() => names.push(name),
                _ => {
                    let message = format!("expected a name after the dot, found {}", self.found());
                    return Err(Error::new(self.span(), message));
                }
            }
            self.advance();
            self.count();
        }
        Ok(names)
    }
}
