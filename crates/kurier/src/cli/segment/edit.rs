//! Giving members to a static segment and taking them from it.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use kurier_core::id::{ContactId, IdentityKey};

use super::look::say;
use super::{By, EditArgs};
use crate::cli::desk::Desk;
use crate::flow;

/// So many faulty lines are shown; the rest is counted.
const FAULTS_SHOWN: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Add,
    Remove,
}

/// Who is named, as it is named.
struct Named {
    shown: String,
    id: ContactId,
}

pub async fn run(desk: &mut Desk, args: EditArgs, act: Act) -> anyhow::Result<ExitCode> {
    desk.app.segments.drain().await?;
    let segment = desk.segment(&args.which.segment).await?.definition;
    if segment.expression.is_some() {
        bail!(
            "the members of `{}` follow from its expression; only a static segment is given members",
            segment.name
        );
    }
    let (named, mut faults) = read(&args, &desk.grant.workspace.key)?;
    desk.app.projector.drain().await?;
    faults.extend(unknown(desk, &named).await?);
    if !faults.is_empty() {
        return Ok(refuse(&faults));
    }
    let ids: Vec<ContactId> = named.iter().map(|named| named.id).collect();
    let (add, remove): (&[_], &[_]) = match act {
        Act::Add => (&ids, &[]),
        Act::Remove => (&[], &ids),
    };
    if ids.is_empty() {
        bail!("nobody is named");
    }
    let (store, scope) = (&desk.app.store, desk.scope());
    let position = flow::segment::edit(store, scope, segment.segment, add, remove).await?;
    desk.settle(position).await?;
    let segment = desk.segment(&segment.segment.to_string()).await?;
    if desk.json {
        return say(desk, segment).await;
    }
    println!("{} member(s)", segment.size);
    Ok(ExitCode::SUCCESS)
}

/// Everyone who is named, and what is wrong with a name.
fn read(args: &EditArgs, key: &IdentityKey) -> anyhow::Result<(Vec<Named>, Vec<String>)> {
    let given = args
        .contacts
        .iter()
        .map(|name| (name.clone(), name.clone()));
    let mut names: Vec<(String, String)> = given.collect();
    if let Some(path) = &args.file {
        let text = read_text(path)?;
        let lines = text.lines().map(str::trim).enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty());
        names.extend(lines.map(|(at, line)| (format!("line {}: {line}", at + 1), line.to_owned())));
    }
    let (mut named, mut faults) = (Vec::new(), Vec::new());
    for (shown, name) in names {
        match (args.by, name.parse()) {
            (By::UserId, _) => named.push(Named {
                shown,
                id: key.contact_of_user(&name),
            }),
            (By::Id, Ok(id)) => named.push(Named { shown, id }),
            (By::Id, Err(_)) => faults.push(format!("{shown}: is no contact's id")),
        }
    }
    Ok((named, faults))
}

fn read_text(path: &Path) -> anyhow::Result<String> {
    if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

async fn unknown(desk: &Desk, named: &[Named]) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    for part in named.chunks(flow::segment::EDIT_MAX) {
        let ids: Vec<ContactId> = part.iter().map(|named| named.id).collect();
        let known = flow::live_contacts(&desk.app.store, desk.scope(), &ids).await?;
        let strangers = part.iter().filter(|named| !known.contains_key(&named.id));
        faults.extend(strangers.map(|named| format!("{}: there is no such contact", named.shown)));
    }
    Ok(faults)
}

fn refuse(faults: &[String]) -> ExitCode {
    faults
        .iter()
        .take(FAULTS_SHOWN)
        .for_each(|fault| eprintln!("{fault}"));
    if faults.len() > FAULTS_SHOWN {
        eprintln!("and {} more", faults.len() - FAULTS_SHOWN);
    }
    eprintln!("nobody was added or removed");
    ExitCode::FAILURE
}
