//! From plan to program.

use super::shape::test_of;
use super::{FoldProgram, Node, Other, Part, Program, Source, Test, Varying};
use crate::columns::World;
use crate::columns::cell::Cell;
use crate::columns::pool::Pool;
use crate::columns::subject::datum;
use crate::expr::leaf::Leaf;
use crate::expr::{
    Condition, ContactField, Datum, EventField, FOREVER, Fold, Plan, Scalar, Term, TextTest, What,
};
use crate::time::Timestamp;

/// So many texts of a pool are tried beforehand; a larger pool's are, when they are met.
const TRUTHS_MAX: usize = 1 << 16;

/// What the program is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// One contact at a time, while the world goes on: nothing is looked up beforehand.
    Row,
    /// One pass over everything: what can be known of all values is found out first.
    Scan,
}

pub fn compile(plan: &Plan, world: &World, depth: Depth) -> Program {
    let compiler = Compiler { world, depth };
    let folds = plan.folds.iter().map(|fold| compiler.fold(fold)).collect();
    let mut outside = Place::default();
    Program {
        condition: compiler.node(&plan.condition, &mut outside),
        folds,
    }
}

struct Compiler<'w> {
    world: &'w World,
    depth: Depth,
}

/// Where a condition stands: outside of any fold, or in the filter over a type's events.
#[derive(Default)]
struct Place {
    event_type: Option<u32>,
    of_contact: Vec<Node>,
    needs: Vec<usize>,
}

impl Compiler<'_> {
    fn fold(&self, fold: &Fold) -> FoldProgram {
        let types: Vec<u32> = match &fold.types {
            Some(names) => {
                let known = names.iter().filter_map(|name| self.world.types.find(name));
                known.collect()
            }
            None => (0..self.world.types.len() as u32).collect(),
        };
        let parts = types
            .into_iter()
            .map(|event_type| self.part(fold, event_type));
        FoldProgram {
            what: fold.what.clone(),
            parts: parts
                .filter(|part| !matches!(part.filter, Node::Const(false)))
                .collect(),
        }
    }

    fn part(&self, fold: &Fold, event_type: u32) -> Part {
        let mut place = Place {
            event_type: Some(event_type),
            ..Place::default()
        };
        let filter = self.node(&fold.filter, &mut place);
        let field = match &fold.what {
            What::Exists | What::Count(None) => Source::Nothing,
            What::Count(Some(field)) | What::Of(_, field) => self.event(field, Some(event_type)),
        };
        Part {
            event_type,
            filter,
            of_contact: place.of_contact,
            needs: place.needs,
            field,
        }
    }

    fn node(&self, condition: &Condition, place: &mut Place) -> Node {
        match condition {
            Condition::Const(value) => Node::Const(*value),
            Condition::And(parts) => Node::chain(self.nodes(parts, place), true),
            Condition::Or(parts) => Node::chain(self.nodes(parts, place), false),
            Condition::Not(inner) => Node::not(self.node(inner, place)),
            Condition::Exists(fold) => place.of_contact(Node::Exists(*fold)),
            leaf => self.leaf(leaf, place),
        }
    }

    fn nodes(&self, parts: &[Condition], place: &mut Place) -> Vec<Node> {
        parts.iter().map(|part| self.node(part, place)).collect()
    }

    fn leaf(&self, condition: &Condition, place: &mut Place) -> Node {
        let terms = terms(condition);
        let sources: Vec<Source> = terms
            .iter()
            .map(|term| self.source(term, place.event_type))
            .collect();
        if sources.iter().all(Source::is_constant) {
            return Node::Const(decide(condition, &sources));
        }
        let mut test = test_of(condition, sources);
        if self.depth == Depth::Scan {
            self.look_up(&mut test, place.event_type);
        }
        let sources = test.sources();
        if !sources.iter().any(Source::is_of_event) {
            return place.of_contact(Node::Test(test));
        }
        place.needs.extend(sources.iter().filter_map(Source::fold));
        Node::Test(test)
    }

    fn source(&self, term: &Term, event_type: Option<u32>) -> Source {
        match term {
            Term::Const(scalar) => Source::Const(scalar.clone()),
            Term::Now(micros) => Source::Now(*micros),
            Term::Contact(ContactField::Id) => Source::Id,
            Term::Contact(ContactField::UserId) => Source::UserId,
            Term::Contact(ContactField::CreatedAt) => Source::Created,
            Term::Contact(ContactField::Attribute(names)) => {
                let path = self.world.attributes.find(names);
                path.map_or(Source::Nothing, Source::Attribute)
            }
            Term::Event(field) => self.event(field, event_type),
            Term::Journey(_) | Term::Given(_) => Source::Nothing,
            Term::Fold(fold) => Source::Fold(*fold),
            Term::Shifted(base, micros) => {
                Source::Shifted(Box::new(self.source(base, event_type)), *micros)
            }
        }
    }

    fn event(&self, field: &EventField, event_type: Option<u32>) -> Source {
        let Some(event_type) = event_type else {
            return Source::Nothing;
        };
        let name = self.world.types.name(event_type);
        let event_type = self.world.types.get(event_type);
        match field {
            EventField::Type => name.map_or(Source::Nothing, |name| {
                Source::Const(Scalar::Text(name.to_string()))
            }),
            EventField::Time => Source::EventTime,
            EventField::Property(names) => {
                let path = event_type.properties.find(names);
                path.map_or(Source::Nothing, Source::Property)
            }
        }
    }

    fn pool(&self, source: &Source, event_type: Option<u32>) -> Option<&Pool> {
        match source {
            Source::UserId => Some(&self.world.user_ids),
            Source::Attribute(path) => Some(self.world.attributes.pool(*path)),
            Source::Property(path) => {
                let event_type = self.world.types.get(event_type?);
                Some(event_type.properties.pool(*path))
            }
            _ => None,
        }
    }

    /// Finds out beforehand what a test says of the texts there are.
    fn look_up(&self, test: &mut Test, event_type: Option<u32>) {
        match test {
            Test::Texts {
                source,
                texts,
                codes,
                ..
            } => {
                let pool = self.pool(source, event_type);
                *codes = pool.map(|pool| texts.iter().filter_map(|text| pool.find(text)).collect());
            }
            Test::Other(other) => {
                let Varying::One(varying) = other.varying else {
                    return;
                };
                let pool = self.pool(&other.sources[varying], event_type);
                other.has_lists = pool.is_some_and(|pool| pool.lists_len() > 0);
                if let Some(pool) = pool.filter(|pool| pool.texts_len() <= TRUTHS_MAX) {
                    other.truths = truths(other, varying, pool);
                }
            }
            _ => {}
        }
    }
}

