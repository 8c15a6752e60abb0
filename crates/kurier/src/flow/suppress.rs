//! Keeping addresses from messages, and letting them have them again. What is said here holds
//! for the very next message.

use std::collections::HashMap;

use kurier_core::contact::Standing;
use kurier_core::event::Kind;
use kurier_core::id::{ContactId, MessageId};
use kurier_core::message::{
    Address, AddressKind, BadTopic, Reach, Suppression, SuppressionReason, SuppressionSource,
    Unsubscribe,
};
use kurier_core::projection::{CONTACT, Cell, Column, ColumnKind, Need, contact_standing};
use kurier_store::{NewSuppression, Result, Scope, Store, Suppressed, SuppressionQuery, Workspace};

use super::live_contacts;
use crate::clock;
use crate::operator::sign;

/// So many addresses at a time.
pub const SUPPRESS_MAX: usize = 1_000;

/// An address that is to be kept from something.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub address: Address,
    pub reach: Reach,
    pub reason: SuppressionReason,
}

/// What is wrong with what someone wants: the field, and why.
pub type Fault = (&'static str, String);

/// The same as someone writes it.
#[derive(Debug, Default)]
pub struct Written<'a> {
    pub address: &'a str,
    /// By its looks if not said.
    pub kind: Option<&'a str>,
    /// Everything if not said.
    pub topic: Option<&'a str>,
    /// `manual` if not said.
    pub reason: Option<&'a str>,
}

impl Written<'_> {
    pub fn read(&self) -> Result<Wanted, Fault> {
        Ok(Wanted {
            address: self.address()?,
            reach: self.reach()?,
            reason: self.reason()?.unwrap_or(SuppressionReason::Manual),
        })
    }

    pub fn address(&self) -> Result<Address, Fault> {
        let kinds = || ("kind", "must be email, phone or other".to_owned());
        let kind = self
            .kind
            .map(|kind| AddressKind::of(kind).ok_or_else(kinds));
        let address = match kind.transpose()? {
            Some(kind) => Address::new(kind, self.address),
            None => Address::guessed(self.address),
        };
        address.ok_or_else(|| {
            let detail = "is neither an e-mail address nor a phone number; others need their kind";
            ("address", detail.to_owned())
        })
    }

    pub fn reach(&self) -> Result<Reach, Fault> {
        let topic = self.topic.unwrap_or_default().parse();
        topic.map_err(|e: BadTopic| ("topic", e.to_string()))
    }

    pub fn reason(&self) -> Result<Option<SuppressionReason>, Fault> {
        let reasons = || {
            let all = SuppressionReason::ALL.iter().map(|reason| reason.as_str());
            let all = all.collect::<Vec<_>>().join(", ");
            ("reason", format!("must be one of {all}"))
        };
        let reason = self
            .reason
            .map(|it| SuppressionReason::of(it).ok_or_else(reasons));
        reason.transpose()
    }
}

/// Keeps addresses from what is wanted; answers which of them were not yet.
pub async fn suppress(
    store: &Store,
    workspace: &Workspace,
    wanted: &[Wanted],
    source: SuppressionSource,
) -> Result<Vec<bool>> {
    let scope = Scope(workspace.id);
    let owners = owners(store, scope, wanted).await?;
    let now = clock::now();
    let new = wanted.iter().map(|wanted| {
        let address = &wanted.address;
        let suppressed = Suppressed {
            address_key: address.key(&workspace.key),
            reach: wanted.reach.clone(),
            kind: address.kind(),
            address: Some(address.to_string()),
            contact: owners.get(address.as_str()).copied(),
            reason: wanted.reason,
            source,
            created_at: now,
        };
        told(suppressed, None)
    });
    store.suppressions.suppress(scope, new.collect()).await
}

fn told(suppressed: Suppressed, message: Option<MessageId>) -> NewSuppression {
    let said = Suppression {
        message,
        ..said(&suppressed)
    };
    let (id, now) = (clock::fresh_event_id(), suppressed.created_at);
    let event = sign(said.event(Kind::AddressSuppressed, id, suppressed.contact, now));
    NewSuppression { suppressed, event }
}

