//! Bringing our headers up to what a source has: look for the last one that both know, ask
//! for what follows.

use std::time::Duration;

use kurier_core::bundle::Hash256;
use kurier_core::bundle::chain::{Checkpoint, HEADER_BYTES, Refusal, Tip};

use super::file::{HeaderFile, index_of};
use super::range::{Fault, Told, read_range};
use super::shared::Headers;
use super::source::{Address, Place};
use crate::channel::Fetch;

const TIP_BYTES_MAX: usize = 64 * 1024;
/// Servers are asked for so many at a time; a file gives as many as are checked in one go.
const SERVER_COUNT: u32 = 2_000;
const FILE_COUNT: u32 = 50_000;
/// A checkpoint is looked for among so many headers from the start on.
const CHECKPOINT_WITHIN: u32 = 10_000;
/// As JSON a header takes so many bytes at most.
const JSON_HEADER_BYTES: usize = 256;

pub struct Source {
    pub address: Address,
    reader: Reader,
}

enum Reader {
    File(HeaderFile),
    Http(Fetch, String),
}

impl Source {
    pub fn new(address: Address) -> Result<Self, String> {
        let reader = match &address.place {
            Place::File(path) => Reader::File(HeaderFile::new(path.clone(), address.start)),
            Place::Http(base) => {
                let fetch = fetch(base, address.patience)?;
                Reader::Http(fetch, base.clone())
            }
        };
        Ok(Self { address, reader })
    }

    async fn tip(&self) -> Result<Tip, Fault> {
        match &self.reader {
            Reader::File(file) => file.tip().await,
            Reader::Http(fetch, base) => http_tip(fetch, base).await,
        }
    }

    async fn range(&self, from: u32, count: u32) -> Result<Vec<u8>, Fault> {
        match &self.reader {
            Reader::File(file) => file.range(from, count).await,
            Reader::Http(fetch, base) => http_range(fetch, base, from, count).await,
        }
    }

    const fn count(&self) -> u32 {
        match self.reader {
            Reader::File(_) => FILE_COUNT,
            Reader::Http(..) => SERVER_COUNT,
        }
    }

    /// Whether a fault is that its chain is another than ours from the start on, where the start
    /// itself was believed: the first who was asked may have been the one that lies.
    pub fn opposes(&self, fault: &Fault) -> bool {
        let is_other = match fault {
            Fault::Strange => true,
            Fault::Refused(refused) => refused.refusal == Refusal::BelowCheckpoint,
            _ => false,
        };
        is_other && self.address.start > 0 && self.address.checkpoint.is_none()
    }

    /// Takes what this source has and we do not; answers its tip.
    pub async fn sync(&self, headers: &Headers) -> Result<Tip, Fault> {
        let tip = self.tip().await?;
        match self.take(headers, tip).await {
            Err(Fault::TipOnly) => Err(Fault::OnlyTip(tip)),
            taken => taken,
        }
    }

    async fn take(&self, headers: &Headers, tip: Tip) -> Result<Tip, Fault> {
        if !headers.has_begun() {
            let first = self.first(headers).await?;
            headers.begin(&self.address, &first)?;
        }
        if is_known(headers, tip)? {
            return Ok(tip);
        }
        let mut next = self.common(headers, tip).await? + 1;
        while next <= tip.height {
            let bytes = self.range(next, self.count()).await?;
            let count = (bytes.len() / HEADER_BYTES) as u32;
            if count == 0 {
                return Err(Fault::Other(next));
            }
            headers.extend(bytes)?;
            next += count;
        }
        match is_known(headers, tip)? {
            true => Ok(tip),
            false => Err(Fault::Other(tip.height)),
        }
    }

    /// The first headers, as many as it takes to begin with them, in however many pages.
    async fn first(&self, headers: &Headers) -> Result<Vec<u8>, Fault> {
        let Address {
            start, checkpoint, ..
        } = self.address;
        let mut bytes = self.range(start, self.count()).await?;
        loop {
            let count = (bytes.len() / HEADER_BYTES) as u32;
            let is_enough = match &checkpoint {
                Some(hash) => index_of(&bytes, hash).is_some() || count > CHECKPOINT_WITHIN,
                None => true,
            };
            if is_enough && count >= Checkpoint::needs(headers.chain(), start) {
                return Ok(bytes);
            }
            let next = start.checked_add(count).ok_or(Fault::Other(start))?;
            match self.range(next, self.count()).await? {
                // What is there may do, or its refusal says why not.
                more if more.is_empty() => return Ok(bytes),
                more => bytes.extend(more),
            }
        }
    }

    /// The height of a header that both have: of the newest, or of one some way below it.
    async fn common(&self, headers: &Headers, tip: Tip) -> Result<u32, Fault> {
        let (start, ours) = headers.reach();
        let (mut height, mut step) = (ours.min(tip.height), 1);
        loop {
            let bytes = self.range(height, 1).await?;
            let hash = Hash256::of(&bytes);
            if bytes.len() == HEADER_BYTES && is_known(headers, Tip { height, hash })? {
                return Ok(height);
            }
            if height <= start {
                return Err(Fault::Strange);
            }
            height = height.saturating_sub(step).max(start);
            step *= 2;
        }
    }
}

/// Whether we have a block; one that is told at another height than its own is not believed.
fn is_known(headers: &Headers, told: Tip) -> Result<bool, Fault> {
    match headers.height_of(&told.hash) {
        Some(known) if known != told.height => Err(Fault::FalseHeight {
            told: told.height,
            known,
        }),
        known => Ok(known.is_some()),
    }
}

fn fetch(base: &str, patience: Duration) -> Result<Fetch, String> {
    Fetch::of(base, patience).map_err(|unusable| unusable.to_string())
}

async fn http_tip(fetch: &Fetch, base: &str) -> Result<Tip, Fault> {
    let body = fetch.get(&format!("{base}/tip"), TIP_BYTES_MAX).await;
    match Told::parse(&body.map_err(Fault::Unreachable)?)? {
        Told::Tip(tip) => Ok(tip),
        Told::Headers(listed) => listed.tip(),
    }
}

async fn http_range(fetch: &Fetch, base: &str, from: u32, count: u32) -> Result<Vec<u8>, Fault> {
    let url = format!("{base}/headers?from={from}&count={count}");
    let bytes_max = count as usize * JSON_HEADER_BYTES + 2;
    let body = fetch.get(&url, bytes_max).await;
    let tip_only = |why: String| match why.ends_with("404") {
        true => Fault::TipOnly,
        false => Fault::Unreachable(why),
    };
    let mut bytes = read_range(body.map_err(tip_only)?, from)?;
    bytes.truncate(count as usize * HEADER_BYTES);
    Ok(bytes)
}
