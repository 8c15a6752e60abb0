//! Small groups on their way into the log. A call and its fsync cost more than their rows, so fewer
//! calls are better; and the database is never to be kept waiting. So a call follows another in the
//! pipe when enough has come for it. Where there is no pipe, one call follows the other's answer.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::poll_immediate;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::appender::{Committed, Group, Job, Lines, commit, settle};
use super::failure::Failure;
use super::line::Line;
use super::pipe::{self, Call, Pipe};
use crate::log::Appended;
use crate::tail::Tail;

const CALLS_MAX: usize = 2;
/// While a call is under way, another one is worth its price from so many events on.
const ENOUGH: usize = 24;
/// Where there is no pipe, one is looked for every so many turns.
const SEARCH_EVERY: usize = 1_000;
/// It is looked for while others wait.
const OPEN_LIMIT: Duration = Duration::from_secs(1);

/// The pipe, if there is one.
#[derive(Default)]
pub struct Piping {
    pipe: Option<Pipe>,
    /// Turns since it was lost, or since the start.
    without: usize,
    /// Whether connections to this server are in the clear.
    is_plain: Option<bool>,
}

impl Piping {
    async fn find(&mut self, lines: &Lines) -> Option<&Pipe> {
        if self.pipe.as_ref().is_some_and(Pipe::is_closed) {
            (self.pipe, self.without) = (None, 0);
        }
        if self.pipe.is_none() {
            if self.without.is_multiple_of(SEARCH_EVERY) {
                self.pipe = self.open(lines).await;
            }
            self.without += 1;
        }
        self.pipe.as_ref()
    }

    async fn open(&mut self, lines: &Lines) -> Option<Pipe> {
        if self.is_plain.is_none() {
            let options = lines.pool.connect_options();
            let asked = timeout(OPEN_LIMIT, pipe::is_plain(&options)).await;
            self.is_plain = asked.ok().and_then(Result::ok);
        }
        match self.is_plain {
            Some(true) => {
                let opened = Pipe::open(&lines.pool, &lines.index);
                timeout(OPEN_LIMIT, opened).await.ok().flatten()
            }
            _ => None,
        }
    }
}

/// Commits small groups. Answers a large one, if one waits.
pub async fn run(
    piping: &mut Piping,
    lines: &mut Lines,
    group: Group,
    waiting: &mut mpsc::Receiver<Job>,
) -> Option<Group> {
    match piping.find(lines).await {
        Some(pipe) => run_piped(pipe, lines, group, waiting).await,
        None => run_singly(lines, group, waiting).await,
    }
}

async fn run_piped(
    pipe: &Pipe,
    lines: &mut Lines,
    group: Group,
    waiting: &mut mpsc::Receiver<Job>,
) -> Option<Group> {
    let mut calls = Calls {
        pipe,
        under_way: VecDeque::with_capacity(CALLS_MAX),
        group,
        failed: Vec::new(),
    };
    if let Err(failure) = pipe.prepare().await {
        calls
            .failed
            .push((std::mem::take(&mut calls.group.jobs), failure));
        calls.group = Group::default();
    }
    loop {
        calls.send(waiting).await;
        let listens = calls.listens();
        let Some(first) = calls.under_way.front_mut() else {
            break;
        };
        tokio::select! {
            biased;
            landed = first => {
                calls.under_way.pop_front();
                match landed.appended {
                    Ok(appended) => {
                        // The next is on its way before the callers of this one are told.
                        calls.send(waiting).await;
                        Committed { jobs: landed.jobs, appended }.answer(&lines.tail);
                    }
                    Err(failure) => calls.failed.push((landed.jobs, failure)),
                }
            }
            Some(job) = waiting.recv(), if listens => calls.group.push(job),
        }
    }
    let Calls { group, failed, .. } = calls;
    for (jobs, failure) in failed {
        settle_failed(lines, jobs, failure).await;
    }
    group.unless_empty()
}

/// What is under way, what gathers meanwhile, and what has failed.
struct Calls<'a> {
    pipe: &'a Pipe,
    under_way: VecDeque<Call<'a>>,
    group: Group,
    failed: Vec<(Vec<Job>, Failure)>,
}

impl Calls<'_> {
    /// Sends what has gathered, if it is enough.
    async fn send(&mut self, waiting: &mut mpsc::Receiver<Job>) {
        self.group.fill(waiting);
        while self.is_due() {
            match self.pipe.call(std::mem::take(&mut self.group)).await {
                Ok(call) => self.under_way.push_back(call),
                Err(group) => {
                    self.group = group;
                    return;
                }
            }
            self.group.fill(waiting);
        }
    }

    fn is_due(&self) -> bool {
        let is_enough = match self.under_way.is_empty() {
            true => !self.group.jobs.is_empty(),
            false => self.group.events >= ENOUGH,
        };
        self.may_send() && !self.group.is_large() && is_enough
    }

    /// Nothing follows a call that failed until that is settled.
    fn may_send(&self) -> bool {
        self.under_way.len() < CALLS_MAX && self.failed.is_empty()
    }

    fn listens(&self) -> bool {
        self.may_send() && !self.group.is_full()
    }
}

/// By a line, on which nothing else is under way.
async fn settle_failed(lines: &mut Lines, jobs: Vec<Job>, failure: Failure) {
    let line = lines.take();
    let kept = match failure.is_behind() {
        true => {
            lines.index.ids().forget();
            commit(line, Group::from(jobs), lines.tail.clone()).await
        }
        false => settle(line, jobs, Err(failure), &lines.tail).await,
    };
    lines.idle.extend(kept);
}

async fn run_singly(
    lines: &mut Lines,
    mut group: Group,
    waiting: &mut mpsc::Receiver<Job>,
) -> Option<Group> {
    let mut line = lines.take();
    let mut last: Option<Committed> = None;
    loop {
        let tail = &lines.tail;
        let appended = append_and_answer(&mut line, &group, last.take(), tail).await;
        let Ok(appended) = appended else {
            let kept = settle(line, group.jobs, appended, tail).await;
            lines.idle.extend(kept);
            return None;
        };
        let done = Committed {
            jobs: group.jobs,
            appended,
        };
        group = Group::default();
        group.fill(waiting);
        if group.jobs.is_empty() || group.is_large() {
            done.answer(tail);
            lines.idle.push(line);
            return group.unless_empty();
        }
        last = Some(done);
    }
}

/// Appends a group; when that is under way, the last one's callers are told.
async fn append_and_answer(
    line: &mut Line,
    group: &Group,
    last: Option<Committed>,
    tail: &Tail,
) -> Result<Vec<Appended>, Failure> {
    let batch = group.batch();
    let mut call = pin!(line.append(&batch));
    let at_once = poll_immediate(call.as_mut()).await;
    last.into_iter().for_each(|last| last.answer(tail));
    match at_once {
        Some(appended) => appended,
        None => call.await,
    }
}
