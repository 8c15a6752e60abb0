//! A contact's export, written page by page: a contact may have millions of events.

use std::sync::Arc;

use futures_util::Stream;
use futures_util::stream::try_unfold;
use kurier_core::contact::Contact;
use kurier_core::id::ContactId;
use kurier_store::{Error, TimelineQuery};

use utoipa::ToSchema;

use super::contact_view::ContactView;
use super::event_view::EventView;
use crate::app::App;
use crate::keyring::Grant;

const PAGE: usize = 500;

/// All that is kept of a contact.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes what is written in pieces")]
pub struct ContactExport {
    contact: ContactView,
    events: Vec<EventView>,
}

enum Part {
    Contact(Box<Contact>),
    Events(TimelineQuery),
    End,
}

struct Export {
    app: Arc<App>,
    grant: Arc<Grant>,
    ids: Vec<ContactId>,
}

/// `{"contact": …, "events": […]}` in pieces. An error ends the connection before the JSON
/// does, so a broken export cannot be taken for a whole one.
pub fn document(
    app: Arc<App>,
    grant: Arc<Grant>,
    contact: Contact,
) -> impl Stream<Item = Result<String, Error>> {
    let export = Export {
        app,
        grant,
        ids: contact.ids(),
    };
    try_unfold(
        (export, Part::Contact(Box::new(contact))),
        |(export, part)| async move {
            let (text, next) = match part {
                Part::Contact(contact) => head(*contact)?,
                Part::Events(query) => export.page(query).await?,
                Part::End => return Ok(None),
            };
            Ok(Some((text, (export, next))))
        },
    )
}

fn head(contact: Contact) -> Result<(String, Part), Error> {
    let contact = json(&ContactView::from(contact))?;
    let query = TimelineQuery {
        limit: PAGE,
        ..TimelineQuery::default()
    };
    Ok((
        format!("{{\"contact\":{contact},\"events\":["),
        Part::Events(query),
    ))
}

impl Export {
    async fn page(&self, query: TimelineQuery) -> Result<(String, Part), Error> {
        let page = self
            .app
            .store
            .views
            .timeline(self.grant.scope(), &self.ids, &query)
            .await?;
        let events = page.events.iter().map(|event| json(&EventView::of(event)?));
        let text = events.collect::<Result<Vec<String>, Error>>()?.join(",\n");
        let comma = if query.after.is_some() && !text.is_empty() {
            ",\n"
        } else {
            ""
        };
        match page.events.last().filter(|_| page.has_more) {
            Some(last) => {
                let after = Some((last.event.occurred_at, last.position));
                Ok((
                    format!("{comma}{text}"),
                    Part::Events(TimelineQuery { after, ..query }),
                ))
            }
            None => Ok((format!("{comma}{text}]}}\n"), Part::End)),
        }
    }
}

fn json(value: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|e| Error::Damaged(e.to_string()))
}
