//! DKIM (RFC 6376, RFC 8463): relaxed/relaxed, over everything a reader or a mailbox acts on,
//! the headers to unsubscribe with among them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kurier_core::message::channel;
use kurier_core::time::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use sha2::{Digest as _, Sha256};

use crate::channel::Unusable;

/// What is signed, where it is there.
const SIGNED: &[&str] = &[
    "from",
    "to",
    "reply-to",
    "subject",
    "date",
    "message-id",
    "mime-version",
    "content-type",
    "content-transfer-encoding",
    "list-unsubscribe",
    "list-unsubscribe-post",
    "x-kurier-message",
    "feedback-id",
];
const LINE_CHARS: usize = 72;

pub struct Signer {
    domain: String,
    selector: String,
    key: Key,
    random: SystemRandom,
}

enum Key {
    Rsa(Box<RsaKeyPair>),
    Ed25519(Box<Ed25519KeyPair>),
}

impl Signer {
    pub fn new(dkim: &channel::Dkim, pem: &str) -> Result<Self, Unusable> {
        Ok(Self {
            domain: dkim.domain.clone(),
            selector: dkim.selector.clone(),
            key: read_key(pem)?,
            random: SystemRandom::new(),
        })
    }

    /// The mail with its signature in front.
    pub fn sign(&self, mail: Vec<u8>, at: Timestamp) -> Vec<u8> {
        let (head, body) = split(&mail);
        let headers = headers(head);
        let (names, mut signed) = chosen(&headers);
        let unsigned = self.header(&names, &relaxed_body(body), at);
        signed.push_str(&relaxed_header("dkim-signature", &unsigned));
        let signature = STANDARD.encode(self.signature(signed.as_bytes()));
        let header = format!("DKIM-Signature: {unsigned}{}\r\n", folded(&signature));
        [header.into_bytes(), mail].concat()
    }

    /// The header's value up to the signature itself.
    fn header(&self, names: &[&str], body: &[u8], at: Timestamp) -> String {
        let algorithm = match self.key {
            Key::Rsa(_) => "rsa-sha256",
            Key::Ed25519(_) => "ed25519-sha256",
        };
        let hash = STANDARD.encode(Sha256::digest(body));
        let seconds = at.as_millis().div_euclid(1_000);
        format!(
            "v=1; a={algorithm}; c=relaxed/relaxed; d={};\r\n s={}; t={seconds};\r\n h={};\r\n bh={hash};\r\n b=",
            self.domain,
            self.selector,
            names.join(":\r\n  "),
        )
    }

    fn signature(&self, signed: &[u8]) -> Vec<u8> {
        match &self.key {
            Key::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                let done = key.sign(&RSA_PKCS1_SHA256, &self.random, signed, &mut signature);
                done.expect("the key was checked and there is memory");
                signature
            }
            Key::Ed25519(key) => key.sign(&Sha256::digest(signed)).as_ref().to_vec(),
        }
    }
}

fn read_key(pem: &str) -> Result<Key, Unusable> {
    let bad = |why: &str| Unusable(format!("the DKIM key: {why}"));
    let der = PrivateKeyDer::from_pem_slice(pem.as_bytes());
    let der = der.map_err(|_| bad("not a private key in PEM"))?;
    let rsa = match &der {
        PrivateKeyDer::Pkcs1(key) => RsaKeyPair::from_der(key.secret_pkcs1_der()),
        PrivateKeyDer::Pkcs8(key) => {
            let bytes = key.secret_pkcs8_der();
            if let Ok(key) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(bytes) {
                return Ok(Key::Ed25519(Box::new(key)));
            }
            RsaKeyPair::from_pkcs8(bytes)
        }
        _ => return Err(bad("neither RSA nor Ed25519")),
    };
    let rsa = rsa.map_err(|e| {
        bad(&format!(
            "neither Ed25519 nor RSA of 2048 to 4096 bits: {e}"
        ))
    })?;
    Ok(Key::Rsa(Box::new(rsa)))
}

/// Headers and body, without the empty line between.
fn split(mail: &[u8]) -> (&[u8], &[u8]) {
    let end = mail.windows(4).position(|it| it == b"\r\n\r\n");
    end.map_or((mail, &[]), |end| (&mail[..end + 2], &mail[end + 4..]))
}

/// Every header with its value, which may stand on several lines.
fn headers(head: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(head);
    let mut headers: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive("\r\n") {
        match (line.starts_with([' ', '\t']), headers.last_mut()) {
            (true, Some(last)) => last.1.push_str(line),
            _ => {
                let (name, value) = line.split_once(':').unwrap_or((line, ""));
                headers.push((name.trim().to_ascii_lowercase(), value.to_owned()));
            }
        }
    }
    headers
}

/// The names of what is signed, and it. `From` is named once more than it stands there: so
/// nobody can put a second one in front.
fn chosen(headers: &[(String, String)]) -> (Vec<&'static str>, String) {
    let mut names = Vec::new();
    let mut signed = String::new();
    for name in SIGNED {
        if let Some((_, value)) = headers.iter().find(|(it, _)| it == name) {
            names.push(*name);
            signed += &relaxed_header(name, value);
            signed += "\r\n";
        }
    }
    names.push("from");
    (names, signed)
}

fn relaxed_header(name: &str, value: &str) -> String {
    let words = value
        .split([' ', '\t', '\r', '\n'])
        .filter(|word| !word.is_empty());
    format!("{name}:{}", words.collect::<Vec<_>>().join(" "))
}

fn relaxed_body(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 2);
    let mut is_space = false;
    for byte in body {
        match byte {
            b' ' | b'\t' => is_space = true,
            // Space at the end of a line does not count.
            b'\r' => {
                is_space = false;
                out.push(b'\r');
            }
            other => {
                if std::mem::take(&mut is_space) {
                    out.push(b' ');
                }
                out.push(*other);
            }
        }
    }
    while out.ends_with(b"\r\n") {
        out.truncate(out.len() - 2);
    }
    if !out.is_empty() {
        out.extend_from_slice(b"\r\n");
    }
    out
}

/// On lines that are short enough.
fn folded(signature: &str) -> String {
    let mut out = String::with_capacity(signature.len() + 16);
    for (index, letter) in signature.chars().enumerate() {
        if index > 0 && index % LINE_CHARS == 0 {
            out.push_str("\r\n  ");
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_relaxed_as_the_standard_has_it() {
        for (body, relaxed) in [
            ("", ""),
            ("\r\n\r\n", ""),
            (" C \r\nD \t E\r\n\r\n\r\n", " C\r\nD E\r\n"),
            ("no end", "no end\r\n"),
            ("a  \t\r\n", "a\r\n"),
        ] {
            let done = relaxed_body(body.as_bytes());
            assert_eq!(String::from_utf8_lossy(&done), relaxed, "{body:?}");
        }
    }

    #[test]
    fn headers_are_relaxed_as_the_standard_has_it() {
        assert_eq!(relaxed_header("a", " X\r\n"), "a:X");
        assert_eq!(relaxed_header("b", " Y\t\r\n\tZ  \r\n"), "b:Y Z");
        let read = headers(b"A: X\r\nB : Y\t\r\n\tZ  \r\n");
        assert_eq!(
            read,
            [
                ("a".into(), " X\r\n".into()),
                ("b".into(), " Y\t\r\n\tZ  \r\n".into())
            ]
        );
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_told() {
        for bad in [
            "",
            "swordfish",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        ] {
            let error = read_key(bad).map(drop).expect_err("no key").to_string();
            assert!(
                !error.contains("swordfish") && !error.contains("AAAA"),
                "{error}"
            );
        }
    }
}
