//! What is in the end of the log that is kept in memory, and where there are gaps.

use std::collections::BTreeMap;

use kurier_core::event::{Event, Kind, Position, Recorded};

use super::ring::Ring;
use crate::Scope;
use crate::log::Appended;

const BYTES_MAX: usize = 8 * 1024 * 1024;
/// When it is full so much goes at once: that is less work than a little with every event.
const BYTES_FREED: usize = BYTES_MAX / 8;
/// What an event takes beside its payload.
const EVENT_BYTES: usize = 160;

#[derive(Default)]
pub struct End {
    events: Ring,
    /// From where to where there is no gap. What others append is missing here, and groups that
    /// are committed side by side may come in any order.
    runs: BTreeMap<Position, Position>,
    /// What no client sent: who folds only such looks at little.
    seldom: BTreeMap<Position, Kind>,
    /// The last position this process has ever kept here.
    pub newest: Position,
    bytes: usize,
}

impl End {
    /// Keeps what was appended, and lets go of the oldest if that is too much.
    pub fn keep(&mut self, scope: Scope, events: Vec<Event>, appended: &[Appended]) {
        for (event, appended) in events.into_iter().zip(appended) {
            let Appended::At(position) = *appended else {
                continue;
            };
            // First of all: what is noted of this event is to stay. Who is late by so much is left
            // to the log.
            match self.events.is_far(position) {
                true if position < self.newest => continue,
                true => self.forget_all(),
                false => {}
            }
            let recorded = Recorded {
                position,
                workspace: scope.0,
                event: event.into(),
            };
            self.newest = self.newest.max(position);
            if !recorded.event.kind.is_from_client() {
                self.seldom.insert(position, recorded.event.kind);
            }
            self.bytes += EVENT_BYTES + recorded.event.payload.len();
            match self.events.insert(recorded) {
                None => self.join(position),
                Some(replaced) => self.bytes -= EVENT_BYTES + replaced.event.payload.len(),
            }
        }
        if self.bytes > BYTES_MAX {
            self.free();
        }
    }

    /// Lets go of the oldest.
    fn free(&mut self) {
        let mut last = Position(0);
        while self.bytes > BYTES_MAX - BYTES_FREED
            && let Some(oldest) = self.events.pop_first()
        {
            self.bytes -= EVENT_BYTES + oldest.event.payload.len();
            last = oldest.position;
        }
        let next = Position(last.0 + 1);
        self.seldom = self.seldom.split_off(&next);
        let end = self.end(last);
        self.runs = self.runs.split_off(&next);
        if end > last {
            self.runs.insert(next, end);
        }
    }

    /// All but how far it has come.
    fn forget_all(&mut self) {
        *self = Self {
            newest: self.newest,
            ..Self::default()
        };
    }

    /// A position is there now: with its neighbours it is one run.
    fn join(&mut self, position: Position) {
        let next = Position(position.0 + 1);
        let to = self.runs.remove(&next).unwrap_or(position);
        let before = self.runs.range_mut(..position).next_back();
        match before.filter(|(_, to)| to.0 + 1 == position.0) {
            Some((_, end)) => *end = to,
            None => drop(self.runs.insert(position, to)),
        }
    }

    /// Up to where there is no gap behind a position.
    fn end(&self, after: Position) -> Position {
        let next = Position(after.0 + 1);
        let run = self.runs.range(..=next).next_back();
        run.map_or(after, |(_, to)| (*to).max(after))
    }

    fn remove(&mut self, position: Position) {
        let Some(gone) = self.events.remove(position) else {
            return;
        };
        self.bytes -= EVENT_BYTES + gone.event.payload.len();
        self.seldom.remove(&position);
        let run = self.runs.range(..=position).next_back();
        let Some((from, to)) = run.map(|(from, to)| (*from, *to)) else {
            return;
        };
        self.runs.remove(&from);
        if from < position {
            self.runs.insert(from, Position(position.0 - 1));
        }
        if position < to {
            self.runs.insert(Position(position.0 + 1), to);
        }
    }

    /// The events after a position without a gap, and whether that is all this knows: more is
    /// then not to be had, or not wanted.
    pub fn run(&self, after: Position, max: usize) -> (Vec<Recorded>, bool) {
        let end = self.end(after);
        let without_gap = self.events.from(Position(after.0 + 1));
        let run: Vec<_> = without_gap.take(max).cloned().collect();
        let is_whole = run.len() == max || end > after && end >= self.newest;
        (run, is_whole)
    }

