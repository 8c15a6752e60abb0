//! Channels: set up with the event that says so, or not at all.

use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{EventId, IdentityKey};
use kurier_core::message::channel::{ChannelSettings, Setup};
use kurier_core::message::{Gate, GateLimits, Signal};
use kurier_store::{Error, KeptChannel, Lane, Lesson, NewChannel, Scope, Store, Workspace};
use serde_json::json;

use super::place::cases;
use super::space::{Space, now, seconds};

cases! {
    a_channel_comes_back_as_it_was_set_up,
    a_channel_is_changed_by_who_saw_it,
    of_two_who_make_it_at_once_one_does,
    a_removed_channel_is_gone_with_its_secrets,
    channels_are_listed_by_name_and_workspace,
    no_workspace_touches_the_channel_of_another,
    a_channel_needs_a_workspace,
    a_repeated_event_sets_nothing_up,
    set_up_anew_a_channel_has_a_new_gate,
}

async fn make(store: &Store, number: u8) -> Scope {
    let workspace = Workspace {
        id: Space::new(number).scope.0,
        name: format!("workspace {number}"),
        key: IdentityKey::new([number; 32]),
        created_at: now(),
    };
    let made = store.access.create_workspace(&workspace, vec![], vec![]);
    made.await.expect("made");
    Scope(workspace.id)
}

fn event(kind: Kind, message: &str) -> Event {
    Event {
        id: EventId::of_message(message),
        kind,
        contact: None,
        occurred_at: seconds(5),
        recorded_at: seconds(5),
        payload: "{}".to_owned(),
    }
}

fn outbox(name: &str, rate: Option<u32>) -> NewChannel {
    NewChannel {
        name: name.to_owned(),
        settings: ChannelSettings {
            rate_limit_per_minute: rate,
            ..ChannelSettings::of(Setup::Outbox)
        },
        secrets: rate.map(|rate| rate.to_be_bytes().to_vec()),
    }
}

async fn set(
    store: &Store,
    scope: Scope,
    channel: NewChannel,
    seen: Option<Position>,
    message: &str,
) -> Option<Position> {
    let event = event(Kind::ChannelConfigured, message);
    let done = store.channels.set_channel(scope, channel, seen, event);
    done.await.expect("answered")
}

async fn get(store: &Store, scope: Scope, name: &str) -> Option<KeptChannel> {
    store.channels.channel(scope, name).await.expect("read")
}

async fn log(store: &Store) -> Vec<Kind> {
    let log = store.log.read(Position(0), 100).await.expect("read");
    log.iter().map(|recorded| recorded.event.kind).collect()
}

/// At once, and not when somebody has seen that it was set up.
async fn set_up_anew_a_channel_has_a_new_gate(store: Store) {
    let scope = make(&store, 1).await;
    let gate = async || store.gates.gates(scope).await.expect("read").remove(0);
    let first = set(&store, scope, outbox("sms", None), None, "a").await;
    let first = first.expect("set up");
    let down = Lesson {
        lane: Lane::new(scope, "sms"),
        limits: GateLimits {
            revision: first,
            ..GateLimits::default()
        },
        now: now(),
        signals: vec![Signal::Down],
        rests_until: None,
    };
    let learned = store.queue.settle(Vec::new(), now(), Some(down.clone()));
    learned.await.expect("learned");
    assert_eq!(gate().await.1.breaker.as_str(), "open");
    let late = set(&store, scope, outbox("sms", Some(1)), None, "b").await;
    assert_eq!((late, gate().await.1.breaker.as_str()), (None, "open"));
    let second = set(&store, scope, outbox("sms", Some(1)), Some(first), "c").await;
    let fresh = ("sms".to_owned(), Gate::new(second.expect("set up")));
    assert_eq!(gate().await, fresh);
    let learned = store.queue.settle(Vec::new(), now(), Some(down));
    learned.await.expect("learned");
    assert_eq!(gate().await, fresh, "it was learned of what was before");
}

async fn a_channel_comes_back_as_it_was_set_up(store: Store) {
    let scope = make(&store, 1).await;
    let written = json!({"kind": "email", "enabled": false, "max_retries": 3, "settings": {
        "host": "mail.example.com", "from": {"name": "Acme ä '", "address": "a@example.com"}}});
    let new = NewChannel {
        name: "email".into(),
        settings: ChannelSettings::read(written).expect("good"),
        secrets: Some(vec![0, 255, 1]),
    };
    let at = set(&store, scope, new.clone(), None, "1").await;
    assert_eq!(at, Some(Position(1)));
    let kept = get(&store, scope, "email").await.expect("there");
    assert_eq!((kept.name, kept.secrets), (new.name, new.secrets));
    assert!(kept.settings == new.settings);
    assert_eq!((kept.revision, kept.changed_at), (Position(1), seconds(5)));
    assert_eq!(log(&store).await, [Kind::ChannelConfigured]);
    assert!(get(&store, scope, "sms").await.is_none());
}

