//! The world against the projection and the row evaluator, on random logs.

mod ground;
mod rules;

use proptest::prelude::*;

use self::ground::{Ground, NOW, reference, steps};
use super::*;
use crate::expr::generate::expression;
use crate::expr::{Checked, Place, Subject as _};

proptest! {
    /// Contacts, their attributes and their histories are those of the projection.
    #[test]
    fn the_world_is_what_the_projection_says(steps in steps()) {
        let mut ground = Ground::default();
        let world = ground.play(&steps);
        let reference = reference(&ground.log);
        let mut ids: Vec<ContactId> = world.contacts().map(|n| world.contact_id(n)).collect();
        ids.sort_unstable();
        let known: Vec<ContactId> = reference.keys().copied().collect();
        prop_assert_eq!(ids, known);
        prop_assert_eq!(world.live(), reference.len());
        for (id, facts) in &reference {
            let number = world.number(*id).expect("live");
            let subject = world.subject(number);
            let found: Vec<_> = subject.events(None).map(|event| ground::told(&subject, event)).collect();
            let wanted: Vec<_> = (0..facts.events.len()).map(|event| ground::told(facts, event)).collect();
            prop_assert_eq!(found, wanted);
            prop_assert_eq!(ground::known(&subject), ground::known(facts));
        }
    }

    /// The row evaluator says the same of a contact of the world and of plain facts.
    #[test]
    fn rows_agree(steps in steps(), text in expression(2, false)) {
        let Ok(checked) = Checked::new(&text, Place::SEGMENT) else { return Ok(()) };
        let mut ground = Ground::default();
        let world = ground.play(&steps);
        for (id, facts) in reference(&ground.log) {
            let number = world.number(id).expect("live");
            let found = checked.evaluate(&world.subject(number), None, NOW);
            prop_assert_eq!(found, checked.evaluate(&facts, None, NOW), "{}", text);
        }
    }
}
