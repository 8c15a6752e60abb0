//! Content: Markdown to keys, and whole imports, beside splitters that others use. What is compared
//! reads the same file in the same run, each in a process of its own.

mod corpus;
mod import;
pub mod side;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use serde::Serialize;

use self::corpus::Corpus;
use self::import::Imported;
use self::side::Measured;
use crate::outcome::{Verdict, median};
use crate::report::{keep, number, table, targets};

const MEGABYTE: usize = 1_000_000;
/// What is written into one file, in megabytes.
const SIZES: [usize; 3] = [1, 10, 100];
/// What quadratic peers are given at most.
const SLOW_SIZE_MAX: usize = 1;
/// Who is run in Python, and with how many megabytes at most.
const PEERS: [(&str, &str, usize); 2] = [
    ("LangChain", "langchain", 10),
    ("LlamaIndex", "llamaindex", SLOW_SIZE_MAX),
];

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
    for size in SIZES {
        let file = work.path().join(format!("{size}.md"));
        std::fs::write(&file, Corpus::new(1).document(size * MEGABYTE))?;
        rows.extend(sides(args, &file, size)?);
    }
    let folder = work.path().join("folder");
    Corpus::new(2).folder(&folder, 20 * MEGABYTE, 10_000)?;
    let memory = import::run(&folder, None).await?;
    let redis = match &args.redis {
        Some(url) => Some(import::run(&folder, Some(url)).await?),
        None => None,
    };
    report(args, &rows, &memory, redis.as_ref())
}

/// All ways that are quick enough for a file, interleaved.
fn sides(args: &Args, file: &Path, size: usize) -> anyhow::Result<Vec<Row>> {
    let megabytes = std::fs::metadata(file)?.len() as f64 / MEGABYTE as f64;
    let rounds = if size > 10 { 2 } else { args.rounds };
    let mut ways: Vec<(&'static str, Command)> = vec![
        ("bare pulldown-cmark", own(file, "bare", rounds)?),
        ("Kurier, to keys", own(file, "own", rounds)?),
    ];
    if cfg!(feature = "splitters") && size <= SLOW_SIZE_MAX {
        ways.push(("text-splitter", own(file, "splitter", 1)?));
    }
    for (name, peer, size_max) in PEERS {
        if let Some(python) = args.python.as_ref().filter(|_| size <= size_max) {
            let mut command = Command::new(python);
            command.arg(args.peers.join("content.py"));
            command.arg(peer).arg(file);
            ways.push((name, command));
        }
    }
    let mut rows = Vec::new();
    for (name, mut command) in ways {
        eprintln!("==> {name}, {size} MB");
        let mut found = Vec::new();
        for _ in 0..rounds.min(3) {
            let output = command
                .output()
                .with_context(|| format!("{name} cannot be run"))?;
            anyhow::ensure!(
                output.status.success(),
                "{name}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            found.push(serde_json::from_slice::<Measured>(&output.stdout)?);
        }
        let seconds = median(found.iter().map(|it| it.seconds).collect());
        let first = found.into_iter().next().context("no round")?;
        let measured = Measured { seconds, ..first };
        rows.push(Row {
            name,
            megabytes,
            measured,
        });
    }
    Ok(rows)
}

fn own(file: &Path, way: &str, rounds: usize) -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["content-side", way]).arg(file);
    command.args(["--rounds", &rounds.to_string()]);
    Ok(command)
}

fn report(
    args: &Args,
    rows: &[Row],
    memory: &Imported,
    redis: Option<&Imported>,
) -> anyhow::Result<()> {
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
    println!("\n{shown}\n");
    let mut imports = table(&[
        "20 MB in 2,000 files",
        "import s",
        "keyspace s",
        "again s",
        "keys",
    ]);
    for (name, imported) in [("in process", Some(memory)), ("Redis", redis)] {
        if let Some(it) = imported {
            imports.add_row(vec![
                name.to_owned(),
                number(it.seconds, 2),
                number(it.keyspace_seconds, 2),
                number(it.again_seconds, 3),
                number(it.keys as f64, 0),
            ]);
        }
    }
    println!("{imports}\n");
    let verdicts = verdicts(rows, memory);
    println!("{}\n", targets(&verdicts));
    let json = serde_json::json!({
        "rounds": args.rounds, "rows": rows, "in_process": memory, "redis": redis,
        "verdicts": verdicts,
    });
    keep(&args.out, &json)
}

fn verdicts(rows: &[Row], import: &Imported) -> Vec<Verdict> {
    let find = |name: &str, size: usize| {
        let is_it = |row: &&Row| row.name == name && row.megabytes as usize == size;
        rows.iter().find(is_it)
    };
    let at_least = |target: &str, found: f64, needed: f64| Verdict {
        target: target.to_owned(),
        found,
        needed,
        pass: found >= needed,
    };
    let at_most = |target: &str, found: f64, needed: f64| Verdict {
        pass: found <= needed,
        ..at_least(target, found, needed)
    };
    let (own, bare) = ("Kurier, to keys", "bare pulldown-cmark");
    let mut verdicts = Vec::new();
    if let (Some(one), Some(ten), Some(hundred)) = (find(own, 1), find(own, 10), find(own, 100)) {
        verdicts.push(at_least("10 MB to keys, MB/s", ten.speed(), 100.0));
        verdicts.push(at_most("10 MB to keys, s", ten.measured.seconds, 0.3));
        verdicts.push(at_most("10 MB to keys, memory × size", ten.memory(), 5.0));
        let linear = hundred.measured.seconds / (10.0 * ten.measured.seconds);
        // A larger heap costs the bare parser about a fifth, too; what is quadratic would show ten.
        verdicts.push(at_most("100 MB as ten times 10 MB", linear, 1.5));
        if let Some(bare) = find(bare, 10) {
            let half = ten.speed() / bare.speed();
            verdicts.push(at_least(
                "10 MB to keys, of the bare parser's speed",
                half,
                0.5,
            ));
        }
        for (own, size) in [(one, 1), (ten, 10)] {
            let Some(peer) = find("LangChain", size) else {
                continue;
            };
            let target = format!("{size} MB, times LangChain");
            verdicts.push(at_least(&target, own.speed() / peer.speed(), 10.0));
        }
    }
    verdicts.push(at_most("20 MB unchanged, s", import.again_seconds, 1.0));
    verdicts.push(at_most(
        "20 MB unchanged, events written",
        import.again_events as f64,
        0.0,
    ));
    verdicts
}
