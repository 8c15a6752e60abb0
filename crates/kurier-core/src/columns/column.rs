//! One typed column: the narrowest form that holds its values, widened when one does not fit.
//! A column may be shorter than its rows: what is beyond its end is missing.

use std::io;
use std::ops::Range;

use super::cell::{Cell, Open};
use super::snapshot::{Recode, Sink, SnapshotError, Source};

/// A missing number among integers.
pub const NO_INT: i32 = i32::MIN;
/// A missing value among booleans.
pub const NO_BOOL: u8 = 2;

#[derive(Debug, Clone)]
pub enum Column {
    Bool(Vec<u8>),
    Int(Vec<i32>),
    /// Numbers that single precision holds; NaN is missing.
    Single(Vec<f32>),
    Double(Vec<f64>),
    /// Codes of texts; 0 is missing.
    Text8(Vec<u8>),
    Text16(Vec<u16>),
    Text32(Vec<u32>),
    /// Codes of lists; 0 is missing.
    List(Vec<u32>),
    /// Values of more than one type.
    Mixed(Vec<Cell>),
}

/// Runs the same code on the vector of whatever form a column has.
macro_rules! each {
    ($column:expr, $values:ident => $body:expr) => {
        match $column {
            Column::Bool($values) => $body,
            Column::Int($values) => $body,
            Column::Single($values) => $body,
            Column::Double($values) => $body,
            Column::Text8($values) => $body,
            Column::Text16($values) => $body,
            Column::Text32($values) => $body,
            Column::List($values) => $body,
            Column::Mixed($values) => $body,
        }
    };
}

/// A value as it stands in a vector.
pub trait Stored: Copy {
    const MISSING: Self;
}

impl Stored for u8 {
    const MISSING: Self = 0;
}
impl Stored for u16 {
    const MISSING: Self = 0;
}
impl Stored for u32 {
    const MISSING: Self = 0;
}
impl Stored for i32 {
    const MISSING: Self = NO_INT;
}
impl Stored for f32 {
    const MISSING: Self = Self::NAN;
}
impl Stored for f64 {
    const MISSING: Self = Self::NAN;
}
impl Stored for Cell {
    const MISSING: Self = Self::MISSING;
}

impl Column {
    /// An empty column of the form that such a value would choose.
    pub fn for_cell(cell: Cell) -> Self {
        match cell.open() {
            Open::Bool(_) => Self::Bool(Vec::new()),
            Open::Number(number) if as_int(number).is_some() => Self::Int(Vec::new()),
            Open::Number(number) if as_single(number).is_some() => Self::Single(Vec::new()),
            Open::Number(_) => Self::Double(Vec::new()),
            Open::Text(code) => Self::for_codes(code),
            Open::List(_) => Self::List(Vec::new()),
            Open::Object | Open::Missing => Self::Mixed(Vec::new()),
        }
    }

    fn for_codes(code: u32) -> Self {
        match code {
            0..=0xFF => Self::Text8(Vec::new()),
            0x100..=0xFFFF => Self::Text16(Vec::new()),
            _ => Self::Text32(Vec::new()),
        }
    }

    pub fn len(&self) -> usize {
        each!(self, values => values.len())
    }

    pub fn get(&self, row: usize) -> Cell {
        if row >= self.len() {
            return Cell::MISSING;
        }
        let text = |code: u32| match code {
            0 => Cell::MISSING,
            code => Cell::text(code),
        };
        match self {
            Self::Bool(values) => match values[row] {
                NO_BOOL => Cell::MISSING,
                value => Cell::bool(value != 0),
            },
            Self::Int(values) => match values[row] {
                NO_INT => Cell::MISSING,
                value => Cell::number(f64::from(value)),
            },
            Self::Single(values) => Cell::number(f64::from(values[row])),
            Self::Double(values) => Cell::number(values[row]),
            Self::Text8(codes) => text(u32::from(codes[row])),
            Self::Text16(codes) => text(u32::from(codes[row])),
            Self::Text32(codes) => text(codes[row]),
            Self::List(codes) => match codes[row] {
                0 => Cell::MISSING,
                code => Cell::list(code),
            },
            Self::Mixed(cells) => cells[row],
        }
    }

    /// Sets a row, which may lie beyond the end.
    pub fn set(&mut self, row: usize, cell: Cell) {
        if cell.is_missing() && row >= self.len() {
            return;
        }
        if self.len() <= row {
            self.pad(row + 1);
        }
        if !self.store(row, cell) {
            self.widen(cell);
            let stored = self.store(row, cell);
            debug_assert!(stored, "a widened column holds what it was widened for");
        }
    }

