//! What was measured, and what follows from it.

use serde::Serialize;

use crate::load::{Measured, Shape};
use crate::plan::{BATCHES, Database, SINGLES};

/// A resident set above this is too much for a server that does nothing.
const IDLE_MB_MAX: f64 = 60.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    Bare,
    Kurier,
    Node,
    Handler,
}

/// One cell in one round.
#[derive(Debug, Serialize)]
pub struct Sample {
    pub round: usize,
    pub side: Side,
    /// None for Node and the bare handler, which are the same in every comparison.
    pub database: Option<Database>,
    /// None for the bare loop, which has no requests.
    pub shape: Option<Shape>,
    pub events_per_second: f64,
    pub http: Option<Measured>,
}

/// One server's life in one round.
#[derive(Debug, Serialize)]
pub struct Life {
    pub round: usize,
    pub database: Database,
    pub idle_mb: f64,
    pub peak_mb: f64,
    pub after_mb: f64,
    /// Events not yet folded when the load ended.
    pub lag: u64,
    /// How long folding them took; measured in the last round only.
    pub catch_up_seconds: Option<f64>,
    pub audit: Audit,
}

/// What the log held after kill -9 under load and a restart.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Audit {
    pub acknowledged: u64,
    /// Sent but not answered: these may be there or not.
    pub unanswered: u64,
    pub logged: u64,
}

impl Audit {
    /// Every acknowledged event is there, and none that was not sent.
    pub const fn is_good(self) -> bool {
        self.acknowledged <= self.logged && self.logged <= self.acknowledged + self.unanswered
    }
}

#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    pub samples: Vec<Sample>,
    pub lives: Vec<Life>,
}

#[derive(Debug, Serialize)]
pub struct Verdict {
    pub target: String,
    pub found: f64,
    pub needed: f64,
    pub pass: bool,
}

impl Verdict {
    pub fn at_least(target: impl Into<String>, found: f64, needed: f64) -> Self {
        Self {
            target: target.into(),
            found,
            needed,
            pass: found >= needed,
        }
    }

    pub fn at_most(target: impl Into<String>, found: f64, needed: f64) -> Self {
        Self {
            target: target.into() + " (at most)",
            found,
            needed,
            pass: found <= needed,
        }
    }
}

impl Outcome {
    pub fn of(&self, side: Side, database: Option<Database>, shape: Option<Shape>) -> Vec<&Sample> {
        let matches = |s: &&Sample| s.side == side && s.database == database && s.shape == shape;
        self.samples.iter().filter(matches).collect()
    }

    /// The median of the rounds' ratios: what slows the machine down in one round slows down
    /// both sides.
    fn ratio(&self, above: &[&Sample], below: &[&Sample]) -> f64 {
        let ratios = above.iter().filter_map(|sample| {
            let other = below.iter().find(|other| other.round == sample.round)?;
            Some(sample.events_per_second / other.events_per_second)
        });
        median(ratios.collect())
    }

    pub fn verdicts(&self, databases: &[Database]) -> Vec<Verdict> {
        databases
            .iter()
            .flat_map(|database| self.verdicts_of(*database))
            .collect()
    }

    fn verdicts_of(&self, database: Database) -> Vec<Verdict> {
        let kurier = |shape| self.of(Side::Kurier, Some(database), Some(shape));
        let node = |shape| self.of(Side::Node, None, Some(shape));
        let bare = self.of(Side::Bare, Some(database), None);
        let at_least = |what: &str, found: f64, needed: f64| Verdict {
            target: format!("{}: {what}", database.name()),
            found,
            needed,
            pass: found >= needed,
        };
        let lives = || self.lives.iter().filter(|life| life.database == database);
        let idle = median(lives().map(|life| life.idle_mb).collect());
        let sound = lives().filter(|life| life.audit.is_good()).count() as f64;
        vec![
            at_least(
                "100 × 64 / bare loop",
                self.ratio(&kurier(BATCHES), &bare),
                0.5,
            ),
            at_least(
                "100 × 64 / Node handler",
                self.ratio(&kurier(BATCHES), &node(BATCHES)),
                6.0,
            ),
            at_least(
                "1 × 64 / Node handler",
                self.ratio(&kurier(SINGLES), &node(SINGLES)),
                4.0,
            ),
            Verdict {
                target: format!("{}: idle RSS, MB (at most)", database.name()),
                found: idle,
                needed: IDLE_MB_MAX,
                pass: idle < IDLE_MB_MAX,
            },
            at_least(
                "rounds whose acknowledged events were all there after kill -9",
                sound,
                lives().count() as f64,
            ),
        ]
    }
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0]), 2.5);
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn a_lost_event_is_noticed_and_so_is_one_too_many() {
        let audit = |logged| Audit {
            acknowledged: 10,
            unanswered: 2,
            logged,
        };
        assert!(audit(10).is_good() && audit(12).is_good());
        assert!(!audit(9).is_good() && !audit(13).is_good());
    }
}
