use super::*;
use crate::journey::{Known, check};

const JOURNEY: &str = r#"
name: Cart & <co>
nodes:
  - {id: start, node_type: trigger, event_type: 'cart "x"', next_node_id: wait}
  - {id: wait, label: Patience, node_type: wait, wait_type: event, event_type: bought, next_node_id: done, timeout: 1h, timeout_node_id: mail}
  - {id: mail, node_type: send_message, channel: email, template: remind, next_node_id: again}
  - {id: again, node_type: branch, branches: [{condition: "contact.n < 3", next_node_id: wait}], default_node_id: done}
  - {id: done, node_type: exit}
"#;

#[test]
fn mermaid_shows_nodes_and_ways() {
    let definition = check(JOURNEY, 1, &Known::default())
        .definition
        .expect("good");
    assert_eq!(
        mermaid(&definition),
        r#"flowchart TD
  n0(["start<br/>on cart &quot;x&quot;"])
  n1[/"Patience<br/>wait for bought"/]
  n2["mail<br/>send remind by email"]
  n3{"again<br/>1 branches"}
  n4(["done<br/>exit"])
  n0 --> n1
  n1 -->|"came"| n4
  n1 -->|"after 1h"| n2
  n2 --> n3
  n3 -->|"contact.n &lt; 3"| n1
  n3 -->|"default"| n4
"#
    );
}

#[test]
fn svg_is_well_formed_and_shows_every_node_and_way() {
    let definition = check(JOURNEY, 1, &Known::default())
        .definition
        .expect("good");
    let picture = svg(&definition);
    assert_eq!(picture.matches("<rect").count(), 5);
    assert_eq!(picture.matches("marker-end").count(), 6);
    assert!(picture.contains("<title>Cart &amp; &lt;co&gt;</title>"));
    let (opened, closed) = (
        picture.matches("<text").count(),
        picture.matches("</text>").count(),
    );
    assert_eq!(opened, closed);
    assert!(!picture.contains("NaN"));
}
