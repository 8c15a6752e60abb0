//! Where Kurier may call on a user's behalf. A URL that someone typed must not reach what
//! only this machine or its network can reach: the list of such addresses is here, and
//! whoever opens a connection asks it about the very address it connects to.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

mod network;
mod target;

pub use network::{BadNetwork, Network};
pub use target::{Host, Target};

/// Why a place is not called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Blocked {
    #[error("{address} is not called: {why}")]
    Address { address: IpAddr, why: &'static str },
    #[error("port {0} is not called: it is not one of HTTP's")]
    Port(u16),
    #[error("the URL is not usable: {0}")]
    Url(&'static str),
}

/// IPv4 networks that are not the public internet, and what they are.
#[rustfmt::skip]
const V4: &[([u8; 4], u8, &str)] = &[
    ([0, 0, 0, 0], 8, "this network"),
    ([10, 0, 0, 0], 8, "a private network"),
    ([100, 64, 0, 0], 10, "a provider's inner network"),
    ([127, 0, 0, 0], 8, "this machine"),
    ([168, 63, 129, 16], 32, "a cloud's metadata"),
    ([169, 254, 0, 0], 16, "link-local, where clouds keep metadata"),
    ([172, 16, 0, 0], 12, "a private network"),
    ([192, 0, 0, 0], 24, "reserved for protocols"),
    ([192, 0, 2, 0], 24, "reserved for documentation"),
    ([192, 88, 99, 0], 24, "a 6to4 relay"),
    ([192, 168, 0, 0], 16, "a private network"),
    ([198, 18, 0, 0], 15, "reserved for benchmarks"),
    ([198, 51, 100, 0], 24, "reserved for documentation"),
    ([203, 0, 113, 0], 24, "reserved for documentation"),
    ([224, 0, 0, 0], 4, "multicast"),
    ([240, 0, 0, 0], 4, "reserved"),
];

/// IPv6 networks within the public part that are not public.
#[rustfmt::skip]
const V6: &[([u16; 8], u8, &str)] = &[
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "reserved for protocols, Teredo among them"),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "reserved for documentation"),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "6to4, which hides an IPv4 address"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "reserved for documentation"),
];

/// The only part of IPv6 that is public.
const V6_PUBLIC: Network = Network::v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);
/// Addresses through which a network without IPv4 reaches it.
const NAT64: Network = Network::v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);

/// Ports from 1024 up that speak something else which an HTTP request could be taken for.
const OTHER_PORTS: &[u16] = &[
    1719, 1720, 1723, 2049, 2375, 2376, 2379, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432, 5672,
    5900, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9042, 9092, 9200, 10080,
    10250, 11211, 27017,
];

/// What an operator lets Kurier call although the list says no.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guard {
    networks: Vec<Network>,
    hosts: Vec<String>,
}

impl Guard {
    /// Networks (`10.1.0.0/16`), addresses and names (`hooks.internal`) that are open.
    pub fn new<'a>(allowed: impl IntoIterator<Item = &'a str>) -> Result<Self, BadNetwork> {
        let mut guard = Self::default();
        for text in allowed.into_iter().map(str::trim) {
            match Network::from_str(text) {
                Ok(network) => guard.networks.push(network),
                Err(_) if target::is_name(text) && !text.contains('/') => {
                    guard.hosts.push(text.to_ascii_lowercase());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(guard)
    }

    /// Whether `address`, which `host` stands for, may be connected to at `port`.
    pub fn check(&self, host: &Host, address: IpAddr, port: u16) -> Result<(), Blocked> {
        let address = canonical(address);
        if self.is_open(host, address) {
            return Ok(());
        }
        check_port(port)?;
        match fault(address) {
            Some(why) => Err(Blocked::Address { address, why }),
            None => Ok(()),
        }
    }

    fn is_open(&self, host: &Host, address: IpAddr) -> bool {
        let named = match host {
            Host::Name(name) => self.hosts.contains(name),
            Host::Address(_) => false,
        };
        named || self.networks.iter().any(|it| it.contains(address))
    }
}

fn check_port(port: u16) -> Result<(), Blocked> {
    let is_https = matches!(port, 80 | 443);
    let is_free = port >= 1024 && !OTHER_PORTS.contains(&port);
    (is_https || is_free)
        .then_some(())
        .ok_or(Blocked::Port(port))
}

/// Why an address is not on the public internet.
pub fn fault(address: IpAddr) -> Option<&'static str> {
    match canonical(address) {
        IpAddr::V4(address) => fault_v4(address),
        IpAddr::V6(address) => fault_v6(address),
    }
}

fn fault_v4(address: Ipv4Addr) -> Option<&'static str> {
    let mut table = V4.iter();
    let found =
        table.find(|(start, bits, _)| Network::v4(*start, *bits).contains(IpAddr::V4(address)));
    found.map(|(_, _, why)| *why)
}

fn fault_v6(address: Ipv6Addr) -> Option<&'static str> {
    if NAT64.contains(IpAddr::V6(address)) {
        return fault_v4(inner_v4(address));
    }
    if !V6_PUBLIC.contains(IpAddr::V6(address)) {
        return Some("not a public IPv6 address");
    }
    let mut table = V6.iter();
    let found =
        table.find(|(start, bits, _)| Network::v6(*start, *bits).contains(IpAddr::V6(address)));
    found.map(|(_, _, why)| *why)
}

/// An IPv4 address written as an IPv6 one is the IPv4 address.
fn canonical(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

fn inner_v4(address: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d)
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let networks = self.networks.iter().map(ToString::to_string);
        let all: Vec<String> = networks.chain(self.hosts.iter().cloned()).collect();
        f.write_str(&all.join(", "))
    }
}

#[cfg(test)]
mod tests;
