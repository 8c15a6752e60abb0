use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::event::{Event, Position, tombstone};
use crate::id::{ContactId, EventId, SegmentId};
use crate::journey::{By, Draft, Ending, HopRecord, Publication, Record, Status};
use crate::projection::simulation::Tables;
use crate::time::Timestamp;
use crate::value::{Object, Value};

const NODES: [&str; 3] = ["start", "wait", "done"];

fn workspace() -> WorkspaceId {
    WorkspaceId::new(Timestamp::from_millis(1), [9; 10])
}

fn journey(n: u8) -> JourneyId {
    JourneyId::of_name(&n.to_string())
}

fn contact(n: u8) -> ContactId {
    ContactId::new(Timestamp::from_millis(2), [n; 10])
}

fn instance(n: u8) -> InstanceId {
    InstanceId::new(Timestamp::from_millis(3), [n; 10])
}

fn definition(name: &str) -> Value {
    let name = ("name".to_owned(), Value::Text(name.to_owned()));
    Value::Object(Object::from([name]))
}

/// A log that says what a reactor could say.
#[derive(Default)]
struct Book {
    log: Vec<Recorded>,
    /// The last record of each run, and whose it is.
    runs: BTreeMap<u8, (Course, u8)>,
    versions: BTreeMap<u8, u32>,
}

impl Book {
    fn push(&mut self, kind: Kind, contact: Option<ContactId>, payload: String) {
        let position = self.log.len() as i64 + 1;
        let at = Timestamp::from_millis(position * 1_000);
        self.log.push(Recorded {
            position: Position(position),
            workspace: workspace(),
            event: Arc::new(Event {
                id: EventId::of_message(&position.to_string()),
                kind,
                contact,
                occurred_at: at,
                recorded_at: at,
                payload,
            }),
        });
    }

    fn say(&mut self, kind: Kind, payload: &impl serde::Serialize) {
        let payload = serde_json::to_string(payload).expect("JSON");
        self.push(kind, None, payload);
    }

    fn publish(&mut self, n: u8) {
        let version = self.versions.entry(n).or_default();
        *version += 1;
        let publication = Publication {
            journey: journey(n),
            version: *version,
            definition: definition(&n.to_string()),
            segments: BTreeMap::from([("s".to_owned(), SegmentId::of_name("s"))]),
        };
        self.say(Kind::JourneyPublished, &publication);
    }

    fn draft(&mut self, n: u8) {
        let draft = Draft {
            journey: journey(n),
            definition: definition(&n.to_string()),
        };
        self.say(Kind::JourneyDrafted, &draft);
    }

    fn stand(&mut self, n: u8, kind: Kind) {
        let journey = journey(n);
        self.say(kind, &Standing { journey });
    }

    /// The next record of a run: `hops` on, and perhaps to its end.
    fn go(&mut self, n: u8, who: u8, hops: usize, ending: Option<Ending>) {
        let before = self.runs.get(&n).map(|(run, _)| run.clone());
        if before.as_ref().is_some_and(|run| run.ending.is_some()) {
            return;
        }
        let (seq, at) = before.map_or((0, "start".to_owned()), |run| (run.seq, run.at));
        let place = NODES.iter().position(|node| *node == at).unwrap_or(0);
        let hop = |from: usize| HopRecord {
            node: NODES[from % 3].to_owned(),
            by: By::Next,
            to: NODES[(from + 1) % 3].to_owned(),
        };
        let run = Course {
            journey: journey(n % 2),
            version: 1,
            instance: instance(n),
            seq: seq + 1,
            hops: (place..place + hops).map(hop).collect(),
            messages: Vec::new(),
            at: NODES[(place + hops) % 3].to_owned(),
            since: Position(0),
            wake: ending.is_none().then_some(Timestamp::from_millis(77)),
            awaits: None,
            held: false,
            ending,
        };
        let first = seq == 0;
        let record = Record {
            key: first.then(|| format!("key of {who}")),
            trigger: first.then(|| EventId::of_message("trigger")),
            state: Object::from([(format!("k{hops}"), Value::Text(format!("state of {who}")))]),
            because: vec![vec![format!("reason of {who}")]; hops],
            run: run.clone(),
        };
        let kind = match (seq, ending) {
            (_, Some(_)) => Kind::JourneyFinished,
            (0, None) => Kind::JourneyEntered,
            _ => Kind::JourneyMoved,
        };
        self.runs.insert(n, (run, who));
        let payload = serde_json::to_string(&record).expect("JSON");
        self.push(kind, Some(contact(who)), payload);
    }

    /// As the product does: payloads become tombstones, an event says so, runs end.
    fn erase(&mut self, who: u8) {
        let is_theirs = |recorded: &&mut Recorded| recorded.event.contact == Some(contact(who));
        for recorded in self.log.iter_mut().filter(is_theirs) {
            Arc::make_mut(&mut recorded.event).payload = tombstone(&recorded.event.payload);
        }
        let erasure = Erasure {
            contacts: vec![contact(who)],
            addresses: Vec::new(),
            positions: Vec::new(),
            seen: Position(0),
        };
        let payload = serde_json::to_string(&erasure).expect("JSON");
        self.push(Kind::ContactErased, None, payload);
        let runs = self.runs.iter().filter(|(_, (_, whose))| *whose == who);
        let runs: Vec<u8> = runs.map(|(n, _)| *n).collect();
        for n in runs {
            self.go(n, who, 0, Some(Ending::Erased));
        }
    }