    /// The last position of the run after another in which nothing is of a kind that `folds`.
    pub fn skip(&self, after: Position, folds: &(dyn Fn(Kind) -> bool + Sync)) -> Position {
        let end = self.end(after);
        if end == after {
            return after;
        }
        let next = Position(after.0 + 1);
        let sent = |kind: &&Kind| kind.is_from_client();
        let first = match Kind::ALL.iter().filter(sent).any(|kind| folds(*kind)) {
            true => {
                let mut all = self.events.from(next);
                all.find(|it| folds(it.event.kind)).map(|it| it.position)
            }
            false => {
                let mut seldom = self.seldom.range(next..=end);
                seldom.find_map(|(at, kind)| folds(*kind).then_some(*at))
            }
        };
        first.map_or(end, |first| Position(first.0 - 1))
    }

    pub fn forget(&mut self, positions: &[Position]) {
        for position in positions {
            self.remove(*position);
        }
    }
}

#[cfg(test)]
mod tests {
    use kurier_core::id::{EventId, WorkspaceId};
    use kurier_core::time::Timestamp;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn event(payload: String) -> Event {
        Event {
            id: EventId::of_message(&payload),
            kind: Kind::Track,
            contact: None,
            occurred_at: Timestamp::from_micros(0),
            recorded_at: Timestamp::from_micros(0),
            payload,
        }
    }

    fn tail_of(positions: &[i64]) -> End {
        let mut tail = End::default();
        for position in positions {
            let events = vec![event(format!("{{\"at\":{position}}}"))];
            let scope = Scope(WorkspaceId::from_uuid(Uuid::nil()));
            tail.keep(scope, events, &[Appended::At(Position(*position))]);
        }
        tail
    }

    fn run(tail: &End, after: i64, max: usize) -> (Vec<i64>, bool) {
        let (run, is_whole) = tail.run(Position(after), max);
        (run.iter().map(|r| r.position.0).collect(), is_whole)
    }

    #[test]
    fn a_run_ends_at_a_gap_and_says_so() {
        let tail = tail_of(&[4, 6, 5, 9]);
        assert_eq!(run(&tail, 3, 10), (vec![4, 5, 6], false));
        assert_eq!(run(&tail, 8, 10), (vec![9], true));
        assert_eq!(run(&tail, 4, 2), (vec![5, 6], true));
        assert_eq!(run(&tail, 3, 2), (vec![4, 5], true));
    }

    #[test]
    fn what_is_not_here_is_for_the_log_to_say() {
        let tail = tail_of(&[4]);
        assert_eq!(run(&tail, 4, 10), (vec![], false));
        assert_eq!(run(&tail, 1, 10), (vec![], false));
        assert_eq!(run(&End::default(), 0, 10), (vec![], false));
    }

    #[test]
    fn what_concerns_nobody_is_skipped_up_to_a_gap_or_to_what_does() {
        let mut tail = tail_of(&[4, 5, 6, 9]);
        assert_eq!(tail.skip(Position(3), &|_| false), Position(6));
        assert_eq!(tail.skip(Position(3), &|_| true), Position(3));
        assert_eq!(tail.skip(Position(1), &|_| false), Position(1));
        let concerning = Event {
            kind: Kind::Identify,
            ..event("{}".to_owned())
        };
        let scope = Scope(WorkspaceId::from_uuid(Uuid::nil()));
        tail.keep(scope, vec![concerning], &[Appended::At(Position(6))]);
        let identifies = |kind| kind == Kind::Identify;
        assert_eq!(tail.skip(Position(3), &identifies), Position(5));
        assert_eq!(tail.skip(Position(5), &identifies), Position(5));
    }

    #[test]
    fn who_folds_what_is_seldom_finds_it() {
        let mut tail = tail_of(&[1, 2, 4, 5, 6]);
        let scope = Scope(WorkspaceId::from_uuid(Uuid::nil()));
        let seldom = Event {
            kind: Kind::TemplatePublished,
            ..event("{}".to_owned())
        };
        tail.keep(scope, vec![seldom], &[Appended::At(Position(3))]);
        let (published, paused) = (Kind::TemplatePublished, Kind::JourneyPaused);
        assert_eq!(
            tail.skip(Position(0), &|kind| kind == published),
            Position(2)
        );
        assert_eq!(
            tail.skip(Position(2), &|kind| kind == published),
            Position(2)
        );
        assert_eq!(
            tail.skip(Position(3), &|kind| kind == published),
            Position(6)
        );
        assert_eq!(tail.skip(Position(0), &|kind| kind == paused), Position(6));
        assert_eq!(tail.skip(Position(9), &|kind| kind == paused), Position(9));
        tail.forget(&[Position(3)]);
        assert_eq!(tail.skip(Position(0), &|kind| kind == paused), Position(2));
    }

