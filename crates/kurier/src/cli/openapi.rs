//! `kurier openapi`: the API's description, for generating clients.

use std::process::ExitCode;

pub fn run() -> anyhow::Result<ExitCode> {
    println!("{}", crate::http::openapi());
    Ok(ExitCode::SUCCESS)
}
