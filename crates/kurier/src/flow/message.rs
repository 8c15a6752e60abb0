//! What an operator does with messages that came to an end.

use kurier_core::id::MessageId;
use kurier_core::message::MessageState;
use kurier_store::{MessageFilter, MessageQuery, Result, Scope, Store};

use crate::clock;

const PAGE: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Queue again.
    Redrive,
    /// Put away.
    Discard,
}

/// Acts on the messages with these ids, or on all for which a filter holds and that came to
/// an end; answers how many there were.
pub async fn act_on(
    store: &Store,
    scope: Scope,
    act: Act,
    chosen: std::result::Result<Vec<MessageId>, MessageFilter>,
) -> Result<usize> {
    match chosen {
        Ok(ids) => act_on_ids(store, scope, act, &ids).await,
        Err(filter) => act_on_all(store, scope, act, filter).await,
    }
}

async fn act_on_ids(store: &Store, scope: Scope, act: Act, ids: &[MessageId]) -> Result<usize> {
    let now = clock::now();
    let done = match act {
        Act::Redrive => store.queue.redrive(scope, ids, now).await?,
        Act::Discard => store.queue.discard(scope, ids, now).await?,
    };
    Ok(done.len())
}

async fn act_on_all(
    store: &Store,
    scope: Scope,
    act: Act,
    mut filter: MessageFilter,
) -> Result<usize> {
    use MessageState::{Failed, Skipped, Unknown};
    let ended = [Failed, Skipped, Unknown];
    match filter.states.is_empty() {
        true => filter.states = ended.to_vec(),
        false => filter.states.retain(|state| ended.contains(state)),
    }
    if filter.states.is_empty() {
        return Ok(0);
    }
    filter.is_discarded = Some(false);
    let mut query = MessageQuery {
        filter,
        after: None,
        limit: PAGE,
    };
    let mut done = 0;
    loop {
        let page = store.messages.messages(scope, &query).await?;
        let ids = page.messages.iter().map(|it| it.request.message);
        done += act_on_ids(store, scope, act, &ids.collect::<Vec<_>>()).await?;
        match page.messages.last().filter(|_| page.has_more) {
            Some(last) => query.after = Some((last.requested_at, last.request.message)),
            None => return Ok(done),
        }
    }
}
