//! The graph of a definition: everything can be reached, everybody can leave, and nobody can
//! go round without resting. Each check looks at every node and way once.

use super::definition::Placed;
use super::fault::Fault;
use super::{Node, NodeIndex};

pub fn check(nodes: &[Option<Placed>], start: Option<NodeIndex>, faults: &mut Vec<Fault>) {
    let ways = ways(nodes);
    let fault = |at: usize, message: &str| {
        let id = nodes[at].as_ref().map(|placed| placed.id.as_str());
        Fault::new(id, None, message)
    };
    if let Some(start) = start {
        let reached = reached(&ways, start.0 as usize);
        let lost = (0..nodes.len()).filter(|at| nodes[*at].is_some() && !reached[*at]);
        faults.extend(lost.map(|at| fault(at, "cannot be reached from the trigger")));
        to_trigger(nodes, &ways, faults);
    }
    if !nodes
        .iter()
        .flatten()
        .any(|placed| matches!(placed.node, Node::Exit(_)))
    {
        faults.push(Fault::new(
            None,
            Some("nodes"),
            "no node is an exit: nobody could leave",
        ));
    } else {
        let leaves = leaves(nodes, &ways);
        let stuck = (0..nodes.len()).filter(|at| nodes[*at].is_some() && !leaves[*at]);
        faults.extend(stuck.map(|at| fault(at, "no way leads from here to an exit")));
    }
    let restless: Vec<bool> = nodes
        .iter()
        .map(|placed| {
            placed
                .as_ref()
                .is_some_and(|placed| !placed.node.takes_time())
        })
        .collect();
    for at in cycles(&ways, &restless) {
        let message = "goes round without resting: a cycle needs a wait for time or for an event";
        faults.push(fault(at, message));
    }
}

/// Where each node leads. What is not there leads nowhere.
fn ways(nodes: &[Option<Placed>]) -> Vec<Vec<usize>> {
    let of = |placed: &Placed| {
        let targets = placed.node.ways().into_iter().map(|way| way.to.0 as usize);
        targets.filter(|to| *to < nodes.len()).collect()
    };
    nodes
        .iter()
        .map(|placed| placed.as_ref().map_or_else(Vec::new, of))
        .collect()
}

fn reached(ways: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut reached = vec![false; ways.len()];
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            open.extend(ways[at].iter().filter(|to| !reached[**to]));
        }
    }
    reached
}

fn to_trigger(nodes: &[Option<Placed>], ways: &[Vec<usize>], faults: &mut Vec<Fault>) {
    let is_trigger =
        |at: usize| matches!(&nodes[at], Some(placed) if matches!(placed.node, Node::Trigger(_)));
    let leads = (0..nodes.len()).filter(|at| ways[*at].iter().any(|to| is_trigger(*to)));
    let id = |at: usize| nodes[at].as_ref().map(|placed| placed.id.as_str());
    faults.extend(leads.map(|at| Fault::new(id(at), None, "leads back to the trigger")));
}

/// The nodes from which an exit can be reached; a node whose ways are faulty is left in peace.
fn leaves(nodes: &[Option<Placed>], ways: &[Vec<usize>]) -> Vec<bool> {
    let mut back = vec![Vec::new(); ways.len()];
    for (from, targets) in ways.iter().enumerate() {
        targets.iter().for_each(|to| back[*to].push(from));
    }
    let is_end = |at: usize| match &nodes[at] {
        Some(placed) => {
            let ways = placed.node.ways();
            matches!(placed.node, Node::Exit(_))
                || ways.iter().any(|way| way.to == NodeIndex::NOWHERE)
        }
        None => true,
    };
    let mut leaves = vec![false; ways.len()];
    let mut open: Vec<usize> = (0..ways.len()).filter(|at| is_end(*at)).collect();
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut leaves[at], true) {
            open.extend(back[at].iter().filter(|from| !leaves[**from]));
        }
    }
    leaves
}

/// One node of every cycle among the restless ones: where a depth-first walk closes it.
fn cycles(ways: &[Vec<usize>], restless: &[bool]) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; ways.len()];
    let mut found = Vec::new();
    for root in 0..ways.len() {
        if marks[root] != Mark::New || !restless[root] {
            continue;
        }
        let mut stack = vec![(root, 0)];
        marks[root] = Mark::Open;
        while let Some((at, next)) = stack.last_mut() {
            let Some(to) = ways[*at].get(*next).copied() else {
                marks[*at] = Mark::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            match marks[to] {
                _ if !restless[to] => {}
                Mark::New => {
                    marks[to] = Mark::Open;
                    stack.push((to, 0));
                }
                Mark::Open => found.push(to),
                Mark::Done => {}
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
