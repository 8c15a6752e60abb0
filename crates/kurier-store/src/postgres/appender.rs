//! Group commit. Callers queue; everything that waits goes into one call of `log_append`.
//! Large groups go two at a time: while one commits, the other is on its way. How small ones go,
//! is in `small`.

use std::sync::Arc;

use kurier_core::event::{Event, Position};
use kurier_core::id::WorkspaceId;
use sqlx::{PgConnection, PgPool, Row};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::failure::Failure;
use super::ids::Batch;
use super::index::Index;
use super::line::{Line, bind};
use super::small::{self, Piping};
use crate::log::Appended;
use crate::tail::Tail;
use crate::{Error, Result, Scope};

const WAITING_MAX: usize = 1_024;
const GROUP_EVENTS_MAX: usize = 4_000;
const CALLS_MAX: usize = 2;
/// So many events are a large group.
const LARGE_GROUP_EVENTS: usize = 500;

pub struct Appender {
    jobs: mpsc::Sender<Job>,
}

pub struct Job {
    workspace: WorkspaceId,
    events: Vec<Event>,
    answer: oneshot::Sender<Result<Vec<Appended>>>,
}

impl Job {
    fn batch(&self) -> impl Iterator<Item = (WorkspaceId, &Event)> {
        self.events.iter().map(|event| (self.workspace, event))
    }

    fn answer(self, result: Result<Vec<Appended>>) {
        // A caller that went away does not need the answer.
        let _ = self.answer.send(result);
    }
}

impl Appender {
    /// What was appended is kept in `tail`.
    pub fn start(pool: PgPool, tail: Arc<Tail>) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING_MAX);
        tokio::spawn(run(pool, tail, waiting));
        Self { jobs }
    }

    pub async fn append(&self, scope: Scope, events: Vec<Event>) -> Result<Vec<Appended>> {
        let (answer, answered) = oneshot::channel();
        let stopped = || Error::Unavailable("the appender has stopped".into());
        let job = Job {
            workspace: scope.0,
            events,
            answer,
        };
        self.jobs.send(job).await.map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped())?
    }
}

async fn run(pool: PgPool, tail: Arc<Tail>, mut waiting: mpsc::Receiver<Job>) {
    let mut lines = Lines {
        index: Arc::new(Index::of(pool.clone())),
        pool,
        tail,
        idle: Vec::with_capacity(CALLS_MAX),
    };
    let mut piping = Piping::default();
    while let Some(first) = waiting.recv().await {
        let mut next = Some(Group::of(first, &mut waiting));
        while let Some(group) = next {
            next = if group.is_large() {
                run_large(&mut lines, group, &mut waiting).await
            } else {
                small::run(&mut piping, &mut lines, group, &mut waiting).await
            };
        }
    }
}

/// Commits large groups, two at a time. Answers what waits when no large one is left.
async fn run_large(
    lines: &mut Lines,
    mut group: Group,
    waiting: &mut mpsc::Receiver<Job>,
) -> Option<Group> {
    let mut calls = JoinSet::new();
    loop {
        calls.spawn(commit(lines.take(), group, lines.tail.clone()));
        group = Group::default();
        while !calls.is_empty() && (calls.len() == CALLS_MAX || !group.is_large()) {
            tokio::select! {
                Some(ended) = calls.join_next() => lines.idle.extend(ended.ok().flatten()),
                Some(job) = waiting.recv(), if !group.is_full() => group.push(job),
            }
        }
        group.fill(waiting);
        if !group.is_large() {
            return group.unless_empty();
        }
    }
}

/// The ways into the log, and what they share.
pub struct Lines {
    pub pool: PgPool,
    pub tail: Arc<Tail>,
    pub index: Arc<Index>,
    pub idle: Vec<Line>,
}

impl Lines {
    pub fn take(&mut self) -> Line {
        Line::reuse(&mut self.idle, &self.pool, &self.index)
    }
}

/// Jobs that go into one call.
#[derive(Default)]
pub struct Group {
    pub jobs: Vec<Job>,
    pub events: usize,
}

impl From<Vec<Job>> for Group {
    fn from(jobs: Vec<Job>) -> Self {
        let events = jobs.iter().map(|job| job.events.len()).sum();
        Self { jobs, events }
    }
}

impl Group {
    fn of(first: Job, waiting: &mut mpsc::Receiver<Job>) -> Self {
        let mut group = Self::from(vec![first]);
        group.fill(waiting);
        group
    }