    fn folded(&self, batch: usize) -> Tables {
        folded(&self.log, batch)
    }
}

fn folded(log: &[Recorded], batch: usize) -> Tables {
    let mut tables = Tables::default();
    log.chunks(batch)
        .for_each(|events| tables.run(&Journeys, events));
    tables
}

fn instances(tables: &Tables) -> Vec<InstanceSummary> {
    let rows = tables.rows(&JOURNEY_INSTANCE);
    rows.map(|row| instance_of_row(row).expect("readable").1)
        .collect()
}

fn summary(tables: &Tables) -> JourneySummary {
    let row = tables.rows(&JOURNEY).next().expect("there");
    journey_of_row(row).expect("readable").1
}

fn counts(tables: &Tables) -> Vec<String> {
    let rows = tables.rows(&JOURNEY_COUNT).map(|row| {
        let (_, JourneyCount { key, times }) = count_of_row(row).expect("readable");
        format!("{} -{}> {}: {times}", key.node, key.way, key.target)
    });
    rows.collect()
}

#[test]
fn a_journey_stands_as_was_said_last() {
    let mut book = Book::default();
    let told = |book: &Book| {
        let summary = summary(&book.folded(1));
        (
            summary.standing.as_str(),
            summary.version,
            summary.has_draft,
        )
    };
    book.draft(1);
    assert_eq!(told(&book), ("draft", None, true));
    book.stand(1, Kind::JourneyPaused);
    assert_eq!(told(&book), ("draft", None, true), "nothing runs yet");
    book.publish(1);
    assert_eq!(told(&book), ("active", Some(1), false));
    book.stand(1, Kind::JourneyPaused);
    book.draft(1);
    assert_eq!(told(&book), ("paused", Some(1), true));
    book.publish(1);
    assert_eq!(told(&book), ("paused", Some(2), false));
    book.stand(1, Kind::JourneyRetired);
    book.stand(1, Kind::JourneyResumed);
    assert_eq!(told(&book), ("retired", Some(2), false));
    assert!(!summary(&book.folded(1)).uses(SegmentId::of_name("s")));
    book.publish(1);
    assert_eq!(told(&book), ("active", Some(3), false));
    let tables = book.folded(3);
    assert!(summary(&tables).uses(SegmentId::of_name("s")));
    assert_eq!(tables.rows(&JOURNEY_VERSION).count(), 3);
    assert_eq!(summary(&tables).name, "1");
}

#[test]
fn a_run_is_where_its_last_record_says_and_its_way_is_counted() {
    let mut book = Book::default();
    book.go(1, 1, 1, None);
    book.go(1, 2, 4, None);
    book.go(2, 3, 1, None);
    book.go(2, 3, 0, Some(Ending::ExitWhen));
    let tables = book.folded(10);
    let all = instances(&tables);
    let run = &all[0];
    assert_eq!((run.node.as_str(), run.seq, run.steps), ("done", 2, 5));
    assert_eq!(
        run.contact,
        Some(contact(2)),
        "it follows the newest record"
    );
    assert_eq!(run.key.as_deref(), Some("key of 1"));
    let keys: Vec<String> = run.state_keys().into_keys().collect();
    assert_eq!(keys, ["k1", "k4"]);
    let ended = (all[1].status, all[1].ending, all[1].wake);
    assert_eq!(ended, (Status::Completed, Some(Ending::ExitWhen), None));
    assert_eq!(
        counts(&tables),
        [
            " -enter> start: 1",
            "done -next> start: 1",
            "start -next> wait: 2",
            "wait -next> done: 2",
            " -enter> start: 1",
            "start -next> wait: 1",
            "wait -exit_when> : 1",
        ]
    );
    let passages: Vec<Passage> = tables
        .rows(&JOURNEY_PATH)
        .map(|row| passage_of_row(row).expect("readable"))
        .collect();
    let hops: Vec<usize> = passages.iter().map(|passage| passage.hops.len()).collect();
    assert_eq!(hops, [1, 4, 1]);
    assert_eq!(passages[1].hops[0].because, ["reason of 2"]);
}

#[test]
fn a_long_path_keeps_its_beginning_and_its_end() {
    let mut book = Book::default();
    for _ in 0..1_000 {
        book.go(1, 1, 3, None);
    }
    book.go(1, 1, 20_000, None);
    let tables = book.folded(64);
    let rows = tables.rows(&JOURNEY_PATH);
    let passages: Vec<Passage> = rows
        .map(|row| passage_of_row(row).expect("readable"))
        .collect();
    let seqs: Vec<u32> = passages.iter().map(|passage| passage.seq).collect();
    let expected: Vec<u32> = (1..=150).chain(852..=1_001).collect();
    assert_eq!(seqs, expected);
    let last = passages.last().expect("there");
    assert_eq!((last.hops.len(), last.omitted), (400, 19_600));
    assert_eq!(instances(&tables)[0].steps, 23_000);
}

