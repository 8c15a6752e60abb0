//! Headers in a file: 80 bytes each, one after another; or JSON, as a list of heights and
//! headers, or as a tip alone.

use std::io::SeekFrom;
use std::path::{Path, PathBuf};

use kurier_core::bundle::Hash256;
use kurier_core::bundle::chain::{
    Chain, Checkpoint, HEADER_BYTES, Header, Refusal, RefusedAt, Tip, Tree,
};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

use super::range::{Fault, Told};

const JSON_BYTES_MAX: u64 = 256 * 1024 * 1024;

pub struct HeaderFile {
    path: PathBuf,
    start: u32,
}

impl HeaderFile {
    pub fn new(path: PathBuf, start: u32) -> Self {
        Self { path, start }
    }

    pub async fn tip(&self) -> Result<Tip, Fault> {
        let mut file = self.open().await?;
        if is_json(&mut file).await? {
            return match self.read_json(file).await? {
                Told::Tip(tip) => Ok(tip),
                Told::Headers(listed) => listed.tip(),
            };
        }
        // What is being written at its end is not there yet.
        let count = file.metadata().await?.len() / HEADER_BYTES as u64;
        let last = count.checked_sub(1).ok_or(Fault::Empty)?;
        let bytes = read_at(&mut file, last, 1).await?;
        let header = Header::parse(&bytes).map_err(|_| Fault::Empty)?;
        let height = u32::try_from(last + u64::from(self.start)).map_err(|_| Fault::Empty)?;
        Ok(Tip {
            height,
            hash: header.hash(),
        })
    }

    /// Up to so many headers from a height on.
    pub async fn range(&self, from: u32, count: u32) -> Result<Vec<u8>, Fault> {
        let mut file = self.open().await?;
        if is_json(&mut file).await? {
            return match self.read_json(file).await? {
                Told::Tip(_) => Err(Fault::TipOnly),
                Told::Headers(listed) => listed.range(from, count),
            };
        }
        let first = from.checked_sub(self.start).ok_or(Fault::Before(from))?;
        read_at(&mut file, u64::from(first), count).await
    }

    async fn open(&self) -> Result<File, Fault> {
        Ok(File::open(&self.path).await?)
    }

    async fn read_json(&self, mut file: File) -> Result<Told, Fault> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0)).await?;
        file.take(JSON_BYTES_MAX).read_to_end(&mut bytes).await?;
        Told::parse(&bytes)
    }
}

/// A header's version begins with neither, in any chain.
async fn is_json(file: &mut File) -> Result<bool, Fault> {
    let mut first = [0; 4];
    let read = file.read(&mut first).await?;
    let text = first[..read].trim_ascii_start();
    Ok(matches!(text.first(), Some(b'[' | b'{')) && !is_version(&first))
}

/// Versions are small numbers, or have their high bits set as miners use them.
fn is_version(first: &[u8; 4]) -> bool {
    first[1..] == [0, 0, 0]
}

async fn read_at(file: &mut File, index: u64, count: u32) -> Result<Vec<u8>, Fault> {
    let bytes = HEADER_BYTES as u64;
    file.seek(SeekFrom::Start(index * bytes)).await?;
    let mut read = Vec::new();
    let wanted = u64::from(count) * bytes;
    file.take(wanted).read_to_end(&mut read).await?;
    read.truncate(read.len() / HEADER_BYTES * HEADER_BYTES);
    Ok(read)
}

/// All headers of a file as a tree, every one of them checked: for commands.
pub fn read_tree(path: &Path, chain: Chain, start: u32, now_s: i64) -> anyhow::Result<Tree> {
    use anyhow::Context as _;
    let shown = || format!("the headers {}", path.display());
    let bytes = std::fs::read(path).with_context(shown)?;
    let (start, bytes) = match bytes.trim_ascii_start().first() {
        Some(b'[' | b'{') if bytes.len() < 4 || bytes[1..4] != [0, 0, 0] => {
            match Told::parse(&bytes).with_context(shown)? {
                Told::Tip(_) => anyhow::bail!("{}: a tip alone proves nothing", shown()),
                Told::Headers(listed) => (listed.start, listed.bytes),
            }
        }
        _ => (start, bytes),
    };
    anyhow::ensure!(
        bytes.len().is_multiple_of(HEADER_BYTES),
        "{}: {} bytes are no whole number of headers, which have {HEADER_BYTES} each",
        shown(),
        bytes.len()
    );
    tree_of(chain, (start, None), &bytes, now_s).with_context(shown)
}

/// A tree of a contiguous run of headers. From the first block of a chain on everything is
/// checked; from elsewhere on the first few are believed, since the rules need them: because
/// they lead to the checkpoint, or because nothing better is known.
pub fn tree_of(
    chain: Chain,
    (start, pin): (u32, Option<&Hash256>),
    bytes: &[u8],
    now_s: i64,
) -> Result<Tree, RefusedAt> {
    if start > 0 {
        let at_first = |refusal| RefusedAt { index: 0, refusal };
        let least = Checkpoint::within(chain, start, bytes).map_err(at_first)?;
        let checkpoint = match pin {
            Some(pin) => pinned(least, start, bytes, pin).map_err(at_first)?,
            None => least,
        };
        return Tree::read(chain, checkpoint, start, bytes, now_s);
    }
    let mut tree = Tree::from_genesis(chain);
    if bytes.is_empty() {
        return Ok(tree);
    }
    let is_first = bytes.starts_with(&chain.genesis().bytes());
    match is_first {
        true => tree.extend(bytes, now_s).map(|_| tree),
        false => Err(RefusedAt {
            index: 0,
            refusal: Refusal::OtherChain,
        }),
    }
}

/// The block of this hash, if enough come before it.
fn pinned(
    least: Checkpoint,
    start: u32,
    bytes: &[u8],
    pin: &Hash256,
) -> Result<Checkpoint, Refusal> {
    let index = index_of(bytes, pin).ok_or(Refusal::NotTheCheckpoint)?;
    let height = start + index as u32;
    match height >= least.height {
        true => Ok(Checkpoint {
            height,
            hash: *pin,
            ..least
        }),
        false => Err(Refusal::ContextMissing),
    }
}

/// Which of these headers has this hash.
pub fn index_of(bytes: &[u8], hash: &Hash256) -> Option<usize> {
    let mut headers = bytes.chunks_exact(HEADER_BYTES);
    headers.position(|header| Hash256::of(header) == *hash)
}
