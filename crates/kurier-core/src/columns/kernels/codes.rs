//! Texts by their codes.

use crate::columns::cell::Open;
use crate::columns::column::Column;
use crate::columns::kernels::mask::Mask;
use crate::columns::kernels::range::each_cell;

/// Texts that are wanted, as codes.
#[derive(Clone, Copy)]
pub struct Codes<'a> {
    pub wanted: &'a [u32],
    pub negated: bool,
    /// What holds of a value that is there and no text.
    pub others: bool,
}

impl Codes<'_> {
    pub fn narrow(self, column: &Column, start: usize, mask: &mut Mask) {
        let count = column.len().saturating_sub(start).min(mask.len());
        mask.cut(count);
        let rows = start..start + count;
        match column {
            _ if count == 0 => {}
            Column::Text8(codes) => self.codes(&codes[rows], mask),
            Column::Text16(codes) => self.codes(&codes[rows], mask),
            Column::Text32(codes) => self.codes(&codes[rows], mask),
            column => each_cell(column, start, mask, |open| match open {
                Open::Missing => false,
                Open::Text(code) => self.wanted.contains(&code) != self.negated,
                _ => self.others,
            }),
        }
    }

    fn codes<T: Copy + Eq + Default + TryFrom<u32>>(self, codes: &[T], mask: &mut Mask) {
        let fitting = self
            .wanted
            .iter()
            .filter_map(|code| T::try_from(*code).ok());
        let wanted: Vec<T> = fitting.collect();
        match (self.negated, wanted.as_slice()) {
            (false, []) => mask.clear(),
            (false, [a]) => mask.keep(codes, |code| code == *a),
            (false, [a, b]) => mask.keep(codes, |code| (code == *a) | (code == *b)),
            (false, [a, b, c]) => {
                mask.keep(codes, |code| (code == *a) | (code == *b) | (code == *c));
            }
            (false, all) => mask.keep(codes, |code| all.contains(&code)),
            (true, []) => mask.keep(codes, |code| code != T::default()),
            (true, [a]) => mask.keep(codes, |code| (code != T::default()) & (code != *a)),
            (true, all) => {
                mask.keep(codes, |code| code != T::default() && !all.contains(&code));
            }
        }
    }
}

/// Keeps the texts of which `truths` says 1; its first is for what is missing. `None` if the column holds more than texts.
pub fn narrow_by_truths(
    column: &Column,
    start: usize,
    truths: &[u8],
    mask: &mut Mask,
) -> Option<()> {
    let count = column.len().saturating_sub(start).min(mask.len());
    let rows = start..start + count;
    match column {
        Column::Text8(codes) => by_truths(codes.get(rows)?, truths, mask),
        Column::Text16(codes) => by_truths(codes.get(rows)?, truths, mask),
        Column::Text32(codes) => by_truths(codes.get(rows)?, truths, mask),
        _ => return None,
    }
    if truths.first() == Some(&0) {
        mask.cut(count);
    }
    Some(())
}

fn by_truths<T: Copy + Into<u32>>(codes: &[T], truths: &[u8], mask: &mut Mask) {
    mask.remove(codes, |code| {
        let code: u32 = code.into();
        truths.get(code as usize).copied().unwrap_or(0) == 0
    });
}
