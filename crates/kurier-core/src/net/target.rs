//! What a URL calls.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr};

use super::Blocked;

const HOST_CHARS_MAX: usize = 253;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// In small letters, without a dot at its end.
    Name(String),
    Address(IpAddr),
}

/// An http or https URL, as far as it says whom to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub is_secure: bool,
    pub host: Host,
    pub port: u16,
}

impl Target {
    pub fn of(url: &str) -> Result<Self, Blocked> {
        let (is_secure, rest) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => {
                return Err(Blocked::Url("it begins neither with https:// nor http://"));
            }
        };
        if url
            .chars()
            .any(|c| c.is_whitespace() || c.is_control() || c == '\\')
        {
            return Err(Blocked::Url("it has characters that no URL has"));
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(Blocked::Url("it carries a user or a password"));
        }
        let (host, port) = split_port(authority)?;
        let port = port.unwrap_or(if is_secure { 443 } else { 80 });
        let host = Host::of(host)?;
        Ok(Self {
            is_secure,
            host,
            port,
        })
    }
}

impl Host {
    /// Reads a host as a URL has it. What only some readers take for an address, such as
    /// `2130706433` and `0x7f.1`, is refused, so that no two readers can disagree on it.
    pub fn of(text: &str) -> Result<Self, Blocked> {
        if let Some(inner) = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            let address = inner
                .parse()
                .map_err(|_| Blocked::Url("its address is none"))?;
            return Ok(Self::Address(IpAddr::V6(address)));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(Self::Address(IpAddr::V4(address)));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        if !is_name(name) {
            return Err(Blocked::Url("its host is neither a name nor an address"));
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_number = last.bytes().all(|byte| byte.is_ascii_digit());
        if is_number || last.to_ascii_lowercase().starts_with("0x") {
            return Err(Blocked::Url(
                "its host is a number written in an unusual way",
            ));
        }
        Ok(Self::Name(name.to_ascii_lowercase()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

pub(super) fn is_name(text: &str) -> bool {
    let fits = (1..=HOST_CHARS_MAX).contains(&text.len());
    let is_label = |label: &str| {
        let mut bytes = label.bytes();
        let fits = (1..=63).contains(&label.len());
        fits && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    fits && text.split('.').all(is_label)
}

fn split_port(authority: &str) -> Result<(&str, Option<u16>), Blocked> {
    let is_bracketed = authority.starts_with('[');
    let colon = authority
        .rfind(':')
        .filter(|at| !is_bracketed || authority.rfind(']').is_some_and(|end| end < *at));
    let Some(colon) = colon else {
        return Ok((authority, None));
    };
    let port = authority[colon + 1..].parse::<u16>();
    let port = port.ok().filter(|port| *port > 0);
    let port = port.ok_or(Blocked::Url("its port is none"))?;
    Ok((&authority[..colon], Some(port)))
}
