//! A bundle verified step by step, for people: what was looked at, whether it holds, why.

use serde::Serialize;

use super::chain::Tree;
use super::envelope::Envelope;
use super::standing::{Policy, Standing, State, Whereabouts, standing};
use super::steps;

/// What a bundle is held against.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// The artefact itself, if it is at hand.
    pub content: Option<&'a [u8]>,
    /// Headers, if there are any.
    pub tree: Option<&'a Tree>,
    pub policy: Policy,
    /// The headers are known to be old or disputed.
    pub unstable: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Holds,
    Fails,
    /// Something it rests on is not there, or does not hold.
    NotChecked,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    pub name: &'static str,
    pub outcome: Outcome,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub steps: Vec<Step>,
    pub standing: Standing,
    /// Nothing fails, and the policy is met.
    pub ready: bool,
}

impl Report {
    pub fn step(&self, name: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.name == name)
    }

    pub fn fails(&self) -> bool {
        self.steps.iter().any(|step| step.outcome == Outcome::Fails)
    }
}

/// What one step came to: a sentence, or a sentence why not.
pub(super) type Checked = Result<String, NotSo>;

pub(super) enum NotSo {
    Fails(String),
    NotChecked(&'static str),
}

impl Step {
    fn new(name: &'static str, checked: Checked) -> Self {
        let (outcome, why) = match checked {
            Ok(why) => (Outcome::Holds, why),
            Err(NotSo::Fails(why)) => (Outcome::Fails, why),
            Err(NotSo::NotChecked(why)) => (Outcome::NotChecked, why.to_owned()),
        };
        Self { name, outcome, why }
    }
}

/// Looks at everything in a bundle, and at where its block stands.
pub fn verify(envelope: &Envelope, given: &Given<'_>) -> Report {
    let mut steps = vec![
        Step::new("content", steps::content(envelope, given.content)),
        Step::new("version", steps::version(envelope)),
        Step::new("lineage", steps::lineage(envelope)),
        Step::new("transaction", steps::transaction(envelope)),
        Step::new("commitment", steps::commitment(envelope)),
        Step::new("header", steps::header(envelope)),
        Step::new("proof", steps::proof(envelope)),
    ];
    let broken = steps.iter().any(|step| step.outcome == Outcome::Fails);
    let standing = stand(envelope, given, broken);
    steps.push(Step::new(
        "chain",
        steps::chain(envelope, given.tree, &standing),
    ));
    steps.push(Step::new(
        "confirmations",
        confirmations(&standing, &given.policy),
    ));
    Report {
        ready: standing.ready(&given.policy) && !steps.iter().any(|s| s.outcome == Outcome::Fails),
        steps,
        standing,
    }
}

fn stand(envelope: &Envelope, given: &Given<'_>, broken: bool) -> Standing {
    let other_chain = given
        .tree
        .is_some_and(|tree| tree.chain() != envelope.chain);
    if broken || other_chain {
        return Standing::invalid(given.tree.map(Tree::tip)).shaken(given.unstable);
    }
    let whereabouts = envelope.whereabouts();
    let standing = match given.tree {
        Some(tree) => standing(tree, whereabouts),
        None => Standing::without_headers(whereabouts),
    };
    // A bundle may say of a known block that it stands at another height.
    let moved = matches!(
        (whereabouts, given.tree),
        (Whereabouts::Block { height, hash }, Some(tree))
            if tree.height_of(&hash).is_some_and(|known| known != height)
    );
    match moved {
        true => Standing::invalid(standing.tip).shaken(given.unstable),
        false => standing.shaken(given.unstable),
    }
}

fn confirmations(standing: &Standing, policy: &Policy) -> Checked {
    let min = policy.min_confs();
    match (standing.state, standing.confs) {
        (State::InvalidProof, _) => Err(steps::BROKEN),
        (_, None) => Err(NotSo::NotChecked("how many there are is not known")),
        (_, Some(confs)) if confs < i64::from(min) => Err(NotSo::Fails(format!(
            "{confs} of the {min} that are asked for"
        ))),
        (_, Some(confs)) if !standing.ready(policy) => Err(NotSo::Fails(format!(
            "{confs}, of {min}, but by headers that are old or disputed"
        ))),
        (_, Some(confs)) => Ok(format!("{confs}, where {min} are asked for")),
    }
}
