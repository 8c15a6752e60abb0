//! Scans of a world with blocks of the size they really have. The properties beside the code use
//! tiny blocks, in which no kernel ever sees as many values as fill a word.

use kurier_core::accept::{Reception, accept};
use kurier_core::columns::World;
use kurier_core::event::{Position, Recorded};
use kurier_core::expr::{Checked, Place};
use kurier_core::id::{EventId, IdentityKey, WorkspaceId};
use kurier_core::time::Timestamp;

/// A whole block, and a part of another.
const CONTACTS: u64 = 4_333;
const EVENTS: u64 = 26_000;
/// 2026-06-15T12:00:00Z
const NOW: Timestamp = Timestamp::from_micros(1_781_524_800_000_000);

const OF_CONTACTS: [&str; 22] = [
    "contact.country = 'DE'",
    "contact.country != 'DE'",
    "contact.country IN ('DE', 'FR')",
    "contact.country IN ('DE', 'FR', 'AT', 'nowhere')",
    "contact.country NOT IN ('DE', 'FR')",
    "contact.country CONTAINS 'E'",
    "contact.country IS NULL",
    "contact.country IS NOT NULL",
    "contact.city = 'city 77' OR contact.city = 'city 301'",
    "contact.age >= 30",
    "contact.age BETWEEN 20 AND 40.5",
    "contact.age NOT BETWEEN 20 AND 40",
    "contact.age != 30",
    "contact.score > 50.25",
    "contact.score NOT BETWEEN 10 AND 90.5",
    "contact.cents < 0.3",
    "contact.cents = 0.7",
    "contact.vip = TRUE",
    "contact.mixed > 3",
    "contact.mixed = 'text'",
    "contact.tags CONTAINS 'b' AND NOT contact.vip = FALSE",
    "contact.since > now() - 100d",
];

const OF_EVENTS: [&str; 26] = [
    "EXISTS (event WHERE event_type = 'buy' AND event_time > now() - 30d)",
    "NOT EXISTS (event WHERE event_type = 'look')",
    "EXISTS (event WHERE properties.amount > 99)",
    "COUNT(event WHERE event_type = 'buy') >= 3",
    "COUNT(event WHERE event_type = 'buy') = 0",
    "COUNT(event WHERE event_type = 'buy') != 2",
    "COUNT(event WHERE event_type = 'buy') NOT BETWEEN 1 AND 4",
    "COUNT(event WHERE event_type = 'buy' AND properties.amount > 50) >= 3",
    "COUNT(event WHERE event_type = 'buy' AND properties.amount <= 50.25) BETWEEN 1 AND 2",
    "COUNT(event WHERE event_type = 'buy' AND properties.amount = 20.5) > 0",
    "COUNT(event WHERE event_type = 'buy' AND properties.cents < 0.3) > 1.5",
    "COUNT(event WHERE event_type = 'buy' AND properties.pieces != 2) > 2",
    "COUNT(event WHERE event_type = 'buy' AND properties.sku = 'sku 7') > 0",
    "COUNT(event WHERE event_type = 'buy' AND properties.sku CONTAINS '7') > 1",
    "COUNT(event WHERE event_type = 'buy' AND properties.sku IS NULL) > 0",
    "COUNT(event WHERE event_type IN ('buy', 'look') AND event_time < now() - 90d) > 3",
    "COUNT(event WHERE event_time NOT BETWEEN now() - 90d AND now() - 20d) < 4",
    "COUNT(event WHERE event_type = 'look' AND contact.age > 40) > 1",
    "COUNT(event.properties.sku WHERE event_type = 'buy') > 2",
    "SUM(event.properties.amount WHERE event_type = 'buy' AND event_time > now() - 90d) > 150",
    "SUM(event.properties.cents) > 2.1",
    "AVG(event.properties.amount WHERE event_type = 'buy') < 40",
    "MIN(event.properties.amount WHERE event_type = 'buy') > 30",
    "MAX(event.properties.pieces) = 4",
    "MAX(event.event_time WHERE event_type = 'buy') < now() - 20d",
    "contact.age > 30 AND (EXISTS (event WHERE event_type = 'rare') OR contact.country = 'FR')",
];

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % sides
    }
}

