//! The projectors there are, each at its pace.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use kurier_core::event::Position;
use kurier_core::projection::{
    Audit, Contacts, Content, Daily, Health, Journeys, Messages, Projection, Segments,
    SlackWorkspaces, Templates, Versions,
};
use kurier_store::Store;
use tokio::sync::{Notify, watch};

use super::Projector;
use crate::flow::ahead::Ahead;
use crate::flow::concern::Concern;
use crate::flow::pace::Pace;
use crate::flow::rate::Rate;
use crate::http::Pressure;

impl Projector {
    /// Folds contacts; and what an erasure asks of log and queue is done on the way.
    pub fn of_contacts(store: Store, pressure: Arc<Pressure>) -> Self {
        Self {
            erases: true,
            pace: Pace::PATIENT,
            ..Self::new(store, pressure, &Contacts)
        }
    }

    pub fn of_segments(store: Store, pressure: Arc<Pressure>) -> Self {
        Self {
            pace: Pace::EAGER,
            ..Self::new(store, pressure, &Segments)
        }
    }

    pub fn of_templates(store: Store, pressure: Arc<Pressure>) -> Self {
        Self::new(store, pressure, &Templates)
    }

    pub fn of_content(store: Store, pressure: Arc<Pressure>) -> Self {
        Self::new(store, pressure, &Content)
    }

    pub fn of_slack_workspaces(store: Store, pressure: Arc<Pressure>) -> Self {
        Self::new(store, pressure, &SlackWorkspaces)
    }

    /// Folds versions, for those who prove what was published.
    pub fn of_versions(store: Store, pressure: Arc<Pressure>) -> Self {
        Self::new(store, pressure, &Versions)
    }

    pub fn of_messages(store: Store, pressure: Arc<Pressure>) -> Self {
        Self {
            pace: Pace::PATIENT,
            ..Self::new(store, pressure, &Messages)
        }
    }

    pub fn of_journeys(store: Store, pressure: Arc<Pressure>) -> Self {
        Self {
            pace: Pace::PATIENT,
            ..Self::new(store, pressure, &Journeys)
        }
    }

    /// Fold what nobody waits for.
    pub fn of_records(store: &Store, pressure: &Arc<Pressure>) -> Vec<Arc<Self>> {
        let of = |projection: &'static dyn Projection| Self {
            pace: Pace::PATIENT,
            ..Self::new(store.clone(), pressure.clone(), projection)
        };
        let all: [&'static dyn Projection; 3] = [&Audit, &Daily, &Health];
        all.into_iter().map(|it| Arc::new(of(it))).collect()
    }

    /// Folds a projection of any kind, as fast as it can.
    pub fn of(store: Store, pressure: Arc<Pressure>, projection: &'static dyn Projection) -> Self {
        Self::new(store, pressure, projection)
    }

    fn new(store: Store, pressure: Arc<Pressure>, projection: &'static dyn Projection) -> Self {
        let reached = watch::Sender::new(Position(0));
        Self {
            ahead: Ahead::new(store.log.clone()),
            store,
            pressure,
            concern: Concern::of(projection),
            projection,
            erases: false,
            pace: Pace::ATTENTIVE,
            reached,
            wake: Notify::new(),
            is_failing: AtomicBool::new(false),
            passed: Mutex::default(),
            rate: Rate::default(),
            changes: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use kurier_core::event::{Event, Kind};
    use kurier_core::id::EventId;
    use kurier_store::{Scope, Sqlite};

    use super::*;
    use crate::{clock, keyring};

    fn event(kind: Kind, message: &str) -> Event {
        let now = clock::now();
        Event {
            id: EventId::of_message(message),
            kind,
            contact: None,
            occurred_at: now,
            recorded_at: now,
            payload: "{}".to_owned(),
        }
    }

    #[tokio::test]
    async fn what_is_seldom_is_found_however_much_stands_before_and_behind_it() {
        let home = tempfile::tempdir().expect("a folder");
        let open = || Store::from(Sqlite::open(&home.path().join("kurier.db")).expect("opened"));
        let (writer, reader) = (open(), open());
        keyring::found(writer.access.as_ref(), "default", None, None)
            .await
            .expect("founded");
        let workspaces = writer.access.workspaces().await.expect("listed");
        let many = |name: &str| -> Vec<Event> {
            let events = (0..2_500).map(|n| event(Kind::Track, &format!("{name}{n}")));
            events.collect()
        };
        // That it cannot be read shows that it was looked at.
        let seldom = event(Kind::TemplatePublished, "seldom");
        let scope = Scope(workspaces[0].id);
        for events in [many("before"), vec![seldom], many("behind")] {
            let appended = writer.log.append(scope, events).await;
            appended.expect("appended");
        }
        // By what it appends itself it knows how far it is behind.
        let last = vec![event(Kind::Track, "last")];
        reader.log.append(scope, last).await.expect("appended");
        let projector = Projector::of_templates(reader.clone(), Arc::default());
        projector.drain().await.expect("folded");
        let head = reader.log.head().await.expect("read");
        assert_eq!(projector.position(), head);
        let poisoned = reader.views.poisoned(projector.name()).await;
        assert_eq!(poisoned.expect("counted"), 1);
    }
}