    /// Lengthens the column by missing values.
    pub fn pad(&mut self, len: usize) {
        match self {
            // Codes and booleans share a byte but not what is missing in it.
            Self::Bool(values) => lengthen(values, len, NO_BOOL),
            column => each!(column, values => lengthen(values, len, Stored::MISSING)),
        }
    }

    /// Whether the value fits the column's form; then it is stored.
    fn store(&mut self, row: usize, cell: Cell) -> bool {
        match (self, cell.open()) {
            (Self::Bool(values), Open::Missing) => values[row] = NO_BOOL,
            (Self::Bool(values), Open::Bool(value)) => values[row] = u8::from(value),
            (Self::Mixed(cells), _) => cells[row] = cell,
            (column, Open::Missing) => each!(column, values => values[row] = Stored::MISSING),
            (Self::Int(values), Open::Number(number)) => return put(values, row, as_int(number)),
            (Self::Single(values), Open::Number(number)) => {
                return put(values, row, as_single(number));
            }
            (Self::Double(values), Open::Number(number)) => values[row] = number,
            (Self::Text8(codes), Open::Text(code)) => return put(codes, row, code.try_into().ok()),
            (Self::Text16(codes), Open::Text(code)) => {
                return put(codes, row, code.try_into().ok());
            }
            (Self::Text32(codes), Open::Text(code)) | (Self::List(codes), Open::List(code)) => {
                codes[row] = code;
            }
            _ => return false,
        }
        true
    }

    /// Takes the narrowest form that holds everything that is here and `cell`.
    fn widen(&mut self, cell: Cell) {
        let cells: Vec<Cell> = (0..self.len()).map(|row| self.get(row)).collect();
        let mut wider = match (&*self, cell.open()) {
            (Self::Int(_), Open::Number(number)) => {
                let fits = |cell: &Cell| match cell.open() {
                    Open::Number(number) => as_single(number).is_some(),
                    _ => true,
                };
                match as_single(number) {
                    Some(_) if cells.iter().all(fits) => Self::Single(Vec::new()),
                    _ => Self::Double(Vec::new()),
                }
            }
            (Self::Single(_), Open::Number(_)) => Self::Double(Vec::new()),
            (Self::Text8(_) | Self::Text16(_), Open::Text(code)) => Self::for_codes(code),
            _ => Self::Mixed(Vec::new()),
        };
        wider.pad(cells.len());
        for (row, cell) in cells.into_iter().enumerate() {
            let stored = wider.store(row, cell);
            debug_assert!(stored, "a wider form holds what a narrower one did");
        }
        *self = wider;
    }

    /// Puts the rows into another order, with room for `more`.
    pub fn reorder(&mut self, order: &[u32], more: usize) {
        self.pad(order.len());
        each!(self, values => *values = reordered(values, order, more));
    }

    pub fn remove(&mut self, rows: Range<usize>) {
        let end = rows.end.min(self.len());
        let start = rows.start.min(end);
        each!(self, values => drop(values.drain(start..end)));
    }

    /// Makes room for `count` rows at `row`, missing until they are set.
    pub fn open_gap(&mut self, row: usize, count: usize) {
        let len = self.len();
        if row >= len {
            return;
        }
        self.pad(len + count);
        let missing = row..row + count;
        match self {
            Self::Bool(values) => {
                values.copy_within(row..len, row + count);
                values[missing].fill(NO_BOOL);
            }
            column => each!(column, values => {
                values.copy_within(row..len, row + count);
                values[missing].fill(Stored::MISSING);
            }),
        }
    }

    /// Whether nothing stands in it.
    pub fn is_blank(&self) -> bool {
        (0..self.len()).all(|row| self.get(row).is_missing())
    }

    /// Shows each value that may be a text or a list.
    pub fn each_code(&self, show: impl FnMut(Cell)) {
        let has_none = matches!(
            self,
            Self::Bool(_) | Self::Int(_) | Self::Single(_) | Self::Double(_)
        );
        let count = if has_none { 0 } else { self.len() };
        (0..count).map(|row| self.get(row)).for_each(show);
    }

    fn recoded(&self, recode: &Recode) -> Self {
        let mut column = match self {
            // Codes only become smaller, so that any width will do.
            Self::Text8(_) | Self::Text16(_) | Self::Text32(_) => Self::Text8(Vec::new()),
            column => column.clone(),
        };
        column.pad(self.len());
        for row in 0..self.len() {
            column.set(row, recode.cell(self.get(row)));
        }
        column
    }

