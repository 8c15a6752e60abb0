//! One way to read Markdown, in a process of its own, so that its memory is its own.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use kurier_core::content::{Decision, Numbers, Outline, Plan, Settings, Slugger, Tree};
use pulldown_cmark::{Options, Parser};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Way {
    /// Kurier: parse, tree and keys.
    Own,
    /// The parser that Kurier uses, and nothing else.
    Bare,
    /// The `text-splitter` crate.
    Splitter,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Measured {
    /// The best of the rounds.
    pub seconds: f64,
    /// The most memory that the text and what became of it took together.
    pub peak_bytes: u64,
    /// What came out of it: nodes, events, chunks.
    pub pieces: usize,
}

/// Reads a file; prints what it took.
pub fn run(way: Way, file: &Path, rounds: usize) -> anyhow::Result<()> {
    let before = peak()?;
    let text = std::fs::read_to_string(file)?;
    let (mut best, mut pieces, mut grown) = (f64::MAX, 0, 0);
    for _ in 0..rounds {
        let began = Instant::now();
        pieces = match way {
            Way::Own => own(&text)?,
            Way::Bare => bare(&text),
            Way::Splitter => splitter(&text),
        };
        best = best.min(began.elapsed().as_secs_f64());
        // What later rounds leave to the allocator is not what one takes.
        if grown == 0 {
            grown = peak()?.saturating_sub(before);
        }
    }
    let measured = Measured {
        seconds: best,
        peak_bytes: grown,
        pieces,
    };
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}

fn own(text: &str) -> anyhow::Result<usize> {
    let slugger = Slugger::new(&Settings::default());
    let outline = Outline::read(text, Some("a.md"), &slugger)?;
    let mut numbers = Numbers::default();
    match Plan::new("a.md", None, &outline).decide(&mut numbers) {
        Decision::Changed(change) => Ok(black_box(Tree::new(&change.document)).len()),
        Decision::Unchanged => Ok(0),
    }
}

fn bare(text: &str) -> usize {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES;
    Parser::new_ext(text, options).into_offset_iter().count()
}

#[cfg(feature = "splitters")]
fn splitter(text: &str) -> usize {
    let splitter = text_splitter::MarkdownSplitter::new(1_000);
    splitter.chunks(text).count()
}

#[cfg(not(feature = "splitters"))]
fn splitter(_: &str) -> usize {
    0
}

/// The most memory that this process ever had.
fn peak() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kilobytes: u64 = kilobytes.unwrap_or("0").trim().parse()?;
    Ok(kilobytes * 1024)
}
