//! Projections as the API shows them.

use std::fmt;

use kurier_core::id::WorkspaceId;
use kurier_core::projection::{Cell, Difference, Projection};
use kurier_store::{Progress, SetAside};
use serde::Serialize;
use utoipa::ToSchema;

use crate::flow::rebuild::{Ending, Order, Stage, Task, Verified};

/// A projection: how far it is, and what stops it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectionView {
    #[schema(example = "contacts")]
    name: &'static str,
    /// The tables that only it writes.
    #[schema(example = json!(["contact", "timeline", "erasure"]))]
    tables: Vec<&'static str>,
    /// Why an event that is told twice changes nothing: `upsert`, `processed_events` or
    /// `event_rows`.
    #[schema(example = "upsert")]
    repeat: &'static str,
    /// The last event it has folded.
    position: i64,
    /// How many events it has not folded yet.
    lag: i64,
    /// How many events it folds in a second: here over the last ten seconds, on the command
    /// line over half a second; none where it does not run.
    #[schema(example = 1250.5)]
    events_per_second: Option<f64>,
    paused: bool,
    /// What stops it now.
    failure: Option<FailureView>,
    /// What stopped it last, whether it still does or not.
    last_error: Option<ErrorView>,
    /// How many events it could not fold.
    set_aside: u64,
    /// A rebuild or verification in this process, under way or ended.
    work: Option<WorkView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FailureView {
    #[schema(example = "2026-11-19T09:30:00.000Z")]
    since: String,
    #[schema(example = "the database cannot be reached")]
    reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorView {
    at: String,
    #[schema(example = "the attribute `phone` has no value")]
    reason: String,
}

impl ProjectionView {
    pub fn new(
        projection: &'static dyn Projection,
        head: i64,
        progress: Progress,
        set_aside: u64,
    ) -> Self {
        let tables = projection.tables().iter().map(|table| table.name);
        let failure = progress.failure.map(|(since, reason)| FailureView {
            since: since.to_string(),
            reason,
        });
        let last_error = progress.last_failure.map(|(at, reason)| ErrorView {
            at: at.to_string(),
            reason,
        });
        Self {
            name: projection.name(),
            tables: tables.collect(),
            repeat: projection.repeat().as_str(),
            position: progress.position.0,
            lag: (head - progress.position.0).max(0),
            events_per_second: None,
            paused: progress.is_paused,
            failure,
            last_error,
            set_aside,
            work: None,
        }
    }

    /// The view as a line of a list.
    pub fn cells(&self) -> Vec<String> {
        vec![
            self.name.to_owned(),
            self.position.to_string(),
            self.lag.to_string(),
            self.rate(),
            self.set_aside.to_string(),
            self.state().to_owned(),
            self.repeat.to_owned(),
        ]
    }

    fn rate(&self) -> String {
        let rate = self.events_per_second;
        rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1}"))
    }

    const fn state(&self) -> &'static str {
        match (self.paused, &self.failure) {
            (true, _) => "paused",
            (false, Some(_)) => "failing",
            (false, None) => "ok",
        }
    }

    /// With how fast it is.
    #[must_use]
    pub fn at_rate(self, events_per_second: Option<f64>) -> Self {
        Self {
            events_per_second,
            ..self
        }
    }

    pub fn with(self, order: Option<&Order>, workspace: WorkspaceId) -> Self {
        Self {
            work: order.map(|order| WorkView::of(order, workspace)),
            ..self
        }
    }
}

impl fmt::Display for ProjectionView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "projection  {}", self.name)?;
        writeln!(f, "state       {}", self.state())?;
        writeln!(f, "position    {}", self.position)?;
        writeln!(f, "lag         {}", self.lag)?;
        writeln!(f, "events/s    {}", self.rate())?;
        writeln!(f, "tables      {}", self.tables.join(", "))?;
        writeln!(f, "repeats     {}", self.repeat)?;
        if let Some(failure) = &self.failure {
            writeln!(f, "failing     since {}: {}", failure.since, failure.reason)?;
        }
        if let Some(error) = &self.last_error {
            writeln!(f, "last error  {}: {}", error.at, error.reason)?;
        }
        writeln!(f, "set aside   {}", self.set_aside)
    }
}

/// An event that could not be folded.
#[derive(Debug, Serialize, ToSchema)]
pub struct SetAsideView {
    position: i64,
    #[schema(example = "the event cannot be read")]
    reason: String,
}

impl From<SetAside> for SetAsideView {
    fn from(aside: SetAside) -> Self {
        Self {
            position: aside.position.0,
            reason: aside.reason,
        }
    }
}

impl fmt::Display for SetAsideView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}: {}", self.position, self.reason)
    }
}

