//! What clients sent and Kurier could not accept, for whoever looks for the reason: the newest,
//! in this process, and never what they said besides.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kurier_core::accept::Problem;
use kurier_core::id::WorkspaceId;
use kurier_core::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// So many are remembered for each workspace.
pub const KEPT_MAX: usize = 200;
/// So many faults of each, and so much of every text: clients choose both.
const FAULTS_MAX: usize = 10;
const TEXT_CHARS_MAX: usize = 200;

#[derive(Debug, Clone)]
pub struct Rejection {
    pub at: Timestamp,
    /// What the item says it is, or the address it was sent to.
    pub kind: Option<String>,
    /// What was tracked, or the name of the page or screen.
    pub name: Option<String>,
    /// A pointer into the item and what is wrong there.
    pub faults: Vec<(String, String)>,
}

impl Rejection {
    pub fn of(item: &str, sent_to: Option<&str>, problems: &[Problem], at: Timestamp) -> Self {
        let glimpse: Glimpse = serde_json::from_str(item).unwrap_or_default();
        let problems = problems.iter().take(FAULTS_MAX);
        Self {
            at,
            kind: sent_to.map(str::to_owned).or(text(glimpse.kind)),
            name: text(glimpse.event).or(text(glimpse.name)),
            faults: problems
                .map(|it| (short(&it.pointer), short(&it.detail)))
                .collect(),
        }
    }
}

/// All that is looked at of an item that is wrong somehow.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Glimpse {
    #[serde(rename = "type")]
    kind: Value,
    event: Value,
    name: Value,
}

fn text(value: Value) -> Option<String> {
    value.as_str().map(short)
}

fn short(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}

#[derive(Debug, Default)]
pub struct Rejections(Mutex<HashMap<WorkspaceId, VecDeque<Rejection>>>);

impl Rejections {
    fn kept(&self) -> MutexGuard<'_, HashMap<WorkspaceId, VecDeque<Rejection>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn add(&self, workspace: WorkspaceId, rejection: Rejection) {
        let mut kept = self.kept();
        let kept = kept.entry(workspace).or_default();
        if kept.len() == KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back(rejection);
    }

    /// The newest first.
    pub fn newest(&self, workspace: WorkspaceId, limit: usize) -> Vec<Rejection> {
        let kept = self.kept();
        let kept = kept.get(&workspace).into_iter().flatten();
        kept.rev().take(limit).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejection(item: &str, sent_to: Option<&str>) -> Rejection {
        let problem = Problem {
            pointer: "/event".into(),
            detail: "x".repeat(1_000),
        };
        let problems = vec![problem; 100];
        Rejection::of(item, sent_to, &problems, Timestamp::from_millis(7))
    }

    fn workspace(n: u8) -> WorkspaceId {
        WorkspaceId::new(Timestamp::from_millis(1), [n; 10])
    }

    #[test]
    fn the_newest_are_kept_and_only_those_of_a_workspace_are_shown() {
        let rejections = Rejections::default();
        for n in 0..KEPT_MAX + 5 {
            let item = format!(r#"{{"type":"track","event":"e{n}"}}"#);
            rejections.add(workspace(1), rejection(&item, None));
        }
        let all = rejections.newest(workspace(1), usize::MAX);
        assert_eq!(all.len(), KEPT_MAX);
        assert_eq!(all[0].name.as_deref(), Some("e204"));
        assert_eq!(all[KEPT_MAX - 1].name.as_deref(), Some("e5"));
        assert_eq!(rejections.newest(workspace(1), 2).len(), 2);
        assert!(rejections.newest(workspace(2), 9).is_empty());
    }

    #[test]
    fn however_much_a_client_says_little_is_kept_and_nothing_of_what_it_tells() {
        let long = "n".repeat(10_000);
        let item = format!(r#"{{"name":"{long}","traits":{{"password":"secret"}}}}"#);
        let kept = rejection(&item, Some("page"));
        assert_eq!(kept.kind.as_deref(), Some("page"));
        assert_eq!(kept.name.as_deref().map(str::len), Some(TEXT_CHARS_MAX));
        assert_eq!(kept.faults.len(), FAULTS_MAX);
        assert!(
            kept.faults
                .iter()
                .all(|(_, said)| said.len() == TEXT_CHARS_MAX)
        );
        assert!(!format!("{kept:?}").contains("secret"));
    }

    #[test]
    fn what_cannot_be_read_at_all_has_no_name() {
        for item in ["7", "{\"type\": 3, \"event\": [1]}", "nonsense"] {
            let kept = rejection(item, None);
            assert_eq!((kept.kind, kept.name), (None, None), "{item}");
        }
    }
}
