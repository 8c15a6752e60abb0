//! `kurier journey graph`: a picture of a definition.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use kurier_core::journey::{Known, draw};

use super::good;

#[derive(Debug, Args)]
pub struct GraphArgs {
    /// A definition, YAML or JSON
    file: PathBuf,
    /// How to draw it
    #[arg(long, default_value = "svg")]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A picture for a browser
    Svg,
    /// Text that becomes a picture in Markdown
    Mermaid,
}

pub fn run(args: &GraphArgs) -> anyhow::Result<ExitCode> {
    let Some((definition, _)) = good(&args.file, &Known::default())? else {
        return Ok(ExitCode::FAILURE);
    };
    match args.format {
        Format::Svg => print!("{}", draw::svg(&definition)),
        Format::Mermaid => print!("{}", draw::mermaid(&definition)),
    }
    Ok(ExitCode::SUCCESS)
}