/// A rebuild or verification.
#[derive(Debug, Serialize, ToSchema)]
pub struct WorkView {
    /// `rebuild` or `verify`.
    #[schema(example = "verify")]
    task: &'static str,
    began_at: String,
    ended_at: Option<String>,
    /// What it is doing; none when it has ended.
    stage: Option<Stage>,
    /// Events folded, and how many there are.
    done: i64,
    of: i64,
    /// How long it will go on, if it goes on like this.
    seconds_left: Option<f64>,
    /// Why it failed.
    #[schema(example = "the database cannot be reached")]
    failure: Option<String>,
    /// What a verification found.
    verdict: Option<VerdictView>,
}

impl WorkView {
    fn of(order: &Order, workspace: WorkspaceId) -> Self {
        let ending = order.ended.as_ref().map(|(_, ending)| ending);
        let work = order.work();
        Self {
            task: match order.task {
                Task::Rebuild => "rebuild",
                Task::Verify => "verify",
            },
            began_at: order.began_at.to_string(),
            ended_at: order.ended.as_ref().map(|(at, _)| at.to_string()),
            stage: order.ended.is_none().then_some(work.stage),
            done: work.done,
            of: work.of,
            seconds_left: order.seconds_left(),
            failure: match ending {
                Some(Ending::Failed(reason)) => Some(reason.clone()),
                _ => None,
            },
            verdict: match ending {
                Some(Ending::Verified(verified)) => Some(VerdictView::of(verified, workspace)),
                _ => None,
            },
        }
    }
}

/// Whether read models are what the log says.
#[derive(Debug, Serialize, ToSchema)]
pub struct VerdictView {
    equal: bool,
    /// Both sides were folded up to here.
    position: i64,
    tables: Vec<TableView>,
    /// The first rows of this workspace that differ.
    differences: Vec<DifferenceView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TableView {
    #[schema(example = "contacts")]
    table: &'static str,
    rows: u64,
    /// The same for the same rows.
    #[schema(example = "5f1c9c0d6c9b7e0e4a8f4bb6a3a1f6f1d2c3b4a5968778695a4b3c2d1e0f0a1b")]
    digest: String,
    equal: bool,
}

/// A row that differs.
#[derive(Debug, Serialize, ToSchema)]
pub struct DifferenceView {
    #[schema(example = "contacts")]
    table: &'static str,
    /// The values of its key, without the workspace.
    #[schema(example = "019a9b6e-5f00-7c3a-9d1e-3f2b8c4d5e6f")]
    key: Vec<String>,
    /// The columns that differ.
    #[schema(example = json!(["email"]))]
    columns: Vec<&'static str>,
    /// Whether the read model has the row.
    in_view: bool,
    /// Whether the log says that there is such a row.
    in_log: bool,
}

impl VerdictView {
    /// Rows of other workspaces are nobody's business here.
    pub fn of(verified: &Verified, workspace: WorkspaceId) -> Self {
        let ours = verified.differences.iter();
        let ours = ours.filter(|it| it.key.first() == Some(&Cell::from(workspace)));
        Self {
            differences: ours.map(DifferenceView::from).collect(),
            ..Self::of_all(verified)
        }
    }

    pub fn differences(&self) -> &[DifferenceView] {
        &self.differences
    }

    pub fn of_all(verified: &Verified) -> Self {
        let tables = verified.tables.iter().map(|table| TableView {
            table: table.table,
            rows: table.rows,
            digest: table.digest.clone(),
            equal: table.is_equal,
        });
        let all = verified.differences.iter();
        Self {
            equal: verified.is_equal(),
            position: verified.position.0,
            tables: tables.collect(),
            differences: all.map(DifferenceView::from).collect(),
        }
    }
}

impl From<&Difference> for DifferenceView {
    fn from(difference: &Difference) -> Self {
        let key = difference.key.iter().skip(1).map(text);
        Self {
            table: difference.table,
            key: key.collect(),
            columns: difference.columns.clone(),
            in_view: difference.is_in_view,
            in_log: difference.is_in_log,
        }
    }
}

impl fmt::Display for DifferenceView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, key, .. } = self;
        let key = key.join(", ");
        match (self.in_view, self.in_log) {
            (true, false) => write!(f, "{table} ({key}): the log knows of no such row"),
            (false, true) => write!(f, "{table} ({key}): the row is missing"),
            _ => write!(f, "{table} ({key}): {} differs", self.columns.join(", ")),
        }
    }
}

/// A key's value, as a person would write it.
pub fn text(cell: &Cell) -> String {
    match cell {
        Cell::Null => "null".to_owned(),
        Cell::Id(id) => id.to_string(),
        Cell::Int(int) => int.to_string(),
        Cell::Text(text) | Cell::Json(text) => text.clone(),
    }
}
