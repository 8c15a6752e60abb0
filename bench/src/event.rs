//! The events that are sent: track events of about 230 bytes by one of 50,000 users, made
//! once; for each request only the message ids and the users are written over.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kurier_core::time::Timestamp;

use crate::clock::{Random, now};

const USERS: u64 = 50_000;
const NO_MESSAGE: &str = "00000000-0000-4000-8000-000000000000";
const NO_USER: &str = "user-00000";
const NAMES: [&str; 4] = [
    "Product Viewed",
    "Product Added",
    "Checkout Started",
    "Order Completed",
];

/// Who is asked, and with which key.
pub enum Target {
    Kurier(String),
    Node,
}

/// JSON text, and where in it the changing parts are.
pub struct Template {
    pub bytes: Vec<u8>,
    slots: Vec<Slot>,
}

struct Slot {
    message: usize,
    user: usize,
}

impl Template {
    /// One item.
    pub fn item() -> Self {
        Self::of(item(0).into_bytes())
    }

    /// A whole HTTP request of so many events.
    pub fn request(target: &Target, events: usize) -> Self {
        let items: Vec<String> = (0..events).map(item).collect();
        let items = items.join(",");
        let (path, body) = match (target, events) {
            (Target::Kurier(_), 1) => ("/v1/track", items),
            (Target::Kurier(_), _) => ("/v1/batch", format!("{{\"batch\":[{items}]}}")),
            (Target::Node, 1) => ("/e", items),
            (Target::Node, _) => ("/e", format!("[{items}]")),
        };
        let key = match target {
            Target::Kurier(key) => format!(
                "authorization: Basic {}\r\n",
                STANDARD.encode(format!("{key}:"))
            ),
            Target::Node => String::new(),
        };
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{key}content-length: {}\r\n\r\n",
            body.len()
        );
        Self::of((head + body.as_str()).into_bytes())
    }

    fn of(bytes: Vec<u8>) -> Self {
        let starts_at = |from: usize, part: &str| {
            let found = bytes[from..]
                .windows(part.len())
                .position(|window| window == part.as_bytes());
            found.map(|at| from + at)
        };
        let mut slots = Vec::new();
        let mut from = 0;
        while let Some(message) = starts_at(from, NO_MESSAGE) {
            let user = starts_at(message, NO_USER).expect("every item names a user");
            slots.push(Slot {
                message,
                user: user + NO_USER.len() - 5,
            });
            from = user;
        }
        Self { bytes, slots }
    }

    /// Makes every event another one.
    pub fn renew(&mut self, random: &mut Random) {
        for slot in &self.slots {
            let digits = (u128::from(random.draw()) << 64) | u128::from(random.draw());
            write_uuid(&mut self.bytes[slot.message..][..NO_MESSAGE.len()], digits);
            let mut user = (digits as u64 >> 20) % USERS;
            for place in self.bytes[slot.user..][..5].iter_mut().rev() {
                *place = b'0' + (user % 10) as u8;
                user /= 10;
            }
        }
    }
}

fn item(number: usize) -> String {
    let at = Timestamp::from_millis(now().as_millis() - 1_000 - number as i64);
    let name = NAMES[number % NAMES.len()];
    format!(
        "{{\"type\":\"track\",\"messageId\":\"{NO_MESSAGE}\",\"userId\":\"{NO_USER}\",\"event\":\"{name}\",\
         \"timestamp\":\"{at}\",\"properties\":{{\"sku\":\"SKU-{:04}\",\"price\":{}.95,\"currency\":\"EUR\"}}}}",
        number * 37 % 10_000,
        number * 13 % 900 + 100,
    )
}

/// Writes the digits of a uuid between the hyphens that are there; version and variant stay.
fn write_uuid(text: &mut [u8], mut digits: u128) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for (at, place) in text.iter_mut().enumerate() {
        if !matches!(at, 8 | 13 | 14 | 18 | 19 | 23) {
            *place = HEX[(digits & 15) as usize];
            digits >>= 4;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renewed_requests_differ_and_stay_valid() {
        let mut template = Template::request(&Target::Node, 100);
        let mut random = Random::new(1);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..3 {
            template.renew(&mut random);
            let text = std::str::from_utf8(&template.bytes).expect("UTF-8");
            let (_, body) = text.split_once("\r\n\r\n").expect("a head and a body");
            let items: Vec<serde_json::Value> = serde_json::from_str(body).expect("JSON");
            assert_eq!(items.len(), 100);
            for item in items {
                let id = item["messageId"].as_str().expect("text").to_owned();
                assert!(sqlx::types::Uuid::parse_str(&id).is_ok(), "{id}");
                assert!(seen.insert(id));
            }
        }
    }

    #[test]
    fn an_item_is_as_large_as_said() {
        let length = Template::item().bytes.len();
        assert!((200..260).contains(&length), "{length}");
    }
}
