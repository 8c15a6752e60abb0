//! Random expressions over the facts. Not all of them mean something: what the checker refuses
//! is not asked.

use crate::clock::Random;

use super::facts::{EVENT_TYPES, NOW, PATHS};

const COMPARISONS: [&str; 6] = ["=", "!=", "<", "<=", ">", ">="];
const PATTERNS: [&str; 4] = ["^a", "b$", "^[ab]+$", "日"];

pub struct Generator<'r>(pub &'r mut Random);

impl Generator<'_> {
    pub fn expression(&mut self, depth: usize, in_event: bool) -> String {
        if depth == 0 {
            return self.leaf(in_event);
        }
        let next = depth - 1;
        match self.0.below(12) {
            0 | 1 => {
                let (a, b) = (
                    self.expression(next, in_event),
                    self.expression(next, in_event),
                );
                format!("({a}) AND ({b})")
            }
            2 | 3 => {
                let (a, b) = (
                    self.expression(next, in_event),
                    self.expression(next, in_event),
                );
                format!("({a}) OR ({b})")
            }
            4 => format!("NOT ({})", self.expression(next, in_event)),
            5 | 6 => format!("EXISTS (event WHERE {})", self.filter(next)),
            7..=10 => self.aggregate(next),
            _ => self.leaf(in_event),
        }
    }

    fn filter(&mut self, depth: usize) -> String {
        let (a, b) = (self.0.pick(&EVENT_TYPES), self.0.pick(&EVENT_TYPES));
        match self.0.below(6) {
            0 => format!("event_type = '{a}'"),
            1 => format!(
                "event_type = '{a}' AND event_time > now() - {}d",
                self.days()
            ),
            2 => format!("event_type = '{a}' AND ({})", self.expression(depth, true)),
            3 => format!(
                "event_type IN ('{a}', '{b}') AND ({})",
                self.expression(depth, true)
            ),
            4 => format!("event_time BETWEEN now() - {}d AND now() - 2d", self.days()),
            _ => self.expression(depth, true),
        }
    }

    fn days(&mut self) -> usize {
        1 + self.0.below(20)
    }

    fn aggregate(&mut self, depth: usize) -> String {
        let filter = self.filter(depth);
        let op = self.0.pick(&COMPARISONS);
        let path = self.0.pick(&PATHS);
        let function = self.0.pick(&["COUNT", "SUM", "AVG", "MIN", "MAX"]);
        let small = self.0.below(9) as f64 / 2.0 - 1.0;
        match self.0.below(8) {
            0 | 1 => format!("COUNT(event WHERE {filter}) {op} {}", self.0.below(5)),
            2 => format!(
                "MAX(event.event_time WHERE {filter}) {op} now() - {}d",
                self.days()
            ),
            3 => format!("MIN(event.event_time WHERE {filter}) {op} contact.w"),
            4 => format!("{function}(event.properties.{path} WHERE {filter}) IS NULL"),
            5 => format!("SUM(event.properties.h WHERE {filter}) {op} {small}"),
            6 => format!("{function}(event.properties.n WHERE {filter}) {op} contact.n"),
            _ => format!("{function}(event.properties.{path} WHERE {filter}) {op} {small}"),
        }
    }

    fn leaf(&mut self, in_event: bool) -> String {
        let operand = self.operand(in_event);
        let not = self.0.pick(&["", "NOT "]);
        match self.0.below(10) {
            0..=3 => {
                let op = self.0.pick(&COMPARISONS);
                format!("{operand} {op} {}", self.operand(in_event))
            }
            4 => {
                let (a, b, c) = (self.literal(), self.literal(), self.literal());
                format!("{operand} {not}IN ({a}, {b}, {c})")
            }
            5 | 6 => {
                let (low, high) = (self.operand(in_event), self.operand(in_event));
                format!("{operand} {not}BETWEEN {low} AND {high}")
            }
            7 => {
                let op = self.0.pick(&["CONTAINS", "STARTS_WITH", "ENDS_WITH"]);
                format!("{operand} {not}{op} {}", self.operand(in_event))
            }
            8 => format!("{operand} {not}MATCHES '{}'", self.0.pick(&PATTERNS)),
            _ => format!("{operand} IS {not}NULL"),
        }
    }

    fn operand(&mut self, in_event: bool) -> String {
        let path = self.0.pick(&PATHS);
        match self.0.below(14) {
            0 => format!("now() - {}d", self.days()),
            1 => "contact.created_at".to_owned(),
            2 => "contact.user_id".to_owned(),
            3 => format!("contact.w + {}d", self.days()),
            4..=7 => self.literal(),
            8 if in_event => "event_time".to_owned(),
            9 if in_event => "event_type".to_owned(),
            10 | 11 if in_event => format!("properties.{path}"),
            _ => format!("contact.{path}"),
        }
    }

    fn literal(&mut self) -> String {
        match self.0.below(8) {
            0 | 1 => format!("{}", (self.0.below(80) as f64 - 40.0) / 4.0),
            2 => self
                .0
                .pick(&["0.1", "1e308", "0", "9007199254740992"])
                .to_owned(),
            3..=5 => {
                let word = self
                    .0
                    .pick(&["a", "b", "ab", "B", "", "ä日", "it''s", "1", "buy"]);
                format!("'{word}'")
            }
            6 => self.0.pick(&["TRUE", "FALSE"]).to_owned(),
            _ => {
                let halves = 1 + self.0.below(40) as i64;
                format!("timestamp '{}'", NOW.shifted(-halves * 43_200_000_000))
            }
        }
    }
}