impl Place {
    /// In a filter, what does not concern the event is decided per contact.
    fn of_contact(&mut self, node: Node) -> Node {
        if self.event_type.is_none() {
            return node;
        }
        self.of_contact.push(node);
        Node::OfContact(self.of_contact.len() - 1)
    }
}

/// The verdict for each text of a pool, after that for what is missing.
fn truths(other: &Other, varying: usize, pool: &Pool) -> Vec<u8> {
    let mut truths = Vec::with_capacity(pool.texts_len() + 1);
    for code in 0..=pool.texts_len() as u32 {
        let text = match code {
            0 => Datum::Missing,
            code => datum(pool, Cell::text(code)),
        };
        truths.push(u8::from(decide_with(
            &other.condition,
            &other.sources,
            Some((varying, text)),
        )));
    }
    truths
}

/// The verdict of a condition all of whose values are known.
fn decide(condition: &Condition, sources: &[Source]) -> bool {
    decide_with(condition, sources, None)
}

fn decide_with(
    condition: &Condition,
    sources: &[Source],
    given: Option<(usize, Datum<'_>)>,
) -> bool {
    let terms = terms(condition);
    let read = |term: &Term| {
        let at = terms
            .iter()
            .position(|known| std::ptr::eq(*known, term))
            .unwrap_or(0);
        let value = match &given {
            Some((varying, value)) if *varying == at => value.clone(),
            _ => constant(&sources[at]),
        };
        (value, FOREVER)
    };
    Leaf::new(Timestamp::default(), read)
        .verdict(condition)
        .holds
}

fn constant(source: &Source) -> Datum<'_> {
    match source {
        Source::Const(scalar) => Datum::of_scalar(scalar),
        Source::Shifted(base, micros) => {
            let time = constant(base).as_time();
            time.map_or(Datum::Missing, |time| Datum::Time(time.shifted(*micros)))
        }
        _ => Datum::Missing,
    }
}

/// The terms of a condition that has no conditions in it, in a fixed order.
pub fn terms(condition: &Condition) -> Vec<&Term> {
    match condition {
        Condition::Compare { left, right, .. } => vec![left, right],
        Condition::In { term, .. } | Condition::IsNull { term, .. } => vec![term],
        Condition::Between {
            term, low, high, ..
        } => vec![term, low, high],
        Condition::Text { term, test, .. } => match test {
            TextTest::Pattern(_, pattern) => vec![term, pattern],
            TextTest::Matches(_) => vec![term],
        },
        _ => Vec::new(),
    }
}
