//! Which ids the log has, so that a repeat is dropped. An index that took each one in at once would
//! cost more than the row of the log itself: ids are hashes, and every one changes a page of its own.
//! So the newest are remembered here, and the index (`log_id`) takes them in later, by the thousand.
//! What is in the index is known by a filter here, so that new ids, which nearly all are, are not
//! looked for. Nothing is lost with the memory: the log has the ids as well, and a checkpoint says
//! from where on they are not in the index yet.
//!
//! Any number of processes append. So each says with its batch up to where it knows the log; the
//! database looks through what others have appended since, and tells it. What a process has under
//! way itself it need not be told: it says so by its pen.

use std::collections::{HashSet, VecDeque};

use kurier_core::event::{Event, Position};
use kurier_core::id::{EventId, WorkspaceId};

use crate::indexed::Indexed;
use crate::log::Appended;

pub type Key = (WorkspaceId, EventId);
pub type Batch<'a> = [(WorkspaceId, &'a Event)];

/// In calm times the index takes in so many at least,
const CALM_IDS: usize = 4_096;
/// in a flood so many (20 MB): it may pass before, and what the index does not take makes it pass
/// sooner.
const FLOOD_IDS: usize = 262_144;
/// More are not remembered: if the index does not follow, nothing is appended until it does.
const RECENT_MAX: usize = 4 * FLOOD_IDS;

#[derive(Default)]
pub struct Ids {
    /// Up to here every id is recent or in the index; unknown until it was looked up.
    known: Option<Position>,
    recent: HashSet<Key>,
    /// The recent ones as they came, each batch with the position of its last.
    arrivals: VecDeque<(Position, Vec<Key>)>,
    indexed: Indexed,
    /// Sent, and not heard of yet.
    under_way: HashSet<Key>,
    /// How often this was forgotten.
    turn: u64,
}

/// What there is to do beside appending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// The index is to take ids in.
    Index,
    /// The filter is to be filled from the index; the number says since when.
    Filter(u64),
}

/// What is sent of a batch.
#[derive(Debug, Clone)]
pub struct Question {
    pub known: Position,
    /// Places in the batch: the others are repeats for certain.
    pub sent: Vec<usize>,
    /// Ordinals among those sent, from 1, that the index has to be asked for.
    pub asked: Vec<i64>,
    /// Whether nothing of it is under way in another call.
    pub is_apart: bool,
}

/// What the database says to it.
#[derive(Debug, Default)]
pub struct Answer {
    pub before: Position,
    /// Ordinals among those sent, from 1.
    pub repeats: Vec<i64>,
    /// What others have appended between the known position and this one.
    pub missed: Vec<Key>,
}

impl Ids {
    /// Starts from what the log has behind the index.
    pub fn load(&mut self, indexed: Position, known: Position, recent: Vec<Key>) {
        // Another call may have been quicker, and know more.
        if self.known.is_some() {
            return;
        }
        *self = Self {
            known: Some(known),
            // Then nothing is in the index that is not behind it, too.
            indexed: match indexed {
                Position(0) => Indexed::nothing(),
                _ => Indexed::default(),
            },
            under_way: std::mem::take(&mut self.under_way),
            turn: self.turn,
            ..Self::default()
        };
        self.remember(known, recent);
    }

    /// Others have appended so much that it is quicker to start anew.
    pub fn forget(&mut self) {
        *self = Self {
            under_way: std::mem::take(&mut self.under_way),
            turn: self.turn + 1,
            ..Self::default()
        };
    }

    /// What to ask of the database; nothing before this was loaded. Who asks must learn, or give it up.
    pub fn question(&mut self, batch: &Batch<'_>) -> Option<Question> {
        let mut question = Question {
            known: self.known?,
            sent: Vec::with_capacity(batch.len()),
            asked: Vec::new(),
            is_apart: true,
        };
        let mut own = HashSet::with_capacity(batch.len());
        for (place, (workspace, event)) in batch.iter().enumerate() {
            let key = (*workspace, event.id);
            if self.recent.contains(&key) || !own.insert(key) {
                continue;
            }
            question.sent.push(place);
            question.is_apart &= self.under_way.insert(key);
            if self.indexed.must_ask(event.id) {
                question.asked.push(question.sent.len() as i64);
            }
        }
        Some(question)
    }

    /// Nothing was heard of a question, or that it was refused.
    pub fn give_up(&mut self, batch: &Batch<'_>, question: &Question) {
        for place in &question.sent {
            let (workspace, event) = batch[*place];
            self.under_way.remove(&(workspace, event.id));
        }
    }

