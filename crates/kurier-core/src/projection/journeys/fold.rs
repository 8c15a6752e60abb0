//! One batch of events over the journeys and runs it touches.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Change, Folded, Loaded, Row, UnreadableRow};
use super::instance::{self, InstanceSummary, instance_of_row};
use super::passage::Passage;
use super::row::{self, CountKey, JourneyStanding, JourneySummary, count_of_row, journey_of_row};
use super::{
    JOURNEY, JOURNEY_COUNT, JOURNEY_INSTANCE, JOURNEY_PATH, JOURNEY_VERSION, instance_key,
    is_about_run, journey_key,
};
use crate::event::{Erasure, Kind, Recorded};
use crate::id::{ContactId, InstanceId, JourneyId, WorkspaceId};
use crate::journey::{Draft, Publication, Record, Standing};
use crate::value::Value;

type JourneyKey = (WorkspaceId, JourneyId);
type InstanceKey = (WorkspaceId, InstanceId);

/// A journey with the text of its draft.
struct Kept {
    journey: JourneySummary,
    draft: Option<String>,
}

/// What was loaded, and what is to be written of it, in a fixed order.
#[derive(Default)]
pub struct Fold {
    journeys: BTreeMap<JourneyKey, Kept>,
    changed_journeys: BTreeSet<JourneyKey>,
    instances: BTreeMap<InstanceKey, InstanceSummary>,
    changed_instances: BTreeSet<InstanceKey>,
    counts: BTreeMap<(WorkspaceId, CountKey), i64>,
    changed_counts: BTreeSet<(WorkspaceId, CountKey)>,
    folded: Folded,
}

impl Fold {
    pub fn new(loaded: Vec<Loaded>) -> Result<Self, UnreadableRow> {
        let mut fold = Self::default();
        for Loaded { table, rows } in loaded {
            for row in rows {
                let read = match table {
                    table if table == &JOURNEY => fold.load_journey(&row),
                    table if table == &JOURNEY_INSTANCE => fold.load_instance(&row),
                    _ => fold.load_count(&row),
                };
                read.ok_or_else(|| UnreadableRow::new(table, &row))?;
            }
        }
        Ok(fold)
    }

    fn load_journey(&mut self, row: &Row) -> Option<()> {
        let (workspace, journey) = journey_of_row(row)?;
        let draft = row.get(3)?.as_text().map(str::to_owned);
        let key = (workspace, journey.id);
        self.journeys.insert(key, Kept { journey, draft });
        Some(())
    }

    fn load_instance(&mut self, row: &Row) -> Option<()> {
        let (workspace, instance) = instance_of_row(row)?;
        self.instances.insert((workspace, instance.id), instance);
        Some(())
    }

    fn load_count(&mut self, row: &Row) -> Option<()> {
        let (workspace, count) = count_of_row(row)?;
        self.counts.insert((workspace, count.key), count.times);
        Some(())
    }

    pub fn event(&mut self, recorded: &Recorded) {
        use Kind::{JourneyPaused, JourneyResumed, JourneyRetired};
        let result = match recorded.event.kind {
            Kind::JourneyDrafted => self.drafted(recorded),
            Kind::JourneyPublished => self.published(recorded),
            JourneyPaused | JourneyResumed | JourneyRetired => self.stands(recorded),
            Kind::ContactErased => self.erased(recorded),
            kind if is_about_run(kind) => self.record(recorded),
            _ => Ok(()),
        };
        if let Err(error) = result {
            let reason = error.to_string();
            self.folded.poison.push((recorded.position, reason));
        }
    }

    fn drafted(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let draft: Draft = serde_json::from_str(&recorded.event.payload)?;
        let text = serde_json::to_string(&draft.definition)?;
        let kept = self.change(recorded, draft.journey, &draft.definition);
        kept.journey.has_draft = true;
        kept.draft = Some(text);
        Ok(())
    }

    /// What was published needs no draft any more, also if that is told again with the draft.
    fn published(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let publication: Publication = serde_json::from_str(&recorded.event.payload)?;
        let definition = serde_json::to_string(&publication.definition)?;
        let kept = self.change(recorded, publication.journey, &publication.definition);
        (kept.journey.has_draft, kept.draft) = (false, None);
        if kept.journey.version >= Some(publication.version) {
            return Ok(());
        }
        kept.journey.version = Some(publication.version);
        kept.journey.segments = publication.segments.into_values().collect();
        if kept.journey.standing != JourneyStanding::Paused {
            kept.journey.standing = JourneyStanding::Active;
        }
        let mut row = journey_key(recorded.workspace, publication.journey);
        row.extend([
            i64::from(publication.version).into(),
            definition.into(),
            recorded.event.recorded_at.into(),
        ]);
        self.folded.changes.push(Change::Put(&JOURNEY_VERSION, row));
        Ok(())
    }

