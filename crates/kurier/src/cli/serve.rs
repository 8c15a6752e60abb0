//! `kurier serve`: the server, until it is told to stop.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use kurier_store::postgres::LOG_FILTER;
use kurier_store::{Error, Store};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, timeout_at};

use crate::app::App;
use crate::config::{Config, check_variables};
use crate::{demo, flow, http, keyring, metrics};

/// Headers are waited for so long; a source that is slower goes on when requests are answered.
const HEADERS_LIMIT: Duration = Duration::from_secs(3);
/// Who asks a process to stop kills it after 30 s: requests and messages that are under way
/// have so long, side by side,
const WORK_LIMIT: Duration = Duration::from_secs(20);
/// and everything has so long in all, the last snapshot too.
const STOP_LIMIT: Duration = Duration::from_secs(27);

pub async fn run(config: Config) -> anyhow::Result<ExitCode> {
    check_variables(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()))?;
    log_to_stderr();
    metrics::recorder();
    warn_of_settings(&config);
    let app = App::open(&config).await?;
    bootstrap(&app.store, &config).await?;
    app.content_edge.check().await?;
    if let Some(bundles) = &app.bundles {
        bundles.begin(HEADERS_LIMIT).await;
    }
    if app.demo.is_on() {
        demo::fill(&app).await?;
    }
    let listener = TcpListener::bind(config.listen)
        .await
        .with_context(|| refused_address(config.listen))?;
    let address = listener.local_addr()?;
    let stop = stop_signal()?;
    let mut flows = start_flows(&app);
    if app.demo.is_on() {
        tell_of_demo(&app, &format!("http://{address}"));
    }
    println!("listening on http://{address}");
    let mut is_broken = false;
    let stop = async {
        tokio::select! {
            () = stop => {}
            () = flows.broken() => is_broken = true,
        }
    };
    let open = http::serve(listener, app.clone(), stop).await;
    end(&app, open, flows).await;
    tracing::info!("stopped");
    Ok(match is_broken {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

fn refused_address(address: SocketAddr) -> String {
    format!(
        "cannot listen on {address}; --listen or KURIER_LISTEN chooses another address, such as \
         {}:{}",
        address.ip(),
        address.port().checked_add(1).unwrap_or(8787)
    )
}

/// Settings that work and cost more than their owner may expect.
fn warn_of_settings(config: &Config) {
    if config.snapshots.is_none() {
        tracing::warn!(
            "without a data folder no snapshots are kept and every start folds the whole log: \
             name one with --data"
        );
    }
}

/// Finishes what is under way, within one limit for all of it.
async fn end(app: &App, open: http::Open, flows: Flows) {
    let began = Instant::now();
    let work_until = began + WORK_LIMIT;
    tokio::join!(open.drain(work_until), app.deliverer.finish(work_until));
    let stop_until = began + STOP_LIMIT;
    if timeout_at(stop_until, flows.abort_all_and_wait())
        .await
        .is_err()
    {
        tracing::warn!("flows were still under way when the time was up");
    }
    app.reactor.stop_by(stop_until).await;
}

struct Flows(tokio::task::JoinSet<()>);

impl Flows {
    /// Waits until one of them panics: who stands still unnoticed is worse than who is restarted.
    async fn broken(&mut self) {
        while let Some(ended) = self.0.join_next().await {
            if ended.is_err_and(|error| error.is_panic()) {
                tracing::error!("a flow panicked; the process stops");
                return;
            }
        }
        std::future::pending().await
    }

    async fn abort_all_and_wait(mut self) {
        self.0.shutdown().await;
    }
}

fn start_flows(app: &Arc<App>) -> Flows {
    let mut flows = tokio::task::JoinSet::new();
    for projector in app.projectors() {
        let projector = projector.clone();
        flows.spawn(async move { projector.run().await });
    }
    let deliverer = app.deliverer.clone();
    flows.spawn(async move { deliverer.run().await });
    let slack_edge = app.slack_edge.clone();
    flows.spawn(async move { slack_edge.run().await });
    let content_edge = app.content_edge.clone();
    flows.spawn(async move { content_edge.run().await });
    if let Some(contact_edge) = app.contact_edge.clone() {
        flows.spawn(async move { contact_edge.run().await });
    }
    if let Some(bundles) = &app.bundles {
        flows.spawn(bundles.clone().follow_headers());
        flows.spawn(bundles.clone().follow_versions());
    }
    flows.spawn(app.reactor.clone().run());
    flows.spawn(follow_reactions(app.clone()));
    flows.spawn(flow::maintain(app.clone()));
    if app.demo.is_on() {
        flows.spawn(demo::go_on(app.clone()));
    }
    Flows(flows)
}

/// What was decided or delivered is to be seen at once.
async fn follow_reactions(app: Arc<App>) {
    loop {
        app.reactor.has_news().await;
        app.segments.wake();
        app.messages.wake();
        app.deliverer.wake();
        app.journeys.wake();
    }
}

fn tell_of_demo(app: &App, url: &str) {
    tracing::info!("this is a demo: its contacts are made up, and events come by themselves");
    match app.demo.owner() {
        Some(_) => println!(
            "demo at {url}: \"Look around in the demo\" signs in whoever opens it on this machine"
        ),
        None => println!(
            "demo at {url}: give {} a password with `kurier user set-password`",
            demo::OWNER
        ),
    }
}

/// Makes the first workspace and shows its keys once.
async fn bootstrap(store: &Store, config: &Config) -> anyhow::Result<()> {
    if !store.access.workspaces().await?.is_empty() {
        return Ok(());
    }
    let (write, admin) = (
        config.bootstrap_write_key.clone(),
        config.bootstrap_admin_key.clone(),
    );
    match keyring::found(store.access.as_ref(), "default", write, admin).await {
        Ok(founding) => {
            println!("made workspace `default`; its keys are shown only this once:");
            println!("  write key  {}", founding.write_key);
            println!("  admin key  {}", founding.admin_key);
        }
        // Another process made it in the same moment, and showed the keys.
        Err(Error::Taken(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn log_to_stderr() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("KURIER_LOG")
        .unwrap_or_else(|_| {
            tracing_subscriber::EnvFilter::new(format!("info,sqlx=warn,{LOG_FILTER}"))
        })
        // It would tell what is in every event.
        .add_directive("tokio_postgres=warn".parse().expect("a directive"));
    let format = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        // Else a line that cannot be written is reported by `eprintln!`, which panics for the same reason.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    // Fails only if a logger is there already, as in a test: then that one is used.
    let _ = format.try_init();
}

/// Done when the process is asked to stop.
fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: finishing the requests under way");
    })
}
