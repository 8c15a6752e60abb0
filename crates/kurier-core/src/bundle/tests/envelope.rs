//! Versions, their lineage, and the bundle they are put into.

use std::collections::HashMap;

use super::super::chain::{Chain, Tip};
use super::super::commitment::{Commitment, leaf};
use super::super::envelope::{ENVELOPE_BYTES_MAX, Envelope, EnvelopeFault};
use super::super::hash::Digest;
use super::super::lineage::{DEPTH_MAX, LINEAGE_MAX, Lineage, Walk, capped_depth, walk};
use super::super::version::{Kind, PARENTS_MAX, Version, VersionFault};
use super::hash;
use crate::time::Timestamp;

pub(super) fn version(name: &str, parents: Vec<Digest>) -> Version {
    Version::new(Kind::Template, name, name.as_bytes(), parents).expect("a version")
}

/// The shelf on which versions stand, by id.
fn shelf(versions: &[Version]) -> HashMap<Digest, Version> {
    versions
        .iter()
        .map(|version| (version.id(), version.clone()))
        .collect()
}

fn lineage(of: &Version, depth: u32, shelf: &HashMap<Digest, Version>) -> Lineage {
    let found = walk(of, depth, |id| Ok::<_, ()>(shelf.get(id).cloned()));
    found.expect("a shelf never fails")
}

/// A version, its parent, and so on.
fn line(length: usize) -> Vec<Version> {
    let mut line = vec![version("0", Vec::new())];
    for number in 1..length {
        let parent = line[number - 1].id();
        line.push(version(&number.to_string(), vec![parent]));
    }
    line.reverse();
    line
}

#[test]
fn a_versions_id_is_the_hash_of_its_canonical_bytes() {
    let parent = Digest::of(b"p");
    let version = Version::new(Kind::Journey, "wel\"come", b"content", vec![parent, parent]);
    let version = version.expect("a version");
    let canonical = format!(
        r#"{{"kind":"journey","name":"wel\"come","contentSha256":"{}","parents":["{parent}"]}}"#,
        Digest::of(b"content"),
    );
    assert_eq!(
        String::from_utf8(version.canonical()).expect("text"),
        canonical
    );
    assert_eq!(version.id(), Digest::of(canonical.as_bytes()));
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(Digest::of(b"abc").to_string(), abc);
}

/// Whatever is changed of it, it is another version.
#[test]
fn a_versions_id_holds_all_of_it() {
    let plain = version("a", Vec::new());
    let ids = [
        plain.id(),
        version("b", Vec::new()).id(),
        version("a", vec![plain.id()]).id(),
        Version {
            kind: Kind::Content,
            ..plain.clone()
        }
        .id(),
        Version {
            content_sha256: Digest::of(b"x"),
            ..plain
        }
        .id(),
    ];
    let distinct: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len());
}

#[test]
fn a_version_that_has_two_forms_or_no_end_is_refused() {
    let make = |name: &str, parents| Version::new(Kind::Content, name, b"", parents).map(|_| ());
    assert_eq!(make("", Vec::new()), Err(VersionFault::Name));
    assert_eq!(make(&"x".repeat(513), Vec::new()), Err(VersionFault::Name));
    let many = |count: usize| (0..count).map(|n| Digest::of(&n.to_le_bytes())).collect();
    assert_eq!(make("x", many(PARENTS_MAX)), Ok(()));
    assert_eq!(make("x", many(PARENTS_MAX + 1)), Err(VersionFault::Parents));
    let mut version = version("x", many(2));
    version.parents.reverse();
    assert_eq!(version.check(), Err(VersionFault::Parents));
}

#[test]
fn the_leaf_is_of_tenant_version_and_content() {
    let [a, b] = [Digest::of(b"a"), Digest::of(b"b")];
    let mut bytes = b"kurier.version.v1\0acme".to_vec();
    bytes.extend(a.0);
    bytes.extend(b.0);
    assert_eq!(leaf("acme", &a, &b), Digest::of(&bytes));
    assert_ne!(leaf("acme", &a, &b), leaf("acme2", &a, &b));
    assert_ne!(leaf("acme", &a, &b), leaf("acme", &b, &a));
}

#[test]
fn depth_is_generations() {
    let line = line(6);
    let shelf = shelf(&line);
    for depth in 0..6 {
        let found = lineage(&line[0], depth, &shelf);
        assert_eq!(found.versions, line[1..=depth as usize]);
        assert!(!found.cut && found.missing.is_empty());
    }
    assert_eq!(lineage(&line[0], 100, &shelf).versions, line[1..]);
    assert_eq!((capped_depth(5), capped_depth(100)), (5, DEPTH_MAX));
}

#[test]
fn a_long_line_ends_at_the_greatest_depth() {
    let line = line(50);
    let found = lineage(&line[0], u32::MAX, &shelf(&line));
    assert_eq!(found.versions.len(), DEPTH_MAX as usize);
}

#[test]
fn a_shared_ancestor_is_there_once() {
    let root = version("root", Vec::new());
    let left = version("left", vec![root.id()]);
    let right = version("right", vec![root.id()]);
    let merged = version("merged", vec![left.id(), right.id(), root.id()]);
    let shelf = shelf(&[root, left, right]);
    let found = lineage(&merged, 9, &shelf);
    assert_eq!(found.versions.len(), 3);
}

/// Every version of a generation has sixteen parents of its own.
#[test]
fn a_wide_lineage_is_cut() {
    let mut asked = 0;
    let found = walk(&wide("top"), 9, |id| {
        asked += 1;
        Ok::<_, ()>(
            NAMES
                .with_borrow(|names| names.get(id).cloned())
                .map(|name| wide(&name)),
        )
    });
    let found = found.expect("a shelf never fails");
    assert!(found.cut);
    assert_eq!((found.versions.len(), asked), (LINEAGE_MAX, LINEAGE_MAX));
}

