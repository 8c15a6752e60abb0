//! Files of the web interface in a folder. Also read by the build script.

use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest as _, Sha256};

pub struct WebFile {
    /// From the root: `/assets/index-4f2a.js`.
    pub path: String,
    pub etag: String,
    pub bytes: Vec<u8>,
}

/// Every file below a folder, by path.
pub fn read(folder: &Path) -> io::Result<Vec<WebFile>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(read_file(folder, path)?),
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn read_file(folder: &Path, file: PathBuf) -> io::Result<WebFile> {
    let bytes = fs::read(&file)?;
    let below = file.strip_prefix(folder).unwrap_or(&file);
    let parts = below.iter().map(|part| part.to_string_lossy());
    let digest = Sha256::digest(&bytes);
    Ok(WebFile {
        path: parts.map(|part| format!("/{part}")).collect(),
        etag: format!("\"{}\"", hex::encode(&digest[..12])),
        bytes,
    })
}
