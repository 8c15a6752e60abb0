//! Whether looking into the database can be spared. Who folds only what is seldom would ask it
//! in vain most of the time, just when clients are waiting for it.

use std::time::Instant;

use kurier_core::event::{Kind, Position};
use kurier_store::Log;

use super::project::LOOK_EVERY;

/// What one projection has looked at.
#[derive(Debug, Default)]
pub struct Lookout {
    looked: Option<Instant>,
    /// Up to here nothing concerns it.
    seen: Position,
}

impl Lookout {
    /// Says that the database was asked, and how far the projection has come.
    pub const fn looked(&mut self, at: Instant, position: Position) {
        self.looked = Some(at);
        self.seen = position;
    }

    /// Whether the last look is not long ago, and nothing that this process knows of came since.
    /// What others append shows as a gap as soon as this process appends something.
    pub fn sees_nothing(&mut self, log: &dyn Log, folds: &(dyn Fn(Kind) -> bool + Sync)) -> bool {
        let is_recent = self.looked.is_some_and(|at| at.elapsed() < LOOK_EVERY);
        if !is_recent {
            return false;
        }
        self.seen = log.skip(self.seen, folds);
        log.newest().is_some_and(|newest| newest <= self.seen)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kurier_core::event::Event;
    use kurier_core::id::EventId;
    use kurier_store::{Scope, Sqlite, Store};

    use super::*;
    use crate::{clock, keyring};

    /// A process with the database.
    struct Process {
        store: Store,
        scope: Scope,
    }

    impl Process {
        async fn of(home: &Path) -> Self {
            let sqlite = Sqlite::open(&home.join("kurier.db")).expect("opened");
            let store = Store::from(sqlite);
            // Whoever comes second finds it made.
            let _ = keyring::found(store.access.as_ref(), "default", None, None).await;
            let workspaces = store.access.workspaces().await.expect("listed");
            let scope = Scope(workspaces[0].id);
            Self { store, scope }
        }

        async fn append(&self, kind: Kind, message: &str) {
            let now = clock::now();
            let event = Event {
                id: EventId::of_message(message),
                kind,
                contact: None,
                occurred_at: now,
                recorded_at: now,
                payload: "{}".to_owned(),
            };
            let appended = self.store.log.append(self.scope, vec![event]).await;
            appended.expect("appended");
        }

        async fn look(&self, lookout: &mut Lookout, at: Instant) {
            lookout.looked(at, self.store.log.head().await.expect("read"));
        }

        fn sees_nothing(&self, lookout: &mut Lookout) -> bool {
            let identifies = |kind| kind == Kind::Identify;
            lookout.sees_nothing(self.store.log.as_ref(), &identifies)
        }
    }

    #[tokio::test]
    async fn what_concerns_nobody_is_no_reason_to_look_and_what_does_is() {
        let home = tempfile::tempdir().expect("a folder");
        let process = Process::of(home.path()).await;
        let mut lookout = Lookout::default();
        assert!(!process.sees_nothing(&mut lookout), "it never looked");
        process.append(Kind::Track, "1").await;
        process.look(&mut lookout, Instant::now()).await;
        assert!(process.sees_nothing(&mut lookout));
        process.append(Kind::Track, "2").await;
        assert!(process.sees_nothing(&mut lookout));
        process.append(Kind::Identify, "3").await;
        assert!(!process.sees_nothing(&mut lookout));
    }

    #[tokio::test]
    async fn what_others_append_is_looked_at_in_time_and_sooner_where_it_shows() {
        let home = tempfile::tempdir().expect("a folder");
        let (own, other) = (
            Process::of(home.path()).await,
            Process::of(home.path()).await,
        );
        let mut lookout = Lookout::default();
        own.append(Kind::Track, "1").await;
        own.look(&mut lookout, Instant::now()).await;
        other.append(Kind::Identify, "2").await;
        assert!(own.sees_nothing(&mut lookout), "nobody can know");
        own.append(Kind::Track, "3").await;
        assert!(!own.sees_nothing(&mut lookout), "there is a gap");
        let long_ago = Instant::now().checked_sub(LOOK_EVERY).expect("an instant");
        own.look(&mut lookout, long_ago).await;
        assert!(!own.sees_nothing(&mut lookout), "it is time");
    }
}
