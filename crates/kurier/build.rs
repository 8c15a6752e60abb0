//! Takes the web interface into the program, if it was built. Without Node there is none, and
//! the program says how to build it.

#[path = "src/http/assets/press.rs"]
mod press;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/http/assets/press.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write"));
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let dist = web.join("dist");
    // What is watched must be there, else cargo would build anew each time.
    let watched = [&dist, &web].into_iter().find(|path| path.exists());
    if let Some(watched) = watched {
        println!("cargo:rerun-if-changed={}", watched.display());
    }
    let files = match dist.join("index.html").exists() {
        true => press::press(&dist)?,
        false => Vec::new(),
    };
    let mut code = String::from("pub const EMBEDDED: &[Embedded] = &[\n");
    for (number, file) in files.iter().enumerate() {
        let plain = keep(&out, number, "plain", &file.plain)?;
        let maybe = |ending, bytes: &Option<Vec<u8>>| match bytes {
            Some(bytes) => Ok(format!("Some({})", keep(&out, number, ending, bytes)?)),
            None => io::Result::Ok("None".to_owned()),
        };
        let (brotli, gzip) = (maybe("br", &file.brotli)?, maybe("gz", &file.gzip)?);
        let (path, etag) = (&file.path, &file.etag);
        let fields = format!("path: {path:?}, etag: {etag:?}, plain: {plain}");
        let line = writeln!(
            code,
            "Embedded {{ {fields}, brotli: {brotli}, gzip: {gzip} }},"
        );
        line.expect("writing to text does not fail");
    }
    code.push_str("];\n");
    fs::write(out.join("embedded.rs"), code)
}

/// Writes bytes where the code finds them, and says how it does.
fn keep(out: &Path, number: usize, ending: &str, bytes: &[u8]) -> io::Result<String> {
    let file = out.join(format!("asset-{number}.{ending}"));
    fs::write(&file, bytes)?;
    Ok(format!("include_bytes!({:?})", file.display().to_string()))
}
