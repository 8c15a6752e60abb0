//! However the log is cut, and however often it is told, the rows are the same.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Say(String),
    Record(String),
    Erase(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let id = || "[a-d]";
    let say = prop_oneof![
        id().prop_map(|u| format!(r#"{{"type":"track","event":"E","userId":"{u}"}}"#)),
        id().prop_map(|a| format!(r#"{{"type":"track","event":"E","anonymousId":"{a}"}}"#)),
        (id(), id(), 0..3i32).prop_map(|(u, a, n)| format!(
            r#"{{"type":"identify","userId":"{u}","anonymousId":"{a}","traits":{{"n":{n},"email":"{u}@x.de"}}}}"#
        )),
        (id(), id()).prop_map(|(u, p)| format!(r#"{{"type":"alias","userId":"{u}","previousId":"{p}"}}"#)),
    ];
    prop_oneof![
        12 => say.prop_map(Step::Say),
        3 => id().prop_map(Step::Record),
        1 => (0..4u8).prop_map(Step::Erase),
    ]
}

proptest! {
    /// Any batch size gives the same rows; so does a rebuild after erasures turned older
    /// payloads into tombstones.
    #[test]
    fn rebuild_equals_live(steps in prop::collection::vec(step(), 1..40)) {
        let mut world = World::new();
        let mut live = Tables::default();
        for step in steps {
            match step {
                Step::Say(raw) => world.say(&raw),
                Step::Record(user) => world.record(&user),
                Step::Erase(n) => {
                    let user = world.user(["a", "b", "c", "d"][n as usize]);
                    let Some(contact) = live.contact(&world, user) else { continue };
                    let ids: Vec<Cell> = contact.ids().into_iter().map(Cell::from).collect();
                    let rows = live.0.keys().filter(|(name, key)| *name == TIMELINE.name && ids.contains(&key[1]));
                    let positions: Vec<i64> = rows.filter_map(|(_, key)| key[3].as_int()).collect();
                    world.erase(&contact);
                    for position in positions {
                        let recorded = &mut world.log[position as usize - 1];
                        let payload = &mut Arc::make_mut(&mut recorded.event).payload;
                        *payload = tombstone(payload);
                    }
                }
            }
            live.run(&Contacts, &world.log[world.log.len() - 1..]);
        }
        for batch in [1, 3, 1_000] {
            prop_assert_eq!(&world.folded(batch), &live, "batch of {}", batch);
            prop_assert_eq!(&world.folded_twice(batch), &live, "batch of {}, told twice", batch);
        }
    }
}
