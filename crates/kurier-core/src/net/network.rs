//! A network: an address and how many of its bits count.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    start: IpAddr,
    bits: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a network such as 10.1.0.0/16, nor an address, nor a name")]
pub struct BadNetwork(pub String);

impl Network {
    pub const fn v4(start: [u8; 4], bits: u8) -> Self {
        let [a, b, c, d] = start;
        let start = IpAddr::V4(Ipv4Addr::new(a, b, c, d));
        Self { start, bits }
    }

    pub const fn v6(start: [u16; 8], bits: u8) -> Self {
        let [a, b, c, d, e, f, g, h] = start;
        let start = IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h));
        Self { start, bits }
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.start, address) {
            (IpAddr::V4(start), IpAddr::V4(address)) => {
                let differing = u32::from(start) ^ u32::from(address);
                differing.leading_zeros() >= u32::from(self.bits)
            }
            (IpAddr::V6(start), IpAddr::V6(address)) => {
                let differing = u128::from(start) ^ u128::from(address);
                differing.leading_zeros() >= u32::from(self.bits)
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = BadNetwork;

    fn from_str(text: &str) -> Result<Self, BadNetwork> {
        let bad = || BadNetwork(text.to_owned());
        let (start, bits) = match text.split_once('/') {
            Some((start, bits)) => (start, Some(bits)),
            None => (text, None),
        };
        let start: IpAddr = start.parse().map_err(|_| bad())?;
        let most = if start.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().map_err(|_| bad())?,
            None => most,
        };
        if bits > most {
            return Err(bad());
        }
        Ok(Self { start, bits })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.start, self.bits)
    }
}
