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

/// How the paths of a tree are written, and the codes under each. A path under which nothing
/// stands is left out: its name may be all that is left of someone.
#[derive(Debug)]
pub struct PathCodes {
    numbers: Vec<Option<usize>>,
    recodes: Vec<Recode>,
}

impl PathCodes {
    pub fn new(used: &[bool], recode: impl Fn(usize) -> Recode) -> Self {
        let recode = |path| match used[path] {
            true => recode(path),
            false => Recode::none(),
        };
        Self {
            numbers: numbered(used),
            recodes: (0..used.len()).map(recode).collect(),
        }
    }

    /// A tree of one path.
    pub fn one(recode: Recode) -> Self {
        Self {
            numbers: vec![Some(0)],
            recodes: vec![recode],
        }
    }

    /// The old numbers of those that are written, in order.
    pub fn kept(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.numbers.len()).filter(|path| self.numbers[*path].is_some())
    }

    /// The number a path is written under.
    pub fn number(&self, path: usize) -> Option<usize> {
        self.numbers.get(path).copied().flatten()
    }

    pub fn recode(&self, path: usize) -> &Recode {
        &self.recodes[path]
    }
}

/// How event types are written: those without events are left out.
#[derive(Debug)]
pub struct TypeCodes {
    numbers: Vec<Option<usize>>,
    paths: Vec<Option<PathCodes>>,
}

impl TypeCodes {
    pub fn new(used: &[bool]) -> Self {
        Self {
            numbers: numbered(used),
            paths: used.iter().map(|_| None).collect(),
        }
    }

    pub fn push(&mut self, event_type: u32, paths: PathCodes) {
        self.paths[event_type as usize] = Some(paths);
    }

    /// The number a type is written under, and how its paths are.
    pub fn get(&self, event_type: u32) -> Option<(usize, &PathCodes)> {
        let at = event_type as usize;
        Some((self.numbers[at]?, self.paths[at].as_ref()?))
    }
}

fn numbered(used: &[bool]) -> Vec<Option<usize>> {
    let mut next = 0..;
    let number = |used: &bool| used.then(|| next.next()).flatten();
    used.iter().map(number).collect()
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
