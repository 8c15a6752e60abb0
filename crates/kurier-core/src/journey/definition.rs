//! A journey's definition: read from YAML or JSON, checked as a whole, every fault told at
//! once with its place.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::fault::{Fault, Severity};
use super::fields::{Fields, Reading, near};
use super::reentry::{Policy, Reentry};
use super::rule::Rule;
use super::{Node, NodeIndex, document, graph};
use crate::expr::Place;
use crate::id::SegmentId;
use crate::value::{Object, Value};

/// A journey may have this many nodes.
pub const NODES_MAX: usize = 10_000;
/// A journey's name and a node's id may be this long.
pub const NAME_CHARS_MAX: usize = 120;
/// So many faults are told.
const FAULTS_MAX: usize = 1_000;

/// A definition without faults, ready to run.
#[derive(Debug, Clone)]
pub struct Definition {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub version: u32,
    pub reentry: Reentry,
    pub exit_when: Option<Rule>,
    pub start: NodeIndex,
    pub nodes: Vec<Placed>,
    index: HashMap<String, NodeIndex>,
}

/// A node with its name.
#[derive(Debug, Clone)]
pub struct Placed {
    pub id: String,
    pub label: Option<String>,
    pub node: Node,
}

impl Definition {
    pub fn node(&self, at: NodeIndex) -> Option<&Node> {
        self.nodes.get(at.0 as usize).map(|placed| &placed.node)
    }

    pub fn id_of(&self, at: NodeIndex) -> &str {
        self.nodes
            .get(at.0 as usize)
            .map_or("", |placed| placed.id.as_str())
    }

    pub fn find(&self, id: &str) -> Option<NodeIndex> {
        self.index.get(id).copied()
    }

    /// The templates it sends.
    pub fn templates(&self) -> BTreeSet<String> {
        let named = self.nodes.iter().filter_map(|placed| match &placed.node {
            Node::SendMessage(send) => Some(send.template.clone()),
            _ => None,
        });
        named.collect()
    }

    /// The segments it names.
    pub fn segments(&self) -> BTreeSet<SegmentId> {
        let named = self.nodes.iter().filter_map(|placed| match &placed.node {
            Node::Trigger(trigger) => trigger.segment(),
            _ => None,
        });
        named.collect()
    }
}

/// What a definition may name that stands elsewhere; `None`: it is not known here, and not
/// checked.
#[derive(Debug, Clone, Default)]
pub struct Known {
    pub channels: Option<BTreeSet<String>>,
    pub templates: Option<BTreeSet<String>>,
    /// Templates that cannot be sent as things are, and why.
    pub spoiled: BTreeMap<String, String>,
    /// Segments by name.
    pub segments: Option<BTreeMap<String, SegmentId>>,
}

impl Known {
    /// The segment with this name or id.
    pub fn segment(&self, name: &str) -> Option<SegmentId> {
        let Some(segments) = &self.segments else {
            let id = name.parse().ok();
            return Some(id.unwrap_or_else(|| SegmentId::of_name(name)));
        };
        let by_id = || segments.values().find(|id| id.to_string() == name).copied();
        segments.get(name).copied().or_else(by_id)
    }
}

/// What checking found.
#[derive(Debug)]
pub struct Checked {
    /// `None` if there are faults.
    pub definition: Option<Definition>,
    /// Faults first, each kind in the order of the nodes.
    pub faults: Vec<Fault>,
}

/// Reads and checks a definition's text.
pub fn check(text: &str, version: u32, known: &Known) -> Checked {
    match document::read(text) {
        Ok(value) => check_value(value, version, known),
        Err(message) => refused(message),
    }
}

fn refused(message: impl Into<String>) -> Checked {
    Checked {
        definition: None,
        faults: vec![Fault::new(None, None, message)],
    }
}

