//! Published versions, what was shown for them, and what verifications found.

use kurier_core::bundle::chain::{Chain, Tip};
use kurier_core::bundle::proof::committing_tx;
use kurier_core::bundle::{
    Commitment, Digest, Hash256, Hex, Kind as Artefact, Proving, State, Subject, mine_block,
};
use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::EventId;
use kurier_core::projection::{Anchor, PublishedVersion, Versions};
use kurier_core::template::{Compiled, Publication};
use kurier_core::value::Value;
use kurier_store::{Store, Verdict, VersionQuery};

use super::place::cases;
use super::runner::project_with;
use super::space::{Space, seconds};

cases! {
    versions_are_listed_newest_first_and_page_by_page,
    what_was_shown_is_read_back_whole_newest_first,
    what_changed_is_told_in_order,
    no_version_reaches_another_workspace,
    a_verdict_is_noted_when_it_changes_and_confirmed_when_it_does_not,
}

fn published(name: &str, version: u32) -> Event {
    let json = format!(r#"{{"name": "{name}", "text": "ä ' \\ {version}"}}"#);
    let document: Value = serde_json::from_str(&json).expect("JSON");
    let compiled = Compiled::new(&document).expect("good");
    let publication = Publication::new(&compiled, version, document);
    Event {
        id: publication.event_id(),
        kind: Kind::TemplatePublished,
        contact: None,
        occurred_at: seconds(i64::from(version)),
        recorded_at: seconds(i64::from(version)),
        payload: serde_json::to_string(&publication).expect("JSON"),
    }
}

fn proven(versions: &[Digest], salt: u64, is_mined: bool) -> Event {
    let tx = committing_tx(&versions[0], salt);
    let genesis = Chain::Regtest.genesis();
    let block = mine_block(&genesis, vec![Hash256::of(&tx)], genesis.time + 1, 1_000);
    let block = block.expect("every second one does");
    let bump = block.txs.prove(1, 0).expect("the first").bytes();
    let subject = |version: &Digest| Subject {
        version: *version,
        commitment: Commitment::OpReturn {},
    };
    let proving = Proving {
        versions: versions.iter().map(subject).collect(),
        tx: Hex(tx),
        bump: is_mined.then_some(Hex(bump)),
        header: is_mined.then_some(Hex(block.header.bytes().to_vec())),
    };
    Event {
        id: EventId::of_message(&format!("proven {salt}")),
        kind: Kind::VersionProven,
        payload: serde_json::to_string(&proving).expect("JSON"),
        ..published("x", 100 + salt as u32)
    }
}

async fn say(store: &Store, space: &Space, events: Vec<Event>) {
    let appended = store.log.append(space.scope, events).await;
    appended.expect("appended");
    project_with(&Versions, store, 2).await;
}

async fn all(store: &Store, space: &Space, query: VersionQuery) -> Vec<PublishedVersion> {
    let page = store.versions.published(space.scope, &query).await;
    page.expect("read").versions
}

fn of_any(limit: usize) -> VersionQuery {
    VersionQuery {
        limit,
        ..VersionQuery::default()
    }
}

fn names(versions: &[PublishedVersion]) -> Vec<&str> {
    versions.iter().map(|it| it.version.name.as_str()).collect()
}

async fn versions_are_listed_newest_first_and_page_by_page(store: Store) {
    let space = Space::new(1);
    let events = ["a", "b", "c"].iter().zip(1..);
    let events = events.map(|(name, version)| published(name, version));
    say(&store, &space, events.collect()).await;
    let whole = all(&store, &space, of_any(10)).await;
    assert_eq!(names(&whole), ["c@3", "b@2", "a@1"]);
    let first = store.versions.published(space.scope, &of_any(2)).await;
    let first = first.expect("read");
    assert!(first.has_more);
    let last = &first.versions[1];
    let next = VersionQuery {
        after: Some((last.published_at, last.id)),
        ..of_any(2)
    };
    let next = store
        .versions
        .published(space.scope, &next)
        .await
        .expect("read");
    assert_eq!((names(&next.versions), next.has_more), (vec!["a@1"], false));
    say(&store, &space, vec![proven(&[whole[1].id], 1, true)]).await;
    let mined = VersionQuery {
        anchor: Some(Anchor::Mined),
        kind: Some(Artefact::Template),
        ..of_any(9)
    };
    assert_eq!(names(&all(&store, &space, mined).await), ["b@2"]);
    let journeys = VersionQuery {
        kind: Some(Artefact::Journey),
        ..of_any(9)
    };
    assert_eq!(all(&store, &space, journeys).await, []);
}

async fn what_was_shown_is_read_back_whole_newest_first(store: Store) {
    let space = Space::new(1);
    say(&store, &space, vec![published("a", 1)]).await;
    let id = all(&store, &space, of_any(1)).await[0].id;
    let shown = vec![proven(&[id], 1, false), proven(&[id], 2, true)];
    say(&store, &space, shown).await;
    let proofs = store.versions.version_proofs(space.scope, &id).await;
    let proofs = proofs.expect("read");
    let mined: Vec<bool> = proofs.iter().map(|proof| proof.block.is_some()).collect();
    assert_eq!(mined, [true, false]);
    assert_eq!(proofs[1].tx, committing_tx(&id, 1));
    let (bump, header) = proofs[0].block.clone().expect("mined");
    assert_eq!(bump.root(), Ok(header.merkle_root));
    let found = store
        .versions
        .published_among(space.scope, &[id, Digest::of(b"")])
        .await;
    let found = found.expect("read");
    assert_eq!((found.len(), found[0].anchor), (1, Anchor::Mined));
}

async fn what_changed_is_told_in_order(store: Store) {
    let (ours, theirs) = (Space::new(1), Space::new(2));
    say(&store, &ours, vec![published("a", 1), published("b", 2)]).await;
    say(&store, &theirs, vec![published("a", 1)]).await;
    let told = store.versions.changed_versions(Position(0), 9).await;
    let told = told.expect("read");
    let places: Vec<_> = told.iter().map(|it| (it.0, it.2)).collect();
    let (ours_id, theirs_id) = (ours.scope.0, theirs.scope.0);
    let first = told[0].2;
    let nth = |n: i64| Position(first.0 + n);
    assert_eq!(
        places,
        [(ours_id, first), (ours_id, nth(1)), (theirs_id, nth(2))]
    );
    say(&store, &ours, vec![proven(&[told[0].1], 1, false)]).await;
    let told_then = store
        .versions
        .changed_versions(nth(2), 9)
        .await
        .expect("read");
    assert_eq!(told_then, [(ours_id, told[0].1, nth(3))]);
    let some = store.versions.changed_versions(Position(0), 1).await;
    assert_eq!(some.expect("read").len(), 1);
}

async fn no_version_reaches_another_workspace(store: Store) {
    let (ours, theirs) = (Space::new(1), Space::new(2));
    say(&store, &ours, vec![published("a", 1)]).await;
    let id = all(&store, &ours, of_any(1)).await[0].id;
    say(&store, &ours, vec![proven(&[id], 1, true)]).await;
    assert_eq!(all(&store, &theirs, of_any(9)).await, []);
    let (versions, scope) = (&store.versions, theirs.scope);
    let among = versions.published_among(scope, &[id]).await;
    assert_eq!(among.expect("read"), []);
    let proofs = versions.version_proofs(scope, &id).await;
    assert_eq!(proofs.expect("read"), []);
    assert_eq!(
        versions
            .version_proofs(ours.scope, &id)
            .await
            .expect("read")
            .len(),
        1
    );
}

fn verdict(state: State, height: u32, tip: u32, reorg: bool) -> Verdict {
    let place = |height: u32| Tip {
        height,
        hash: Hash256::of(&height.to_le_bytes()),
    };
    Verdict {
        state,
        block: Some(place(height)),
        proof_sha256: Some(Digest::of(b"proof")),
        tip: Some(place(tip)),
        reorg,
    }
}

async fn a_verdict_is_noted_when_it_changes_and_confirmed_when_it_does_not(store: Store) {
    let (ours, theirs) = (Space::new(1), Space::new(2));
    let id = Digest::of(b"a version");
    let said = [
        verdict(State::Confirmed, 5, 6, false),
        verdict(State::Confirmed, 5, 7, false),
        verdict(State::OffChain, 5, 8, true),
        verdict(State::Confirmed, 7, 8, false),
    ];
    for (verdict, at) in said.iter().zip(1..) {
        let noted = store
            .bundle_audit
            .note_verdict(ours.scope, &id, verdict, seconds(at))
            .await;
        noted.expect("noted");
    }
    let noted = store
        .bundle_audit
        .verdicts(ours.scope, &id)
        .await
        .expect("read");
    let told: Vec<_> = noted
        .iter()
        .map(|it| (it.verdict.clone(), it.created_at, it.verified_at))
        .collect();
    let expected = [
        (said[1].clone(), seconds(1), seconds(2)),
        (said[2].clone(), seconds(3), seconds(3)),
        (said[3].clone(), seconds(4), seconds(4)),
    ];
    assert_eq!(told, expected);
    let others = store.bundle_audit.verdicts(theirs.scope, &id).await;
    assert_eq!(others.expect("read"), []);
}
