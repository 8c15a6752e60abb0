//! Content: Markdown to keys, and whole imports, beside splitters that others use. What is compared
//! reads the same file in the same run, each in a process of its own.

mod corpus;
mod import;
pub mod side;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use comfy_table::Table;
use serde::Serialize;

use self::corpus::Corpus;
use self::import::Imported;
use self::side::Measured;
use crate::outcome::median;
use crate::report::{keep, number, table, targets};

const MEGABYTE: usize = 1_000_000;
/// A file longer than this is read in fewer rounds.
const SHORT_SIZE_MAX: usize = 10;
/// What quadratic peers are given at most.
const SLOW_SIZE_MAX: usize = 1;
/// Peers are slow: they are run at most so often.
const PEER_ROUNDS_MAX: usize = 3;
/// How long the files of a folder are that is imported.
const FILE_BYTES: usize = 10_000;
/// What an unchanged import is judged by, in megabytes.
const AGAIN_SIZE: usize = 20;
/// Who is run in Python, and with how many megabytes at most.
const PEERS: [(&str, &str, usize); 2] = [
    ("LangChain", "langchain", 10),
    ("LlamaIndex", "llamaindex", SLOW_SIZE_MAX),
];
/// Kurier reads a long document from two places at once; the parser by itself does not.
const OWN: &str = "Kurier, to keys (2 threads)";
const OWN_ALONE: &str = "Kurier, to keys (1 core)";
const BARE: &str = "bare pulldown-cmark (1 thread)";

#[derive(clap::Args)]
pub struct Args {
    /// A Python with LangChain and LlamaIndex; without it they are left out
    #[arg(long)]
    python: Option<PathBuf>,
    #[arg(long, default_value = "bench/peers")]
    peers: PathBuf,
    /// A Redis that may be emptied
    #[arg(long)]
    redis: Option<String>,
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// What is written into one file, in megabytes
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 100])]
    files: Vec<usize>,
    /// What is written into a folder and imported, in megabytes
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, AGAIN_SIZE, 100])]
    imports: Vec<usize>,
    /// Where the results go as JSON
    #[arg(long)]
    out: PathBuf,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    megabytes: f64,
    measured: Measured,
}

impl Row {
    fn speed(&self) -> f64 {
        self.megabytes / self.measured.seconds
    }

    fn memory(&self) -> f64 {
        self.measured.peak_bytes as f64 / (self.megabytes * MEGABYTE as f64)
    }
}

pub async fn run(args: &Args) -> anyhow::Result<()> {
    let work = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for size in &args.files {
        let file = work.path().join(format!("{size}.md"));
        std::fs::write(&file, Corpus::new(1).document(size * MEGABYTE))?;
        rows.extend(sides(args, &file, *size)?);
    }
    let mut imports = Vec::new();
    for size in &args.imports {
        let folder = work.path().join(format!("folder-{size}"));
        Corpus::new(2).folder(&folder, size * MEGABYTE, FILE_BYTES)?;
        eprintln!("==> import of {size} MB, in process");
        imports.push(("in process", import::run(&folder, None).await?));
        if let Some(url) = &args.redis {
            eprintln!("==> import of {size} MB, into Redis");
            imports.push(("Redis", import::run(&folder, Some(url)).await?));
        }
    }
    report(args, &rows, &imports)
}

/// A way to read a file, and in how many rounds it is.
struct Way {
    name: &'static str,
    command: Command,
    rounds: usize,
    found: Vec<Measured>,
}

impl Way {
    fn new(name: &'static str, command: Command, rounds: usize) -> Self {
        Self {
            name,
            command,
            rounds,
            found: Vec::new(),
        }
    }

