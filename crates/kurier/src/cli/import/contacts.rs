//! Contacts from CSV or NDJSON.

use std::collections::HashMap;
use std::io::BufReader;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

use super::events::in_words;
use super::lines::Lines;
use super::{Common, Import};
use crate::app::App;
use crate::identify::Profile;

#[derive(Debug, Args)]
pub struct ContactsArgs {
    #[command(flatten)]
    common: Common,
    /// The file's format [default: by its name]
    #[arg(long)]
    format: Option<Format>,
    /// Use a column for a field: FIELD=COLUMN, where FIELD is user_id, anonymous_id, email or an
    /// attribute's name, and COLUMN a header; `FIELD=` leaves the column FIELD out
    #[arg(long, value_name = "FIELD=COLUMN", value_parser = mapping)]
    map: Vec<(String, String)>,
    /// What separates CSV columns
    #[arg(long, default_value = ",")]
    delimiter: char,
    /// Keep every CSV value as text, also where it looks like a number or true/false
    #[arg(long)]
    text: bool,
    /// Import contacts too that were erased here before
    #[arg(long)]
    include_erased: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Ndjson,
}

fn mapping(text: &str) -> Result<(String, String), String> {
    let (field, column) = text.split_once('=').ok_or("write FIELD=COLUMN")?;
    if field.is_empty() {
        return Err("the field's name is missing before the =".into());
    }
    Ok((field.to_owned(), column.to_owned()))
}

pub async fn run(app: &App, args: ContactsArgs) -> anyhow::Result<ExitCode> {
    match args.format.map_or_else(|| by_name(&args), Ok)? {
        Format::Csv => from_csv(app, args).await,
        Format::Ndjson => from_ndjson(app, args).await,
    }
}

fn by_name(args: &ContactsArgs) -> anyhow::Result<Format> {
    match args
        .common
        .file
        .extension()
        .and_then(|ending| ending.to_str())
    {
        Some("csv" | "tsv" | "txt") => Ok(Format::Csv),
        Some("ndjson" | "jsonl" | "json") => Ok(Format::Ndjson),
        _ => bail!("say --format csv or --format ndjson: the file's name does not tell"),
    }
}

/// How lines are read, where it is not the usual way.
fn manner(args: &ContactsArgs) -> Option<String> {
    let is_usual = args.map.is_empty() && args.delimiter == ',' && !args.text;
    let manner = serde_json::json!([args.map, args.delimiter, args.text]);
    (!is_usual).then(|| manner.to_string())
}

async fn begin<'a>(app: &'a App, args: &ContactsArgs) -> anyhow::Result<Import<'a>> {
    let mut import = Import::begin(app, &args.common).await?;
    import.include_erased = args.include_erased;
    if let Some(manner) = manner(args) {
        import.source.read_as(&manner);
    }
    Ok(import)
}

async fn from_ndjson(app: &App, args: ContactsArgs) -> anyhow::Result<ExitCode> {
    let mut import = begin(app, &args).await?;
    let done = import.resume_after().await?;
    let columns = Columns::new(&args, None)?;
    let file = import.source.file.try_clone()?;
    let mut lines = Lines::new(BufReader::with_capacity(1 << 20, file));
    let mut last = 0;
    while let Some(line) = lines.read()? {
        last = line.number;
        match line.text {
            Ok("") => {}
            _ if line.number <= done => import.skip(),
            text => {
                let fields = text.and_then(|text| {
                    serde_json::from_str(text).map_err(|e| format!("not a JSON object: {e}"))
                });
                let profile = fields.map(|fields| columns.profile(fields));
                take(&mut import, (line.number, line.bytes), profile).await?;
            }
        }
    }
    import.finish(last).await
}

async fn from_csv(app: &App, args: ContactsArgs) -> anyhow::Result<ExitCode> {
    let mut import = begin(app, &args).await?;
    let done = import.resume_after().await?;
    let delimiter =
        u8::try_from(args.delimiter).context("the delimiter must be one ASCII character")?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .trim(csv::Trim::All)
        .from_reader(BufReader::with_capacity(
            1 << 20,
            import.source.file.try_clone()?,
        ));
    let headers = reader
        .headers()
        .context("the CSV file has no readable header")?
        .clone();
    let columns = Columns::new(&args, Some(&headers))?;
    let mut record = csv::StringRecord::new();
    let mut line = 1;
    loop {
        let read = reader.read_record(&mut record);
        if matches!(read, Ok(false)) {
            break;
        }
        line = reader.position().line().saturating_sub(1).max(line + 1);
        if line <= done {
            import.skip();
            continue;
        }
        let fields = read
            .map(|_| fields(&headers, &record, args.text))
            .map_err(|e| e.to_string());
        let place = (line, reader.position().byte());
        take(
            &mut import,
            place,
            fields.map(|fields| columns.profile(fields)),
        )
        .await?;
    }
    import.finish(line).await
}

