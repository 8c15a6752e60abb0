//! Takes the web interface into the program, if it was built. Without Node there is none, and
//! the program says how to build it.

#[path = "src/http/assets/folder.rs"]
mod folder;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// From here on the bytes saved are not worth the time, which a build script has no optimiser for.
const BROTLI_QUALITY: u32 = 9;
const BROTLI_WINDOW: u32 = 22;

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/http/assets/folder.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write"));
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let dist = web.join("dist");
    // What is watched must be there, else cargo would build anew each time.
    let watched = [&dist, &web].into_iter().find(|path| path.exists());
    if let Some(watched) = watched {
        println!("cargo:rerun-if-changed={}", watched.display());
    }
    let files = match dist.join("index.html").exists() {
        true => folder::read(&dist)?,
        false => Vec::new(),
    };
    let mut code = String::from("const EMBEDDED: &[EmbeddedFile] = &[\n");
    for (number, file) in files.iter().enumerate() {
        embed(&mut code, &out.join(format!("asset-{number}")), file)?;
    }
    code.push_str("];\n");
    fs::write(out.join("embedded.rs"), code)
}

/// Each file is kept once, as small as it gets: whoever reads no Brotli has it unpacked.
fn embed(code: &mut String, kept: &Path, file: &folder::WebFile) -> io::Result<()> {
    let brotli = brotli(&file.bytes)?;
    let is_brotli = brotli.len() < file.bytes.len();
    fs::write(kept, if is_brotli { &brotli } else { &file.bytes })?;
    let (path, etag, kept) = (&file.path, &file.etag, kept.display().to_string());
    let line = writeln!(
        code,
        "EmbeddedFile {{ path: {path:?}, etag: {etag:?}, bytes: include_bytes!({kept:?}), \
         is_brotli: {is_brotli} }},"
    );
    line.expect("writing to text does not fail");
    Ok(())
}

fn brotli(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut writer =
        brotli::CompressorWriter::new(&mut out, 1 << 16, BROTLI_QUALITY, BROTLI_WINDOW);
    writer.write_all(bytes)?;
    drop(writer);
    Ok(out)
}
