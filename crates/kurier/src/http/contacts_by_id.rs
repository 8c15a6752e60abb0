//! Many contacts by their ids, read at once: whoever shows a list of ids needs their names.

use kurier_core::id::ContactId;

use super::contact_view::ContactView;
use super::contacts::ListParams;
use super::problem::Problem;
use crate::app::App;
use crate::cache::Freshness;
use crate::keyring::Grant;

const IDS_MAX: usize = 100;

/// Those of them that there are, in the order they were named in. Who was merged is not among
/// them: they are another now.
pub async fn all(
    app: &App,
    grant: &Grant,
    ids: &str,
    params: &ListParams,
) -> Result<Vec<ContactView>, Problem> {
    if !are_alone(params) {
        return Err(bad("ids name the contacts: nothing else can be asked for"));
    }
    let ids = read(ids)?;
    let found = app.contacts.live(grant.scope(), &ids, Freshness::Now);
    let mut found = found.await?;
    let contacts = ids.into_iter().filter_map(|id| {
        let contact = found.remove(&id)?;
        (contact.id == id).then(|| ContactView::from(contact))
    });
    Ok(contacts.collect())
}

fn are_alone(params: &ListParams) -> bool {
    let exact = [&params.email, &params.user_id, &params.anonymous_id];
    let wide = [&params.q, &params.attribute, &params.cursor];
    let is_any = exact.iter().chain(&wide).any(|it| it.is_some());
    !is_any && params.limit.is_none()
}

fn read(ids: &str) -> Result<Vec<ContactId>, Problem> {
    let each = ids.split(',').map(str::trim).filter(|id| !id.is_empty());
    let ids: Result<Vec<ContactId>, _> = each.map(str::parse).collect();
    let ids = ids.map_err(|_| bad("ids are those of contacts, separated by commas"))?;
    if ids.len() > IDS_MAX {
        return Err(bad(format!("at most {IDS_MAX} ids")));
    }
    Ok(ids)
}

fn bad(detail: impl Into<String>) -> Problem {
    Problem::bad_request("bad_parameter", detail)
}
