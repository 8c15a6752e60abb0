//! The world against the projection and the row evaluator, on random logs.

mod ground;

use std::collections::BTreeMap;

use proptest::prelude::*;

use self::ground::{Ground, NOW, Step, reference, steps};
use super::*;
use crate::expr::generate::{expression, simple};
use crate::expr::{Checked, Facts, Place, Subject as _};
use crate::time::Timestamp;

type Outcome = Result<(), TestCaseError>;

fn agree(
    world: &World,
    all: &BTreeMap<ContactId, Facts>,
    text: &str,
    checked: &Checked,
) -> Outcome {
    let mut prepared = world.prepare(&checked.plan);
    let scan = world.scan(&checked.plan, NOW);
    let mut count = 0;
    for (id, facts) in all {
        let number = world.number(*id).expect("live");
        let wanted = checked.evaluate(facts, None, NOW);
        let row = checked.evaluate(&world.subject(number), None, NOW);
        prop_assert_eq!(row, wanted, "row of {}", text);
        let verdict = world.verdict(&mut prepared, number, NOW);
        prop_assert_eq!(verdict.holds, wanted.holds, "prepared {}", text);
        prop_assert!(verdict.until > NOW);
        prop_assert_eq!(
            scan.members.contains(number),
            wanted.holds,
            "scanned {}",
            text
        );
        count += u64::from(wanted.holds);
        for end in [verdict.until, scan.until] {
            let last = end.shifted(-1).min(NOW.shifted(400 * 86_400_000_000));
            let again = checked.evaluate(facts, None, last.max(NOW));
            prop_assert_eq!(again.holds, wanted.holds, "{} until {}", text, end);
        }
    }
    prop_assert_eq!(scan.members.len(), count);
    prop_assert!(scan.until > NOW);
    Ok(())
}

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
        let mut events = 0;
        for (id, facts) in &reference {
            let number = world.number(*id).expect("live");
            let subject = world.subject(number);
            let found: Vec<_> = subject.events(None).map(|event| ground::told(&subject, event)).collect();
            let wanted: Vec<_> = (0..facts.events.len()).map(|event| ground::told(facts, event)).collect();
            prop_assert_eq!(found, wanted);
            prop_assert_eq!(ground::known(&subject), ground::known(facts));
            events += facts.events.len();
        }
        prop_assert_eq!(world.events(), events);
    }

    /// Rows, prepared rows and scans say the same of every contact as the row evaluator says
    /// of plain facts, and none says that its verdict lasts longer than it does.
    #[test]
    fn rows_scans_and_facts_agree(
        steps in steps(),
        texts in prop::collection::vec(prop_oneof![expression(2, false), simple()], 1..12),
    ) {
        let mut ground = Ground::default();
        let world = ground.play(&steps);
        let facts = reference(&ground.log);
        for text in texts {
            if let Ok(checked) = Checked::new(&text, Place::SEGMENT) {
                agree(&world, &facts, &text, &checked)?;
            }
        }
    }

    /// What is beyond the limits is missing to rows, prepared rows and scans alike.
    #[test]
    fn what_is_not_kept_is_missing_to_all(
        steps in steps(),
        texts in prop::collection::vec(prop_oneof![expression(2, false), simple()], 1..12),
        (attributes, properties, event_types) in (0..4usize, 0..4usize, 0..3usize),
    ) {
        let limits = Limits { attributes, properties, event_types };
        let mut ground = Ground::default();
        let world = ground.play_in(World::new().with_limits(limits), &steps);
        let all = Ground::default().play(&steps);
        prop_assert_eq!(world.events(), all.events());
        prop_assert_eq!(world.live(), all.live());
        prop_assert!(world.attributes.len() <= attributes && world.types.len() <= event_types + 1);
        for checked in texts.iter().filter_map(|text| Checked::new(text, Place::SEGMENT).ok()) {
            let (scan, mut prepared) = (world.scan(&checked.plan, NOW), world.prepare(&checked.plan));
            for number in world.contacts() {
                let row = checked.evaluate(&world.subject(number), None, NOW).holds;
                prop_assert_eq!(scan.members.contains(number), row, "{}", checked.canonical());
                prop_assert_eq!(world.verdict(&mut prepared, number, NOW).holds, row);
            }
        }
    }

    /// Sums are the same to the last bit: the numbers were added in the same order.
    #[test]
    fn sums_are_exact(steps in steps(), filter in "TRUE|event_type IN \\('a', 'b'\\)|event_type = 'c'") {
        let mut ground = Ground::default();
        let world = ground.play(&steps);
        for (id, facts) in reference(&ground.log) {
            let number = world.number(id).expect("live");
            let sum = ground::sum(&facts, &filter);
            let text = format!("SUM(event.properties.a WHERE {filter}) = {sum}");
            let checked = Checked::new(&text, Place::SEGMENT).expect("good");
            prop_assert!(world.scan(&checked.plan, NOW).members.contains(number), "{}", text);
            prop_assert!(world.verdict(&mut world.prepare(&checked.plan), number, NOW).holds, "{}", text);
        }
    }

    /// Who was not touched, and what reads nothing that was touched, has not changed; and a
    /// plan prepared before the world grew says the same as one prepared after.
    #[test]
    fn only_what_was_touched_changes(steps in steps(), text in expression(2, false)) {
        let Ok(checked) = Checked::new(&text, Place::SEGMENT) else { return Ok(()) };
        let reads = checked.plan.reads();
        let mut ground = Ground::default();
        let mut world = World::new();
        let mut prepared = world.prepare(&checked.plan);
        let mut members = Bitmap::new();
        for step in &steps {
            if matches!(step, Step::Reload) {
                ground.step(step, &mut world);
                prepared = world.prepare(&checked.plan);
            } else if let Some(touched) = ground.step(step, &mut world) {
                let first = |path: &String| path.split('.').next().unwrap_or_default().to_owned();
                let read: Vec<String> = reads.contact.iter().map(first).collect();
                let concerns = touched.is_whole
                    || touched.attributes.iter().any(|name| read.contains(&name.to_string()))
                    || touched.event_type.is_some_and(|t| reads.any_event || reads.events.contains(&*t));
                for number in touched.contacts.iter().filter(|_| concerns) {
                    members.set(*number, world.verdict(&mut prepared, *number, NOW).holds);
                }
            }
            prop_assert_eq!(&world.scan(&checked.plan, NOW).members, &members, "{}", text);
        }
    }
}

