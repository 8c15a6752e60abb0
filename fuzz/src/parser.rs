//! Any text: it is read or refused, never stumbled over.

use kurier_core::expr::{Checked, Error, Place, check, parse};
use kurier_core::time::Timestamp;

use crate::ground::{GROUND, NOW};

const PLACES: [Place; 4] = [
    Place::SEGMENT,
    Place::TRIGGER,
    Place::JOURNEY,
    Place::JOURNEY_EVENT,
];
const YEAR_MICROS: i64 = 366 * 86_400_000_000;

/// What holds of every text:
/// * it is parsed, or every fault points at a stretch of the text;
/// * what was parsed is printed in one way, which is read as the same;
/// * at every place it is checked, or every fault points into it;
/// * a good segment has one verdict for each contact, whether it is asked of plain facts, of
///   the world's row, prepared, or of a whole scan; it holds as long as it says; and it can
///   be explained.
pub fn parser(text: &str) {
    let expr = match parse(text) {
        Ok(expr) => expr,
        Err(errors) => return pointed(text, &errors),
    };
    let printed = expr.to_string();
    let again = parse(&printed).unwrap_or_else(|e| panic!("{text} is printed as {printed}: {e:?}"));
    assert_eq!(again, expr, "{text} is printed as {printed}");
    assert_eq!(again.to_string(), printed);
    for place in PLACES {
        match check(&expr, place) {
            Ok(_) => assert!(check(&again, place).is_ok(), "{text}, {printed}"),
            Err(errors) => pointed(text, &errors),
        }
    }
    if let Ok(checked) = Checked::new(text, Place::SEGMENT) {
        decided(text, &checked);
    }
}

fn pointed(text: &str, errors: &[Error]) {
    assert!(!errors.is_empty(), "{text} is refused without a reason");
    for error in errors {
        let (start, end) = (error.span.start, error.span.end);
        assert!(text.get(start..end).is_some(), "{error:?} in {text}");
        assert!(!error.message.is_empty());
    }
}

fn decided(text: &str, checked: &Checked) {
    let (world, plan) = (&GROUND.world, &checked.plan);
    let scan = world.scan(plan, NOW);
    let mut prepared = world.prepare(plan);
    assert!(scan.until > NOW, "{text}");
    for (number, facts) in &GROUND.contacts {
        let wanted = checked.evaluate(facts, None, NOW);
        let row = world.subject(*number);
        assert_eq!(checked.evaluate(&row, None, NOW), wanted, "row: {text}");
        let verdict = world.verdict(&mut prepared, *number, NOW);
        assert_eq!(verdict.holds, wanted.holds, "prepared: {text}");
        let scanned = scan.members.contains(*number);
        assert_eq!(scanned, wanted.holds, "scanned: {text}");
        assert_eq!(
            checked.explain(facts, None, NOW),
            checked.explain(&row, None, NOW),
            "explained: {text}"
        );
        for end in [wanted.until, verdict.until, scan.until] {
            assert!(end > NOW, "{text}");
            let last: Timestamp = end.shifted(-1).min(NOW.shifted(YEAR_MICROS)).max(NOW);
            let later = checked.evaluate(facts, None, last);
            assert_eq!(later.holds, wanted.holds, "until {end}: {text}");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One expression a line: where the fuzzer begins, and what it found.
    const SEEDS: &str = include_str!("../parser.seeds");

    #[test]
    fn the_seeds_hold() {
        SEEDS.lines().for_each(parser);
        let good = SEEDS.lines().filter(|line| parse(line).is_ok());
        assert!(good.count() > 40, "most seeds lead deep into the language");
    }

    #[test]
    #[should_panic(expected = "in contact.a")]
    fn a_fault_that_points_beside_the_text_is_found() {
        let span = kurier_core::expr::Span::new(10, 13);
        pointed("contact.a", &[Error::new(span, "beside")]);
    }

    proptest! {
        /// Seeds cut, doubled and put together at any place.
        #[test]
        fn crossed_seeds_hold(
            pieces in prop::collection::vec((0..SEEDS.lines().count(), 0..80usize, 0..80usize), 1..5),
        ) {
            let text: String = pieces.iter().map(|(line, skip, take)| {
                let line = SEEDS.lines().nth(*line).expect("a line");
                line.chars().skip(*skip).take(*take).collect::<String>()
            }).collect();
            parser(&text);
        }
    }
}
