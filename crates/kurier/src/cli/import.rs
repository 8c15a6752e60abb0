//! `kurier import`: contacts from CSV or NDJSON, events from NDJSON. What was imported is
//! known by file and line, so doing it again, after a crash or by mistake, changes nothing.

mod contacts;
mod events;
mod lines;
mod progress;

pub use events::in_words;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use kurier_core::contact::Standing;
use kurier_core::event::{Event, Position, Said};
use kurier_core::id::WorkspaceId;
use kurier_core::projection::{CONTACT, Cell, ERASURE, Need, Row, contact_standing};
use kurier_core::time::Timestamp;
use kurier_store::{Appended, Scope, Workspace};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::workspace::WorkspaceArgs;
use crate::app::App;
use crate::config::Config;
pub use progress::Progress;

/// Lines appended at once: one transaction each.
const BATCH: usize = 1_000;
/// So many faulty lines are shown; the rest is counted.
const FAULTS_SHOWN: usize = 20;

#[derive(Debug, Args)]
pub struct ImportArgs {
    #[command(subcommand)]
    command: ImportCommand,
}

#[derive(Debug, Subcommand)]
enum ImportCommand {
    /// Contacts from CSV (a header names the columns) or NDJSON (an object a line)
    Contacts(contacts::ContactsArgs),
    /// Events from NDJSON: a line is an item as in POST /v1/batch
    Events(events::EventsArgs),
}

#[derive(Debug, Args)]
struct Common {
    /// The file to import
    file: PathBuf,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Check every line and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Answer in JSON, without a progress bar
    #[arg(long)]
    json: bool,
}

pub async fn run(config: &Config, args: ImportArgs) -> anyhow::Result<ExitCode> {
    let app = App::open(config).await?;
    match args.command {
        ImportCommand::Contacts(args) => contacts::run(&app, args).await,
        ImportCommand::Events(args) => events::run(&app, args).await,
    }
}

/// One import under way: lines go in, a report comes out.
struct Import<'a> {
    app: &'a App,
    workspace: Workspace,
    source: Source,
    dry_run: bool,
    json: bool,
    progress: Progress,
    /// Who was erased here comes back only on purpose.
    include_erased: bool,
    /// Events to append, each with its line.
    waiting: Vec<(u64, Event)>,
    tally: Tally,
    last: Position,
}

#[derive(Debug, Default)]
struct Tally {
    lines: u64,
    imported: u64,
    known: u64,
    faulty: u64,
    faults: Vec<(u64, String)>,
    /// The first line that was not imported: the next run begins with it.
    first_fault: Option<u64>,
}

/// A file and what tells it from others: its content, so that a copy is the same import.
struct Source {
    file: File,
    bytes: u64,
    digest: String,
}

impl Source {
    fn open(path: &PathBuf) -> anyhow::Result<Self> {
        let open = || File::open(path).with_context(|| format!("cannot read {}", path.display()));
        let mut hash = Sha256::new();
        let mut reader = BufReader::with_capacity(1 << 20, open()?);
        let mut bytes = 0;
        loop {
            let chunk = reader.fill_buf()?;
            let length = chunk.len();
            if length == 0 {
                break;
            }
            hash.update(chunk);
            reader.consume(length);
            bytes += length as u64;
        }
        Ok(Self {
            file: open()?,
            bytes,
            digest: hex::encode(&hash.finalize()[..16]),
        })
    }

    /// The same file read in another manner is another import: whoever corrects how columns are
    /// used wants the lines again.
    fn read_as(&mut self, manner: &str) {
        let mut hash = Sha256::new();
        hash.update(&self.digest);
        hash.update(manner);
        self.digest = hex::encode(&hash.finalize()[..16]);
    }

    /// How far this file was imported is noted under this name.
    fn checkpoint(&self, workspace: &Workspace) -> String {
        format!("import:{}:{}", workspace.id, self.digest)
    }
}

impl<'a> Import<'a> {
    async fn begin(app: &'a App, common: &Common) -> anyhow::Result<Self> {
        let workspace = common.workspace.find(&app.store).await?;
        let source = Source::open(&common.file)?;
        Ok(Self {
            app,
            workspace,
            progress: Progress::new(source.bytes, common.json),
            source,
            dry_run: common.dry_run,
            json: common.json,
            include_erased: true,
            waiting: Vec::with_capacity(BATCH),
            tally: Tally::default(),
            last: Position(0),
        })
    }

    /// Lines up to this one were imported by an earlier run.
    async fn resume_after(&self) -> anyhow::Result<u64> {
        let name = self.source.checkpoint(&self.workspace);
        let done = self.app.store.views.checkpoint(&name).await?;
        Ok(if self.dry_run {
            0
        } else {
            done.0.unsigned_abs()
        })
    }

    /// A name for a line's event that is the same in every run.
    fn message_id(&self, line: u64) -> String {
        format!("import:{}:{line}", self.source.digest)
    }

    fn skip(&mut self) {
        self.tally.lines += 1;
        self.tally.known += 1;
    }

    async fn take(
        &mut self,
        line: u64,
        read: Result<Event, String>,
        bytes: u64,
    ) -> anyhow::Result<()> {
        self.tally.lines += 1;
        match read {
            Ok(event) => self.waiting.push((line, event)),
            Err(fault) => self.fault(line, fault),
        }
        if self.waiting.len() >= BATCH {
            self.flush(line).await?;
        }
        self.progress.at(bytes, self.tally.lines);
        Ok(())
    }