    proptest! {
        /// Whatever comes and goes in whatever order: what is told of it is what a walk finds.
        #[test]
        fn runs_are_those_of_the_positions_that_are_there(
            steps in vec((1..40_i64, any::<bool>(), any::<bool>()), 1..80),
        ) {
            let mut tail = End::default();
            let scope = Scope(WorkspaceId::from_uuid(Uuid::nil()));
            for (position, is_kept, is_seldom) in steps {
                if tail.events.from(Position(position)).next().is_some() || !is_kept {
                    tail.forget(&[Position(position)]);
                    continue;
                }
                let kind = if is_seldom { Kind::JourneyPaused } else { Kind::Track };
                let event = Event { kind, ..event(position.to_string()) };
                tail.keep(scope, vec![event], &[Appended::At(Position(position))]);
            }
            let there = |at: i64| tail.events.from(Position(at)).next();
            let folds = |kind| kind == Kind::JourneyPaused;
            for after in 0..42 {
                let ends = (after + 1..).find(|at| there(*at).is_none());
                let end = ends.unwrap_or_default() - 1;
                prop_assert_eq!(tail.end(Position(after)), Position(end));
                let mut seldom = (after + 1..=end).filter(|at| {
                    there(*at).is_some_and(|it| folds(it.event.kind))
                });
                let skipped = seldom.next().map_or(end, |first| first - 1);
                prop_assert_eq!(tail.skip(Position(after), &folds), Position(skipped));
                let (found, _) = run(&tail, after, 100);
                prop_assert_eq!(found, (after + 1..=end).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_hole_that_is_too_large_is_not_kept_open() {
        let mut tail = tail_of(&[4, 5, 1_000_000, 1_000_001]);
        assert_eq!(run(&tail, 999_999, 10), (vec![1_000_000, 1_000_001], true));
        assert_eq!(run(&tail, 3, 10), (vec![], false));
        assert_eq!((tail.events.len(), tail.runs.len()), (2, 1));
        // Who is late by as much is not kept, and takes nobody's place.
        let scope = Scope(WorkspaceId::from_uuid(Uuid::nil()));
        tail.keep(
            scope,
            vec![event("{}".to_owned())],
            &[Appended::At(Position(6))],
        );
        assert_eq!(run(&tail, 5, 10), (vec![], false));
        assert_eq!(run(&tail, 999_999, 10), (vec![1_000_000, 1_000_001], true));
    }

    #[test]
    fn what_is_seldom_is_found_behind_a_large_hole() {
        let mut tail = tail_of(&[4, 5]);
        let scope = Scope(WorkspaceId::from_uuid(Uuid::nil()));
        let seldom = Event {
            kind: Kind::TemplatePublished,
            ..event("{}".to_owned())
        };
        tail.keep(scope, vec![seldom], &[Appended::At(Position(1_000_000))]);
        let published = |kind| kind == Kind::TemplatePublished;
        let before = Position(999_999);
        assert_eq!(tail.skip(before, &published), before);
    }

    #[test]
    fn when_it_is_full_the_oldest_go_and_runs_with_them() {
        let positions: Vec<i64> = (1..=60_000).filter(|at| at % 100 != 0).collect();
        let tail = tail_of(&positions);
        let kept = |at: i64| tail.events.from(Position(at)).next().is_some();
        let oldest = (1..).find(|at| kept(*at)).expect("some are kept");
        assert!(oldest > 1 && kept(59_999));
        for after in [0, oldest - 2, oldest - 1, 59_900] {
            let end = tail.end(Position(after)).0;
            assert!((after + 1..=end).all(kept) && !kept(end + 1), "{after}");
        }
        assert_eq!(tail.runs.first_key_value().map(|run| run.0.0), Some(oldest));
    }

    #[test]
    fn what_was_forgotten_at_the_end_is_missed() {
        let mut tail = tail_of(&[1, 2]);
        tail.forget(&[Position(2)]);
        assert_eq!(run(&tail, 0, 10), (vec![1], false));
    }

    #[test]
    fn it_stays_small_and_forgets_what_is_buried() {
        let mut tail = tail_of(&(1..=60_000).collect::<Vec<_>>());
        assert!(tail.bytes <= BYTES_MAX && tail.events.len() > 1_000);
        tail.forget(&(1..=60_000).map(Position).collect::<Vec<_>>());
        assert_eq!((tail.bytes, tail.events.len()), (0, 0));
    }
}
