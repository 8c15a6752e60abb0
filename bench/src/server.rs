//! A server under test: started, looked at, killed.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Deserialize;

use crate::client::Client;

const LOOK_EVERY: Duration = Duration::from_millis(50);

pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// Held open: a server may print more.
    _stdout: BufReader<ChildStdout>,
}

/// What `/readyz` says.
#[derive(Deserialize)]
pub struct Readiness {
    pub log_position: u64,
    pub projection_lag: u64,
}

impl Server {
    /// Starts a program that prints `listening on http://ADDRESS` when it is ready.
    pub fn start(command: &mut Command, errors: &Path) -> anyhow::Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let errors_file = std::fs::File::options()
            .create(true)
            .append(true)
            .open(errors)?;
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(errors_file)
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let mut stdout = BufReader::new(child.stdout.take().context("stdout is piped")?);
        let mut line = String::new();
        while stdout.read_line(&mut line)? > 0 {
            if let Some(address) = line.trim().strip_prefix("listening on http://") {
                return Ok(Self {
                    child,
                    address: address.parse()?,
                    _stdout: stdout,
                });
            }
            line.clear();
        }
        // It ended by itself: its own words say why.
        child.wait()?;
        let said = std::fs::read_to_string(errors).unwrap_or_default();
        bail!("{program} did not start: {said}")
    }

    /// Resident memory now, and the most there ever was, in MB.
    pub fn memory(&self) -> anyhow::Result<(f64, f64)> {
        memory_of(self.child.id())
    }

    /// kill -9.
    pub fn kill(&mut self) {
        // Fails only if it is gone already, which is all we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub async fn readiness(&self) -> anyhow::Result<Readiness> {
        let mut client = Client::connect(self.address).await?;
        let answer = client.get("/readyz").await?;
        Ok(serde_json::from_slice(answer.body)?)
    }

    /// A metric without labels, if it is told.
    pub async fn metric(&self, name: &str) -> anyhow::Result<Option<f64>> {
        let mut client = Client::connect(self.address).await?;
        let answer = client.get("/metrics").await?;
        Ok(metric_of(std::str::from_utf8(answer.body)?, name))
    }

    /// Waits until the projections have folded everything there is.
    pub async fn catch_up(&self) -> anyhow::Result<()> {
        while self.readiness().await?.projection_lag > 0 {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }
}

fn metric_of(text: &str, name: &str) -> Option<f64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    let (_, value) = lines.find(|(told, _)| *told == name)?;
    value.parse().ok()
}

/// A process's resident memory now, and the most there ever was, in MB.
pub fn memory_of(process: u32) -> anyhow::Result<(f64, f64)> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kilobytes * 1_024.0 / 1e6)
    };
    let now = field("VmRSS:").context("no VmRSS")?;
    Ok((now, field("VmHWM:").context("no VmHWM")?))
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::metric_of;

    #[test]
    fn a_metric_is_found_by_its_whole_name() {
        let text = "# TYPE kept gauge\nkept_bytes 7\nkept 20000001\n";
        assert_eq!(metric_of(text, "kept"), Some(20_000_001.0));
        assert_eq!(metric_of(text, "age"), None);
    }
}