    /// The journey that an event changes, made if it is new.
    fn change(&mut self, recorded: &Recorded, id: JourneyId, definition: &Value) -> &mut Kept {
        let at = recorded.event.recorded_at;
        let key = (recorded.workspace, id);
        self.changed_journeys.insert(key);
        let name = definition.as_object().and_then(|it| it.get("name"));
        let name = name.and_then(Value::as_text).cloned().unwrap_or_default();
        let kept = self.journeys.entry(key).or_insert_with(|| Kept {
            journey: JourneySummary {
                id,
                name,
                has_draft: false,
                version: None,
                standing: JourneyStanding::Draft,
                segments: Vec::new(),
                created_at: at,
                changed_at: at,
            },
            draft: None,
        });
        kept.journey.changed_at = at;
        kept
    }

    fn stands(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let Standing { journey } = serde_json::from_str(&recorded.event.payload)?;
        let key = (recorded.workspace, journey);
        let Some(kept) = self.journeys.get_mut(&key) else {
            return Ok(());
        };
        use JourneyStanding::{Active, Paused, Retired};
        kept.journey.standing = match (recorded.event.kind, kept.journey.standing) {
            (Kind::JourneyPaused, Active) => Paused,
            (Kind::JourneyResumed, Paused) => Active,
            (Kind::JourneyRetired, Active | Paused) => Retired,
            (_, standing) => standing,
        };
        kept.journey.changed_at = recorded.event.recorded_at;
        self.changed_journeys.insert(key);
        Ok(())
    }

    fn record(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let record: Record = serde_json::from_str(&recorded.event.payload)?;
        let key = (recorded.workspace, record.run.instance);
        if record.run.seq == 1 {
            let begun = || InstanceSummary::begun(recorded, &record);
            self.instances.entry(key).or_insert_with(begun);
        }
        let Some(instance) = self.instances.get_mut(&key) else {
            return Ok(());
        };
        // One that is not the next of its run is nothing new.
        if instance.seq + 1 != record.run.seq {
            return Ok(());
        }
        instance.advance(recorded, &record);
        self.changed_instances.insert(key);
        let is_nobodys = instance.contact.is_none();
        if is_nobodys && record.run.ending.is_some() {
            self.instances.remove(&key);
        }
        self.count(recorded.workspace, &record);
        if !is_nobodys {
            let changes = Passage::changes_of(recorded, record);
            self.folded.changes.extend(changes);
        }
        Ok(())
    }

    fn count(&mut self, workspace: WorkspaceId, record: &Record) {
        for (key, times) in row::ways(&record.run) {
            let key = (workspace, key);
            *self.counts.entry(key.clone()).or_default() += times;
            self.changed_counts.insert(key);
        }
    }

    /// The runs of who is erased go; one that is under way is nobody's until it ends.
    fn erased(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let erasure: Erasure = serde_json::from_str(&recorded.event.payload)?;
        let contacts: BTreeSet<ContactId> = erasure.contacts.into_iter().collect();
        let is_theirs = |(key, instance): &(&InstanceKey, &InstanceSummary)| {
            key.0 == recorded.workspace && instance.contact.is_some_and(|id| contacts.contains(&id))
        };
        let theirs = self.instances.iter().filter(is_theirs);
        let theirs: Vec<InstanceKey> = theirs.map(|(key, _)| *key).collect();
        for key in theirs {
            let path = Change::Drop(&JOURNEY_PATH, instance_key(key.0, key.1));
            self.folded.changes.push(path);
            self.changed_instances.insert(key);
            match self.instances.get_mut(&key) {
                Some(instance) if instance.ending.is_none() => instance.forget(),
                _ => drop(self.instances.remove(&key)),
            }
        }
        Ok(())
    }

    /// Each row is written once, however many events changed it.
    pub fn finish(mut self) -> Folded {
        let changes = &mut self.folded.changes;
        for (workspace, id) in self.changed_journeys {
            let Kept { journey, draft } = &self.journeys[&(workspace, id)];
            let row = row::row_of(workspace, journey, draft.as_deref());
            changes.push(Change::Put(&JOURNEY, row));
        }
        for (workspace, key) in self.changed_counts {
            let mut row = key.cells(workspace);
            row.push(self.counts[&(workspace, key)].into());
            changes.push(Change::Put(&JOURNEY_COUNT, row));
        }
        let (there, gone): (Vec<_>, Vec<_>) = self
            .changed_instances
            .into_iter()
            .partition(|key| self.instances.contains_key(key));
        changes.extend(there.iter().map(|key| {
            let row = instance::row_of(key.0, &self.instances[key]);
            Change::Put(&JOURNEY_INSTANCE, row)
        }));
        let gone = gone.into_iter();
        changes.extend(gone.map(|key| Change::Drop(&JOURNEY_INSTANCE, instance_key(key.0, key.1))));
        self.folded
    }
}
