//! The keys character for character, and what a cluster makes of them.

use super::*;
use crate::event::Position;
use crate::expr::{Checked, Place};
use crate::id::{ContactId, JourneyId, TemplateId, WorkspaceId};

const W: WorkspaceId = WorkspaceId::from_bytes([1; 16]);
const W_TEXT: &str = "01010101-0101-0101-0101-010101010101";
const SLACK: Namespace = NOTIFICATION_SLACK;

fn acme() -> Tenant {
    Tenant::named("acme").expect("a name")
}

fn entry(tenant: &Tenant, id: &str) -> Key<Entry<String>> {
    SLACK.entry(tenant, id, Lifetime::FOREVER).expect("good")
}

#[test]
fn seed_004_section_1_business_data_keys() {
    let acme = acme();
    assert_eq!(
        entry(&acme, "W1").text(),
        "notification.slack:v1:{acme}:workspace:W1"
    );
    assert_eq!(
        SLACK.list(&acme).text(),
        "notification.slack:v1:{acme}:idx:workspace:list"
    );
    let by_category = SLACK.index(&acme, "category", "sales").expect("good");
    assert_eq!(
        by_category.text(),
        "notification.slack:v1:{acme}:idx:workspace:by-category:sales"
    );
    assert_eq!(
        [entry(&acme, "W1").ttl_ms(), SLACK.list(&acme).ttl_ms()],
        [None, None]
    );
    assert_eq!(
        entry(&Tenant::from(W), "W1").text(),
        format!("notification.slack:v1:{{{W_TEXT}}}:workspace:W1")
    );
}

#[test]
fn seed_004_section_2_performance_optimization_keys() {
    let (acme, ttls) = (acme(), Ttls::default());
    let hint = SLACK.version_hint(&acme, "W1", &ttls).expect("good");
    assert_eq!(hint.text(), "notification.slack:pp:ver:{acme}:workspace:W1");
    assert_eq!(hint.ttl_ms(), Some(7 * 24 * 60 * 60 * 1_000));
    let dedup = SLACK.dedup(&acme, "W1", Position(42), &ttls).expect("good");
    assert_eq!(dedup.text(), "notification.slack:pd:dup:{acme}:W1:42");
    assert_eq!(dedup.ttl_ms(), Some(48 * 60 * 60 * 1_000));
    assert_eq!(
        SLACK.generation(&acme).text(),
        "notification.slack:pp:gen:{acme}"
    );
}

#[test]
fn seed_004_section_3_checkpoint_keys_of_modules_apart() {
    let slack = |environment| {
        let key = SLACK.checkpoint(environment, "workspace-projection");
        key.expect("good").into_text()
    };
    assert_eq!(
        slack("dev"),
        "notification.slack:checkpoint:dev:workspace-projection"
    );
    assert_eq!(
        slack("prod"),
        "notification.slack:checkpoint:prod:workspace-projection"
    );
    let profile = Namespace::new("user.profile", "workspace");
    let key = profile.checkpoint("dev", "workspace-projection");
    assert_eq!(
        key.expect("good").text(),
        "user.profile:checkpoint:dev:workspace-projection"
    );
    for odd in ["", "de:v", "{dev}", "d*", "a b", "ä"] {
        assert!(SLACK.checkpoint(odd, "group").is_err(), "{odd}");
        assert!(SLACK.checkpoint("dev", odd).is_err(), "{odd}");
    }
}

