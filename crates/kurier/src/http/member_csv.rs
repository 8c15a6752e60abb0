//! The members of a segment as CSV, written page by page: there may be millions.

use std::sync::Arc;

use futures_util::Stream;
use futures_util::stream::try_unfold;
use kurier_core::contact::Contact;
use kurier_core::id::{ContactId, SegmentId};
use kurier_core::path::Path;
use kurier_core::value::Value;
use kurier_store::{Error, Member};

use crate::app::App;
use crate::cache::Freshness;
use crate::keyring::Grant;

const PAGE: usize = 500;
const COLUMNS: [&str; 5] = ["id", "user_id", "email", "phone", "entered_at"];

struct Document {
    app: Arc<App>,
    grant: Arc<Grant>,
    segment: SegmentId,
    attributes: Vec<Path>,
}

enum Part {
    Header,
    After(Option<ContactId>),
    End,
}

/// A header, then a line for each member in the order of their ids. An error ends the
/// connection before the document does, so a broken one cannot be taken for a whole one.
pub fn document(
    app: Arc<App>,
    grant: Arc<Grant>,
    segment: SegmentId,
    attributes: Vec<Path>,
) -> impl Stream<Item = Result<String, Error>> {
    let document = Document {
        app,
        grant,
        segment,
        attributes,
    };
    try_unfold((document, Part::Header), |(document, part)| async move {
        let (text, next) = match part {
            Part::Header => (document.header()?, Part::After(None)),
            Part::After(after) => document.page(after).await?,
            Part::End => return Ok(None),
        };
        Ok(Some((text, (document, next))))
    })
}

impl Document {
    fn header(&self) -> Result<String, Error> {
        let fixed = COLUMNS.iter().map(ToString::to_string);
        let chosen = self.attributes.iter().map(|path| guarded(path.to_string()));
        lines([fixed.chain(chosen).collect()])
    }

    async fn page(&self, after: Option<ContactId>) -> Result<(String, Part), Error> {
        let (store, scope) = (&self.app.store, self.grant.scope());
        let page = store
            .segments
            .members(scope, self.segment, after, PAGE)
            .await?;
        let ids: Vec<ContactId> = page.members.iter().map(|member| member.contact).collect();
        let contacts = self.app.contacts.live(scope, &ids, Freshness::Now).await?;
        let rows = page
            .members
            .iter()
            .map(|member| self.row(member, contacts.get(&member.contact)));
        let next = match ids.last().filter(|_| page.has_more) {
            Some(last) => Part::After(Some(*last)),
            None => Part::End,
        };
        Ok((lines(rows)?, next))
    }

    /// Of a contact that is just being erased only its id is left.
    fn row(&self, member: &Member, contact: Option<&Contact>) -> Vec<String> {
        let text = |text: Option<String>| text.map(guarded).unwrap_or_default();
        let mut row = vec![
            member.contact.to_string(),
            text(contact.and_then(|contact| contact.user_id.clone())),
            text(contact.and_then(Contact::email)),
            text(contact.and_then(|contact| contact.phone().map(str::to_owned))),
            member.entered_at.to_string(),
        ];
        let chosen = self.attributes.iter().map(|path| {
            let value = contact.and_then(|contact| path.find(&contact.attributes));
            value.map(cell).unwrap_or_default()
        });
        row.extend(chosen);
        row
    }
}

/// Text as it is, nothing as nothing, all else as JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Text(text) => guarded(text.clone()),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// A spreadsheet takes text that begins like a formula for one, and runs it. An apostrophe
/// before it says that it is text.
fn guarded(text: String) -> String {
    const BEGINNINGS: &[char] = &['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    if text.starts_with(BEGINNINGS) {
        format!("'{text}")
    } else {
        text
    }
}

fn lines(rows: impl IntoIterator<Item = Vec<String>>) -> Result<String, Error> {
    let damaged = |e: &dyn std::fmt::Display| Error::Damaged(e.to_string());
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.write_record(&row).map_err(|e| damaged(&e))?;
    }
    let bytes = writer.into_inner().map_err(|e| damaged(&e))?;
    String::from_utf8(bytes).map_err(|e| damaged(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        for text in ["=1+1", "+49 1", "-1", "@x", "\tx", "\rx", "＝1"] {
            assert_eq!(cell(&Value::Text(text.into())), format!("'{text}"));
        }
        for text in ["a=1", "", " =1", "'x", "ä"] {
            assert_eq!(cell(&Value::Text(text.into())), text);
        }
        // A number is a number, also below zero; what is no text begins with [ or {.
        assert_eq!(cell(&Value::Int(-5)), "-5");
        assert_eq!(
            cell(&Value::List(vec![Value::Text("=1".into())])),
            "[\"=1\"]"
        );
        assert_eq!(cell(&Value::Null), "");
    }

    #[test]
    fn a_line_is_quoted_where_it_must_be() {
        let row = vec!["a,b".to_owned(), "say \"hi\"\nnow".to_owned()];
        assert_eq!(
            lines([row]).expect("written"),
            "\"a,b\",\"say \"\"hi\"\"\nnow\"\n"
        );
    }
}
