//! The lines of a file that may not be text everywhere: a line that is not UTF-8 is a faulty
//! line, not the end of the file.

use std::io::{self, BufRead};

pub struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
    bytes: u64,
}

pub struct Line<'a> {
    /// From 1.
    pub number: u64,
    /// How far the file is read, this line included.
    pub bytes: u64,
    /// The trimmed text, or why there is none.
    pub text: Result<&'a str, String>,
}

impl<R: BufRead> Lines<R> {
    pub const fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            number: 0,
            bytes: 0,
        }
    }

    pub fn read(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let read = self.reader.read_until(b'\n', &mut self.buffer)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.bytes += read as u64;
        let text = std::str::from_utf8(&self.buffer)
            .map(|text| text.trim_start_matches('\u{feff}').trim())
            .map_err(|e| format!("is not UTF-8 after {} bytes", e.valid_up_to()));
        Ok(Some(Line {
            number: self.number,
            bytes: self.bytes,
            text,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_text_is_only_itself() {
        let mut lines = Lines::new(&b"\xef\xbb\xbfone\r\n\xff\nthree"[..]);
        let mut read = Vec::new();
        while let Some(line) = lines.read().expect("memory is readable") {
            read.push((line.number, line.bytes, line.text.map(str::to_owned).ok()));
        }
        let expected = [(1, 8, Some("one")), (2, 10, None), (3, 15, Some("three"))];
        assert_eq!(
            read,
            expected.map(|(n, bytes, text)| (n, bytes, text.map(str::to_owned)))
        );
    }
}
