//! A list from a CSV file: from another program, or from an earlier Kurier.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use kurier_core::message::SuppressionSource;
use serde_json::json;

use super::super::import::Progress;
use super::{Desk, How, code};
use crate::flow::suppress::{self, SUPPRESS_MAX, Wanted, Written};

/// So many faulty lines are shown; the rest is counted.
const FAULTS_SHOWN: usize = 20;

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// A CSV file whose header names the column `address` (or `email`, or `phone`), and perhaps
    /// `topic`, `reason` and `kind`
    file: PathBuf,
    #[command(flatten)]
    how: How,
    /// The reason of lines that give none [default: manual]
    #[arg(long)]
    reason: Option<String>,
}

/// Where in a line each field stands.
struct Columns {
    address: usize,
    kind: Option<usize>,
    topic: Option<usize>,
    reason: Option<usize>,
}

impl Columns {
    fn find(headers: &csv::StringRecord) -> anyhow::Result<Self> {
        let find = |name: &str| {
            let mut headers = headers.iter();
            headers.position(|header| header.eq_ignore_ascii_case(name))
        };
        let address = ["address", "email", "phone"].into_iter().find_map(find);
        let Some(address) = address else {
            let known: Vec<&str> = headers.iter().collect();
            bail!(
                "no column is called address, email or phone; there are: {}",
                known.join(", ")
            );
        };
        Ok(Self {
            address,
            kind: find("kind"),
            topic: find("topic"),
            reason: find("reason"),
        })
    }

    fn read(&self, record: &csv::StringRecord, args: &ImportArgs) -> Result<Wanted, String> {
        let cell = |column: Option<usize>| {
            let cell = column.and_then(|column| record.get(column));
            cell.filter(|cell| !cell.is_empty())
        };
        let written = Written {
            address: cell(Some(self.address)).unwrap_or_default(),
            kind: cell(self.kind).or(args.how.kind.as_deref()),
            topic: cell(self.topic).or(args.how.topic.as_deref()),
            reason: cell(self.reason).or(args.reason.as_deref()),
        };
        written
            .read()
            .map_err(|(field, detail)| format!("{field} {detail}"))
    }
}

struct Import<'a> {
    desk: &'a Desk,
    progress: Progress,
    waiting: Vec<Wanted>,
    lines: u64,
    added: usize,
    known: usize,
    faulty: usize,
}

/// Doing it again, after a crash or by mistake, changes nothing.
pub async fn run(desk: &Desk, args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let file = File::open(&args.file);
    let file = file.with_context(|| format!("cannot read {}", args.file.display()))?;
    let mut import = Import {
        desk,
        progress: Progress::new(file.metadata()?.len(), desk.json),
        waiting: Vec::new(),
        lines: 0,
        added: 0,
        known: 0,
        faulty: 0,
    };
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(BufReader::new(file));
    let columns = Columns::find(
        reader
            .headers()
            .context("the file has no readable header")?,
    )?;
    let mut record = csv::StringRecord::new();
    loop {
        let line = reader.position().line();
        let read = match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => columns.read(&record, args),
            Err(error) if error.is_io_error() => return Err(error.into()),
            Err(error) => Err(error.to_string()),
        };
        import.take(line, read).await?;
        import.progress.at(reader.position().byte(), import.lines);
    }
    import.flush().await?;
    import.report();
    Ok(code(import.faulty == 0))
}

impl Import<'_> {
    async fn take(&mut self, line: u64, read: Result<Wanted, String>) -> anyhow::Result<()> {
        self.lines += 1;
        match read {
            Ok(wanted) => self.waiting.push(wanted),
            Err(fault) => self.fault(line, &fault),
        }
        if self.waiting.len() >= SUPPRESS_MAX {
            self.flush().await?;
        }
        Ok(())
    }

    fn fault(&mut self, line: u64, fault: &str) {
        self.faulty += 1;
        if self.faulty <= FAULTS_SHOWN {
            self.progress.say(&format!("line {line}: {fault}"));
        }
    }

    async fn flush(&mut self) -> anyhow::Result<()> {
        let (store, workspace) = (&self.desk.app.store, &self.desk.grant.workspace);
        let source = SuppressionSource::Import;
        let fresh = suppress::suppress(store, workspace, &self.waiting, source).await?;
        let added = fresh.iter().filter(|fresh| **fresh).count();
        self.added += added;
        self.known += fresh.len() - added;
        self.waiting.clear();
        Ok(())
    }

    fn report(&self) {
        self.progress.end();
        let Self {
            lines,
            added,
            known,
            faulty,
            ..
        } = self;
        if self.desk.json {
            println!(
                "{}",
                json!({"lines": lines, "added": added, "known": known, "faulty": faulty})
            );
        } else {
            println!("{added} added, {known} known already, {faulty} faulty, of {lines} lines");
        }
    }
}