    fn round(&mut self) -> anyhow::Result<()> {
        let name = self.name;
        let output = self.command.output();
        let output = output.with_context(|| format!("{name} cannot be run"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "{name}: {said}");
        self.found.push(serde_json::from_slice(&output.stdout)?);
        Ok(())
    }

    fn row(self, megabytes: f64) -> anyhow::Result<Row> {
        let first = self.found.first().context("no round")?;
        let peaks = self.found.iter().map(|it| it.peak_bytes as f64).collect();
        let measured = Measured {
            seconds: median(self.found.iter().map(|it| it.seconds).collect()),
            peak_bytes: median(peaks) as u64,
            pieces: first.pieces,
        };
        Ok(Row {
            name: self.name,
            megabytes,
            measured,
        })
    }
}

/// All ways that are quick enough for a file: each round goes once through all of them.
fn sides(args: &Args, file: &Path, size: usize) -> anyhow::Result<Vec<Row>> {
    let megabytes = std::fs::metadata(file)?.len() as f64 / MEGABYTE as f64;
    let mut ways = ways(args, file, size)?;
    let rounds = ways.iter().map(|way| way.rounds).max().unwrap_or(0);
    for round in 0..rounds {
        eprintln!("==> one file of {size} MB, round {} of {rounds}", round + 1);
        for way in ways.iter_mut().filter(|way| round < way.rounds) {
            way.round()?;
        }
    }
    ways.into_iter().map(|way| way.row(megabytes)).collect()
}

fn ways(args: &Args, file: &Path, size: usize) -> anyhow::Result<Vec<Way>> {
    let (rounds, within) = match size > SHORT_SIZE_MAX {
        true => (args.rounds.min(2), 1),
        false => (args.rounds, 3),
    };
    let mut ways = vec![
        Way::new(BARE, own(&[], file, "bare", within)?, rounds),
        Way::new(OWN, own(&[], file, "own", within)?, rounds),
        // Where it may use one core it takes no second thread for the text.
        Way::new(
            OWN_ALONE,
            own(&["taskset", "-c", "0"], file, "own", within)?,
            rounds,
        ),
    ];
    let rounds = rounds.min(PEER_ROUNDS_MAX);
    if cfg!(feature = "splitters") && size <= SLOW_SIZE_MAX {
        let splitter = own(&[], file, "splitter", 1)?;
        ways.push(Way::new("text-splitter", splitter, rounds));
    }
    for (name, peer, size_max) in PEERS {
        if let Some(python) = args.python.as_ref().filter(|_| size <= size_max) {
            let mut command = Command::new(python);
            command.arg(args.peers.join("content.py"));
            command.arg(peer).arg(file);
            ways.push(Way::new(name, command, rounds));
        }
    }
    Ok(ways)
}

/// This program in a process of its own, by another one if one is named.
fn own(by: &[&str], file: &Path, way: &str, rounds: usize) -> anyhow::Result<Command> {
    let program = std::env::current_exe()?;
    let mut command = match by {
        [] => Command::new(program),
        [by, arguments @ ..] => {
            let mut command = Command::new(by);
            command.args(arguments).arg(program);
            command
        }
    };
    command.args(["content-side", way]).arg(file);
    command.args(["--rounds", &rounds.to_string()]);
    Ok(command)
}

type Imports = [(&'static str, Imported)];

fn report(args: &Args, rows: &[Row], imports: &Imports) -> anyhow::Result<()> {
    println!("\nMemory is that of the text and of all that became of it.\n");
    println!("{}\n", files_table(rows));
    println!(
        "Folders of files of 10 kB, from files to the log, the read models and the keyspace.\n"
    );
    println!("{}\n", imports_table(imports));
    let verdicts = verdict::all(rows, imports);
    println!("{}\n", targets(&verdicts));
    let imports: Vec<_> = imports
        .iter()
        .map(|(keyspace, imported)| serde_json::json!({"keyspace": keyspace, "imported": imported}))
        .collect();
    let json = serde_json::json!({
        "rounds": args.rounds, "rows": rows, "imports": imports, "verdicts": verdicts,
    });
    keep(&args.out, &json)
}

fn files_table(rows: &[Row]) -> Table {
    let mut shown = table(&["one file", "MB", "MB/s", "s", "memory × size", "pieces"]);
    for row in rows {
        shown.add_row(vec![
            row.name.to_owned(),
            number(row.megabytes, 1),
            number(row.speed(), 1),
            number(row.measured.seconds, 3),
            number(row.memory(), 2),
            number(row.measured.pieces as f64, 0),
        ]);
    }
    shown
}

fn imports_table(imports: &Imports) -> Table {
    let mut shown = table(&[
        "whole import",
        "MB",
        "MB/s",
        "import s",
        "keyspace s",
        "keys",
        "again s",
        "again events",
        "again writes",
    ]);
    for (name, it) in imports {
        let writes = it.again.writes.map(|writes| number(writes as f64, 0));
        shown.add_row(vec![
            (*name).to_owned(),
            number(it.megabytes, 1),
            number(it.speed(), 1),
            number(it.seconds, 2),
            number(it.keyspace_seconds, 2),
            number(it.keys as f64, 0),
            number(it.again.seconds, 3),
            number(it.again.events as f64, 0),
            writes.unwrap_or_else(|| "–".to_owned()),
        ]);
    }
    shown
}
