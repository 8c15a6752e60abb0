//! Ways through a document.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::keys::Form;

/// Documents of a few lines of each kind, in any order.
pub(super) fn documents() -> impl Strategy<Value = String> {
    let words = "[a-eA-E]{1,3}( [a-e0-9äÖ&%-]{1,6}){0,4}";
    let line = prop_oneof![
        4 => words.prop_map(|text| format!("{text}\n\n")),
        2 => (1..=6_usize, words).prop_map(|(level, text)| format!("{} {text}\n\n", "#".repeat(level))),
        1 => words.prop_map(|text| format!("- {text}\n- x\n\n")),
        1 => words.prop_map(|text| format!("> {text}\n\n")),
        1 => words.prop_map(|text| format!("```\n# {text}\n```\n\n")),
        1 => Just("<!-- nothing -->\n\n".to_owned()),
        1 => Just("---\n\n".to_owned()),
    ];
    prop::collection::vec(line, 0..20).prop_map(|lines| lines.concat())
}

fn depth_first(tree: &Tree<'_>, at: usize, found: &mut Vec<usize>) {
    for child in tree.children(at) {
        found.push(child);
        depth_first(tree, child, found);
    }
}

proptest! {
    #[test]
    fn ways_agree_with_each_other(source in documents()) {
        let document = imported(&source);
        let tree = Tree::new(&document);
        prop_assert_eq!(tree.sequence(0), 1..tree.len());
        for at in 0..tree.len() {
            if let Some(parent) = tree.parent(at) {
                prop_assert!(tree.children(parent).any(|child| child == at));
            }
            let mut walked = Vec::new();
            depth_first(&tree, at, &mut walked);
            prop_assert_eq!(&walked, &tree.sequence(at).collect::<Vec<_>>());
            prop_assert_eq!(&walked, &tree.all_descendants(at).collect::<Vec<_>>());
            for child in tree.children(at) {
                prop_assert_eq!(tree.parent(child), Some(at));
                prop_assert!(tree.node_type(at) < tree.node_type(child));
            }
            if let Some(next) = tree.next(at) {
                prop_assert_eq!(tree.previous(next), Some(at));
                prop_assert_eq!(tree.node_type(next), tree.node_type(at));
                prop_assert!(next > at);
            }
            if let Some(previous) = tree.previous(at) {
                prop_assert_eq!(tree.next(previous), Some(at));
            }
            for sibling in tree.siblings(at) {
                prop_assert!(sibling != at);
                prop_assert!(tree.siblings(sibling).any(|other| other == at));
            }
        }
        let levels = NodeType::ALL.into_iter().filter(|level| *level != NodeType::Chunk);
        let by_level: usize = levels.map(|level| tree.chunks_of_level(level).count()).sum();
        prop_assert_eq!(by_level, tree.chunks_of_level(NodeType::Chunk).count());
    }

    /// What stands in the keyspace is what the tree says, under keys that are valid.
    #[test]
    fn the_keyspace_is_whole(source in documents()) {
        let document = imported(&source);
        let slugger = Slugger::new(&Settings::default());
        let keyspace = Keyspace::new(&document, &source, Siblings::Stored);
        let entries: Vec<Entry> = keyspace.entries(&slugger).collect();
        let keys: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
        let report = check(keys.iter().copied());
        prop_assert!(report.duplicates.is_empty() && report.format_violations.is_empty());
        let hashes = entries.iter().filter(|entry| matches!(entry.stored, Stored::Hash(_)));
        prop_assert_eq!(hashes.count(), document.nodes.len());
        let nexts = keys.iter().filter(|key| key.ends_with(":next")).count();
        let previous = keys.iter().filter(|key| key.ends_with(":previous")).count();
        prop_assert_eq!(nexts, previous);
    }

    /// What is known to stand there is enough to take all of it away, and no other's members.
    #[test]
    fn a_manifest_knows_every_key_of_its_document(source in documents()) {
        let source = format!("---\ncategory: A b\nauthors: [C d, E f]\ntags: [x, y]\n---\n{source}");
        let document = imported(&source);
        let slugger = Slugger::new(&Settings::default());
        let keyspace = Keyspace::new(&document, &source, Siblings::Stored);
        let collections = Collections::new(&document, &slugger);
        let manifest = Manifest::new(&document, &collections, Form::Tenant);
        let (shared, own): (Vec<Entry>, Vec<Entry>) =
            keyspace.entries(&slugger).partition(Entry::is_shared);
        let keys: HashSet<String> = manifest.keys().collect();
        prop_assert!(own.iter().all(|entry| keys.contains(&entry.key)));
        let mut members = manifest.members();
        members.retain(|(_, members)| !members.is_empty());
        let shared = shared.into_iter().map(|entry| match entry.stored {
            Stored::Set(members) => (entry.key, members),
            other => panic!("{other:?}"),
        });
        prop_assert_eq!(members, shared.collect::<Vec<_>>());
    }
}

#[test]
fn siblings_have_the_same_type_and_parent() {
    let document = imported("# Aa\n\nerster Satz\n\n## Bb\n\n# Cc\n\nzweiter Satz\n");
    let tree = Tree::new(&document);
    let siblings: Vec<usize> = tree.siblings(1).collect();
    assert_eq!(siblings, [4]);
    assert_eq!(tree.siblings(2).count(), 0);
    assert_eq!((tree.next(2), tree.previous(5)), (Some(5), Some(2)));
    assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 4]);
}

#[test]
fn a_node_knows_the_headings_above_it() {
    let document = imported("# Aa\n\n### Bb\n\n#### Cc\n\n##### Dd\n\nText hier\n\nText dort\n");
    assert_eq!(document.heading_path(3), ["Aa", "Bb", "Cc", "Dd"]);
    assert_eq!(document.heading_path(4), ["Aa", "Bb", "Cc", "Dd"]);
    assert_eq!(document.heading_path(2), ["Aa"]);
    assert_eq!(document.heading_path(99), [""; 0]);
}