    /// Takes in what was appended, and tells what became of each event.
    pub fn learn(
        &mut self,
        batch: &Batch<'_>,
        question: &Question,
        answer: Answer,
    ) -> Vec<Appended> {
        let mut outcomes = vec![Appended::Duplicate; batch.len()];
        let mut at = answer.before;
        let mut fresh = Vec::with_capacity(question.sent.len());
        let repeats: HashSet<i64> = answer.repeats.into_iter().collect();
        for (place, ordinal) in question.sent.iter().zip(1..) {
            if !repeats.contains(&ordinal) {
                at = Position(at.0 + 1);
                outcomes[*place] = Appended::At(at);
                let (workspace, event) = batch[*place];
                fresh.push((workspace, event.id));
            }
        }
        self.give_up(batch, question);
        // Who was told to forget meanwhile will load again, this batch too.
        if let Some(known) = self.known {
            // Between what is known and this may stand what is under way: then more is not known.
            let is_all = known >= answer.before || !answer.missed.is_empty();
            self.remember(answer.before, answer.missed);
            self.remember(at, fresh);
            self.known = if is_all {
                Some(known.max(at))
            } else {
                Some(known)
            };
        }
        outcomes
    }

    fn remember(&mut self, last: Position, keys: Vec<Key>) {
        if !keys.is_empty() {
            self.recent.extend(&keys);
            self.arrivals.push_back((last, keys));
        }
    }

    /// The index has come so far.
    pub fn let_go(&mut self, indexed: Position) {
        while let Some((last, _)) = self.arrivals.front()
            && *last <= indexed
            && let Some((_, keys)) = self.arrivals.pop_front()
        {
            for key in keys {
                self.recent.remove(&key);
                self.indexed.add(key.1);
            }
        }
    }

    /// What to do now.
    pub fn due(&self, is_flood: bool) -> Option<Due> {
        let many = if is_flood { FLOOD_IDS } else { CALM_IDS };
        if self.recent.len() >= many {
            Some(Due::Index)
        } else if self.indexed.is_worth_reading() {
            Some(Due::Filter(self.turn))
        } else {
            None
        }
    }

    pub const fn is_loaded(&self) -> bool {
        self.known.is_some()
    }

    /// Whether no more can be remembered.
    pub fn is_full(&self) -> bool {
        self.recent.len() >= RECENT_MAX
    }

    /// Adds what was read from the index; false if there is no use in reading on.
    pub fn fill(&mut self, turn: u64, ids: &[EventId]) -> bool {
        if self.turn == turn {
            ids.iter().for_each(|id| self.indexed.add(*id));
        }
        self.turn == turn && self.indexed.is_open()
    }

    /// All of the index was read.
    pub fn filled(&mut self, turn: u64) {
        if self.turn == turn {
            self.indexed.filled();
        }
    }
}

#[cfg(test)]
mod tests {
    use kurier_core::event::Kind;
    use kurier_core::time::Timestamp;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    const WORKSPACE: WorkspaceId = WorkspaceId::from_uuid(Uuid::nil());

    fn event(number: u8) -> Event {
        Event {
            id: EventId::of_message(&number.to_string()),
            kind: Kind::Track,
            contact: None,
            occurred_at: Timestamp::from_micros(0),
            recorded_at: Timestamp::from_micros(0),
            payload: String::new(),
        }
    }

    /// What `log_append`, `log_append_within` and `log_index` do.
    #[derive(Default)]
    struct Database {
        log: Vec<Key>,
        index: HashSet<Key>,
        indexed: usize,
        pen: Option<u32>,
        since: usize,
        pens: u32,
    }

    impl Database {
        fn append(&mut self, batch: &Batch<'_>, question: &Question, pen: u32) -> Answer {
            let known = question.known.0 as usize;
            let own = Some(pen).filter(|_| question.is_apart);
            if own.is_none() || self.pen != own {
                self.since = self.log.len();
            }
            self.pen = own;
            let missed = match known < self.since {
                true => self.log[known..].to_vec(),
                false => Vec::new(),
            };
            let before = Position(self.log.len() as i64);
            let mut repeats = Vec::new();
            for (place, ordinal) in question.sent.iter().zip(1..) {
                let key = (batch[*place].0, batch[*place].1.id);
                let is_indexed = question.asked.contains(&ordinal) && self.index.contains(&key);
                match missed.contains(&key) || is_indexed {
                    true => repeats.push(ordinal),
                    false => self.log.push(key),
                }
            }
            Answer {
                before,
                repeats,
                missed,
            }
        }

