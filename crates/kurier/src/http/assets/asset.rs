//! A file of the web interface, in the codings that clients read.

use std::io::{Read as _, Write as _};
use std::sync::OnceLock;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, header};
use brotli_decompressor::Decompressor;
use flate2::Compression;
use flate2::write::GzEncoder;

const BUFFER_BYTES: usize = 4096;

/// Kept once. Browsers ask for Brotli only where the connection is encrypted or stays on the
/// machine: for the others each file is unpacked when it is first asked for, and remembered.
pub struct Asset {
    pub etag: HeaderValue,
    bytes: Bytes,
    is_brotli: bool,
    plain: OnceLock<Bytes>,
    gzip: OnceLock<Bytes>,
}

impl Asset {
    pub fn new(etag: HeaderValue, bytes: Bytes, is_brotli: bool) -> Self {
        Self {
            etag,
            bytes,
            is_brotli,
            plain: OnceLock::new(),
            gzip: OnceLock::new(),
        }
    }

    /// The smallest that the client can read.
    pub fn coded(&self, headers: &HeaderMap) -> (Option<&'static str>, Bytes) {
        if self.is_brotli && accepts(headers, "br") {
            return (Some("br"), self.bytes.clone());
        }
        let plain = self.plain();
        if accepts(headers, "gzip") {
            let gzip = self.gzip.get_or_init(|| gzip(plain));
            if gzip.len() < plain.len() {
                return (Some("gzip"), gzip.clone());
            }
        }
        (None, plain.clone())
    }

    fn plain(&self) -> &Bytes {
        if !self.is_brotli {
            return &self.bytes;
        }
        self.plain.get_or_init(|| unpack(&self.bytes))
    }
}

fn unpack(brotli: &[u8]) -> Bytes {
    let mut plain = Vec::new();
    let mut reader = Decompressor::new(brotli, BUFFER_BYTES);
    let read = reader.read_to_end(&mut plain);
    read.expect("the build script wrote Brotli");
    plain.into()
}

fn gzip(plain: &[u8]) -> Bytes {
    let mut writer = GzEncoder::new(Vec::new(), Compression::default());
    let written = writer.write_all(plain).and_then(|()| writer.finish());
    written.expect("writing to memory does not fail").into()
}

fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    codings.any(|said| {
        let (name, weight) = said.split_once(';').unwrap_or((said, ""));
        let weight = weight.trim().strip_prefix("q=").map(str::parse::<f32>);
        let is_refused = weight.is_some_and(|weight| weight.is_ok_and(|weight| weight <= 0.0));
        name.trim().eq_ignore_ascii_case(coding) && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use flate2::read::GzDecoder;

    use super::*;

    fn accepting(said: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(said));
        headers
    }

    fn asset(plain: &[u8]) -> Asset {
        let mut brotli = Vec::new();
        let parameters = brotli::enc::BrotliEncoderParams::default();
        brotli::BrotliCompress(&mut &plain[..], &mut brotli, &parameters).expect("compressed");
        Asset::new(HeaderValue::from_static("\"tag\""), brotli.into(), true)
    }

    fn coded(asset: &Asset, said: &'static str) -> (Option<&'static str>, Bytes) {
        asset.coded(&accepting(said))
    }

    #[test]
    fn only_what_a_client_can_read_is_sent() {
        assert!(accepts(&accepting("gzip, deflate, br, zstd"), "br"));
        assert!(accepts(&accepting("BR;q=0.5"), "br"));
        assert!(!accepts(&accepting("gzip, br;q=0"), "br"));
        assert!(!accepts(&accepting("brotli"), "br"));
    }

    #[test]
    fn what_is_kept_as_brotli_is_read_by_every_client() {
        let plain = "console.log('hello');\n".repeat(5_000).into_bytes();
        let asset = asset(&plain);
        let (coding, bytes) = coded(&asset, "gzip, br");
        assert_eq!(coding, Some("br"));
        assert_eq!(unpack(&bytes), plain);
        for _ in ["made", "remembered"] {
            let (coding, bytes) = coded(&asset, "gzip");
            assert_eq!(coding, Some("gzip"));
            let mut text = Vec::new();
            GzDecoder::new(&bytes[..])
                .read_to_end(&mut text)
                .expect("gzip");
            assert_eq!(text, plain);
            assert_eq!(
                coded(&asset, "identity"),
                (None, Bytes::from(plain.clone()))
            );
        }
    }

    #[test]
    fn what_gets_no_smaller_is_sent_as_it_is() {
        let bytes = Bytes::from_static(b"<svg/>");
        let asset = Asset::new(HeaderValue::from_static("\"tag\""), bytes.clone(), false);
        assert_eq!(coded(&asset, "gzip, br"), (None, bytes));
    }
}
