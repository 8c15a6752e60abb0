//! What the people of the demo do: thirty days of it at once, and then a little each moment.

use kurier_core::accept::{Reception, accept};
use kurier_core::event::Event;
use kurier_core::id::{EventId, IdentityKey};
use kurier_core::time::Timestamp;
use serde_json::{Value, json};

use super::dice::Dice;
use super::person::{traits, user_id};

/// So many are there from the beginning.
pub const PEOPLE: u64 = 2_000;
/// Of those, so many were there before the thirty days.
const BEFORE: u64 = 1_200;
const HOUR: i64 = 3_600 * 1_000_000;
const DAY: i64 = 24 * HOUR;
pub const SPAN: i64 = 30 * DAY;
/// So many pages are looked at in the last hour, so that it looks like the one to come.
const LAST_HOUR: u64 = 3_000;

const PAGES: &[&str] = &["Home", "Pricing", "Features", "Blog", "Docs", "Changelog"];
const PRODUCTS: &[&str] = &["Lamp", "Desk", "Notebook", "Chair", "Teapot", "Backpack"];

/// Something that a client sends, and when it arrives.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    pub at: i64,
    pub item: Value,
}

/// Everything of the thirty days before `end`, in order.
pub fn history(end: Timestamp) -> Vec<Said> {
    let end = end.as_micros();
    let mut all = Vec::new();
    for number in 0..PEOPLE {
        life(number, end, &mut all);
    }
    let mut dice = Dice::new(0xC0FFEE);
    for _ in 0..LAST_HOUR {
        let (number, at) = (dice.below(PEOPLE), dice.within(end - HOUR, end));
        all.push(page(number, at, &mut dice));
    }
    all.retain(|said| said.at <= end);
    all.sort_by_key(|said| said.at);
    all
}

fn life(number: u64, end: i64, all: &mut Vec<Said>) {
    let mut dice = Dice::new(number);
    let start = end - SPAN;
    let is_new = number >= BEFORE;
    let joined = if is_new {
        dice.within(start, end)
    } else {
        start
    };
    all.push(identify(number, joined, &traits(number)));
    match is_new {
        true => first_days(number, joined, &mut dice, all),
        false => earlier_order(number, start, &mut dice, all),
    }
    for _ in 0..2 + dice.below(6) {
        let at = dice.within(joined, end);
        all.push(page(number, at, &mut dice));
    }
    if dice.chance(35) {
        let at = dice.within(joined, end);
        cart(number, at, &mut dice, all);
    }
}

fn first_days(number: u64, joined: i64, dice: &mut Dice, all: &mut Vec<Said>) {
    all.push(track(
        number,
        joined,
        "signed_up",
        json!({"source": dice.pick(&["web", "app"])}),
    ));
    if dice.chance(45) {
        let at = dice.within(joined + HOUR, joined + 30 * HOUR);
        all.push(track(
            number,
            at,
            "project_created",
            json!({"name": "First steps"}),
        ));
    }
    if dice.chance(40) {
        let began = joined + DAY;
        let seats = 1 + dice.below(20);
        all.push(track(
            number,
            began,
            "trial_started",
            json!({"seats": seats}),
        ));
        for _ in 0..dice.below(8) {
            let at = dice.within(began, began + 10 * DAY);
            all.push(track(
                number,
                at,
                "report_made",
                json!({"pages": 1 + dice.below(9)}),
            ));
        }
    }
}

/// Some bought long ago, and are missed one after another.
fn earlier_order(number: u64, start: i64, dice: &mut Dice, all: &mut Vec<Said>) {
    if dice.chance(60) {
        let happened = Timestamp::from_micros(start - 25 * DAY - dice.within(0, 60 * DAY));
        let mut said = order(number, start, format!("old-{number}"), dice);
        said.item["timestamp"] = json!(happened);
        all.push(said);
    }
}

fn cart(number: u64, at: i64, dice: &mut Dice, all: &mut Vec<Said>) {
    let id = format!("cart-{number}-{}", dice.below(10_000));
    let total = 10 + dice.below(290);
    let said = json!({"cart_id": id, "total": total, "product": dice.pick(PRODUCTS)});
    all.push(track(number, at, "cart_updated", said));
    if dice.chance(55) {
        let bought = at + dice.within(5 * 60_000_000, 40 * 60_000_000);
        let mut said = order(number, bought, id, dice);
        said.item["properties"]["total"] = json!(total);
        all.push(said);
    }
}