fn said(suppressed: &Suppressed) -> Suppression {
    Suppression {
        address_key: suppressed.address_key,
        topic: suppressed.reach.clone(),
        reason: suppressed.reason,
        source: suppressed.source,
        message: None,
    }
}

/// Whose e-mail addresses these are, as far as the read models know: what is said of an
/// address is to be seen in its contact's timeline.
async fn owners(
    store: &Store,
    scope: Scope,
    wanted: &[Wanted],
) -> Result<HashMap<String, ContactId>> {
    static BY_EMAIL: [Column; 2] = [
        Column::new("workspace", ColumnKind::Id),
        Column::new("email", ColumnKind::Text),
    ];
    let emails = wanted
        .iter()
        .map(|wanted| &wanted.address)
        .filter(|address| address.kind() == AddressKind::Email);
    let keys = emails.map(|email| vec![scope.0.into(), Cell::Text(email.to_string())]);
    let need = Need::by(&CONTACT, &BY_EMAIL, keys.collect());
    let loaded = store.views.load(vec![need]).await?;
    let rows = loaded.iter().flat_map(|loaded| &loaded.rows);
    let owner = |row| match contact_standing(row)? {
        (_, id, Standing::Live(contact)) => Some((contact.email()?, id)),
        _ => None,
    };
    Ok(rows.filter_map(owner).collect())
}

/// Carries out what a recipient asked for; false if it was so already. How the address reads
/// is not kept: their contact knows it, while there is one.
pub async fn unsubscribe(
    store: &Store,
    asked: &Unsubscribe,
    reach: Reach,
    source: SuppressionSource,
) -> Result<bool> {
    let scope = Scope(asked.workspace);
    let message = store.messages.message(scope, asked.message).await?;
    let suppressed = Suppressed {
        address_key: asked.address,
        reach,
        kind: asked.kind,
        address: None,
        contact: message.and_then(|message| message.contact),
        reason: SuppressionReason::Unsubscribed,
        source,
        created_at: clock::now(),
    };
    let new = told(suppressed, Some(asked.message));
    let fresh = store.suppressions.suppress(scope, vec![new]).await?;
    Ok(fresh == [true])
}

/// Lets an address have what it was kept from; false if it was not.
pub async fn release(
    store: &Store,
    workspace: &Workspace,
    address: &Address,
    reach: &Reach,
    source: SuppressionSource,
) -> Result<bool> {
    let scope = Scope(workspace.id);
    let address = address.key(&workspace.key);
    let query = SuppressionQuery {
        address: Some(address),
        reach: Some(reach.clone()),
        limit: 1,
        ..SuppressionQuery::default()
    };
    let found = store.suppressions.suppressions(scope, &query).await?;
    let Some(row) = found.suppressions.into_iter().next() else {
        return Ok(false);
    };
    let (id, now) = (clock::fresh_event_id(), clock::now());
    let said = Suppression {
        source,
        ..said(&row)
    };
    let event = sign(said.event(Kind::AddressReleased, id, row.contact, now));
    let released = store.suppressions.release(scope, address, row.reach, event);
    released.await
}

/// The same with addresses that are not kept but known: those of contacts.
pub async fn readable(
    store: &Store,
    workspace: &Workspace,
    mut rows: Vec<Suppressed>,
) -> Result<Vec<Suppressed>> {
    let unread = rows.iter().filter(|row| row.address.is_none());
    let ids: Vec<ContactId> = unread.filter_map(|row| row.contact).collect();
    let contacts = live_contacts(store, Scope(workspace.id), &ids).await?;
    for row in rows.iter_mut().filter(|row| row.address.is_none()) {
        let contact = row.contact.and_then(|id| contacts.get(&id));
        let known = contact.and_then(|contact| match row.kind {
            AddressKind::Email => Address::new(row.kind, &contact.email()?),
            AddressKind::Phone => Address::new(row.kind, contact.phone()?),
            AddressKind::Other => None,
        });
        let own = known.filter(|address| address.key(&workspace.key) == row.address_key);
        row.address = own.map(|address| address.to_string());
    }
    Ok(rows)
}
