//! One value in eight bytes: a number as itself, everything else inside the payload of a
//! NaN, which no JSON number can be.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cell(u64);

/// A cell, opened. Texts and lists are codes of the pool of their path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Open {
    Missing,
    Bool(bool),
    Number(f64),
    Text(u32),
    List(u32),
    /// There is an object; what is in it stands under longer paths.
    Object,
}

const TAG_SHIFT: u32 = 48;
const MISSING: u64 = 0xFFF9;
const BOOL: u64 = 0xFFFA;
const TEXT: u64 = 0xFFFB;
const LIST: u64 = 0xFFFC;
const OBJECT: u64 = 0xFFFD;

impl Cell {
    pub const MISSING: Self = Self::tagged(MISSING, 0);
    pub const OBJECT: Self = Self::tagged(OBJECT, 0);

    const fn tagged(tag: u64, payload: u32) -> Self {
        Self((tag << TAG_SHIFT) | payload as u64)
    }

    pub const fn bool(value: bool) -> Self {
        Self::tagged(BOOL, value as u32)
    }

    /// What is not a number at all is missing.
    pub const fn number(number: f64) -> Self {
        if number.is_nan() {
            return Self::MISSING;
        }
        Self(number.to_bits())
    }

    pub const fn text(code: u32) -> Self {
        Self::tagged(TEXT, code)
    }

    pub const fn list(code: u32) -> Self {
        Self::tagged(LIST, code)
    }

    pub fn is_missing(self) -> bool {
        self == Self::MISSING
    }

    pub const fn open(self) -> Open {
        let payload = self.0 as u32;
        match self.0 >> TAG_SHIFT {
            MISSING => Open::Missing,
            BOOL => Open::Bool(payload != 0),
            TEXT => Open::Text(payload),
            LIST => Open::List(payload),
            OBJECT => Open::Object,
            _ => Open::Number(f64::from_bits(self.0)),
        }
    }

    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// The cell of these bits; bits that are no cell's are missing.
    pub const fn from_bits(bits: u64) -> Self {
        match bits >> TAG_SHIFT {
            MISSING | BOOL | TEXT | LIST | OBJECT => Self(bits),
            _ => Self::number(f64::from_bits(bits)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_open_to_what_was_put_in() {
        for (cell, open) in [
            (Cell::MISSING, Open::Missing),
            (Cell::OBJECT, Open::Object),
            (Cell::bool(true), Open::Bool(true)),
            (Cell::text(u32::MAX), Open::Text(u32::MAX)),
            (Cell::list(7), Open::List(7)),
            (Cell::number(-0.25), Open::Number(-0.25)),
            (Cell::number(f64::MIN), Open::Number(f64::MIN)),
            (
                Cell::number(f64::NEG_INFINITY),
                Open::Number(f64::NEG_INFINITY),
            ),
            (Cell::number(f64::NAN), Open::Missing),
        ] {
            assert_eq!(cell.open(), open);
            assert_eq!(Cell::from_bits(cell.to_bits()), cell);
        }
    }
}
