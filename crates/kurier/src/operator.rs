//! Who is acting, for as long as a request or a command lasts; the log is told with the act.

use std::sync::{Arc, OnceLock};

use kurier_core::event::Event;

tokio::task_local! {
    static ACTING: Arc<OnceLock<String>>;
}

/// What the command line is called.
pub const COMMAND_LINE: &str = "command line";
/// Longer names are cut.
const NAME_MAX: usize = 64;

/// Carries out a request or command, in which [`is`] may say who is behind it.
pub async fn within<T>(work: impl Future<Output = T>) -> T {
    ACTING.scope(Arc::default(), work).await
}

/// Says who is behind the request or command under way.
pub fn is(name: &str) {
    let mut end = name.len().min(NAME_MAX);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    // The first who says so is it; outside of requests and commands nobody is.
    let _said = ACTING.try_with(|acting| acting.set(name[..end].to_owned()));
}

/// The event with the name of who causes it, if somebody does.
pub fn sign(event: Event) -> Event {
    let acting = ACTING.try_with(|acting| acting.get().cloned());
    match acting.ok().flatten() {
        Some(name) => event.by(&name),
        None => event,
    }
}

#[cfg(test)]
mod tests {
    use kurier_core::event::Kind;

    use super::*;
    use crate::clock;

    fn event(payload: &str) -> Event {
        Event {
            id: clock::fresh_event_id(),
            kind: Kind::SegmentDeleted,
            contact: None,
            occurred_at: clock::now(),
            recorded_at: clock::now(),
            payload: payload.to_owned(),
        }
    }

    #[tokio::test]
    async fn an_event_is_signed_by_who_is_acting_and_by_nobody_else() {
        assert_eq!(sign(event("{}")).payload, "{}");
        within(async {
            assert_eq!(sign(event("{}")).payload, "{}");
            is("Ann \"A\"");
            is("Bob");
            assert_eq!(sign(event("{}")).payload, r#"{"by":"Ann \"A\""}"#);
            let signed = sign(event(r#"{"segment":1}"#)).payload;
            assert_eq!(signed, r#"{"by":"Ann \"A\"","segment":1}"#);
        })
        .await;
        let long = "ä".repeat(100);
        within(async {
            is(&long);
            assert!(sign(event("{}")).payload.len() < 80);
        })
        .await;
    }
}
