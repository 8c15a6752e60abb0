//! What a simulation came to, in numbers.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Simulation;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Contacts that entered.
    pub contacts: usize,
    pub runs: usize,
    /// Runs that ended, by why.
    pub finished: BTreeMap<String, usize>,
    /// Runs that did not, by the node they wait at.
    pub waiting: BTreeMap<String, usize>,
    pub paths: Vec<PathCount>,
    /// Messages by day, channel and template.
    pub messages: Vec<MessageCount>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathCount {
    pub runs: usize,
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct MessageCount {
    pub day: String,
    pub channel: String,
    pub template: String,
    pub count: usize,
}

impl Simulation {
    pub fn summary(&self) -> Summary {
        let users: BTreeSet<&str> = self.runs().iter().map(|run| run.user.as_str()).collect();
        let (mut finished, mut waiting) = (BTreeMap::new(), BTreeMap::new());
        let mut paths: BTreeMap<String, usize> = BTreeMap::new();
        for run in self.runs() {
            match run.ending {
                Some(ending) => *finished.entry(ending.to_string()).or_default() += 1,
                None => *waiting.entry(run.at.clone()).or_default() += 1,
            }
            *paths.entry(run.path()).or_default() += 1;
        }
        let mut paths: Vec<PathCount> = paths
            .into_iter()
            .map(|(path, runs)| PathCount { runs, path })
            .collect();
        paths.sort_by_key(|path| std::cmp::Reverse(path.runs));
        Summary {
            contacts: users.len(),
            runs: self.runs().len(),
            finished,
            waiting,
            paths,
            messages: self.message_counts(),
        }
    }

    fn message_counts(&self) -> Vec<MessageCount> {
        let mut counts: BTreeMap<(String, &str, &str), usize> = BTreeMap::new();
        for message in self.messages() {
            let day = message.at.to_string().chars().take(10).collect();
            let request = &message.request;
            let key = (day, request.channel.as_str(), request.template_name());
            *counts.entry(key).or_default() += 1;
        }
        let counts = counts.into_iter();
        counts
            .map(|((day, channel, template), count)| MessageCount {
                day,
                channel: channel.to_owned(),
                template: template.to_owned(),
                count,
            })
            .collect()
    }
}