    fn fault(&mut self, line: u64, fault: String) {
        self.tally.faulty += 1;
        let first = self.tally.first_fault.map_or(line, |first| first.min(line));
        self.tally.first_fault = Some(first);
        if self.tally.faults.len() < FAULTS_SHOWN {
            self.progress.say(&format!("line {line}: {fault}"));
            self.tally.faults.push((line, fault));
        }
    }

    async fn flush(&mut self, line: u64) -> anyhow::Result<()> {
        if !self.include_erased {
            self.set_erased_aside().await?;
        }
        let waiting = std::mem::replace(&mut self.waiting, Vec::with_capacity(BATCH));
        let events: Vec<Event> = waiting.into_iter().map(|(_, event)| event).collect();
        if self.dry_run {
            self.tally.imported += events.len() as u64;
            return Ok(());
        }
        let appended = self
            .app
            .store
            .log
            .append(Scope(self.workspace.id), events)
            .await?;
        for outcome in appended {
            match outcome {
                Appended::At(position) => {
                    self.tally.imported += 1;
                    self.last = self.last.max(position);
                }
                Appended::Duplicate => self.tally.known += 1,
            }
        }
        // Lost in a crash, this only costs time: the lines' ids are known to the log.
        let name = self.source.checkpoint(&self.workspace);
        let done = self.tally.first_fault.map_or(line, |fault| fault - 1);
        Ok(self
            .app
            .store
            .views
            .set_checkpoint(&name, Position(i64::try_from(done)?))
            .await?)
    }

    /// Takes out of the waiting lines those whose contact or address was erased here.
    async fn set_erased_aside(&mut self) -> anyhow::Result<()> {
        let erased = self.erased().await?;
        let workspace = self.workspace.id;
        for (line, event) in std::mem::take(&mut self.waiting) {
            let keys = erasable_keys(workspace, &event)?;
            match keys.iter().find_map(|key| erased.get(key)) {
                Some(at) => self.fault(
                    line,
                    format!("this contact was erased at {at}; --include-erased imports it anyway"),
                ),
                None => self.waiting.push((line, event)),
            }
        }
        Ok(())
    }

    /// Those of the waiting lines' contacts and addresses that were erased, and when.
    async fn erased(&self) -> anyhow::Result<HashMap<Vec<Cell>, Timestamp>> {
        let mut needs = [(&CONTACT, Vec::new()), (&ERASURE, Vec::new())];
        for (_, event) in &self.waiting {
            for (need, key) in needs
                .iter_mut()
                .zip(erasable_keys(self.workspace.id, event)?)
            {
                need.1.push(key);
            }
        }
        let needs = needs
            .into_iter()
            .map(|(table, keys)| Need::new(table, keys))
            .collect();
        let loaded = self.app.store.views.load(needs).await?;
        let rows = loaded.into_iter().flat_map(|loaded| loaded.rows);
        Ok(rows
            .filter_map(|row| Some((row[..2].to_vec(), erased_at(&row)?)))
            .collect())
    }

    async fn finish(mut self, line: u64) -> anyhow::Result<ExitCode> {
        self.flush(line).await?;
        self.progress.say_phase("folding");
        if !self.dry_run {
            self.app.projector.drain().await?;
        }
        self.progress.end();
        self.report();
        Ok(if self.tally.faulty == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn report(&self) {
        let Tally {
            lines,
            imported,
            known,
            faulty,
            faults,
            ..
        } = &self.tally;
        if self.json {
            let faults: Vec<_> = faults
                .iter()
                .map(|(line, fault)| json!({"line": line, "fault": fault}))
                .collect();
            let dry_run = self.dry_run;
            println!(
                "{}",
                json!({"lines": lines, "imported": imported, "known": known, "faulty": faulty, "faults": faults, "dry_run": dry_run})
            );
            return;
        }
        let verb = if self.dry_run {
            "would be imported"
        } else {
            "imported"
        };
        println!("{imported} {verb}, {known} known already, {faulty} faulty, of {lines} lines");
        if *faulty > faults.len() as u64 {
            println!("(the first {} faulty lines are shown above)", faults.len());
        }
    }
}

/// The keys under which an erasure of this event's contact would be noted: its own and its
/// address's.
fn erasable_keys(workspace: WorkspaceId, event: &Event) -> anyhow::Result<Vec<Vec<Cell>>> {
    let contact = event.contact.context("an imported contact has an id")?;
    let said: Said<'_> = serde_json::from_str(&event.payload)?;
    let address = said
        .address
        .map(|address| vec![workspace.into(), Cell::Id(address.as_uuid())]);
    Ok([Some(vec![workspace.into(), contact.into()]), address]
        .into_iter()
        .flatten()
        .collect())
}

/// When a contact's or an address's row says it was erased and did not come back.
fn erased_at(row: &Row) -> Option<Timestamp> {
    if let Some((_, _, standing)) = contact_standing(row) {
        return match standing {
            Standing::Erased { at } => Some(at),
            _ => None,
        };
    }
    row.get(2)?.as_int().map(Timestamp::from_micros)
}