#[test]
fn of_who_is_erased_only_counts_stay() {
    let mut book = Book::default();
    book.go(1, 1, 1, None);
    book.go(1, 1, 1, Some(Ending::Exit));
    book.go(2, 1, 1, None);
    book.go(3, 2, 1, None);
    let before = book.folded(1);
    let live = {
        let mut tables = before;
        let seen = book.log.len();
        book.erase(1);
        // Nothing of them is left when the erasure was folded and the run goes on a while.
        tables.run(&Journeys, &book.log[seen..=seen]);
        assert!(!format!("{tables:?}").contains("of 1"), "{tables:?}");
        tables.run(&Journeys, &book.log[seen + 1..]);
        tables
    };
    assert_eq!(live, book.folded(1_000), "as folded anew from tombstones");
    let left: Vec<_> = instances(&live).iter().map(|run| run.id).collect();
    assert_eq!(left, [instance(3)]);
    assert!(counts(&live).contains(&"wait -erased> : 1".to_owned()));
    assert!(counts(&live).contains(&" -enter> start: 2".to_owned()));
}

#[test]
fn a_record_that_cannot_be_read_is_set_aside() {
    let mut book = Book::default();
    book.push(Kind::JourneyMoved, None, "{}".to_owned());
    let folded = Journeys.fold(Vec::new(), &book.log).expect("no rows");
    assert_eq!((folded.poison.len(), folded.changes.len()), (1, 0));
}

#[derive(Debug, Clone)]
enum Step {
    Publish(u8),
    Draft(u8),
    Stand(u8, Kind),
    Go(u8, u8, usize, Option<Ending>),
    Erase(u8),
}

fn step() -> impl Strategy<Value = Step> {
    const KINDS: &[Kind] = &[
        Kind::JourneyPaused,
        Kind::JourneyResumed,
        Kind::JourneyRetired,
    ];
    let endings = prop::sample::select(Ending::ALL);
    prop_oneof![
        1 => (0..2u8).prop_map(Step::Publish),
        1 => (0..2u8).prop_map(Step::Draft),
        1 => (0..2u8, prop::sample::select(KINDS))
            .prop_map(|(n, kind)| Step::Stand(n, kind)),
        12 => (0..9u8, 0..3u8, 0..5usize).prop_map(|(n, who, hops)| Step::Go(n, who, hops, None)),
        3 => (0..9u8, 0..3u8, 0..2usize, endings).prop_map(|(n, who, hops, ending)| {
            Step::Go(n, who, hops, Some(ending))
        }),
        1 => (0..3u8).prop_map(Step::Erase),
    ]
}

fn written(steps: Vec<Step>) -> Book {
    let mut book = Book::default();
    for step in steps {
        match step {
            Step::Publish(n) => book.publish(n),
            Step::Draft(n) => book.draft(n),
            Step::Stand(n, kind) => book.stand(n, kind),
            // A run begins and ends in two records.
            Step::Go(n, who, hops, Some(_)) if !book.runs.contains_key(&n) => {
                book.go(n, who, hops, None);
            }
            Step::Go(n, who, hops, ending) => book.go(n, who, hops, ending),
            Step::Erase(who) => book.erase(who),
        }
    }
    book
}

/// How many are at a node, by what was counted.
fn at(tables: &Tables) -> BTreeMap<(JourneyId, String), i64> {
    let mut at = BTreeMap::new();
    for row in tables.rows(&JOURNEY_COUNT) {
        let (_, JourneyCount { key, times }) = count_of_row(row).expect("readable");
        for (node, change) in [(key.target, times), (key.node, -times)] {
            *at.entry((key.journey, node)).or_default() += change;
        }
    }
    at.retain(|(_, node), count| !node.is_empty() && *count != 0);
    at
}

proptest! {
    #[test]
    fn any_batch_size_and_every_event_twice_give_the_same(steps in prop::collection::vec(step(), 1..60)) {
        let book = written(steps);
        let whole = book.folded(1_000);
        for batch in [1, 3, 7] {
            prop_assert_eq!(&book.folded(batch), &whole, "batch of {}", batch);
        }
        let twice: Vec<Recorded> = book.log.iter().flat_map(|r| [r.clone(), r.clone()]).collect();
        for batch in [1, 2, 5, 1_000] {
            prop_assert_eq!(&folded(&twice, batch), &whole, "twice, batch of {}", batch);
        }
        let mut active: BTreeMap<(JourneyId, String), i64> = BTreeMap::new();
        for run in instances(&whole) {
            if run.status == Status::Active {
                *active.entry((run.journey, run.node)).or_default() += 1;
            }
        }
        prop_assert_eq!(at(&whole), active);
    }
}
