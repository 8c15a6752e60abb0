//! A definition as an SVG that needs nothing else: rows by distance from the trigger, ways
//! as curves, ways back at the side.

use super::super::{Definition, Node, NodeIndex};
use super::{gist, shortened, way_label};

const WIDTH: f64 = 210.0;
const HEIGHT: f64 = 54.0;
const GAP_X: f64 = 40.0;
const GAP_Y: f64 = 64.0;
const MARGIN: f64 = 24.0;
const TEXT_CHARS_MAX: usize = 30;

/// Where each node stands: row by row.
struct Layout {
    places: Vec<(f64, f64)>,
    width: f64,
    height: f64,
}

pub fn svg(definition: &Definition) -> String {
    let layout = Layout::new(definition);
    let (width, height) = (layout.width, layout.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n\
         <title>{}</title>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
         markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#667\"/></marker></defs>\n",
        escaped(&definition.name)
    );
    for (at, placed) in definition.nodes.iter().enumerate() {
        for (ordinal, way) in placed.node.ways().iter().enumerate() {
            let label = way_label(&placed.node, way.by);
            text.push_str(&layout.way((at, way.to, ordinal), &label));
        }
    }
    for (at, placed) in definition.nodes.iter().enumerate() {
        let title = placed.label.as_deref().unwrap_or(&placed.id);
        text.push_str(&layout.node(at, &placed.node, title, &gist(placed)));
    }
    text.push_str("</svg>\n");
    text
}

impl Layout {
    fn new(definition: &Definition) -> Self {
        let rows = rows(definition);
        let widest = rows.iter().map(Vec::len).max().unwrap_or(1).max(1) as f64;
        let width = MARGIN * 2.0 + widest * (WIDTH + GAP_X);
        let mut places = vec![(0.0, 0.0); definition.nodes.len()];
        for (row, nodes) in rows.iter().enumerate() {
            let all = nodes.len() as f64 * (WIDTH + GAP_X) - GAP_X;
            let left = (width - all) / 2.0;
            for (column, at) in nodes.iter().enumerate() {
                let x = left + column as f64 * (WIDTH + GAP_X);
                places[*at] = (x, MARGIN + row as f64 * (HEIGHT + GAP_Y));
            }
        }
        let height = MARGIN * 2.0 + rows.len() as f64 * (HEIGHT + GAP_Y) - GAP_Y;
        Self {
            places,
            width,
            height,
        }
    }

    fn node(&self, at: usize, node: &Node, title: &str, gist: &str) -> String {
        let (x, y) = self.places[at];
        let (fill, round) = match node {
            Node::Trigger(_) => ("#dff3e4", 27),
            Node::Exit(_) => ("#eee", 27),
            Node::Condition(_) | Node::Branch(_) => ("#fff3d6", 4),
            Node::Wait(_) => ("#e3ecfb", 4),
            _ => ("#fbe3ea", 4),
        };
        let middle = x + WIDTH / 2.0;
        format!(
            "<g><rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"{round}\" \
             fill=\"{fill}\" stroke=\"#667\"/><text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" \
             font-weight=\"600\">{}</text><text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" \
             fill=\"#445\">{}</text></g>\n",
            y + 22.0,
            escaped(&shortened(title, TEXT_CHARS_MAX)),
            y + 40.0,
            escaped(&shortened(gist, TEXT_CHARS_MAX)),
        )
    }

    fn way(&self, (from, to, ordinal): (usize, NodeIndex, usize), label: &str) -> String {
        let ((x1, y1), (x2, y2)) = (self.places[from], self.places[to.0 as usize]);
        let shift = (ordinal as f64) * 14.0 - 7.0;
        let (x1, x2) = (x1 + WIDTH / 2.0 + shift, x2 + WIDTH / 2.0);
        let is_back = y2 <= y1;
        let (path, at) = match is_back {
            false => {
                let (y1, half) = (y1 + HEIGHT, (y2 - y1 - HEIGHT) / 2.0);
                let path = format!(
                    "M{x1} {y1} C{x1} {} {x2} {} {x2} {y2}",
                    y1 + half,
                    y2 - half
                );
                (path, ((x1 + x2) / 2.0, y1 + half))
            }
            true => {
                let side = self.width - MARGIN / 2.0 - shift.abs();
                let (y1, y2) = (y1 + HEIGHT / 2.0, y2 + HEIGHT / 2.0);
                let (x1, x2) = (x1 - shift + WIDTH / 2.0, x2 + WIDTH / 2.0);
                let path = format!("M{x1} {y1} C{side} {y1} {side} {y2} {x2} {y2}");
                (path, (side - GAP_X, (y1 + y2) / 2.0))
            }
        };
        let label = match label.is_empty() {
            true => String::new(),
            false => format!(
                "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#334\" \
                 stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>",
                at.0,
                at.1,
                escaped(&shortened(label, TEXT_CHARS_MAX))
            ),
        };
        format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"#667\" marker-end=\"url(#tip)\"/>{label}\n"
        )
    }
}

/// Nodes by their distance from the trigger.
fn rows(definition: &Definition) -> Vec<Vec<usize>> {
    let mut rows = vec![vec![definition.start.0 as usize]];
    let mut placed = vec![false; definition.nodes.len()];
    placed[definition.start.0 as usize] = true;
    while let Some(row) = rows.last() {
        let mut next = Vec::new();
        for way in row.iter().flat_map(|at| definition.nodes[*at].node.ways()) {
            let to = way.to.0 as usize;
            if !std::mem::replace(&mut placed[to], true) {
                next.push(to);
            }
        }
        if next.is_empty() {
            break;
        }
        rows.push(next);
    }
    rows
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
