//! The key architecture, section by section, as it stands in the keyspace after events came in.

use kurier::flow::edge::EdgeSettings;
use kurier_core::edge::NotificationSlack;
use kurier_core::keys::{Lifetime, Ttls};
use kurier_store::kv::{KvExt as _, Ttl};
use serde_json::{Value, json};

use super::ground::{Ground, slack_id};
use super::on_keyspaces;

on_keyspaces![
    section_1_business_data_keys,
    section_2_version_hints_and_deduplication_keys_with_their_ttls,
    section_3_checkpoint_keys,
    section_3_modules_are_isolated,
    section_4_environment_specific_overrides,
    section_4_disabling_a_ttl,
    section_4_soft_deletes_have_their_ttl,
    flow_step_1_an_event_arrives_when_the_read_model_has_folded_it,
    flow_steps_2_and_3_a_known_revision_is_skipped_by_its_version_hint,
    flow_step_4_without_a_hint_the_deduplication_key_decides,
    flow_without_hint_and_deduplication_the_revision_in_the_value_decides,
    flow_steps_5_and_6_data_and_hint_are_written_together,
    section_7_key_design,
    section_7_performance_hints_are_asked_before_anything_is_loaded,
];

const HOUR_MS: u64 = 60 * 60 * 1_000;

async fn one(ground: &Ground) {
    ground.create(0, 1, "Acme", Some("sales")).await;
    ground.fold().await;
    ground.slack().drain().await.expect("projected");
}

fn entry_key(ground: &Ground, id: u8) -> String {
    let (tenant, id) = (ground.tenant(0), slack_id(id));
    format!("notification.slack:v1:{{{tenant}}}:workspace:{id}")
}

fn hint_key(ground: &Ground, id: u8) -> String {
    let (tenant, id) = (ground.tenant(0), slack_id(id));
    format!("notification.slack:pp:ver:{{{tenant}}}:workspace:{id}")
}

/// The position of the last event.
async fn head(ground: &Ground) -> i64 {
    ground.store.log.head().await.expect("read").0
}

async fn dedup_key(ground: &Ground, id: u8) -> String {
    let (tenant, id, revision) = (ground.tenant(0), slack_id(id), head(ground).await);
    format!("notification.slack:pd:dup:{{{tenant}}}:{id}:{revision}")
}

async fn entry(ground: &Ground, id: u8) -> Value {
    let text = ground.text(&entry_key(ground, id)).await;
    text.map_or(Value::Null, |text| {
        serde_json::from_str(&text).expect("JSON")
    })
}

#[track_caller]
fn assert_ttl(ttl: Ttl, wanted_ms: u64) {
    let Ttl::Ms(ms) = ttl else {
        panic!("{ttl:?}");
    };
    assert!(
        ms <= wanted_ms && ms + 60_000 > wanted_ms,
        "{ms} of {wanted_ms}"
    );
}

async fn section_1_business_data_keys(ground: Ground) {
    one(&ground).await;
    let tenant = ground.tenant(0);
    let begin = format!("notification.slack:v1:{{{tenant}}}:");
    let keys = ground.keys().await;
    let business: Vec<&str> = keys
        .keys()
        .filter_map(|key| key.strip_prefix(&begin))
        .collect();
    let id = slack_id(1);
    assert_eq!(
        business,
        [
            "idx:workspace:by-category:sales",
            "idx:workspace:list",
            &format!("workspace:{id}"),
        ]
    );
    let held = entry(&ground, 1).await;
    assert_eq!(held["revision"], head(&ground).await);
    assert_eq!(held["value"]["definition"]["name"], "Acme");
    assert!(!held.to_string().contains("c2VhbGVk"), "not even sealed");
    let list = &keys[&format!("{begin}idx:workspace:list")];
    assert_eq!(*list, (json!([id.to_string()]), false));
    assert_eq!(ground.ttl_ms(&entry_key(&ground, 1)).await, Ttl::Forever);
}

async fn section_2_version_hints_and_deduplication_keys_with_their_ttls(ground: Ground) {
    one(&ground).await;
    let hint = hint_key(&ground, 1);
    let revision = head(&ground).await.to_string();
    assert_eq!(ground.text(&hint).await, Some(revision));
    assert_ttl(ground.ttl_ms(&hint).await, 7 * 24 * HOUR_MS);
    let dedup = dedup_key(&ground, 1).await;
    assert_ttl(ground.ttl_ms(&dedup).await, 48 * HOUR_MS);
}

async fn section_3_checkpoint_keys(ground: Ground) {
    one(&ground).await;
    let key = "notification.slack:checkpoint:dev:workspace-projection";
    let position = head(&ground).await;
    let fields = ground.keyspace.hash_get_all(key).await.expect("asked");
    assert_eq!(fields["position"], position.to_string().into_bytes());
    assert_eq!(ground.ttl_ms(key).await, Ttl::Forever);
    // The one that counts is in the store: losing the key loses nothing.
    let kept = ground
        .store
        .views
        .checkpoint("edge:notification.slack")
        .await;
    assert_eq!(kept.expect("read").0, position);
    ground
        .keyspace
        .delete(vec![key.to_owned()])
        .await
        .expect("deleted");
    ground.create(0, 2, "Beta", None).await;
    ground.fold().await;
    let taken = ground.slack().step().await.expect("projected");
    assert_eq!(taken, 1, "only what is new");
}