    pub fn push(&mut self, job: Job) {
        self.events += job.events.len();
        self.jobs.push(job);
    }

    /// Takes in what waits.
    pub fn fill(&mut self, waiting: &mut mpsc::Receiver<Job>) {
        while !self.is_full()
            && let Ok(job) = waiting.try_recv()
        {
            self.push(job);
        }
    }

    pub fn batch(&self) -> Vec<(WorkspaceId, &Event)> {
        self.jobs.iter().flat_map(Job::batch).collect()
    }

    pub const fn is_full(&self) -> bool {
        self.events >= GROUP_EVENTS_MAX
    }

    pub const fn is_large(&self) -> bool {
        self.events >= LARGE_GROUP_EVENTS
    }

    pub fn unless_empty(self) -> Option<Self> {
        Some(self).filter(|group| !group.jobs.is_empty())
    }
}

/// A group that is durable, its callers not told yet.
pub struct Committed {
    pub jobs: Vec<Job>,
    pub appended: Vec<Appended>,
}

impl Committed {
    fn of(job: Job, appended: Vec<Appended>) -> Self {
        let jobs = vec![job];
        Self { jobs, appended }
    }

    /// Keeps the events at the end of the log, and then tells the callers.
    pub fn answer(self, tail: &Tail) {
        let mut appended = self.appended.into_iter();
        let mut answers = Vec::with_capacity(self.jobs.len());
        let mut end = tail.open();
        for job in self.jobs {
            let own: Vec<Appended> = appended.by_ref().take(job.events.len()).collect();
            end.keep(Scope(job.workspace), job.events, &own);
            answers.push((job.answer, own));
        }
        drop(end);
        for (answer, own) in answers {
            // A caller that went away does not need the answer.
            let _ = answer.send(Ok(own));
        }
    }
}

pub async fn commit(mut line: Line, group: Group, tail: Arc<Tail>) -> Option<Line> {
    let appended = line.append(&group.batch()).await;
    settle(line, group.jobs, appended, &tail).await
}

/// Tells the callers what became of their call. Answers the line if it can be used again.
pub async fn settle(
    mut line: Line,
    jobs: Vec<Job>,
    appended: Result<Vec<Appended>, Failure>,
    tail: &Tail,
) -> Option<Line> {
    match appended {
        Ok(appended) => {
            Committed { jobs, appended }.answer(tail);
            Some(line)
        }
        // One caller's mistake is not another's: each for itself.
        Err(failure) if failure.is_refusal() && jobs.len() > 1 => {
            for job in jobs {
                let batch: Vec<(WorkspaceId, &Event)> = job.batch().collect();
                match line.append(&batch).await {
                    Ok(appended) => Committed::of(job, appended).answer(tail),
                    Err(failure) => job.answer(Err(failure.into())),
                }
            }
            None
        }
        Err(failure) => {
            let error = Error::from(failure);
            for job in jobs {
                job.answer(Err(error.clone()));
            }
            None
        }
    }
}

/// Appends within a transaction. Whoever does so makes ids that nobody appends otherwise.
pub async fn append(connection: &mut PgConnection, batch: &Batch<'_>) -> Result<Vec<Appended>> {
    if batch.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT before, fresh FROM log_append_within($1, $2, $3, $4, $5, $6, $7, $8)";
    let row = bind(sqlx::query(sql), batch).fetch_one(connection).await?;
    Ok(outcomes(row.get("before"), row.get("fresh"), batch.len()))
}

/// What became of each event, from the position before the batch and the ordinals of the
/// new ones (`None`: all of them).
fn outcomes(before: i64, fresh: Option<Vec<i64>>, count: usize) -> Vec<Appended> {
    let at = |n: i64| Appended::At(Position(before + n));
    let Some(fresh) = fresh else {
        return (1..=count as i64).map(at).collect();
    };
    let mut outcomes = vec![Appended::Duplicate; count];
    for (ordinal, n) in fresh.into_iter().zip(1..) {
        outcomes[ordinal as usize - 1] = at(n);
    }
    outcomes
}

/// Uuids as PostgreSQL arrays want them.
pub fn uuids<T: Copy>(ids: &[T], uuid: impl Fn(T) -> Uuid) -> Vec<Uuid> {
    ids.iter().map(|id| uuid(*id)).collect()
}