/// Checks a definition that was read already.
pub fn check_value(value: Value, version: u32, known: &Known) -> Checked {
    let Value::Object(mut object) = value else {
        return refused("must be an object with name and nodes");
    };
    let list = match object.remove("nodes") {
        Some(Value::List(list)) => list,
        _ => Vec::new(),
    };
    if list.is_empty() || list.len() > NODES_MAX {
        let message = format!(
            "must be a list of 1 to {NODES_MAX} nodes, and has {}",
            list.len()
        );
        let fault = Fault::new(None, Some("nodes"), message);
        return Checked {
            definition: None,
            faults: vec![fault],
        };
    }
    let (raw, index, faults) = raw_nodes(list);
    let mut reading = Reading {
        known,
        nodes: &index,
        faults,
        state_keys: BTreeSet::new(),
        state_reads: Vec::new(),
    };
    let nodes: Vec<Option<Placed>> = raw.into_iter().map(|raw| raw.read(&mut reading)).collect();
    let head = Head::read(&mut reading, object);
    check_state(&mut reading);
    let mut faults = reading.faults;
    let start = find_start(&nodes, head.start, &mut faults);
    graph::check(&nodes, start, &mut faults);
    finish(head, nodes, index, start, version, faults)
}

fn finish(
    head: Head,
    nodes: Vec<Option<Placed>>,
    index: HashMap<String, NodeIndex>,
    start: Option<NodeIndex>,
    version: u32,
    mut faults: Vec<Fault>,
) -> Checked {
    faults.sort_by_key(|fault| fault.severity);
    faults.truncate(FAULTS_MAX);
    let nodes: Option<Vec<Placed>> = nodes.into_iter().collect();
    let is_good = faults
        .iter()
        .all(|fault| fault.severity == Severity::Warning);
    let definition = match (nodes, start) {
        (Some(nodes), Some(start)) if is_good => Some(Definition {
            name: head.name,
            labels: head.labels,
            version,
            reentry: head.reentry,
            exit_when: head.exit_when,
            start,
            nodes,
            index,
        }),
        _ => None,
    };
    Checked { definition, faults }
}

/// What is said of the journey as a whole.
struct Head {
    name: String,
    labels: BTreeMap<String, String>,
    reentry: Reentry,
    exit_when: Option<Rule>,
    start: Option<NodeIndex>,
}

impl Head {
    fn read(reading: &mut Reading<'_>, object: Object) -> Self {
        let mut fields = Fields::new(reading, None, object);
        let policy = fields.word("reentry_policy", Policy::WORDS);
        let key = fields.optional_source("reentry_key", Place::TRIGGER);
        let head = Self {
            name: name(&mut fields),
            labels: labels(&mut fields),
            reentry: Reentry {
                policy: policy.unwrap_or_default(),
                key,
            },
            exit_when: fields.optional_rule("exit_when", Place::JOURNEY),
            start: fields.optional_target("start_node_id"),
        };
        fields.optional_text("description");
        fields.finish();
        head
    }
}

fn name(fields: &mut Fields<'_, '_>) -> String {
    let name = fields.text("name");
    if name.chars().count() > NAME_CHARS_MAX {
        fields.fault("name", format!("has at most {NAME_CHARS_MAX} characters"));
    }
    name
}

fn labels(fields: &mut Fields<'_, '_>) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for (name, value) in fields.object("labels") {
        match value {
            Value::Text(text) => drop(labels.insert(name, text)),
            _ => fields.fault(&format!("labels.{name}"), "must be a text"),
        }
    }
    labels
}

/// A node before its fields are read.
struct Raw {
    id: String,
    object: Object,
}

type RawNodes = (Vec<Raw>, HashMap<String, NodeIndex>, Vec<Fault>);

