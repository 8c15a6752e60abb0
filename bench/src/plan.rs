//! What is measured: the databases, the shapes of load, the programs.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use crate::load::Shape;

#[derive(clap::Args)]
pub struct Args {
    /// Seconds of measuring a cell, after one of warm-up
    #[arg(long, default_value_t = 5.0)]
    pub seconds: f64,
    /// Rounds; the medians are shown
    #[arg(long, default_value_t = 3)]
    pub rounds: usize,
    /// One database only
    #[arg(long)]
    pub only: Option<Database>,
    /// The server program
    #[arg(long)]
    pub kurier: PathBuf,
    /// The folder of the Node peer, its packages installed
    #[arg(long)]
    pub peers: PathBuf,
    /// A PostgreSQL server that databases may be made on
    #[arg(long, env = "TEST_POSTGRES_URL")]
    pub postgres: String,
    /// Where the results go as JSON
    #[arg(long)]
    pub out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    Sqlite,
    Postgres,
}

impl Database {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

const fn shape(events: usize, connections: usize) -> Shape {
    Shape {
        events,
        connections,
    }
}

/// The two that the targets are about.
pub const BATCHES: Shape = shape(100, 64);
pub const SINGLES: Shape = shape(1, 64);

/// In this order for both: batches leave a backlog to the projections, singles hardly one.
pub const KURIER: [Shape; 4] = [SINGLES, BATCHES, shape(100, 1), shape(1, 1)];
pub const NODE: [Shape; 2] = [SINGLES, BATCHES];
pub const HANDLER: [Shape; 1] = [SINGLES];

/// One part of a round.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    Bare(Database),
    Kurier(Database),
    Node,
    /// The bare handler, on PostgreSQL.
    Handler,
}

impl Args {
    pub fn databases(&self) -> Vec<Database> {
        let all = [Database::Sqlite, Database::Postgres];
        all.into_iter()
            .filter(|database| self.only.is_none_or(|only| only == *database))
            .collect()
    }

    /// The parts of a round. Every other round goes backwards, so that nothing always comes
    /// first, and each side stands next to what it is compared with.
    pub fn round(&self, number: usize) -> Vec<Part> {
        let order = [
            Part::Bare(Database::Sqlite),
            Part::Kurier(Database::Sqlite),
            Part::Node,
            Part::Kurier(Database::Postgres),
            Part::Handler,
            Part::Bare(Database::Postgres),
        ];
        let wanted = |part: &Part| match part {
            Part::Bare(database) | Part::Kurier(database) => self.databases().contains(database),
            Part::Handler => self.databases().contains(&Database::Postgres),
            Part::Node => true,
        };
        let mut parts: Vec<Part> = order.into_iter().filter(wanted).collect();
        if number % 2 == 1 {
            parts.reverse();
        }
        parts
    }
}
