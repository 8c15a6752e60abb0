//! What holds of content. Rules are numbered as in its description: R for what is asked for, C
//! for where that contradicts itself and how it is settled.

mod contradictions;
mod edges;
mod navigation;
mod properties;
mod reimport;
mod rendering;
mod rules;
mod vectors;

use super::*;

/// What a text is called with the usual settings.
fn called(text: &str, node_type: NodeType) -> String {
    let slugger = Slugger::new(&Settings::default());
    let identifier = slugger.identifier(text, node_type, Language::De);
    identifier.to_string()
}

fn heading(text: &str) -> String {
    called(text, NodeType::Ch)
}

fn chunk(text: &str) -> String {
    called(text, NodeType::Chunk)
}

/// A workspace that documents are imported into.
#[derive(Default)]
struct Library {
    settings: Settings,
    numbers: Numbers,
}

impl Library {
    fn import(&mut self, old: Option<&Document>, source: &str) -> Decision {
        self.import_file(old, source, None)
    }

    fn import_file(
        &mut self,
        old: Option<&Document>,
        source: &str,
        file: Option<&str>,
    ) -> Decision {
        let slugger = Slugger::new(&self.settings);
        let outline = Outline::read(source, file, &slugger).expect("a document");
        Plan::new("source", old, &outline).decide(&mut self.numbers)
    }

    fn first(&mut self, source: &str) -> Document {
        changed(self.import(None, source)).document
    }
}

#[track_caller]
fn changed(decision: Decision) -> Change {
    match decision {
        Decision::Changed(change) => *change,
        Decision::Unchanged => panic!("nothing changed"),
    }
}

fn imported(source: &str) -> Document {
    Library::default().first(source)
}

/// The keys of a document's nodes below itself, in reading order.
fn keys(document: &Document) -> Vec<String> {
    let nodes = document.nodes.iter().skip(1);
    nodes.map(|node| node.key.to_string()).collect()
}

fn keys_of(source: &str) -> Vec<String> {
    keys(&imported(source))
}

/// Each node below the document with its parent's type, for the shape of a tree.
fn shape(source: &str) -> Vec<String> {
    let document = imported(source);
    let parent = |node: &Kept| {
        let parent = node.parent.map(|at| document.nodes[at as usize].key);
        parent.map_or("-", |key| key.node_type().as_str())
    };
    let nodes = document.nodes.iter().skip(1);
    let shown = nodes.map(|node| {
        let key = node.key;
        let name = key.name.identifier;
        format!("{} {name} < {}", key.node_type().as_str(), parent(node))
    });
    shown.collect()
}
