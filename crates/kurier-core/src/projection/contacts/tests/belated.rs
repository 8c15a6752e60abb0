use super::*;

#[test]
fn what_is_decided_about_who_was_erased_is_belated() {
    let mut world = World::new();
    let user = world.user("u");
    let own = |world: &mut World, kind: Kind, payload: &str| {
        let (id, now) = (
            EventId::of_message(&world.log.len().to_string()),
            world.now(),
        );
        world.push(Event {
            id,
            kind,
            contact: Some(user),
            occurred_at: now,
            recorded_at: now,
            payload: payload.to_owned(),
        });
    };
    world.say(r#"{"type":"identify","userId":"u"}"#);
    own(&mut world, Kind::MessageRequested, r#"{"to":"ann"}"#);
    let contact = world.folded(9).contact(&world, user).expect("there");
    world.erase(&contact);
    own(&mut world, Kind::MessageRequested, r#"{"to":"ann"}"#);
    own(
        &mut world,
        Kind::ContactUpdated,
        r#"{"traits":{"name":"ann"}}"#,
    );
    own(
        &mut world,
        Kind::JourneyMoved,
        r#"{"run":{},"state":{"name":"ann"}}"#,
    );
    // Nothing of these would go.
    own(&mut world, Kind::JourneyFinished, r#"{"run":{}}"#);
    own(&mut world, Kind::MessageRequested, r#"{"erased":true}"#);
    own(&mut world, Kind::AddressSuppressed, r#"{"topic":"news"}"#);
    world.say(r#"{"type":"identify","userId":"u"}"#);
    own(
        &mut world,
        Kind::MessageRequested,
        r#"{"to":"ann, who came back"}"#,
    );
    let folded = Contacts.fold(Vec::new(), &world.log).expect("no rows");
    assert_eq!(folded.belated, [4, 5, 6].map(Position));
}