async fn a_channel_is_changed_by_who_saw_it(store: Store) {
    let scope = make(&store, 1).await;
    let first = set(&store, scope, outbox("a", Some(1)), None, "1").await;
    let first = first.expect("set up");
    let stale = set(&store, scope, outbox("a", Some(2)), None, "2").await;
    assert_eq!(stale, None, "it was there");
    let second = set(&store, scope, outbox("a", None), Some(first), "3").await;
    let second = second.expect("changed");
    let stale = set(&store, scope, outbox("a", Some(4)), Some(first), "4").await;
    assert_eq!(stale, None, "someone was faster");
    let absent = set(&store, scope, outbox("b", Some(5)), Some(first), "5").await;
    assert_eq!(absent, None, "there was none to change");
    let kept = get(&store, scope, "a").await.expect("there");
    assert_eq!((kept.revision, kept.secrets), (second, None));
    assert_eq!(log(&store).await, [Kind::ChannelConfigured; 2]);
    assert_eq!(store.log.head().await.expect("head"), Position(2));
}

async fn of_two_who_make_it_at_once_one_does(store: Store) {
    let scope = make(&store, 1).await;
    let makers: Vec<_> = (1..=8)
        .map(|number: u32| {
            let store = store.clone();
            tokio::spawn(async move {
                let new = outbox("wanted", Some(number));
                set(&store, scope, new, None, &number.to_string()).await
            })
        })
        .collect();
    let mut made = Vec::new();
    for maker in makers {
        made.extend(maker.await.expect("answered"));
    }
    assert_eq!(made.len(), 1);
    assert_eq!(log(&store).await.len(), 1);
    let kept = get(&store, scope, "wanted").await.expect("there");
    assert_eq!(kept.revision, made[0]);
}

async fn a_removed_channel_is_gone_with_its_secrets(store: Store) {
    let scope = make(&store, 1).await;
    set(&store, scope, outbox("a", Some(1)), None, "1").await;
    let mut answers = Vec::new();
    for message in ["once", "twice"] {
        let removed = event(Kind::ChannelRemoved, message);
        let removed = store.channels.remove_channel(scope, "a", removed).await;
        answers.push(removed.expect("answered"));
    }
    assert_eq!(answers, [true, false]);
    assert!(get(&store, scope, "a").await.is_none());
    let kinds = [Kind::ChannelConfigured, Kind::ChannelRemoved];
    assert_eq!(log(&store).await, kinds);
    let again = set(&store, scope, outbox("a", None), None, "again").await;
    assert_eq!(again, Some(Position(3)));
}

async fn channels_are_listed_by_name_and_workspace(store: Store) {
    let (ours, theirs) = (make(&store, 1).await, make(&store, 2).await);
    for (number, name) in ["b", "a-b", "a.b", "a", "a_b"].into_iter().enumerate() {
        set(&store, ours, outbox(name, None), None, &number.to_string()).await;
    }
    set(&store, theirs, outbox("c", None), None, "theirs").await;
    let all = store.channels.channels(ours).await.expect("listed");
    let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["a", "a-b", "a.b", "a_b", "b"]);
    let revisions = store.channels.channel_revisions(ours).await;
    let expected: Vec<_> = all.into_iter().map(|it| (it.name, it.revision)).collect();
    assert_eq!(revisions.expect("listed"), expected);
}

async fn no_workspace_touches_the_channel_of_another(store: Store) {
    let (ours, theirs) = (make(&store, 1).await, make(&store, 2).await);
    let at = set(&store, theirs, outbox("a", Some(1)), None, "1").await;
    assert!(get(&store, ours, "a").await.is_none());
    assert_eq!(set(&store, ours, outbox("a", None), at, "2").await, None);
    let removed = event(Kind::ChannelRemoved, "3");
    let removed = store.channels.remove_channel(ours, "a", removed).await;
    assert!(!removed.expect("answered"));
    let kept = get(&store, theirs, "a").await.expect("there");
    assert_eq!(Some(kept.revision), at);
}

async fn a_channel_needs_a_workspace(store: Store) {
    let nowhere = Space::new(9).scope;
    let event = event(Kind::ChannelConfigured, "1");
    let done = store
        .channels
        .set_channel(nowhere, outbox("a", None), None, event);
    let error = done.await.expect_err("there is no such workspace");
    assert!(!matches!(error, Error::Taken(_)), "{error}");
    assert_eq!(log(&store).await, []);
}

async fn a_repeated_event_sets_nothing_up(store: Store) {
    let scope = make(&store, 1).await;
    set(&store, scope, outbox("a", None), None, "same").await;
    let event = event(Kind::ChannelConfigured, "same");
    let done = store
        .channels
        .set_channel(scope, outbox("b", None), None, event);
    assert!(done.await.is_err());
    assert!(get(&store, scope, "b").await.is_none());
    assert_eq!(log(&store).await.len(), 1);
}
