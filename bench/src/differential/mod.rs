//! The differential test: random expressions must have the same members in Kurier's world as
//! in DuckDB, by SQL that an independent translator wrote.

mod facts;
mod generate;
mod sql;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::Context as _;
use kurier_core::columns::World;
use kurier_core::expr::{Checked, Place};
use serde::Deserialize;

use crate::clock::Random;
use facts::NOW;
use generate::Generator;

const DEPTH_MAX: usize = 3;
/// So many of a hundred expressions must tell contacts apart, or the test says little.
const TELLING_SHARE: usize = 40;

#[derive(clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 300)]
    expressions: usize,
    #[arg(long, default_value_t = 5_000)]
    contacts: usize,
    #[arg(long, default_value_t = 20_000)]
    events: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A Python that has duckdb
    #[arg(long)]
    python: PathBuf,
    /// The folder of the peers' programs
    #[arg(long)]
    peers: PathBuf,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let world = facts::make(args.contacts, args.events, args.seed, folder.path())?;
    let mut duckdb = DuckDb::start(args, folder.path())?;
    let mut random = Random::seeded(args.seed);
    let mut generator = Generator(&mut random);
    let (mut differing, mut telling) = (Vec::new(), 0);
    for number in 0..args.expressions {
        let (text, checked) = next(&mut generator, number % (DEPTH_MAX + 1));
        let expected = duckdb
            .ask(&sql::select(&checked.expr, NOW))
            .with_context(|| text.clone())?;
        telling += usize::from(!expected.is_empty() && expected.len() < args.contacts);
        for (how, found) in [
            ("scan", scan(&world, &checked)),
            ("rows", rows(&world, &checked)),
        ] {
            if found != expected {
                differing.push(difference(&text, how, &found, &expected));
            }
        }
    }
    let (asked, seed) = (args.expressions, args.seed);
    println!(
        "{asked} expressions of seed {seed} over {} contacts and {} events: {telling} tell contacts apart, {} differ",
        args.contacts,
        args.events,
        differing.len()
    );
    anyhow::ensure!(
        differing.is_empty(),
        "DuckDB disagrees:\n{}",
        differing.join("\n")
    );
    anyhow::ensure!(
        telling * 100 >= asked * TELLING_SHARE,
        "too few expressions tell contacts apart"
    );
    Ok(())
}

/// The next expression that means something.
fn next(generator: &mut Generator<'_>, depth: usize) -> (String, Checked) {
    loop {
        let text = generator.expression(depth, false);
        if let Ok(checked) = Checked::new(&text, Place::SEGMENT) {
            return (text, checked);
        }
    }
}

fn scan(world: &World, checked: &Checked) -> Vec<u32> {
    world.scan(&checked.plan, NOW).members.iter().collect()
}

/// One contact after another, as the reactor decides after an event.
fn rows(world: &World, checked: &Checked) -> Vec<u32> {
    let mut prepared = world.prepare(&checked.plan);
    let holds = |number: &u32| world.verdict(&mut prepared, *number, NOW).holds;
    world.contacts().filter(holds).collect()
}

fn difference(text: &str, how: &str, found: &[u32], expected: &[u32]) -> String {
    let only = |a: &[u32], b: &[u32]| -> Vec<u32> {
        a.iter()
            .filter(|n| !b.contains(n))
            .take(5)
            .copied()
            .collect()
    };
    format!(
        "  {text}\n    {how} finds {}, DuckDB {}; only Kurier: {:?}, only DuckDB: {:?}",
        found.len(),
        expected.len(),
        only(found, expected),
        only(expected, found)
    )
}

struct DuckDb {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Found(Vec<u32>),
    Error(String),
}

impl DuckDb {
    fn start(args: &Args, folder: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(&args.python)
            .arg(args.peers.join("differential.py"))
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", args.python.display()))?;
        let stdin = child.stdin.take().context("stdin is piped")?;
        let stdout = BufReader::new(child.stdout.take().context("stdout is piped")?);
        Ok(Self {
            child,
            stdin,
            stdout,
        })
    }

    fn ask(&mut self, sql: &str) -> anyhow::Result<Vec<u32>> {
        writeln!(self.stdin, "{}", serde_json::to_string(sql)?)?;
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        match serde_json::from_str(&line).with_context(|| format!("DuckDB said {line:?}"))? {
            Answer::Found(found) => Ok(found),
            Answer::Error(error) => anyhow::bail!("{error}\n{sql}"),
        }
    }
}

impl Drop for DuckDb {
    fn drop(&mut self) {
        // Fails only if it is gone already, which is all we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
