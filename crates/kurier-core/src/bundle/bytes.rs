//! Reading bytes of foreign origin: nothing is believed about lengths, and every number has
//! one way of being written.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BytesFault {
    Truncated,
    /// A number in more bytes than it needs.
    Varint,
}

/// What is left to be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn left(&self) -> usize {
        self.0.len()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], BytesFault> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(BytesFault::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], BytesFault> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn byte(&mut self) -> Result<u8, BytesFault> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Result<u32, BytesFault> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn varint(&mut self) -> Result<u64, BytesFault> {
        let (number, least) = match self.byte()? {
            0xfd => (u64::from(u16::from_le_bytes(self.array()?)), 0xfd),
            0xfe => (u64::from(self.u32()?), 0x1_0000),
            0xff => (u64::from_le_bytes(self.array()?), 0x1_0000_0000),
            small => (u64::from(small), 0),
        };
        match number >= least {
            true => Ok(number),
            false => Err(BytesFault::Varint),
        }
    }

    /// How many things follow, of which each takes at least `bytes_min`. More than fit into
    /// what is left are refused before any room is made for them.
    pub(super) fn count(&mut self, bytes_min: usize) -> Result<usize, BytesFault> {
        let count = usize::try_from(self.varint()?).map_err(|_| BytesFault::Truncated)?;
        match count <= self.0.len() / bytes_min {
            true => Ok(count),
            false => Err(BytesFault::Truncated),
        }
    }

    /// Bytes behind their length.
    pub(super) fn sized(&mut self) -> Result<&'a [u8], BytesFault> {
        let length = self.count(1)?;
        self.take(length)
    }
}

pub(super) fn put_varint(out: &mut Vec<u8>, number: u64) {
    match number {
        0..=0xfc => out.push(number as u8),
        0xfd..=0xffff => {
            out.push(0xfd);
            out.extend((number as u16).to_le_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            out.push(0xfe);
            out.extend((number as u32).to_le_bytes());
        }
        _ => {
            out.push(0xff);
            out.extend(number.to_le_bytes());
        }
    }
}