#[test]
fn seed_004_section_4_times_to_live_overridden_by_environment_and_disabled() {
    let read = |json: &str| serde_json::from_str::<TtlOverrides>(json).map_err(|e| e.to_string());
    let ttls = |json: &str| Ttls::default().overridden(&read(json).expect("good"));
    assert_eq!(ttls("{}"), Ttls::default());
    assert_eq!(
        Ttls::default().delete.ttl_ms(),
        Some(30 * 24 * 60 * 60 * 1_000)
    );
    let dev = ttls(r#"{"version_hint_ttl_seconds": 3600, "dedup_ttl_hours": 2}"#);
    assert_eq!(dev.version_hint.ttl_ms(), Some(60 * 60 * 1_000));
    assert_eq!(dev.dedup.ttl_ms(), Some(2 * 60 * 60 * 1_000));
    assert_eq!(dev.delete, Ttls::default().delete);
    for none in ["null", "\"none\""] {
        let without = ttls(&format!("{{\"version_hint_ttl_seconds\": {none}}}"));
        assert_eq!(without.version_hint.ttl_ms(), None);
        let hint = SLACK.version_hint(&acme(), "W1", &without).expect("good");
        assert_eq!(hint.ttl_ms(), None);
        assert_eq!(without.dedup, Ttls::default().dedup);
    }
    for wrong in ["0", "-1", "1.5", "\"7d\"", "99999999999999"] {
        let json = format!("{{\"dedup_ttl_hours\": {wrong}}}");
        let error = read(&json).expect_err(wrong);
        assert!(error.contains("a time to live"), "{error}");
    }
    assert!(read(r#"{"dedup_ttl_seconds": 1}"#).is_err());
    // What is personal is not remembered for ever.
    assert!(read(r#"{"events_ttl_seconds": null}"#).is_err());
    assert_eq!(
        ttls(r#"{"events_ttl_seconds": 5}"#).events.ttl_ms(),
        Some(5_000)
    );
}

#[test]
fn seed_000_section_5_2_cache_keys() {
    let ttls = Ttls::default();
    let c = ContactId::from_bytes([2; 16]);
    let minutes = |n: u64| Some(n * 60 * 1_000);
    let of = |key: Key<String>| (key.text().to_owned(), key.ttl_ms());
    let wanted = |text: String, ttl_ms| (text, ttl_ms);
    let t = TemplateId::from_bytes([4; 16]);
    let j = JourneyId::from_bytes([6; 16]);
    let cases = [
        (
            of(cache::contact(W, c, &ttls)),
            format!("contact:{W_TEXT}:{c}"),
            minutes(5),
        ),
        (
            of(cache::recent_events(W, c, &ttls)),
            format!("events:{W_TEXT}:{c}:recent"),
            minutes(1),
        ),
        (
            of(cache::template(W, t, &ttls)),
            format!("template:{W_TEXT}:{t}"),
            minutes(30),
        ),
        (
            of(cache::journey(W, j, &ttls)),
            format!("journey:{W_TEXT}:{j}"),
            minutes(10),
        ),
    ];
    for (is, text, ttl_ms) in cases {
        assert_eq!(is, wanted(text, ttl_ms));
    }
}

#[test]
fn a_preview_has_one_key_however_it_is_written() {
    let checked = |text| Checked::new(text, Place::SEGMENT).expect("good");
    let key = |text| preview(W, &checked(text), &Ttls::default());
    assert_eq!(key("contact.plan = 'pro'").ttl_ms(), Some(10 * 60 * 1_000));
    let plan = key("contact.plan = 'pro'");
    assert_eq!(
        plan.text(),
        format!("segment:{W_TEXT}:5a9146630f8957829fb320ea85cf6f6c:metadata")
    );
    assert_eq!(plan, key("contact.plan==\"pro\""));
    assert_ne!(plan, key("contact.plan = 'Pro'"));
    assert_eq!(plan.decode(b"{\"of\":\"another version\"}"), None);
}

#[test]
fn a_tenant_cannot_write_into_the_form_of_a_key() {
    for odd in [
        "",
        "a}{b",
        "{",
        "}",
        "a:b",
        "a b",
        "*",
        "ä",
        "a\n",
        &"x".repeat(257),
    ] {
        assert!(Tenant::named(odd).is_err(), "{odd}");
    }
    assert_eq!(
        Tenant::named("a}{b").expect_err("refused").to_string(),
        "`}` must not stand in a tenant"
    );
    assert_eq!(
        Tenant::named("acme.co-1_x").expect("good").as_str(),
        "acme.co-1_x"
    );
}

#[test]
fn what_people_name_is_escaped_and_stays_apart() {
    let acme = acme();
    let category = |name| SLACK.index(&acme, "category", name).map(Key::into_text);
    let begin = "notification.slack:v1:{acme}:idx:workspace:by-category:";
    for (name, part) in [
        ("a:b", "a%3Ab"),
        ("a%3Ab", "a%253Ab"),
        ("}{other}", "%7D%7Bother%7D"),
        ("Süd *?[x]", "S%C3%BCd%20%2A%3F%5Bx%5D"),
    ] {
        assert_eq!(category(name), Ok(format!("{begin}{part}")));
        assert_eq!(part::unescaped(part).as_deref(), Some(name));
    }
    assert_eq!(category(""), Err(Refused::Empty));
    assert_eq!(category(&"x".repeat(257)), Err(Refused::Long { max: 256 }));
    for nothing in ["%", "%3", "%zz", "%41", "a:b", "%ff"] {
        assert_eq!(part::unescaped(nothing), None, "{nothing}");
    }
}

#[test]
fn keys_that_change_together_share_a_slot() {
    assert_eq!(slot("123456789"), 0x31c3, "the standard's own example");
    let ttls = Ttls::default();
    for (tenant, category) in [("acme", "sales"), ("other", "}{"), ("x", "{acme}")] {
        let tenant = Tenant::named(tenant).expect("a name");
        let unit = [
            entry(&tenant, "W1").into_text(),
            entry(&tenant, "{W2}").into_text(),
            SLACK.list(&tenant).into_text(),
            SLACK
                .index(&tenant, "category", category)
                .expect("good")
                .into_text(),
            SLACK
                .version_hint(&tenant, "W1", &ttls)
                .expect("good")
                .into_text(),
            SLACK
                .dedup(&tenant, "{x}", Position(7), &ttls)
                .expect("good")
                .into_text(),
            SLACK.generation(&tenant).into_text(),
        ];
        for key in &unit {
            assert_eq!(slot(key), slot(tenant.as_str()), "{key}");
        }
    }
    let checkpoint = SLACK
        .checkpoint("dev", "workspace-projection")
        .expect("good");
    assert_ne!(
        slot(checkpoint.text()),
        slot("acme"),
        "why it is not the one that counts"
    );
}

#[test]
fn an_index_is_found_again_by_the_field_it_is_counted_under() {
    let acme = acme();
    let category = SLACK.index(&acme, "category", "a:b}").expect("good");
    assert_eq!(category.field(), "idx:workspace:by-category:a%3Ab%7D");
    assert_eq!(SLACK.counted(&acme, category.field()), Some(category));
    assert_eq!(
        SLACK.counted(&acme, SLACK.list(&acme).field()),
        Some(SLACK.list(&acme))
    );
    assert_eq!(SLACK.counted(&acme, "at"), None);
}

#[test]
fn an_entry_begins_with_its_revision() {
    let acme = acme();
    let key = entry(&acme, "W1");
    let held = Entry {
        revision: Position(7),
        as_of: None,
        value: Some("x".to_owned()),
    };
    assert_eq!(key.encode(&held), br#"{"revision":7,"value":"x"}"#);
    let dated = Entry {
        as_of: Some(Position(9)),
        ..held.clone()
    };
    assert_eq!(
        key.encode(&dated),
        br#"{"revision":7,"as_of":9,"value":"x"}"#
    );
    for entry in [held, dated] {
        assert_eq!(key.decode(&key.encode(&entry)), Some(entry));
    }
    let tombstone = Entry {
        revision: Position(8),
        as_of: None,
        value: None,
    };
    assert_eq!(key.encode(&tombstone), br#"{"revision":8,"value":null}"#);
}

/// The slot of a key in a Redis Cluster: CRC16 (XMODEM) of its hash tag.
fn slot(key: &str) -> u16 {
    let tag = key.find('{').and_then(|open| {
        let rest = &key[open + 1..];
        let close = rest.find('}')?;
        (close > 0).then(|| &rest[..close])
    });
    let crc = |crc: u16, byte: u8| {
        (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| {
            let polynomial = if crc & 0x8000 == 0 { 0 } else { 0x1021 };
            (crc << 1) ^ polynomial
        })
    };
    tag.unwrap_or(key).bytes().fold(0, crc) % 16_384
}
