//! What the sides answered, and what follows from it.

use std::collections::BTreeSet;

use serde::Serialize;

use super::side::{Load, Sample, Side};
use super::{ENGINES, KURIER, QUERIES, Size};
use crate::outcome::{Verdict, median};

const EVENT_BYTES_MAX: f64 = 48.0;
const CONTACT_BYTES_MAX: f64 = 200.0;

#[derive(Serialize)]
pub struct Outcome {
    pub size: Size,
    /// Kurier with only those events that have two properties.
    pub two_properties: Load,
    pub loads: Vec<(String, Load)>,
    pub samples: Vec<Sample>,
}

impl Outcome {
    pub fn new(size: Size, two_properties: Load, sides: &[Side]) -> Self {
        Self {
            size,
            two_properties,
            loads: sides
                .iter()
                .map(|side| (side.name.clone(), side.load.clone()))
                .collect(),
            samples: Vec::new(),
        }
    }

    pub fn add(&mut self, samples: Vec<Sample>) {
        self.samples.extend(samples);
    }

    /// The counted samples of a query: those after the warm-up.
    fn counted<'a>(&'a self, query: &'a str) -> impl Iterator<Item = &'a Sample> + 'a {
        let is_counted = move |sample: &&Sample| sample.round > 0 && sample.query == query;
        self.samples.iter().filter(is_counted)
    }

    /// The best form of a query on one side: its median, and which it is.
    pub fn best(&self, side: &str, query: &str) -> (f64, usize) {
        let of_side = || self.counted(query).filter(|sample| sample.side == side);
        let forms: BTreeSet<usize> = of_side().map(|sample| sample.form).collect();
        let of_form = |form: usize| {
            let samples = of_side().filter(move |sample| sample.form == form);
            (median(samples.map(|sample| sample.ms).collect()), form)
        };
        let best = forms.into_iter().map(of_form);
        best.min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((f64::NAN, 0))
    }

    /// How many times faster Kurier is than the fastest of `others`, in each round whichever
    /// that was; the median of the rounds.
    fn ratio(&self, query: &str, others: &dyn Fn(&str) -> bool) -> f64 {
        let rounds: BTreeSet<usize> = self.counted(query).map(|sample| sample.round).collect();
        let fastest = |round: usize, is_meant: &dyn Fn(&str) -> bool| {
            let samples = self.counted(query).filter(|sample| sample.round == round);
            let meant = samples.filter(|sample| is_meant(&sample.side));
            meant.map(|sample| sample.ms).fold(f64::INFINITY, f64::min)
        };
        let ratios = rounds
            .into_iter()
            .map(|round| fastest(round, others) / fastest(round, &|side| side == KURIER));
        median(ratios.collect())
    }

    /// Every query has one set of members, whoever was asked and how.
    pub fn differing(&self) -> Vec<String> {
        let answers = QUERIES.iter().map(|(query, _)| {
            let samples = self.samples.iter().filter(|sample| sample.query == *query);
            let digests: BTreeSet<_> = samples
                .map(|sample| (&sample.digest, &sample.side, sample.form))
                .collect();
            let sets: BTreeSet<_> = digests.iter().map(|(digest, ..)| digest).collect();
            (sets.len() > 1).then(|| format!("{query}: {digests:?}"))
        });
        answers.flatten().collect()
    }

    pub fn members(&self, query: &str) -> String {
        let found = self.samples.iter().find(|sample| sample.query == query);
        let count = found.and_then(|sample| sample.digest.split('-').next());
        count.unwrap_or_default().to_owned()
    }

    pub fn verdicts(&self) -> Vec<Verdict> {
        let mut verdicts: Vec<Verdict> =
            QUERIES.iter().map(|(query, _)| self.speed(query)).collect();
        let own = self.loads.iter().find(|(name, _)| name == KURIER);
        let at_most = |what: &str, found: Option<f64>, needed: f64| {
            let found = found.unwrap_or(f64::NAN);
            Verdict {
                target: format!("{}: {what} (at most)", self.size.name()),
                found,
                needed,
                pass: found <= needed,
            }
        };
        verdicts.push(at_most(
            "bytes an event with two properties",
            self.two_properties.bytes_per_event,
            EVENT_BYTES_MAX,
        ));
        verdicts.push(at_most(
            "bytes a contact with six attributes",
            own.and_then(|(_, load)| load.bytes_per_contact),
            CONTACT_BYTES_MAX,
        ));
        verdicts
    }

    fn speed(&self, query: &str) -> Verdict {
        let is_engine = |side: &str| ENGINES.contains(&side);
        let (what, needed, found) = match query {
            "a" => {
                let found = self.ratio(query, &|side| side != KURIER);
                ("the fastest of all others", 1.0, found)
            }
            "f" => ("the fastest engine", 10.0, self.ratio(query, &is_engine)),
            _ => ("the fastest engine", 3.0, self.ratio(query, &is_engine)),
        };
        Verdict {
            target: format!("{}: {query}, times faster than {what}", self.size.name()),
            found,
            needed,
            pass: found >= needed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(samples: &[(usize, &str, usize, f64, &str)]) -> Outcome {
        let load: Load = serde_json::from_str(r#"{"seconds":1,"version":"1"}"#).expect("a load");
        let samples = samples
            .iter()
            .map(|(round, side, form, ms, digest)| Sample {
                round: *round,
                side: (*side).to_owned(),
                query: "b".to_owned(),
                form: *form,
                ms: *ms,
                digest: (*digest).to_owned(),
            });
        Outcome {
            size: Size::Small,
            two_properties: load,
            loads: Vec::new(),
            samples: samples.collect(),
        }
    }

    #[test]
    fn the_best_form_of_the_best_engine_counts_and_the_warm_up_does_not() {
        let outcome = outcome(&[
            (0, KURIER, 0, 99.0, "1"),
            (1, KURIER, 0, 1.0, "1"),
            (1, "polars", 0, 9.0, "1"),
            (1, "polars", 1, 4.0, "1"),
            (1, "duckdb-name", 0, 5.0, "1"),
            (1, "postgres", 0, 0.5, "1"),
        ]);
        assert_eq!(outcome.speed("b").found, 4.0);
        assert_eq!(outcome.best("polars", "b"), (4.0, 1));
        assert!(outcome.differing().is_empty());
    }

    #[test]
    fn one_contact_too_many_is_noticed() {
        let samples = [(0, KURIER, 0, 1.0, "1-2-3"), (0, "polars", 1, 1.0, "2-2-3")];
        assert_eq!(outcome(&samples).differing().len(), 1);
    }
}