/// A record as JSON; an empty cell says nothing.
fn fields(
    headers: &csv::StringRecord,
    record: &csv::StringRecord,
    as_text: bool,
) -> Map<String, Value> {
    let cells = headers
        .iter()
        .zip(record)
        .filter(|(_, cell)| !cell.is_empty());
    cells
        .map(|(header, cell)| (header.to_owned(), value(cell, as_text)))
        .collect()
}

/// A number or boolean where the cell is one to the letter; `007` and `1e5` stay text.
fn value(cell: &str, as_text: bool) -> Value {
    let parsed = serde_json::from_str::<Value>(cell)
        .ok()
        .filter(|_| !as_text);
    let plain = parsed.filter(|value| value.is_number() || value.is_boolean());
    let exact = plain.filter(|value| *cell == *value.to_string());
    exact.unwrap_or_else(|| Value::String(cell.to_owned()))
}

async fn take(
    import: &mut Import<'_>,
    (line, bytes): (u64, u64),
    profile: Result<Profile, String>,
) -> anyhow::Result<()> {
    let message_id = import.message_id(line);
    let key = import.workspace.key.clone();
    let event = profile.and_then(|profile| {
        profile
            .event(&key, Some(&message_id))
            .map_err(|problems| in_words(&problems))
    });
    import.take(line, event, bytes).await
}

/// Which column is which field.
struct Columns(HashMap<String, String>);

impl Columns {
    fn new(args: &ContactsArgs, headers: Option<&csv::StringRecord>) -> anyhow::Result<Self> {
        let mut fields = HashMap::new();
        // Headers that people use for the ids, unless told otherwise.
        for (column, field) in [
            ("userId", "user_id"),
            ("anonymousId", "anonymous_id"),
            ("id", "user_id"),
        ] {
            fields.insert(column.to_owned(), field.to_owned());
        }
        for (field, column) in &args.map {
            if let Some(headers) = headers.filter(|_| !column.is_empty())
                && !headers.iter().any(|header| header == column)
            {
                let known: Vec<&str> = headers.iter().collect();
                bail!(
                    "there is no column `{column}`; there are: {}",
                    known.join(", ")
                );
            }
            match column.as_str() {
                "" => fields.insert(field.clone(), String::new()),
                column => fields.insert(column.to_owned(), field.clone()),
            };
        }
        Ok(Self(fields))
    }

    fn profile(&self, columns: Map<String, Value>) -> Profile {
        let mut profile = Profile::default();
        for (column, value) in columns {
            let field = self.0.get(&column).map_or(column.as_str(), String::as_str);
            let text = || {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            };
            match field {
                "" => {}
                "user_id" if !value.is_null() => profile.user_id = Some(text()),
                "anonymous_id" if !value.is_null() => profile.anonymous_id = Some(text()),
                "email" if !value.is_null() => profile.email = Some(text()),
                "attributes" if value.is_object() => nested(&mut profile, value),
                field => drop(profile.attributes.insert(field.to_owned(), value)),
            }
        }
        profile
    }
}

fn nested(profile: &mut Profile, attributes: Value) {
    if let Value::Object(attributes) = attributes {
        profile.attributes.extend(attributes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_become_what_they_are_to_the_letter() {
        let show = |cell: &str| value(cell, false).to_string();
        assert_eq!(show("12"), "12");
        assert_eq!(show("-1.5"), "-1.5");
        assert_eq!(show("true"), "true");
        assert_eq!(show("007"), "\"007\"");
        assert_eq!(show("1e5"), "\"1e5\"");
        assert_eq!(show("null"), "\"null\"");
        assert_eq!(show("+49 228 1"), "\"+49 228 1\"");
        assert_eq!(value("12", true).to_string(), "\"12\"");
    }
}
