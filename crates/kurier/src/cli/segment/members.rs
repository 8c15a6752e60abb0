//! Members: some for people, all for machines.

use std::process::ExitCode;

use futures_util::TryStreamExt as _;
use kurier_core::id::SegmentId;
use kurier_core::path::Path;
use kurier_store::Member;
use serde_json::json;

use super::MembersArgs;
use crate::cli::desk::Desk;
use crate::cli::{output, table};
use crate::{flow, http};

const PAGE: usize = 500;

pub async fn run(desk: &mut Desk, args: MembersArgs) -> anyhow::Result<ExitCode> {
    desk.catch_up().await?;
    desk.app.projector.drain().await?;
    let segment = desk.segment(&args.which.segment).await?;
    let id = segment.definition.segment;
    if args.csv {
        csv(desk, id, args.attributes).await?;
    } else if desk.json {
        let members = some(desk, id, args.limit).await?;
        let list = members
            .iter()
            .map(|member| json!({"contact": member.contact, "entered_at": member.entered_at}));
        println!("{}", json!(list.collect::<Vec<_>>()));
    } else {
        show(desk, id, args.limit, segment.size).await?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn csv(desk: &Desk, segment: SegmentId, attributes: Vec<Path>) -> anyhow::Result<()> {
    let (app, grant) = (desk.app.clone(), desk.grant.clone());
    let mut document = std::pin::pin!(http::members_csv(app, grant, segment, attributes));
    while let Some(piece) = document.try_next().await? {
        print!("{piece}");
        if output::is_closed() {
            break;
        }
    }
    Ok(())
}

async fn some(desk: &Desk, segment: SegmentId, limit: usize) -> anyhow::Result<Vec<Member>> {
    let mut all: Vec<Member> = Vec::new();
    while all.len() < limit {
        let after = all.last().map(|member| member.contact);
        let limit = PAGE.min(limit - all.len());
        let views = &desk.app.store.segments;
        let page = views.members(desk.scope(), segment, after, limit).await?;
        all.extend(page.members);
        if !page.has_more {
            break;
        }
    }
    Ok(all)
}

async fn show(desk: &Desk, segment: SegmentId, limit: usize, size: i64) -> anyhow::Result<()> {
    let members = some(desk, segment, limit).await?;
    let ids: Vec<_> = members.iter().map(|member| member.contact).collect();
    let contacts = flow::live_contacts(&desk.app.store, desk.scope(), &ids).await?;
    let rows = members.iter().map(|member| {
        let contact = contacts.get(&member.contact);
        let user_id = contact.and_then(|contact| contact.user_id.clone());
        let email = contact.and_then(kurier_core::contact::Contact::email);
        vec![
            member.contact.to_string(),
            user_id.unwrap_or_default(),
            email.unwrap_or_default(),
            member.entered_at.to_string(),
        ]
    });
    table::print(&["id", "user id", "email", "entered at"], rows);
    let more = size - i64::try_from(members.len()).unwrap_or(size);
    if more > 0 {
        println!("and {more} more; --limit shows more, --csv writes all");
    }
    Ok(())
}
