//! Request bodies: read within limits of size and time, decompressed within the same.

use std::io::Read;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt as _;

use super::pressure::{Pressure, Room};
use super::problem::Problem;

/// A body's size limit, after decompression.
pub const BODY_BYTES_MAX: usize = 512 * 1024;
/// What is too large is still read up to here, so that the client gets to see our answer
/// instead of a broken connection.
const DRAINED_BYTES_MAX: usize = 32 * 1024 * 1024;
const READ_TIMEOUT: Duration = Duration::from_secs(15);

/// The whole body, decompressed, and the room it takes. Room is taken as the bytes arrive:
/// a client that announces much and sends little must not keep others out.
pub async fn read<'a>(
    headers: &HeaderMap,
    body: Body,
    pressure: &'a Pressure,
) -> Result<(Bytes, Room<'a>), Problem> {
    read_within(BODY_BYTES_MAX, headers, body, pressure).await
}

/// The same, with another limit of size.
pub async fn read_within<'a>(
    max: usize,
    headers: &HeaderMap,
    body: Body,
    pressure: &'a Pressure,
) -> Result<(Bytes, Room<'a>), Problem> {
    let mut room = pressure.room();
    let bytes = match tokio::time::timeout(READ_TIMEOUT, collect(max, body, &mut room)).await {
        Ok(collected) => collected?,
        Err(_) => {
            let detail = format!(
                "the body did not arrive within {} s",
                READ_TIMEOUT.as_secs()
            );
            return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "timeout", detail));
        }
    };
    let received = bytes.len();
    let bytes = decode(max, headers, bytes)?;
    room.grow(bytes.len().saturating_sub(received))?;
    Ok((bytes, room))
}

async fn collect(max: usize, mut body: Body, room: &mut Room<'_>) -> Result<Bytes, Problem> {
    let mut collected: Vec<u8> = Vec::new();
    let mut first = Bytes::new();
    let mut total = 0;
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|_| Problem::bad_request("bad_body", "the body ended too early"))?;
        let Ok(chunk) = frame.into_data() else {
            continue;
        };
        total += chunk.len();
        if total > DRAINED_BYTES_MAX {
            break;
        }
        if total <= max {
            room.grow(chunk.len())?;
        }
        // Most bodies come in one piece, which needs no copy.
        match (total > max, first.is_empty() && collected.is_empty()) {
            (true, _) => collected.clear(),
            (false, true) => first = chunk,
            (false, false) => {
                collected.extend_from_slice(&std::mem::take(&mut first));
                collected.extend_from_slice(&chunk);
            }
        }
    }
    if total > max {
        return Err(too_large(max));
    }
    Ok(if collected.is_empty() {
        first
    } else {
        collected.into()
    })
}

fn too_large(max: usize) -> Problem {
    Problem::too_large(format!(
        "the body has more than {max} bytes after decompression; send less at a time"
    ))
}

fn decode(max: usize, headers: &HeaderMap, bytes: Bytes) -> Result<Bytes, Problem> {
    let encoding = headers
        .get(header::CONTENT_ENCODING)
        .map_or("", |value| value.to_str().unwrap_or("?"));
    match encoding.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Ok(bytes),
        "gzip" | "x-gzip" => inflate(max, flate2::read::MultiGzDecoder::new(&bytes[..])),
        // The name means zlib, but some clients send the bare stream.
        "deflate" if bytes.first().is_some_and(|byte| byte & 0x0f == 8) => {
            inflate(max, flate2::read::ZlibDecoder::new(&bytes[..]))
        }
        "deflate" => inflate(max, flate2::read::DeflateDecoder::new(&bytes[..])),
        "br" => inflate(
            max,
            brotli_decompressor::Decompressor::new(&bytes[..], 4096),
        ),
        "zstd" => match zstd::stream::read::Decoder::with_buffer(&bytes[..]) {
            Ok(mut decoder) => {
                // A frame may ask for a window far beyond what a body may be.
                decoder.window_log_max(23).map_err(|_| undecodable())?;
                inflate(max, decoder)
            }
            Err(_) => Err(undecodable()),
        },
        other => {
            let detail =
                format!("Content-Encoding {other} is not known; use gzip, deflate, br or zstd");
            Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unknown_encoding",
                detail,
            ))
        }
    }
}

fn inflate(max: usize, reader: impl Read) -> Result<Bytes, Problem> {
    let mut bytes = Vec::new();
    let mut bounded = reader.take(max as u64 + 1);
    bounded.read_to_end(&mut bytes).map_err(|_| undecodable())?;
    if bytes.len() > max {
        Err(too_large(max))
    } else {
        Ok(bytes.into())
    }
}

fn undecodable() -> Problem {
    Problem::bad_request(
        "bad_encoding",
        "the body is not what its Content-Encoding says",
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use axum::http::HeaderValue;

    use super::*;

    fn decoded(encoding: &'static str, bytes: Vec<u8>) -> Result<Bytes, Problem> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        decode(BODY_BYTES_MAX, &headers, bytes.into())
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).expect("written");
        encoder.finish().expect("finished")
    }

    #[test]
    fn every_encoding_is_understood() {
        let plain = br#"{"type":"track"}"#;
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        zlib.write_all(plain).expect("written");
        let mut raw =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        raw.write_all(plain).expect("written");
        let zstd = zstd::encode_all(&plain[..], 3).expect("encoded");
        let cases = [
            ("identity", plain.to_vec()),
            ("gzip", gzip(plain)),
            ("deflate", zlib.finish().expect("finished")),
            ("deflate", raw.finish().expect("finished")),
            ("zstd", zstd),
        ];
        for (encoding, bytes) in cases {
            assert_eq!(
                &decoded(encoding, bytes).expect(encoding)[..],
                plain,
                "{encoding}"
            );
        }
    }

    #[test]
    fn bombs_end_at_the_limit() {
        let zeros = vec![0; 50 * 1024 * 1024];
        let zstd = zstd::encode_all(&zeros[..], 3).expect("encoded");
        for (encoding, bomb) in [("gzip", gzip(&zeros)), ("zstd", zstd)] {
            let problem = decoded(encoding, bomb).expect_err("too large");
            assert!(format!("{problem:?}").contains("too_large"), "{encoding}");
        }
    }

    #[test]
    fn what_is_not_encoded_so_is_refused() {
        for encoding in ["gzip", "deflate", "br", "zstd", "lzma"] {
            assert!(
                decoded(encoding, b"plain text".to_vec()).is_err(),
                "{encoding}"
            );
        }
    }
}