/// Ids first: fields name nodes that stand further down.
fn raw_nodes(list: Vec<Value>) -> RawNodes {
    let (mut raw, mut index, mut faults) = (Vec::new(), HashMap::new(), Vec::new());
    for (at, value) in list.into_iter().enumerate() {
        let place = format!("nodes[{at}]");
        let Value::Object(mut object) = value else {
            faults.push(Fault::new(None, Some(&place), "must be an object"));
            continue;
        };
        let id = match object.remove("id") {
            Some(Value::Text(id)) if !id.is_empty() => id,
            Some(Value::Int(number)) => number.to_string(),
            _ => {
                faults.push(Fault::new(None, Some(&format!("{place}.id")), "is missing"));
                continue;
            }
        };
        if id.chars().count() > NAME_CHARS_MAX {
            let message = format!("has at most {NAME_CHARS_MAX} characters");
            faults.push(Fault::new(None, Some(&format!("{place}.id")), message));
        }
        if index
            .insert(id.clone(), NodeIndex(raw.len() as u32))
            .is_some()
        {
            faults.push(Fault::new(Some(&id), Some("id"), "is the id of two nodes"));
        }
        let object = flattened(&id, object, &mut faults);
        raw.push(Raw { id, object });
    }
    (raw, index, faults)
}

/// A node's fields may stand in its `config`, as the seed writes them, or beside its id.
fn flattened(id: &str, mut object: Object, faults: &mut Vec<Fault>) -> Object {
    match object.remove("config") {
        Some(Value::Object(config)) => {
            for (name, value) in config {
                if object.insert(name.clone(), value).is_some() {
                    faults.push(Fault::new(Some(id), Some(&name), "is said twice"));
                }
            }
        }
        Some(Value::Null) | None => {}
        Some(_) => faults.push(Fault::new(Some(id), Some("config"), "must be an object")),
    }
    object
}

impl Raw {
    fn read(self, reading: &mut Reading<'_>) -> Option<Placed> {
        let mut fields = Fields::new(reading, Some(&self.id), self.object);
        let label = fields.optional_text("label");
        let name = fields.text("node_type");
        let node = Node::read(&name, &mut fields);
        if node.is_some() {
            fields.finish();
        } else if !name.is_empty() {
            let hint = near(&name, Node::KINDS.iter().copied());
            fields.fault("node_type", format!("`{name}` is not a kind of node{hint}"));
        }
        Some(Placed {
            id: self.id,
            label,
            node: node?,
        })
    }
}

/// What is read from the state must be set somewhere.
fn check_state(reading: &mut Reading<'_>) {
    for (node, field, key) in std::mem::take(&mut reading.state_reads) {
        if reading.state_keys.contains(&key) {
            continue;
        }
        let known = reading.state_keys.iter().map(String::as_str);
        let hint = near(&key, known.chain(super::RESERVED_KEYS.iter().copied()));
        let message = format!("no node sets journey.state.{key}{hint}");
        // A program may give a run more than its trigger says.
        let fault = Fault::warning(node.as_deref(), Some(&field), message);
        reading.faults.push(fault);
    }
}

fn find_start(
    nodes: &[Option<Placed>],
    named: Option<NodeIndex>,
    faults: &mut Vec<Fault>,
) -> Option<NodeIndex> {
    let is_trigger = |placed: &Option<Placed>| matches!(placed, Some(placed) if matches!(placed.node, Node::Trigger(_)));
    let mut triggers = (0..nodes.len()).filter(|at| is_trigger(&nodes[*at]));
    let first = triggers.next().map(|at| NodeIndex(at as u32));
    for other in triggers {
        let id = nodes[other].as_ref().map(|placed| placed.id.as_str());
        faults.push(Fault::new(
            id,
            Some("node_type"),
            "a journey has one trigger, and this is another",
        ));
    }
    if first.is_none() {
        faults.push(Fault::new(
            None,
            Some("nodes"),
            "no node is a trigger: nobody could enter",
        ));
    }
    if let (Some(named), Some(first)) = (named, first)
        && named != first
        && named != NodeIndex::NOWHERE
    {
        faults.push(Fault::new(
            None,
            Some("start_node_id"),
            "must name the trigger",
        ));
    }
    first
}
