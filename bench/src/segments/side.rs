//! One side of the comparison: a process that has loaded the data and answers queries.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::outcome::median;
use crate::server::memory_of;

pub struct Side {
    pub name: String,
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    pub load: Load,
    forms: BTreeMap<String, usize>,
}

/// What a side says of its loading; what it does not know stays out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Load {
    pub seconds: f64,
    pub version: String,
    pub disk_mb: Option<f64>,
    pub bytes_per_contact: Option<f64>,
    pub bytes_per_event: Option<f64>,
    #[serde(default)]
    pub rss_mb: f64,
}

#[derive(Deserialize)]
struct Ready {
    loaded: Load,
    forms: BTreeMap<String, usize>,
}

#[derive(Deserialize)]
struct Answer {
    ms: Vec<f64>,
    digest: String,
}

/// One form of a query on one side in one round.
#[derive(Debug, Clone, Serialize)]
pub struct Sample {
    pub round: usize,
    pub side: String,
    pub query: String,
    pub form: usize,
    pub ms: f64,
    pub digest: String,
}

impl Side {
    /// Starts it and waits until it has loaded.
    pub fn start(name: &str, command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let stdin = child.stdin.take().context("stdin is piped")?;
        let mut stdout = BufReader::new(child.stdout.take().context("stdout is piped")?);
        let ready: Ready = read(&mut stdout).with_context(|| format!("{name} did not load"))?;
        let (rss_mb, _) = memory_of(child.id())?;
        Ok(Self {
            name: name.to_owned(),
            child,
            stdin,
            stdout,
            load: Load {
                rss_mb,
                ..ready.loaded
            },
            forms: ready.forms,
        })
    }

    /// Runs every form of a query; of several runs, after those that warm up, the median counts.
    pub fn ask(
        &mut self,
        round: usize,
        query: &str,
        (warm, runs): (usize, usize),
    ) -> anyhow::Result<Vec<Sample>> {
        let forms = self.forms.get(query).copied().unwrap_or(0);
        let mut samples = Vec::with_capacity(forms);
        for form in 0..forms {
            let request = serde_json::json!({"query": query, "form": form, "runs": warm + runs});
            writeln!(self.stdin, "{request}")?;
            let mut answer: Answer = read(&mut self.stdout)
                .with_context(|| format!("{} failed at query {query}, form {form}", self.name))?;
            samples.push(Sample {
                round,
                side: self.name.clone(),
                query: query.to_owned(),
                form,
                ms: median(answer.ms.split_off(warm)),
                digest: answer.digest,
            });
        }
        Ok(samples)
    }
}

fn read<T: for<'de> Deserialize<'de>>(stdout: &mut BufReader<ChildStdout>) -> anyhow::Result<T> {
    let mut line = String::new();
    stdout.read_line(&mut line)?;
    serde_json::from_str(&line).with_context(|| format!("it said {line:?}"))
}

impl Drop for Side {
    fn drop(&mut self) {
        // Fails only if it is gone already, which is all we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
