//! Files of the web interface, compressed once. Also read by the build script.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// From here on the bytes saved are not worth the time, which a build script has no optimiser for.
const BROTLI_QUALITY: u32 = 9;
const BROTLI_WINDOW: u32 = 22;

/// A file as it is served: as it is, and smaller where that is smaller.
pub struct Pressed {
    /// From the root: `/assets/index-4f2a.js`.
    pub path: String,
    pub etag: String,
    pub plain: Vec<u8>,
    pub brotli: Option<Vec<u8>>,
    pub gzip: Option<Vec<u8>>,
}

/// Every file below a folder, by path.
pub fn press(folder: &Path) -> io::Result<Vec<Pressed>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(press_file(folder, path)?),
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn press_file(folder: &Path, file: PathBuf) -> io::Result<Pressed> {
    let plain = fs::read(&file)?;
    let below = file.strip_prefix(folder).unwrap_or(&file);
    let parts = below.iter().map(|part| part.to_string_lossy());
    let digest = Sha256::digest(&plain);
    let smaller = |bytes: Vec<u8>| (bytes.len() < plain.len()).then_some(bytes);
    Ok(Pressed {
        path: parts.map(|part| format!("/{part}")).collect(),
        etag: format!("\"{}\"", hex::encode(&digest[..12])),
        brotli: smaller(brotli(&plain)?),
        gzip: smaller(gzip(&plain)?),
        plain,
    })
}

fn brotli(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut writer =
        brotli::CompressorWriter::new(&mut out, 1 << 16, BROTLI_QUALITY, BROTLI_WINDOW);
    writer.write_all(plain)?;
    drop(writer);
    Ok(out)
}

fn gzip(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(plain)?;
    writer.finish()
}