async fn section_3_modules_are_isolated(ground: Ground) {
    one(&ground).await;
    ground
        .client(0, json!({"type": "identify", "userId": "ann"}))
        .await;
    ground.fold().await;
    let slack = ground.keys().await;
    ground.profiles().drain().await.expect("projected");
    let both = ground.keys().await;
    let is_slack = |key: &&String| key.starts_with("notification.slack:");
    assert!(slack.keys().all(|key| is_slack(&key)));
    let others: Vec<&String> = both.keys().filter(|key| !is_slack(key)).collect();
    assert!(others.iter().all(|key| key.starts_with("contact.profile:")));
    assert!(both.contains_key("contact.profile:checkpoint:dev:contact-projection"));
    assert_eq!(others.len(), both.len() - slack.len());
    // One module's deduplication is not another's: the same event was projected by both.
    assert!(others.iter().any(|key| key.contains(":pd:dup:")));
}

async fn projected_with(ground: &Ground, ttls: Ttls) {
    ground.create(0, 1, "Acme", None).await;
    ground.fold().await;
    let settings = EdgeSettings {
        ttls,
        environment: "staging".to_owned(),
    };
    let edge = ground.slack_with(ground.keyspace.clone(), settings);
    edge.drain().await.expect("projected");
}

async fn section_4_environment_specific_overrides(ground: Ground) {
    let ttls = Ttls {
        version_hint: Lifetime::seconds(60 * 60).expect("good"),
        dedup: Lifetime::seconds(2 * 60 * 60).expect("good"),
        ..Ttls::default()
    };
    projected_with(&ground, ttls).await;
    assert_ttl(ground.ttl_ms(&hint_key(&ground, 1)).await, HOUR_MS);
    assert_ttl(
        ground.ttl_ms(&dedup_key(&ground, 1).await).await,
        2 * HOUR_MS,
    );
    let checkpoint = "notification.slack:checkpoint:staging:workspace-projection";
    assert_eq!(ground.ttl_ms(checkpoint).await, Ttl::Forever);
}

async fn section_4_disabling_a_ttl(ground: Ground) {
    let ttls = Ttls {
        version_hint: Lifetime::FOREVER,
        ..Ttls::default()
    };
    projected_with(&ground, ttls).await;
    assert_eq!(ground.ttl_ms(&hint_key(&ground, 1)).await, Ttl::Forever);
    assert_ttl(
        ground.ttl_ms(&dedup_key(&ground, 1).await).await,
        48 * HOUR_MS,
    );
}

async fn section_4_soft_deletes_have_their_ttl(ground: Ground) {
    one(&ground).await;
    ground.archive(0, 1).await;
    ground.fold().await;
    ground.slack().drain().await.expect("projected");
    let held = entry(&ground, 1).await;
    assert_eq!(
        held,
        json!({"revision": head(&ground).await, "value": null})
    );
    assert_ttl(
        ground.ttl_ms(&entry_key(&ground, 1)).await,
        30 * 24 * HOUR_MS,
    );
    let keys = ground.keys().await;
    assert!(!keys.keys().any(|key| key.contains(":idx:")), "{keys:?}");
    if ground.clock_ms.is_some() {
        ground.pass(30 * 24 * HOUR_MS + 1);
        assert_eq!(ground.text(&entry_key(&ground, 1)).await, None);
    }
}

/// Puts another value in place of an entity, to see whether it is written again.
async fn mark(ground: &Ground, revision: i64) {
    let marked = format!("{{\"revision\":{revision},\"value\":null}}");
    let key = entry_key(ground, 1);
    let set = ground.keyspace.set(&key, marked, None);
    set.await.expect("set");
}

async fn deliver_again(ground: &Ground) -> Value {
    ground.rewind::<NotificationSlack>().await;
    ground.slack().drain().await.expect("projected");
    entry(ground, 1).await["value"].clone()
}

async fn flow_step_1_an_event_arrives_when_the_read_model_has_folded_it(ground: Ground) {
    one(&ground).await;
    let edge = ground.slack();
    let before = entry(&ground, 1).await;
    ground.update(0, 1, "Acme 2", None).await;
    assert_eq!(edge.step().await.expect("looked"), 0, "not folded yet");
    assert_eq!(entry(&ground, 1).await, before);
    ground.fold().await;
    assert_eq!(edge.step().await.expect("projected"), 1);
    let held = entry(&ground, 1).await;
    assert_eq!(
        held["revision"],
        head(&ground).await,
        "with its revision number"
    );
    assert_eq!(held["value"]["definition"]["name"], "Acme 2");
}

