//! `kurier headers`: files of block headers, served or made at home. Neither data nor a
//! server is needed.

mod mine;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::json;
use tokio::net::TcpListener;

use crate::http;

#[derive(Debug, Args)]
pub struct HeadersArgs {
    #[command(subcommand)]
    command: Command,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve a file of headers to others, as HEADERS_SOURCE asks for them
    #[command(
        after_help = "Example:\n  kurier headers serve chain.headers --listen 127.0.0.1:8790"
    )]
    Serve(ServeArgs),
    /// Mine blocks of the regtest chain at home, to try bundles without a network
    #[command(after_help = MINE_EXAMPLE)]
    Mine(mine::MineArgs),
}

const MINE_EXAMPLE: &str = "Examples:
  kurier headers mine chain.headers --blocks 3
  kurier headers mine chain.headers --commit ROOT --json
  kurier headers mine chain.headers --fork 2 --blocks 4";

#[derive(Debug, Args)]
struct ServeArgs {
    /// Headers of 80 bytes each, one after another, or JSON
    file: PathBuf,
    /// The height of the first header
    #[arg(long, default_value_t = 0)]
    start: u32,
    /// Address to serve on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8790")]
    listen: SocketAddr,
}

pub fn run(args: HeadersArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Serve(serve_args) => serve(serve_args, args.json),
        Command::Mine(mine_args) => mine::run(&mine_args, args.json),
    }
}

fn serve(args: ServeArgs, as_json: bool) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async move {
        let listener = TcpListener::bind(args.listen).await;
        let listener = listener.with_context(|| format!("cannot listen on {}", args.listen))?;
        let url = format!("http://{}", listener.local_addr()?);
        match as_json {
            true => println!("{}", json!({"url": url})),
            false => println!("listening on {url}"),
        }
        http::serve_headers(listener, args.file, args.start).await?;
        Ok(ExitCode::SUCCESS)
    })
}