thread_local! {
    static NAMES: std::cell::RefCell<HashMap<Digest, String>> = Default::default();
}

/// A version with sixteen parents, which have none; each stands for a wide one by its id.
fn wide(name: &str) -> Version {
    if name.len() > 5 {
        return version(name, Vec::new());
    }
    let parents = (b'a'..b'q').map(|letter| {
        let name = format!("{name}{}", letter as char);
        let id = wide(&name).id();
        NAMES.with_borrow_mut(|names| names.insert(id, name));
        id
    });
    version(name, parents.collect())
}

/// Ids are hashes, so a circle cannot be made; a shelf can lie, and is not believed.
#[test]
fn a_lying_shelf_leads_round_in_no_circle() {
    let line = line(3);
    let mut lies = shelf(&line);
    lies.insert(line[1].id(), line[0].clone());
    let found = lineage(&line[0], 9, &lies);
    assert_eq!(
        (found.versions.len(), found.missing),
        (0, vec![line[1].id()])
    );
    let mut walk = Walk::new(&line[0], 9);
    assert_eq!(walk.wanted(), [line[1].id()]);
    walk.supply(vec![line[0].clone(), line[2].clone(), line[1].clone()]);
    assert_eq!(walk.wanted(), [line[2].id()]);
    walk.supply(Vec::new());
    assert!(walk.wanted().is_empty());
    assert_eq!(walk.finish().missing, [line[2].id()]);
}

fn envelope() -> Envelope {
    let line = line(4);
    let raw = super::super::proof::committing_tx(&Digest::of(b"root"), 1);
    let built_at = Timestamp::from_millis(1_790_000_000_123);
    Envelope::of(Chain::Bsv, "acme", &line[0], built_at)
        .committed(Commitment::OpReturn {}, raw)
        .descended(2, lineage(&line[0], 2, &shelf(&line)))
}

#[test]
fn an_envelope_has_one_form_and_is_read_as_it_was_written() {
    let envelope = envelope();
    let bytes = envelope.canonical().expect("small");
    let read = Envelope::parse(&bytes).expect("ours");
    assert_eq!(read, envelope);
    assert_eq!(read.canonical(), Ok(bytes));
    assert_eq!(
        (read.version(), read.lineage.len()),
        (line(4)[0].clone(), 2)
    );
}

#[test]
fn a_lineage_that_is_cut_is_said_to_be() {
    let lineage = Lineage {
        cut: true,
        ..Lineage::default()
    };
    let cut = envelope().descended(2, lineage);
    let bytes = cut.canonical().expect("small");
    let text = String::from_utf8(bytes.clone()).expect("text");
    assert!(text.contains(r#""lineageCut":true"#), "{text}");
    assert_eq!(Envelope::parse(&bytes), Ok(cut));
    let whole = envelope().canonical().expect("small");
    assert!(!String::from_utf8(whole).expect("text").contains("Cut"));
}

#[test]
fn an_envelope_never_holds_confirmations() {
    let mut envelope = envelope();
    envelope.built_from_tip = Some(Tip {
        height: 5,
        hash: hash(5),
    });
    let bytes = envelope.canonical().expect("small");
    let text = String::from_utf8(bytes).expect("text");
    assert!(
        !text.to_lowercase().contains("conf") && !text.contains("ready"),
        "{text}"
    );
    let baked = text.replacen('{', r#"{"confs":3,"#, 1);
    assert!(matches!(
        Envelope::parse(baked.as_bytes()),
        Err(EnvelopeFault::Unreadable(_))
    ));
}

#[test]
fn an_envelope_beyond_its_bounds_is_refused() {
    let good = envelope();
    assert!(good.canonical().is_ok());
    let refused = |change: &dyn Fn(&mut Envelope), fault: EnvelopeFault| {
        let mut envelope = envelope();
        change(&mut envelope);
        assert_eq!(envelope.canonical(), Err(fault.clone()));
        let bytes = serde_json::to_vec(&envelope).expect("JSON");
        assert_eq!(Envelope::parse(&bytes), Err(fault));
    };
    refused(&|envelope| envelope.v = 2, EnvelopeFault::Format(2));
    refused(&|envelope| envelope.tenant.clear(), EnvelopeFault::Tenant);
    refused(
        &|envelope| envelope.tenant = "x".repeat(129),
        EnvelopeFault::Tenant,
    );
    refused(
        &|envelope| envelope.depth = DEPTH_MAX + 1,
        EnvelopeFault::Lineage,
    );
    let many =
        |envelope: &mut Envelope| envelope.lineage = vec![line(1)[0].clone(); LINEAGE_MAX + 1];
    refused(&many, EnvelopeFault::Lineage);
    let large = |envelope: &mut Envelope| {
        let raw = vec![0; ENVELOPE_BYTES_MAX / 2];
        *envelope = envelope.clone().committed(Commitment::OpReturn {}, raw);
    };
    refused(&large, EnvelopeFault::TooLarge);
    let text = String::from_utf8(good.canonical().expect("small")).expect("text");
    let other = text.replacen(r#""kind":"op_return""#, r#""kind":"ots""#, 1);
    assert!(matches!(
        Envelope::parse(other.as_bytes()),
        Err(EnvelopeFault::Unreadable(_))
    ));
    let upper = text.replacen(&good.version_id.to_string(), &"A".repeat(64), 1);
    assert!(matches!(
        Envelope::parse(upper.as_bytes()),
        Err(EnvelopeFault::Unreadable(_))
    ));
}
