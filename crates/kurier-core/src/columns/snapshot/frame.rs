//! Frames: a length, a checksum, the bytes. The number of the frame is in its checksum, so
//! that none can be lost or change places; an empty one says that this was all.

use std::io::{self, Read, Write};

use super::SnapshotError;
use crate::columns::cell::Cell;
use crate::id::ContactId;

const FRAME_MAX: usize = if cfg!(test) { 64 } else { 1 << 20 };

/// A value of fixed size.
pub trait Plain: Copy {
    const BYTES: usize;
    fn put(self, bytes: &mut [u8]);
    fn take(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($type:ty),*) => {$(
        impl Plain for $type {
            const BYTES: usize = size_of::<$type>();

            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            fn take(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$type>()];
                own.copy_from_slice(bytes);
                Self::from_le_bytes(own)
            }
        }
    )*};
}

plain!(u8, u16, u32, u64, i32, i64, f32, f64);

impl Plain for Cell {
    const BYTES: usize = 8;

    fn put(self, bytes: &mut [u8]) {
        self.to_bits().put(bytes);
    }

    fn take(bytes: &[u8]) -> Self {
        Self::from_bits(u64::take(bytes))
    }
}

impl Plain for ContactId {
    const BYTES: usize = 16;

    fn put(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(self.as_uuid().as_bytes());
    }

    fn take(bytes: &[u8]) -> Self {
        let mut own = [0; 16];
        own.copy_from_slice(bytes);
        Self::from_bytes(own)
    }
}

impl Plain for [u8; 16] {
    const BYTES: usize = 16;

    fn put(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self);
    }

    fn take(bytes: &[u8]) -> Self {
        let mut own = [0; 16];
        own.copy_from_slice(bytes);
        own
    }
}

pub struct Sink<'a> {
    out: &'a mut dyn Write,
    frame: Vec<u8>,
    number: u64,
}

impl<'a> Sink<'a> {
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            frame: Vec::with_capacity(FRAME_MAX),
            number: 0,
        }
    }

    pub fn number(&mut self, number: usize) -> io::Result<()> {
        self.plain(&[number as u64])
    }

    pub fn one<T: Plain>(&mut self, value: T) -> io::Result<()> {
        self.plain(&[value])
    }

    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.values(text.as_bytes())
    }

    /// Values, with how many they are.
    pub fn values<T: Plain>(&mut self, values: &[T]) -> io::Result<()> {
        self.number(values.len())?;
        self.plain(values)
    }

    /// No value is cut in two by the end of a frame.
    fn plain<T: Plain>(&mut self, mut values: &[T]) -> io::Result<()> {
        while !values.is_empty() {
            let room = (FRAME_MAX - self.frame.len()) / T::BYTES;
            if room == 0 {
                self.flush()?;
                continue;
            }
            let (now, later) = values.split_at(room.min(values.len()));
            let start = self.frame.len();
            self.frame.resize(start + now.len() * T::BYTES, 0);
            let places = self.frame[start..].chunks_exact_mut(T::BYTES);
            places.zip(now).for_each(|(place, value)| value.put(place));
            values = later;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let length = self.frame.len() as u32;
        self.out.write_all(&length.to_le_bytes())?;
        let sum = checksum(self.number, &self.frame);
        self.out.write_all(&sum.to_le_bytes())?;
        self.out.write_all(&self.frame)?;
        self.number += 1;
        self.frame.clear();
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<()> {
        if !self.frame.is_empty() {
            self.flush()?;
        }
        self.flush()?;
        self.out.flush()
    }
}

pub struct Source<'a> {
    from: &'a mut dyn Read,
    frame: Vec<u8>,
    at: usize,
    number: u64,
}

impl<'a> Source<'a> {
    pub fn new(from: &'a mut dyn Read) -> Self {
        Self {
            from,
            frame: Vec::new(),
            at: 0,
            number: 0,
        }
    }

    pub fn number(&mut self) -> Result<usize, SnapshotError> {
        usize::try_from(self.one::<u64>()?).map_err(|_| SnapshotError::Damaged)
    }

    pub fn one<T: Plain>(&mut self) -> Result<T, SnapshotError> {
        let value = self.plain(1)?.pop();
        value.ok_or(SnapshotError::Damaged)
    }

    pub fn text(&mut self) -> Result<String, SnapshotError> {
        String::from_utf8(self.values()?).map_err(|_| SnapshotError::Damaged)
    }

    pub fn values<T: Plain>(&mut self) -> Result<Vec<T>, SnapshotError> {
        let count = self.number()?;
        self.plain(count)
    }

    fn plain<T: Plain>(&mut self, count: usize) -> Result<Vec<T>, SnapshotError> {
        let mut values = Vec::with_capacity(count);
        while values.len() < count {
            let left = self.frame.len() - self.at;
            if left < T::BYTES {
                self.next()?;
                continue;
            }
            let now = (left / T::BYTES).min(count - values.len());
            let bytes = &self.frame[self.at..self.at + now * T::BYTES];
            values.extend(bytes.chunks_exact(T::BYTES).map(T::take));
            self.at += now * T::BYTES;
        }
        Ok(values)
    }

    fn next(&mut self) -> Result<(), SnapshotError> {
        if self.read()? == 0 {
            return Err(SnapshotError::Damaged);
        }
        Ok(())
    }

    /// Reads the next frame and verifies it.
    fn read(&mut self) -> Result<usize, SnapshotError> {
        let mut head = [0; 12];
        self.from.read_exact(&mut head)?;
        let length = u32::take(&head[..4]) as usize;
        if length > FRAME_MAX {
            return Err(SnapshotError::Damaged);
        }
        self.frame.resize(length, 0);
        self.from.read_exact(&mut self.frame)?;
        if checksum(self.number, &self.frame) != u64::take(&head[4..]) {
            return Err(SnapshotError::Damaged);
        }
        self.number += 1;
        self.at = 0;
        Ok(length)
    }

    /// Verifies that this was all.
    pub fn finish(mut self) -> Result<(), SnapshotError> {
        let is_end = self.at == self.frame.len() && self.read()? == 0;
        is_end.then_some(()).ok_or(SnapshotError::Damaged)
    }
}

/// Every step can be undone, so that no change of one word goes unnoticed.
fn checksum(number: u64, bytes: &[u8]) -> u64 {
    let step = |sum: u64, word: u64| {
        (sum ^ word)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29)
    };
    let words = bytes.chunks_exact(8);
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    let sum = words
        .map(u64::take)
        .fold(step(number, bytes.len() as u64), step);
    step(step(sum, u64::from_le_bytes(last)), number)
}