        fn append_within(&mut self, key: Key) {
            self.pen = None;
            if self.index.insert(key) {
                self.log.push(key);
            }
        }

        fn new_pen(&mut self) -> u32 {
            self.pens += 1;
            self.pens
        }

        fn index(&mut self, slice: usize) -> Position {
            let to = self.log.len().min(self.indexed + slice);
            self.index.extend(&self.log[self.indexed..to]);
            self.indexed = to;
            Position(to as i64)
        }

        fn load(&self, ids: &mut Ids) {
            let at = |len: usize| Position(len as i64);
            let recent = self.log[self.indexed..].to_vec();
            ids.load(at(self.indexed), at(self.log.len()), recent);
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        /// A process has a batch to append.
        Ask(usize, Vec<u8>),
        /// The database gets the oldest of what it asked.
        Append(usize),
        /// The process hears of the oldest that was done.
        Learn(usize),
        /// The database refuses the oldest that it was asked, and the process hears of that in turn.
        Refuse(usize),
        /// The process hears of nothing it has asked, and takes another pen. So many of what it
        /// had asked get to the database all the same, one with each later step.
        Lose(usize, usize),
        Within(u8),
        Index(usize, usize),
        Fill(usize),
        Forget(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let process = 0..3_usize;
        prop_oneof![
            4 => (process.clone(), vec(0..40_u8, 1..5)).prop_map(|(p, b)| Step::Ask(p, b)),
            4 => process.clone().prop_map(Step::Append),
            4 => process.clone().prop_map(Step::Learn),
            1 => process.clone().prop_map(Step::Refuse),
            1 => (process.clone(), 0..4_usize).prop_map(|(p, late)| Step::Lose(p, late)),
            1 => (100..120_u8).prop_map(Step::Within),
            2 => (process.clone(), 1..9_usize).prop_map(|(p, slice)| Step::Index(p, slice)),
            1 => process.clone().prop_map(Step::Fill),
            1 => process.prop_map(Step::Forget),
        ]
    }

    /// What was asked, with which pen.
    type Asked = (Vec<Event>, Question, u32);

    #[derive(Default)]
    struct Process {
        ids: Ids,
        pen: u32,
        asked: VecDeque<Asked>,
        done: VecDeque<(Asked, Option<Answer>)>,
        /// Asked before everything was lost.
        late: VecDeque<Asked>,
    }

    fn batch(events: &[Event]) -> Vec<(WorkspaceId, &Event)> {
        events.iter().map(|event| (WORKSPACE, event)).collect()
    }

    impl Process {
        fn take(&mut self, step: &Step, database: &mut Database) {
            if let Some((events, question, pen)) = self.late.pop_front() {
                database.append(&batch(&events), &question, pen);
            }
            match step {
                Step::Ask(_, numbers) => self.ask(numbers, database),
                Step::Append(_) => self.append(database),
                Step::Learn(_) => self.learn(database),
                Step::Refuse(_) => {
                    let refused = self.asked.pop_front();
                    self.done.extend(refused.map(|asked| (asked, None)));
                }
                Step::Lose(_, late) => self.lose(*late, database),
                Step::Within(number) => {
                    database.append_within((WORKSPACE, event(*number).id));
                }
                Step::Index(_, slice) => self.ids.let_go(database.index(*slice)),
                Step::Fill(_) => self.fill(database),
                Step::Forget(_) => self.ids.forget(),
            }
        }

        fn ask(&mut self, numbers: &[u8], database: &Database) {
            let events: Vec<Event> = numbers.iter().map(|number| event(*number)).collect();
            if self.ids.known.is_none() {
                database.load(&mut self.ids);
            }
            let question = self.ids.question(&batch(&events)).expect("loaded");
            self.asked.push_back((events, question, self.pen));
        }

        fn lose(&mut self, late: usize, database: &mut Database) {
            let done = self.done.drain(..).map(|(asked, _)| asked);
            for (events, question, _) in done.chain(self.asked.iter().cloned()) {
                self.ids.give_up(&batch(&events), &question);
            }
            self.late.extend(self.asked.drain(..).take(late));
            self.pen = database.new_pen();
        }

        fn append(&mut self, database: &mut Database) {
            if let Some((events, question, pen)) = self.asked.pop_front() {
                let answer = database.append(&batch(&events), &question, pen);
                self.done.push_back(((events, question, pen), Some(answer)));
            }
        }

        fn learn(&mut self, database: &Database) {
            let Some(((events, question, _), answer)) = self.done.pop_front() else {
                return;
            };
            let Some(answer) = answer else {
                return self.ids.give_up(&batch(&events), &question);
            };
            {
                let outcomes = self.ids.learn(&batch(&events), &question, answer);
                for (event, outcome) in events.iter().zip(outcomes) {
                    let key = (WORKSPACE, event.id);
                    match outcome {
                        Appended::At(at) => assert_eq!(database.log[at.0 as usize - 1], key),
                        Appended::Duplicate => assert!(database.log.contains(&key)),
                    }
                }
            }
        }

        fn fill(&mut self, database: &Database) {
            let turn = self.ids.turn;
            let all: Vec<EventId> = database.index.iter().map(|key| key.1).collect();
            self.ids.fill(turn, &all);
            self.ids.filled(turn);
        }
    }

    proptest! {
        /// However processes take turns, whatever each of them knows, and whatever is refused or
        /// lost: nothing stands in the log twice, and what was answered is there.
        #[test]
        fn each_id_is_kept_once(steps in vec(step(), 1..200)) {
            let mut database = Database::default();
            let mut processes = [(); 3].map(|()| Process {
                pen: database.new_pen(),
                ..Process::default()
            });
            for step in &steps {
                let which = match step {
                    Step::Ask(which, _) | Step::Append(which) | Step::Learn(which) => *which,
                    Step::Index(which, _) | Step::Fill(which) | Step::Forget(which) => *which,
                    Step::Refuse(which) | Step::Lose(which, _) => *which,
                    Step::Within(_) => 0,
                };
                processes[which].take(step, &mut database);
            }
            for process in &mut processes {
                while !process.asked.is_empty() || !process.done.is_empty() {
                    process.append(&mut database);
                    process.learn(&database);
                }
            }
            let kept: HashSet<Key> = database.log.iter().copied().collect();
            prop_assert_eq!(kept.len(), database.log.len());
        }
    }

    #[test]
    fn the_index_takes_in_much_when_it_is_calm_and_very_much_in_a_flood() {
        let mut ids = Ids::default();
        ids.load(Position(0), Position(0), Vec::new());
        assert_eq!(ids.due(false), None);
        let numbered = |from: usize, to: usize| {
            let id = |n: usize| EventId::from_uuid(Uuid::from_u128(n as u128));
            (from..to).map(move |n| (WORKSPACE, id(n))).collect()
        };
        ids.remember(Position(1), numbered(0, CALM_IDS));
        assert_eq!((ids.due(false), ids.due(true)), (Some(Due::Index), None));
        ids.remember(Position(2), numbered(CALM_IDS, FLOOD_IDS));
        assert_eq!(ids.due(true), Some(Due::Index));
        ids.remember(Position(3), numbered(FLOOD_IDS, RECENT_MAX - 1));
        assert!(!ids.is_full());
        ids.remember(Position(4), numbered(RECENT_MAX - 1, RECENT_MAX));
        assert!(ids.is_full(), "nothing is appended until the index follows");
        ids.let_go(Position(1));
        assert!(!ids.is_full());
        assert_eq!(ids.due(true), Some(Due::Index));
        ids.let_go(Position(3));
        assert_eq!((ids.due(true), ids.due(false)), (None, None));
        ids.let_go(Position(4));
        assert!(ids.recent.is_empty());
    }

    #[test]
    fn what_was_read_before_it_was_told_to_forget_counts_no_more() {
        let mut ids = Ids::default();
        ids.load(Position(1), Position(1), Vec::new());
        let old = event(1);
        let events = [(WORKSPACE, &old)];
        let due = loop {
            let question = ids.question(&events).expect("loaded");
            assert_eq!(question.asked, [1]);
            if let Some(due) = ids.due(true) {
                break due;
            }
        };
        let Due::Filter(turn) = due else {
            panic!("the filter is to be filled");
        };
        assert!(ids.fill(turn, &[]));
        ids.forget();
        assert!(!ids.fill(turn, &[old.id]), "that was before");
        ids.load(Position(1), Position(1), Vec::new());
        ids.filled(turn);
        assert_eq!(ids.question(&events).expect("loaded").asked, [1]);
    }
}