    pub fn write(&self, recode: &Recode, sink: &mut Sink<'_>) -> io::Result<()> {
        let form = match self {
            Self::Bool(_) => 1,
            Self::Int(_) => 2,
            Self::Single(_) => 3,
            Self::Double(_) => 4,
            Self::Text8(_) => 5,
            Self::Text16(_) => 6,
            Self::Text32(_) => 7,
            Self::List(_) => 8,
            Self::Mixed(_) => 9,
        };
        if form >= 5 && !recode.is_same() {
            let recoded = self.recoded(recode);
            return recoded.write(&Recode::none(), sink);
        }
        sink.number(form)?;
        each!(self, values => sink.values(values))
    }

    pub fn read(source: &mut Source<'_>) -> Result<Self, SnapshotError> {
        Ok(match source.number()? {
            1 => Self::Bool(source.values()?),
            2 => Self::Int(source.values()?),
            3 => Self::Single(source.values()?),
            4 => Self::Double(source.values()?),
            5 => Self::Text8(source.values()?),
            6 => Self::Text16(source.values()?),
            7 => Self::Text32(source.values()?),
            8 => Self::List(source.values()?),
            9 => Self::Mixed(source.values()?),
            _ => return Err(SnapshotError::Damaged),
        })
    }

    pub fn bytes(&self) -> usize {
        each!(self, values => values.capacity() * size_of_val(&values[..]) / values.len().max(1))
    }
}

fn put<T>(values: &mut [T], row: usize, value: Option<T>) -> bool {
    match value {
        Some(value) => {
            values[row] = value;
            true
        }
        None => false,
    }
}

/// The same number as an integer, if it is one (and not minus zero).
pub fn as_int(number: f64) -> Option<i32> {
    let int = number as i32;
    let is_same = f64::from(int).to_bits() == number.to_bits();
    (is_same && int != NO_INT).then_some(int)
}

fn as_single(number: f64) -> Option<f32> {
    let single = number as f32;
    (f64::from(single) == number).then_some(single)
}

pub fn reordered<T: Copy>(values: &[T], order: &[u32], more: usize) -> Vec<T> {
    let mut sorted = Vec::with_capacity(order.len() + more);
    sorted.extend(order.iter().map(|row| values[*row as usize]));
    sorted
}

/// Pushes without doubling what is allocated: columns are many and long.
pub fn push<T>(values: &mut Vec<T>, value: T) {
    if values.len() == values.capacity() {
        values.reserve_exact(values.len() / 8 + 8);
    }
    values.push(value);
}

fn lengthen<T: Copy>(values: &mut Vec<T>, len: usize, missing: T) {
    if len > values.capacity() {
        values.reserve_exact(len - values.len() + len / 8);
    }
    if len > values.len() {
        values.resize(len, missing);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cell() -> impl Strategy<Value = Cell> {
        prop_oneof![
            4 => (-3..3i32).prop_map(|n| Cell::number(f64::from(n))),
            1 => Just(Cell::number(0.5)),
            1 => Just(Cell::number(0.1)),
            1 => Just(Cell::number(16_777_217.0)),
            1 => Just(Cell::number(-0.0)),
            1 => Just(Cell::number(f64::from(i32::MIN))),
            2 => (1..70_000u32).prop_map(Cell::text),
            2 => (1..4u32).prop_map(Cell::text),
            1 => Just(Cell::bool(true)),
            1 => Just(Cell::list(3)),
            1 => Just(Cell::OBJECT),
            2 => Just(Cell::MISSING),
        ]
    }

    proptest! {
        #[test]
        fn a_column_gives_back_what_was_set(
            sets in prop::collection::vec((0..12usize, cell()), 1..30),
            kinds in 1..12usize,
        ) {
            // Few kinds at a time, so that narrow forms are met as well.
            let first = sets[0].1;
            let mut column = Column::for_cell(first);
            let mut plain = vec![Cell::MISSING; 24];
            for (row, cell) in sets.into_iter().take(kinds) {
                column.set(row, cell);
                plain[row] = cell;
            }
            for (row, cell) in plain.iter().enumerate() {
                prop_assert_eq!(column.get(row), *cell);
            }
            column.open_gap(2, 3);
            plain.splice(2..2, [Cell::MISSING; 3]);
            column.remove(0..1);
            plain.remove(0);
            let order: Vec<u32> = (0..20).rev().collect();
            column.pad(20);
            column.reorder(&order, 2);
            for (row, cell) in plain[..20].iter().rev().enumerate() {
                prop_assert_eq!(column.get(row), *cell, "row {}", row);
            }
        }
    }
}
