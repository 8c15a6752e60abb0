//! What happens when a trigger fires for a contact that is in the journey already. A run is
//! known by its key, (journey, contact, key): at most one active run has it, whatever the
//! policy, except that `parallel` asks for no such thing.

use super::rule::Source;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// The trigger is passed over.
    #[default]
    Skip,
    /// The active run ends, a new one begins.
    Restart,
    /// Every trigger begins a run.
    Parallel,
    /// The latest trigger begins a run when the active one has ended.
    Wait,
}

impl Policy {
    pub const WORDS: &[(&str, Self)] = &[
        ("skip", Self::Skip),
        ("restart", Self::Restart),
        ("parallel", Self::Parallel),
        ("wait", Self::Wait),
    ];

    pub fn as_str(self) -> &'static str {
        let word = Self::WORDS.iter().find(|(_, policy)| *policy == self);
        word.map_or("", |(word, _)| *word)
    }
}

#[derive(Debug, Clone, Default)]
pub struct Reentry {
    pub policy: Policy,
    /// Runs with different keys do not know of each other.
    pub key: Option<Source>,
}

/// What is to be done with a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    Enter,
    /// Ends the active run first.
    Replace,
    Park,
    Skip,
}

/// Decides about a trigger: `is_active` says whether its key is taken.
pub const fn admit(policy: Policy, is_active: bool) -> Admission {
    match (policy, is_active) {
        (Policy::Parallel, _) | (_, false) => Admission::Enter,
        (Policy::Skip, true) => Admission::Skip,
        (Policy::Restart, true) => Admission::Replace,
        (Policy::Wait, true) => Admission::Park,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_key_always_enters() {
        for (_, policy) in Policy::WORDS {
            assert_eq!(admit(*policy, false), Admission::Enter);
        }
    }

    #[test]
    fn a_taken_key_is_for_the_policy_to_decide() {
        let taken = Policy::WORDS.iter().map(|(_, policy)| admit(*policy, true));
        let decided: Vec<Admission> = taken.collect();
        use Admission::{Enter, Park, Replace, Skip};
        assert_eq!(decided, [Skip, Replace, Enter, Park]);
    }
}