fn order(number: u64, at: i64, cart_id: String, dice: &mut Dice) -> Said {
    let total = 10 + dice.below(390);
    let said = json!({"cart_id": cart_id, "total": total, "product": dice.pick(PRODUCTS)});
    track(number, at, "order_completed", said)
}

fn page(number: u64, at: i64, dice: &mut Dice) -> Said {
    let item = json!({"type": "page", "userId": user_id(number), "name": dice.pick(PAGES),
        "properties": {"seconds": 1 + dice.below(180)}});
    Said { at, item }
}

fn identify(number: u64, at: i64, traits: &Value) -> Said {
    let item = json!({"type": "identify", "userId": user_id(number), "traits": traits});
    Said { at, item }
}

fn track(number: u64, at: i64, name: &str, properties: Value) -> Said {
    let item = json!({"type": "track", "userId": user_id(number), "event": name,
        "properties": properties});
    Said { at, item }
}

/// What happens in the `step`th moment after the thirty days: a few things.
pub fn moment(step: u64, now: Timestamp) -> Vec<Said> {
    let (mut dice, now) = (Dice::new(0xFACADE ^ step), now.as_micros());
    let mut all = Vec::new();
    for _ in 0..1 + dice.below(2) {
        let number = dice.below(PEOPLE);
        match dice.below(100) {
            0..64 => all.push(page(number, now, &mut dice)),
            64..78 => cart(number, now, &mut dice, &mut all),
            78..82 => all.push(order(number, now, format!("cart-{number}"), &mut dice)),
            82..90 => all.push(track(number, now, "report_made", json!({"pages": 3}))),
            90..94 => all.push(track(
                number,
                now,
                "project_created",
                json!({"name": "Next"}),
            )),
            _ => newcomer(PEOPLE + step, now, &mut all),
        }
    }
    // What is still to come is for nobody to know.
    all.retain(|said| said.at <= now);
    all
}

fn newcomer(number: u64, now: i64, all: &mut Vec<Said>) {
    all.push(identify(number, now, &traits(number)));
    all.push(track(number, now, "signed_up", json!({"source": "web"})));
}

/// The events, as if clients had sent them; `name` and its place say which is which.
pub fn accepted(key: &IdentityKey, name: &str, all: &[Said]) -> anyhow::Result<Vec<Event>> {
    let each = all.iter().enumerate().map(|(place, said)| {
        let reception = Reception {
            key,
            received_at: Timestamp::from_micros(said.at),
            sent_at: None,
            kind: None,
            fresh_id: &|| EventId::of_message(&format!("demo {name} {place}")),
        };
        let accepted = accept(&said.item.to_string(), &reception);
        accepted.map_err(|problems| anyhow::anyhow!("the demo cannot be made: {problems:?}"))
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end() -> Timestamp {
        "2026-03-15T12:00:00Z".parse().expect("a time")
    }

    #[test]
    fn history_is_the_same_each_time_and_in_order() {
        let all = history(end());
        assert_eq!(all, history(end()));
        assert!(all.len() > 15_000, "{}", all.len());
        assert!(all.is_sorted_by_key(|said| said.at));
        let (first, last) = (all[0].at, all[all.len() - 1].at);
        assert_eq!(first, end().as_micros() - SPAN);
        assert!(last <= end().as_micros());
        let is = |name: &str| all.iter().filter(|said| said.item["event"] == name).count();
        for name in [
            "signed_up",
            "cart_updated",
            "order_completed",
            "trial_started",
        ] {
            assert!(is(name) > 100, "{name}: {}", is(name));
        }
    }

    #[test]
    fn all_of_it_is_acceptable_and_nothing_twice() {
        let key = IdentityKey::new([1; 32]);
        let all = history(end());
        let events = accepted(&key, "history", &all).expect("accepted");
        let ids: std::collections::BTreeSet<_> = events.iter().map(|it| it.id).collect();
        assert_eq!(ids.len(), all.len());
        let everyone: std::collections::BTreeSet<_> = events.iter().map(|it| it.contact).collect();
        assert_eq!(everyone.len() as u64, PEOPLE);
    }

    #[test]
    fn each_moment_brings_something_and_some_bring_newcomers() {
        let all: Vec<Said> = (0..300).flat_map(|step| moment(step, end())).collect();
        assert!(all.len() >= 300);
        assert!(all.iter().all(|said| said.at <= end().as_micros()));
        let new = all.iter().filter(|said| said.item["event"] == "signed_up");
        assert!(new.count() > 5);
    }
}
