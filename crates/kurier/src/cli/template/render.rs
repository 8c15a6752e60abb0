//! `kurier template render` and `preview`: what a template becomes, by the renderer that
//! messages are sent with.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use kurier_core::id::ContactId;
use kurier_core::template::{Compiled, Noted, Quotes};
use kurier_core::time::Timestamp;
use kurier_core::value::{Object, Value};
use serde_json::json;

use super::look::find;
use super::{load, read, tell};
use crate::cli::desk::Desk;
use crate::clock;
use crate::flow::content::explained;
use crate::flow::{self, template};
use crate::http::RenderedView;

/// What is handed over beside the contact, and how the result is shown.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A JSON object: what a program would hand over as `data`
    #[arg(long, value_name = "FILE")]
    data_file: Option<PathBuf>,
    /// A JSON object: what a run would hand over as `journey`
    #[arg(long, value_name = "FILE")]
    journey: Option<PathBuf>,
    /// When it is rendered; now if not said
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
    /// Print only this part
    #[arg(long, conflicts_with = "json")]
    part: Option<Part>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Part {
    Subject,
    Html,
    Text,
    Json,
}

#[derive(Debug, Args)]
pub struct RenderArgs {
    /// A template, YAML or JSON
    file: PathBuf,
    /// A JSON object: the contact's attributes
    #[arg(long, value_name = "FILE")]
    contact: Option<PathBuf>,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
pub struct PreviewArgs {
    /// The template, by name
    template: String,
    /// The contact, by its id
    #[arg(long, value_name = "ID")]
    contact: Option<ContactId>,
    /// The contact, by its user id
    #[arg(long, value_name = "ID", conflicts_with = "contact")]
    user: Option<String>,
    /// Preview this version; the newest if not said
    #[arg(long)]
    version: Option<u32>,
    /// The channel it would go to, which decides how content is shown
    #[arg(long, value_name = "NAME", default_value = "email")]
    channel: String,
    #[command(flatten)]
    pub show: ShowArgs,
}

pub fn run(args: &RenderArgs) -> anyhow::Result<ExitCode> {
    let (document, compiled) = load(&args.file)?;
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(faults) => {
            tell(&args.file, &document, &faults);
            return Ok(ExitCode::FAILURE);
        }
    };
    let files = [
        ("contact", &args.contact),
        ("journey", &args.show.journey),
        ("data", &args.show.data_file),
    ];
    let mut inputs = Object::new();
    for (name, file) in files {
        inputs.insert(name.to_owned(), Value::Object(object(file.as_ref())?));
    }
    let now = args.show.now.unwrap_or_else(clock::now);
    let noted = compiled.render_quoting(&inputs, now, &Quotes::default());
    show(
        noted.map_err(|fault| (fault.code(), fault.to_string())),
        &args.show,
    )
}

pub async fn preview(desk: &Desk, args: &PreviewArgs) -> anyhow::Result<ExitCode> {
    let (store, scope) = (&desk.app.store, desk.scope());
    let found = find(desk, &args.template).await?;
    let document = template::document(store, scope, &found, args.version).await?;
    let document = document.context("there is no such version")?;
    let Ok(compiled) = Compiled::new(&document) else {
        bail!("this version of Kurier cannot read that template any more");
    };
    desk.app.projector.drain().await?;
    let id = match (&args.user, args.contact) {
        (Some(user), _) => Some(desk.grant.workspace.key.contact_of_user(user)),
        (None, id) => id,
    };
    let contact = match id {
        Some(id) => {
            let contact = flow::live_contact(store, scope, id).await?;
            Some(contact.context("there is no such contact")?)
        }
        None => None,
    };
    let (journey, data) = (
        object(args.show.journey.as_ref())?,
        object(args.show.data_file.as_ref())?,
    );
    let inputs = template::inputs(&compiled, contact.as_ref(), journey, data);
    let quotes = desk
        .app
        .post
        .quotes(scope, &compiled, &args.channel)
        .await?;
    let now = args.show.now.unwrap_or_else(clock::now);
    let noted = match compiled.render_quoting(&inputs, now, &quotes) {
        Ok(noted) => Ok(noted),
        Err(fault) => Err((fault.code(), explained(store, scope, &fault).await?)),
    };
    show(noted, &args.show)
}

fn object(path: Option<&PathBuf>) -> anyhow::Result<Object> {
    let Some(path) = path else {
        return Ok(Object::new());
    };
    let name = || format!("{} must be a JSON object", path.display());
    serde_json::from_str(&read(path)?).with_context(name)
}

/// Shows what a template became, or says by a code and in words why it became nothing.
fn show(noted: Result<Noted, (&str, String)>, args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let noted = match noted {
        Ok(noted) => noted,
        Err((code, why)) if args.json => {
            println!("{}", json!({"error": why, "code": code}));
            return Ok(ExitCode::FAILURE);
        }
        Err((_, why)) => bail!("{why}"),
    };
    if args.json {
        println!("{}", json!(RenderedView::from(noted)));
        return Ok(ExitCode::SUCCESS);
    }
    for path in &noted.missing {
        eprintln!("{path} has no value");
    }
    print(noted, args.part);
    Ok(ExitCode::SUCCESS)
}

fn print(noted: Noted, part: Option<Part>) {
    let rendered = noted.rendered;
    let parts = [
        (Part::Subject, rendered.subject),
        (Part::Text, rendered.text),
        (Part::Html, rendered.html),
        (Part::Json, rendered.json),
    ];
    for (kind, text) in parts {
        let Some(text) = text else { continue };
        let name = format!("{kind:?}").to_lowercase();
        match part.map(|part| format!("{part:?}").to_lowercase()) {
            Some(wanted) if wanted == name => println!("{}", text.trim_end()),
            Some(_) => {}
            None => println!("--- {name}\n{}", text.trim_end()),
        }
    }
}