struct Log {
    key: IdentityKey,
    world: World,
    dice: Dice,
    position: i64,
}

impl Log {
    fn say(&mut self, raw: &str) {
        self.position += 1;
        let position = self.position;
        let reception = Reception {
            key: &self.key,
            received_at: NOW,
            sent_at: None,
            kind: None,
            fresh_id: &|| EventId::of_message(&position.to_string()),
        };
        let event =
            accept(raw, &reception).unwrap_or_else(|problems| panic!("{raw}: {problems:?}"));
        self.world.fold(&Recorded {
            position: Position(position),
            workspace: WorkspaceId::from_bytes([1; 16]),
            event: event.into(),
        });
    }

    fn days_ago(&mut self, days: u64) -> Timestamp {
        let seconds = self.dice.roll(days * 86_400) as i64;
        NOW.shifted(-seconds * 1_000_000)
    }

    fn contact(&mut self, number: u64) {
        let since = self.days_ago(200);
        let dice = &mut self.dice;
        let country = ["DE", "FR", "AT", "ES", "PT"][dice.roll(5) as usize];
        let tags = [r#"["a"]"#, r#"["a","b"]"#, "[]"][dice.roll(3) as usize];
        let mixed = ["1", "7", r#""text""#, "true"][dice.roll(4) as usize];
        let mut traits = format!(
            r#""city":"city {}","age":{},"cents":{},"vip":{},"tags":{tags},"since":"{since}""#,
            dice.roll(400),
            dice.roll(60),
            dice.roll(10) as f64 / 10.0,
            dice.roll(2) == 0,
        );
        if dice.roll(3) > 0 {
            let score = dice.roll(400) as f64 / 4.0;
            traits += &format!(r#","country":"{country}","score":{score},"mixed":{mixed}"#);
        }
        self.say(&format!(
            r#"{{"type":"identify","userId":"{number}","traits":{{{traits}}}}}"#
        ));
    }

    fn event(&mut self) {
        let at = self.days_ago(180);
        let dice = &mut self.dice;
        let name = ["buy", "buy", "buy", "look", "look"][dice.roll(5) as usize];
        let name = if dice.roll(500) == 0 { "rare" } else { name };
        // Some do most, and the last ones nothing.
        let who = dice.roll(CONTACTS).min(dice.roll(CONTACTS));
        let mut properties = format!(
            r#""amount":{},"cents":{}"#,
            dice.roll(400) as f64 / 4.0,
            dice.roll(10) as f64 / 10.0
        );
        if dice.roll(3) > 0 {
            let (pieces, sku) = (dice.roll(5), dice.roll(300));
            properties += &format!(r#","pieces":{pieces},"sku":"sku {sku}""#);
        }
        self.say(&format!(
            r#"{{"type":"track","userId":"{who}","event":"{name}","timestamp":"{at}","properties":{{{properties}}}}}"#
        ));
    }
}

fn world() -> World {
    let mut log = Log {
        key: IdentityKey::new([1; 32]),
        world: World::new(),
        dice: Dice(7),
        position: 0,
    };
    (0..CONTACTS).for_each(|number| log.contact(number));
    (0..EVENTS).for_each(|_| log.event());
    log.world
}

/// The row evaluator, a prepared plan and a scan say the same of each contact.
#[test]
fn scans_of_whole_blocks_agree_with_rows() {
    let world = world();
    for text in OF_CONTACTS.into_iter().chain(OF_EVENTS) {
        let checked = Checked::new(text, Place::SEGMENT)
            .unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
        let scan = world.scan(&checked.plan, NOW);
        let mut prepared = world.prepare(&checked.plan);
        let mut count = 0;
        for number in world.contacts() {
            let holds = checked.evaluate(&world.subject(number), None, NOW).holds;
            assert_eq!(
                scan.members.contains(number),
                holds,
                "{number}: scan of {text}"
            );
            let verdict = world.verdict(&mut prepared, number, NOW);
            assert_eq!(verdict.holds, holds, "{number}: verdict of {text}");
            count += usize::from(holds);
        }
        // A test that everybody or nobody passes would say little.
        assert!(count > 0 && count < world.live(), "{count} pass {text}");
        assert_eq!(scan.members.numbers().len(), count);
    }
}
