//! A contact as an operator gives it, by API or import: an identify like any client's.

use kurier_core::accept::{Problem, Reception, accept};
use kurier_core::contact::normal_email;
use kurier_core::event::{Event, Kind};
use kurier_core::id::IdentityKey;
use serde_json::{Map, Value, json};

use crate::clock;

#[derive(Debug, Default)]
pub struct Profile {
    pub user_id: Option<String>,
    pub anonymous_id: Option<String>,
    pub email: Option<String>,
    pub attributes: Map<String, Value>,
}

impl Profile {
    /// The identify that says this. Who has only an e-mail address goes by it.
    pub fn event(
        mut self,
        key: &IdentityKey,
        message_id: Option<&str>,
    ) -> Result<Event, Vec<Problem>> {
        if let Some(email) = self.email.take() {
            if normal_email(&email).is_none() {
                return Err(vec![Problem::new(
                    "/email",
                    format!("`{email}` is not an e-mail address"),
                )]);
            }
            self.attributes
                .insert("email".into(), Value::String(email.trim().to_owned()));
        }
        if self.user_id.is_none() && self.anonymous_id.is_none() {
            self.user_id = self.address();
        }
        let item = json!({
            "userId": self.user_id,
            "anonymousId": self.anonymous_id,
            "messageId": message_id,
            "traits": self.attributes,
        });
        let reception = Reception {
            key,
            received_at: clock::now(),
            sent_at: None,
            kind: Some(Kind::Identify),
            fresh_id: &clock::fresh_event_id,
        };
        accept(&item.to_string(), &reception).map_err(in_our_words)
    }

    fn address(&self) -> Option<String> {
        normal_email(self.attributes.get("email")?.as_str()?)
    }
}

/// Problems speak of the fields of an event; here the fields have other names.
fn in_our_words(problems: Vec<Problem>) -> Vec<Problem> {
    let rename = |problem: Problem| match problem.pointer.as_str() {
        "/userId" if problem.detail.starts_with("is missing") => Problem::new(
            "/user_id",
            "is missing: a contact needs a user_id, an anonymous_id or an email",
        ),
        "/userId" => Problem::new("/user_id", problem.detail),
        "/anonymousId" => Problem::new("/anonymous_id", problem.detail),
        "/traits" => Problem::new("/attributes", problem.detail),
        _ => problem,
    };
    problems.into_iter().map(rename).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_alone_is_enough() {
        let key = IdentityKey::new([1; 32]);
        let profile = Profile {
            email: Some(" Ann@X.de".into()),
            ..Profile::default()
        };
        let event = profile.event(&key, None).expect("accepted");
        assert_eq!(event.contact, Some(key.contact_of_user("ann@x.de")));
        let nobody = Profile::default().event(&key, None).expect_err("refused");
        assert_eq!(nobody[0].pointer, "/user_id");
        let wrong = Profile {
            email: Some("ann".into()),
            ..Profile::default()
        };
        assert_eq!(
            wrong.event(&key, None).expect_err("refused")[0].pointer,
            "/email"
        );
    }
}