#[test]
fn a_window_is_left_at_its_very_instant() {
    let mut ground = Ground::default();
    let say = |at: Timestamp| {
        Step::Say(format!(
            r#"{{"type":"track","event":"login","userId":"u","timestamp":"{at}"}}"#
        ))
    };
    let world = ground.play(&[say(NOW.shifted(-3_000_000)), say(NOW.shifted(-1_000_000))]);
    let until = |text: &str| {
        let checked = Checked::new(text, Place::SEGMENT).expect("good");
        let scan = world.scan(&checked.plan, NOW);
        (scan.members.len(), scan.until.micros_since(NOW))
    };
    let day = 86_400_000_000;
    let exists = "EXISTS (event WHERE event_type = 'login' AND event_time > now() - 1d)";
    assert_eq!(until(exists), (1, day - 3_000_000));
    let none = "COUNT(event WHERE event_type = 'login' AND event_time >= now() - 1d) = 0";
    assert_eq!(until(none), (0, day - 3_000_000 + 1));
    let last = "MAX(event.event_time WHERE event_type = 'login') < now() - 1d";
    assert_eq!(until(last), (0, day - 1_000_000 + 1));
}

#[test]
fn what_is_missing_may_still_be_outside() {
    let mut ground = Ground::default();
    let say = |raw: &str| Step::Say(raw.to_owned());
    let world = ground.play(&[
        say(r#"{"type":"track","event":"e","anonymousId":"a"}"#),
        say(r#"{"type":"track","event":"e","userId":"u"}"#),
        say(r#"{"type":"track","event":"e","anonymousId":"b"}"#),
    ]);
    // Below the one bound whatever the other is; so the user's id need not be there.
    let text = "'ac' NOT BETWEEN 'b' AND contact.user_id";
    let checked = Checked::new(text, Place::SEGMENT).expect("good");
    assert_eq!(world.scan(&checked.plan, NOW).members.len(), 3);
    agree(&world, &reference(&ground.log), text, &checked).expect("agreement");
}

/// A block that is not full has slots of nobody; nothing is to be asked of them.
#[test]
fn nobody_is_not_asked() {
    let mut ground = Ground::default();
    let say = |raw: &str| Step::Say(raw.to_owned());
    let world = ground.play(&[say(
        r#"{"type":"identify","userId":"u","traits":{"a":"2020-01-01T00:00:00Z","b":"u"}}"#,
    )]);
    for text in [
        "EXISTS (event WHERE contact.created_at > contact.a)",
        "EXISTS (event WHERE contact.id != contact.b)",
        "COUNT(event WHERE contact.user_id = contact.b) = 1",
    ] {
        let checked = Checked::new(text, Place::SEGMENT).expect("good");
        assert_eq!(world.scan(&checked.plan, NOW).members.len(), 1, "{text}");
        agree(&world, &reference(&ground.log), text, &checked).expect("agreement");
    }
}

#[test]
fn any_damage_to_a_snapshot_is_noticed() {
    let mut ground = Ground::default();
    let say = |raw: &str| Step::Say(raw.to_owned());
    let world = ground.play(&[
        say(r#"{"type":"identify","userId":"u","traits":{"a":1,"b":"x","c":["y",2]}}"#),
        say(r#"{"type":"track","event":"e","userId":"u","properties":{"a":0.5,"b":"x"}}"#),
    ]);
    let mut bytes = Vec::new();
    world.write(&mut bytes).expect("written");
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xFF] {
            bytes[at] ^= flip;
            assert!(World::read(&mut bytes.as_slice()).is_err(), "byte {at}");
            bytes[at] ^= flip;
        }
        assert!(World::read(&mut &bytes[..at]).is_err(), "cut at {at}");
    }
    assert!(World::read(&mut bytes.as_slice()).is_ok());
}

#[test]
fn what_was_erased_or_replaced_is_not_in_a_snapshot() {
    let mut ground = Ground::default();
    let identify = |who: &str, mail: &str| {
        Step::Say(format!(
            r#"{{"type":"identify","userId":"{who}","traits":{{"email":"{mail}","l":["{mail}"]}}}}"#
        ))
    };
    let world = ground.play(&[
        identify("ann", "ann@old.example"),
        identify("bob", "bob@x.example"),
        identify("ann", "ann@new.example"),
        // Names of what nobody else has may say as much as values.
        Step::Say(r#"{"type":"identify","userId":"bob","traits":{"key-of-bob":{"k":1}}}"#.into()),
        Step::Say(r#"{"type":"track","userId":"bob","event":"visit-of-bob"}"#.into()),
        Step::Say(r#"{"type":"track","userId":"ann","event":"e","properties":{"n":1}}"#.into()),
        Step::Erase("bob".into()),
    ]);
    let mut bytes = Vec::new();
    world.write(&mut bytes).expect("written");
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("ann@new"), "{text}");
    for gone in ["bob", "ann@old", "key-of-bob", "visit-of-bob"] {
        assert!(!text.contains(gone), "{gone} in {text}");
    }
    let again = ground::reloaded(&world);
    assert_eq!(again.position(), world.position());
    let checked = Checked::new("contact.l CONTAINS 'ann@new.example'", Place::SEGMENT);
    let plan = checked.expect("good").plan;
    assert_eq!(again.scan(&plan, NOW), world.scan(&plan, NOW));
    assert_eq!(again.scan(&plan, NOW).members.len(), 1);
}

#[test]
fn what_is_not_kept_is_counted() {
    let limits = Limits {
        attributes: 2,
        properties: 1,
        event_types: 1,
    };
    let say = |raw: &str| Step::Say(raw.to_owned());
    let mut ground = Ground::default();
    let steps = [
        say(r#"{"type":"identify","userId":"u","traits":{"a":1,"b":{"c":2},"d":3}}"#),
        say(r#"{"type":"track","event":"e","userId":"u","properties":{"a":1,"b":1}}"#),
    ];
    let world = ground.play_in(World::new().with_limits(limits), &steps);
    let unkept = Unkept {
        attributes: 2,
        properties: 2,
        event_types: 1,
    };
    // The identify is an event as well, and the first of all types.
    assert_eq!(world.unkept(), unkept);
    assert_eq!(ground::reloaded(&world).unkept(), unkept);
    let holds = |text: &str| {
        let checked = Checked::new(text, Place::SEGMENT).expect("good");
        world.scan(&checked.plan, NOW).members.len() == 1
    };
    assert!(holds(
        "contact.a = 1 AND contact.b.c IS NULL AND contact.d IS NULL"
    ));
    assert!(holds(
        "COUNT(event) = 2 AND COUNT(event WHERE event_type = 'e') = 0"
    ));
    assert!(holds("COUNT(event WHERE event_type IS NULL) = 1"));
}

#[test]
fn a_copy_stays_as_it_was() {
    let mut ground = Ground::default();
    let say = |raw: &str| Step::Say(raw.to_owned());
    let mut world = ground.play(&[say(
        r#"{"type":"identify","userId":"u","traits":{"plan":"pro"}}"#,
    )]);
    let copy = world.clone();
    let more = r#"{"type":"identify","userId":"u","traits":{"plan":"free"}}"#;
    ground.step(&say(more), &mut world);
    let checked = Checked::new("contact.plan = 'pro'", Place::SEGMENT).expect("good");
    assert_eq!(copy.scan(&checked.plan, NOW).members.len(), 1);
    assert!(world.scan(&checked.plan, NOW).members.is_empty());
}
