//! Which texts and lists of a pool are still used, and the codes they are written under.

use crate::columns::cell::{Cell, Open};
use crate::columns::column::Column;
use crate::columns::pool::Pool;

#[derive(Debug, Clone)]
pub struct Recode {
    /// The new code of each old one, 0 for what is not used; none if all stay as they are.
    texts: Vec<u32>,
    lists: Vec<u32>,
    is_same: bool,
}

impl Recode {
    /// Looks at all columns that use a pool.
    pub fn of<'a>(pool: &Pool, columns: impl Iterator<Item = &'a Column>) -> Self {
        let mut recode = Self {
            texts: vec![0; pool.texts_len() + 1],
            lists: vec![0; pool.lists_len() + 1],
            is_same: false,
        };
        for column in columns {
            column.each_code(|cell| recode.mark(cell));
        }
        for code in 1..recode.lists.len() {
            if recode.lists[code] != 0 {
                pool.list(code as u32)
                    .iter()
                    .for_each(|item| recode.mark(*item));
            }
        }
        let texts = renumber(&mut recode.texts);
        let lists = renumber(&mut recode.lists);
        recode.is_same = texts && lists;
        recode
    }

    /// All stay as they are.
    pub const fn none() -> Self {
        Self {
            texts: Vec::new(),
            lists: Vec::new(),
            is_same: true,
        }
    }

    fn mark(&mut self, cell: Cell) {
        match cell.open() {
            Open::Text(code) => self.texts[code as usize] = 1,
            Open::List(code) => self.lists[code as usize] = 1,
            _ => {}
        }
    }

    pub const fn is_same(&self) -> bool {
        self.is_same
    }

    pub fn cell(&self, cell: Cell) -> Cell {
        match cell.open() {
            Open::Text(code) => Cell::text(self.texts[code as usize]),
            Open::List(code) => Cell::list(self.lists[code as usize]),
            _ => cell,
        }
    }

    /// The codes that stay, in their order.
    pub fn texts(&self) -> impl Iterator<Item = u32> + '_ {
        kept(&self.texts)
    }

    pub fn lists(&self) -> impl Iterator<Item = u32> + '_ {
        kept(&self.lists)
    }
}

fn kept(codes: &[u32]) -> impl Iterator<Item = u32> + '_ {
    (1..codes.len() as u32).filter(|code| codes[*code as usize] != 0)
}

/// Gives those that are marked their numbers; says whether that is everybody.
fn renumber(marks: &mut [u32]) -> bool {
    let mut next = 0;
    for mark in marks.iter_mut().skip(1).filter(|mark| **mark != 0) {
        next += 1;
        *mark = next;
    }
    next as usize + 1 == marks.len()
}
