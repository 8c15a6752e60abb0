use std::sync::Arc;

use super::*;
use crate::bundle::proof::committing_tx;
use crate::bundle::{Commitment, Hex, Subject};
use crate::content;
use crate::event::{Event, Position};
use crate::id::{EventId, JourneyId, TemplateId};
use crate::journey;
use crate::projection::simulation::Tables;
use crate::template;
use crate::time::Timestamp;
use crate::value::Value;

fn recorded(position: i64, kind: Kind, payload: &impl serde::Serialize) -> Recorded {
    let at = Timestamp::from_millis(position * 1_000);
    Recorded {
        position: Position(position),
        workspace: WorkspaceId::from_bytes([9; 16]),
        event: Event {
            id: EventId::of_message(&position.to_string()),
            kind,
            contact: None,
            occurred_at: at,
            recorded_at: at,
            payload: serde_json::to_string(payload).expect("JSON"),
        }
        .into(),
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn template(position: i64, name: &str, version: u32, text: &str) -> Recorded {
    let document = json(&format!(r#"{{"name":"{name}","text":"{text}"}}"#));
    let publication = template::Publication {
        id: TemplateId::of_name(name),
        name: name.to_owned(),
        version,
        hash: template::hash_of(&document),
        document,
        reads: Vec::new(),
        topic: None,
    };
    recorded(position, Kind::TemplatePublished, &publication)
}

fn journey(position: i64, version: u32) -> Recorded {
    let publication = journey::Publication {
        journey: JourneyId::from_bytes([4; 16]),
        version,
        definition: json(
            r#"{"name":"welcome","nodes":[
                {"id":"a","node_type":"send_message","template":"hello"},
                {"id":"b","node_type":"send_message","template":"never made"},
                {"id":"c","node_type":"send_message","template":"again"}]}"#,
        ),
        segments: BTreeMap::new(),
    };
    recorded(position, Kind::JourneyPublished, &publication)
}

fn proven(position: i64, version: Digest) -> Recorded {
    let subject = Subject {
        version,
        commitment: Commitment::OpReturn {},
    };
    let proving = Proving {
        versions: vec![subject],
        tx: Hex(committing_tx(&version, 1)),
        bump: None,
        header: None,
    };
    recorded(position, Kind::VersionProven, &proving)
}

fn versions(tables: &Tables) -> Vec<PublishedVersion> {
    let rows = tables.rows(&PUBLISHED_VERSION);
    let mut all: Vec<_> = rows
        .map(|row| published_of_row(row).expect("readable").1)
        .collect();
    all.sort_by_key(|it| it.published_at);
    all
}

fn history() -> Vec<Recorded> {
    let mut events = vec![
        template(1, "hello", 1, "Hello"),
        template(2, "again", 1, "Again"),
        journey(3, 1),
        template(4, "hello", 2, "Hello!"),
        journey(5, 2),
    ];
    let mut tables = Tables::default();
    tables.run(&Versions, &events);
    let first = versions(&tables)[0].id;
    events.extend([proven(6, first), proven(7, first)]);
    events
}

/// A version of its own kind, whose content is the root over the events.
#[test]
fn gathered_evidence_is_a_version() {
    let summary = crate::bundle::Summary {
        from: Timestamp::from_millis(0),
        to: Timestamp::from_millis(1_000),
        count: 3,
        root: Digest::of(b"a root"),
    };
    let mut event = recorded(1, Kind::EvidenceGathered, &summary);
    // As it is signed.
    let signed = event.event.payload.replacen('{', r#"{"by":"cli","#, 1);
    Arc::make_mut(&mut event.event).payload = signed;
    let sources = Source::of(&event).expect("it is one");
    let names = sources.iter().map(|it| (it.kind, it.title.as_str()));
    let name = "evidence/1970-01-01T00:00:00Z/1970-01-01T00:00:01Z@1";
    assert_eq!(names.collect::<Vec<_>>(), [(Artefact::Evidence, name)]);
    assert_eq!(sources[0].content, summary.canonical());
    assert!(Versions.folds(Kind::EvidenceGathered));
}

#[test]
fn a_journey_comes_from_the_newest_templates_that_it_sends() {
    let mut tables = Tables::default();
    tables.run(&Versions, &history());
    let all = versions(&tables);
    let told: Vec<(&str, usize)> = all
        .iter()
        .map(|it| (it.version.name.as_str(), it.version.parents.len()))
        .collect();
    assert_eq!(
        told,
        [
            ("hello@1", 0),
            ("again@1", 0),
            ("welcome@1", 2),
            ("hello@2", 0),
            ("welcome@2", 2)
        ]
    );
    let sorted = |mut ids: Vec<Digest>| {
        ids.sort_unstable();
        ids
    };
    assert_eq!(all[2].version.parents, sorted(vec![all[0].id, all[1].id]));
    assert_eq!(all[4].version.parents, sorted(vec![all[3].id, all[1].id]));
    assert!(all.iter().all(|it| it.id == it.version.id()));
    assert_eq!(
        all[0].version.content_sha256.to_string(),
        template::hash_of(&json(r#"{"text":"Hello","name":"hello"}"#))
    );
}

#[test]
fn what_was_shown_twice_is_kept_once_and_the_version_knows_of_it() {
    let mut tables = Tables::default();
    tables.run(&Versions, &history());
    let proofs: Vec<_> = tables.rows(&VERSION_PROOF).collect();
    assert_eq!(proofs.len(), 1);
    let proof = version_proof_of_row(proofs[0]).expect("readable");
    assert_eq!(
        (proof.commitment, proof.block),
        (Commitment::OpReturn {}, None)
    );
    let first = &versions(&tables)[0];
    assert_eq!(
        (first.anchor, first.revision),
        (Anchor::Committed, Position(7))
    );
    assert_eq!(first.published_at, Timestamp::from_millis(1_000));
}

#[test]
fn batches_of_any_size_give_the_same() {
    let mut whole = Tables::default();
    whole.run(&Versions, &history());
    for size in 1..=4 {
        let mut tables = Tables::default();
        history()
            .chunks(size)
            .for_each(|events| tables.run(&Versions, events));
        assert_eq!(tables, whole, "batches of {size}");
    }
}

#[test]
fn a_proof_of_what_was_never_published_is_set_aside() {
    let events = [
        proven(1, Digest::of(b"nothing")),
        recorded(2, Kind::VersionProven, &7),
    ];
    let folded = Versions.fold(Vec::new(), &events).expect("nothing to read");
    assert_eq!(folded.changes, []);
    assert_eq!(folded.poison.len(), 2, "{:?}", folded.poison);
    assert!(folded.poison[0].1.contains("never published"));
}

fn import(position: i64, number: u32, text: &str) -> Recorded {
    let slugger = content::Slugger::new(&content::Settings::default());
    let outline = content::Outline::read(text, None, &slugger).expect("read");
    let plan = content::Plan::new("refunds.md", None, &outline);
    let content::Decision::Changed(change) = plan.decide(&mut content::Numbers::default()) else {
        panic!("nothing changed");
    };
    let imported = content::Imported {
        document: change.document,
        source: text.to_owned(),
        given: change.given,
        gone: change.gone,
    };
    let import = content::Import::new(number, vec![imported]);
    recorded(position, Kind::ContentImported, &import)
}

#[test]
fn a_template_comes_from_the_newest_documents_that_it_quotes() {
    let quoting = r"{{ content('ch:refunds:001') }} {{ content('ch:unknown:001') }}";
    let events = [
        import(1, 1, "# Refunds\n"),
        template(2, "policy", 1, quoting),
        import(3, 2, "# Refunds\n\nWithin a month.\n"),
        template(4, "policy", 2, quoting),
    ];
    let mut tables = Tables::default();
    tables.run(&Versions, &events);
    let all = versions(&tables);
    let told: Vec<(&str, &[Digest])> = all
        .iter()
        .map(|it| (it.version.name.as_str(), it.version.parents.as_slice()))
        .collect();
    let (first, second) = ([all[0].id], [all[2].id]);
    assert_eq!(
        told,
        [
            ("refunds.md@1", [].as_slice()),
            ("policy@1", &first),
            ("refunds.md@2", &[]),
            ("policy@2", &second)
        ]
    );
    assert_eq!(all[0].version.content_sha256, Digest::of(b"# Refunds\n"));
}