/// Hash tags around tenants, a version in business keys, compact optimization keys, names that
/// say what stands there.
async fn section_7_key_design(ground: Ground) {
    one(&ground).await;
    let ann = json!({"type": "identify", "userId": "ann"});
    ground.client(0, ann).await;
    ground.fold().await;
    ground.profiles().drain().await.expect("projected");
    let (keys, tag) = (ground.keys().await, format!("{{{}}}", ground.tenant(0)));
    let ours = keys.iter().filter(|(key, _)| key.contains(&tag));
    let mut seen = std::collections::BTreeSet::new();
    for (key, (value, _)) in ours {
        assert_eq!(key.matches(['{', '}']).count(), 2, "one hash tag: {key}");
        let (module, rest) = key.split_once(':').expect("a module");
        assert!(["notification.slack", "contact.profile"].contains(&module));
        let (purpose, _) = rest.split_once(":{").expect("a tenant");
        seen.insert(purpose.to_owned());
        match purpose {
            "v1" => assert!(rest.contains(":workspace") || rest.contains(":contact")),
            // A number alone, whatever the entity is like.
            "pp:ver" => assert!(value.as_str().is_some_and(|it| it.parse::<i64>().is_ok())),
            "pd:dup" => assert_eq!(*value, json!("1")),
            _ => assert_eq!(purpose, "pp:gen", "{key}"),
        }
    }
    assert!(seen.iter().eq(["pd:dup", "pp:gen", "pp:ver", "v1"]));
}

/// A hint that knows is asked alone: the entity is not even read.
async fn section_7_performance_hints_are_asked_before_anything_is_loaded(ground: Ground) {
    one(&ground).await;
    ground.rewind::<NotificationSlack>().await;
    let unreadable = "UPDATE slack_workspace SET secrets = '['";
    ground.database.execute(unreadable).await;
    let passed = ground.slack().step().await;
    assert!(passed.expect("nothing is loaded") > 0);
    ground.rewind::<NotificationSlack>().await;
    let keys = vec![hint_key(&ground, 1)];
    ground.keyspace.delete(keys).await.expect("deleted");
    let loaded = ground.slack().step().await;
    assert!(loaded.is_err(), "who is not known is loaded: {loaded:?}");
}

async fn flow_steps_2_and_3_a_known_revision_is_skipped_by_its_version_hint(ground: Ground) {
    one(&ground).await;
    let dedup = dedup_key(&ground, 1).await;
    ground.keyspace.delete(vec![dedup]).await.expect("deleted");
    mark(&ground, 1).await;
    assert_eq!(deliver_again(&ground).await, Value::Null, "skipped");
    let older = (head(&ground).await - 1).to_string();
    let hint = hint_key(&ground, 1);
    let set = ground.keyspace.set(&hint, older, None);
    set.await.expect("set");
    assert!(deliver_again(&ground).await.is_object(), "written");
}

async fn flow_step_4_without_a_hint_the_deduplication_key_decides(ground: Ground) {
    one(&ground).await;
    mark(&ground, 1).await;
    let hint = hint_key(&ground, 1);
    ground
        .keyspace
        .delete(vec![hint.clone()])
        .await
        .expect("deleted");
    assert_eq!(deliver_again(&ground).await, Value::Null, "skipped");
    let dedup = dedup_key(&ground, 1).await;
    ground.keyspace.delete(vec![dedup]).await.expect("deleted");
    assert!(deliver_again(&ground).await.is_object(), "written");
    assert!(ground.text(&hint).await.is_some());
}

async fn flow_without_hint_and_deduplication_the_revision_in_the_value_decides(ground: Ground) {
    one(&ground).await;
    let keys = vec![hint_key(&ground, 1), dedup_key(&ground, 1).await];
    ground.keyspace.delete(keys.clone()).await.expect("deleted");
    mark(&ground, head(&ground).await + 1).await;
    assert_eq!(deliver_again(&ground).await, Value::Null, "left as it is");
    ground.keyspace.delete(keys).await.expect("deleted");
    mark(&ground, head(&ground).await).await;
    assert!(deliver_again(&ground).await.is_object(), "written");
}

async fn flow_steps_5_and_6_data_and_hint_are_written_together(ground: Ground) {
    one(&ground).await;
    for (name, category) in [("Beta", Some("support")), ("Gamma", None)] {
        ground.update(0, 1, name, category).await;
        ground.fold().await;
        ground.slack().drain().await.expect("projected");
        let (held, revision) = (entry(&ground, 1).await, head(&ground).await);
        assert_eq!(held["value"]["definition"]["name"], name);
        assert_eq!(held["revision"], revision);
        let hint = ground.text(&hint_key(&ground, 1)).await;
        assert_eq!(hint, Some(revision.to_string()));
        let keys = ground.keys().await;
        let by_category: Vec<_> = keys
            .keys()
            .filter_map(|key| key.split(":by-category:").nth(1))
            .collect();
        assert_eq!(by_category, category.into_iter().collect::<Vec<_>>());
    }
}
