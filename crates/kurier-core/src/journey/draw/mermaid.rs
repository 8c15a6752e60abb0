//! A definition as a Mermaid flowchart. Nodes are called by number: ids may hold anything.

use super::super::{Definition, Node};
use super::{gist, shortened, way_label};

const TEXT_CHARS_MAX: usize = 60;

pub fn mermaid(definition: &Definition) -> String {
    let mut text = "flowchart TD\n".to_owned();
    for (at, placed) in definition.nodes.iter().enumerate() {
        let (open, close) = match placed.node {
            Node::Trigger(_) | Node::Exit(_) => ("([", "])"),
            Node::Condition(_) | Node::Branch(_) => ("{", "}"),
            Node::Wait(_) => ("[/", "/]"),
            _ => ("[", "]"),
        };
        let title = placed.label.as_deref().unwrap_or(&placed.id);
        let words = format!("{}<br/>{}", quoted(title), quoted(&gist(placed)));
        text.push_str(&format!("  n{at}{open}\"{words}\"{close}\n"));
    }
    for (at, placed) in definition.nodes.iter().enumerate() {
        for way in placed.node.ways() {
            let label = way_label(&placed.node, way.by);
            let arrow = match label.is_empty() {
                true => "-->".to_owned(),
                false => format!("-->|\"{}\"|", quoted(&label)),
            };
            text.push_str(&format!("  n{at} {arrow} n{}\n", way.to.0));
        }
    }
    text
}

fn quoted(text: &str) -> String {
    let text = shortened(text, TEXT_CHARS_MAX).replace(['\n', '\r'], " ");
    let text = text.replace('&', "&amp;").replace('"', "&quot;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}
