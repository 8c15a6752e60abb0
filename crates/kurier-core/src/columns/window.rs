//! A program over a window of contacts: a whole block, or one contact of it. Masks narrow as
//! conditions are asked, and what decides nothing any more is not asked.

use super::World;
use super::block::Block;
use super::kernels::mask::Mask;
use super::kernels::tally::Gathered;
use super::program::{Node, Part, Program, Source};
use super::set::EventSet;
use crate::time::Timestamp;

/// Buffers that outlive a window, so that the next need not allocate.
#[derive(Debug, Default, Clone)]
pub struct Spare {
    masks: Vec<Mask>,
    flags: Vec<Vec<u8>>,
    few: Vec<Vec<u16>>,
    counts: Vec<Vec<i32>>,
    numbers: Vec<Vec<f64>>,
    folds: Vec<Option<Gathered>>,
}

impl Spare {
    /// Takes back what the folds of the last window were gathered in.
    fn reclaim(&mut self, folds: usize) {
        for gathered in &mut self.folds {
            match gathered.take() {
                Some(Gathered::Flags(flags)) => self.masks.push(flags),
                Some(Gathered::Few(counts)) => self.few.push(counts),
                Some(Gathered::Counts(counts)) => self.counts.push(counts),
                Some(Gathered::Numbers(numbers)) => self.numbers.push(numbers),
                Some(Gathered::Times(_) | Gathered::Flag(_) | Gathered::Count(_)) | None => {}
            }
        }
        self.folds.resize(folds, None);
    }

    fn filled<T: Copy>(buffer: Option<Vec<T>>, count: usize, value: T) -> Vec<T> {
        let mut buffer = buffer.unwrap_or_default();
        buffer.clear();
        buffer.resize(count, value);
        buffer
    }

    /// A mask of so many rows, all of which pass.
    pub fn mask(&mut self, count: usize) -> Mask {
        let mut mask = self.masks.pop().unwrap_or_default();
        mask.refill(count, true);
        mask
    }

    /// A mask of the contacts that are live.
    pub fn live(&mut self, words: &[u64], count: usize) -> Mask {
        let mut mask = self.masks.pop().unwrap_or_default();
        mask.refill_from(words, count);
        mask
    }

    pub fn flags(&mut self, count: usize) -> Vec<u8> {
        Self::filled(self.flags.pop(), count, 0)
    }

    /// Flags as a mask.
    pub fn mask_of(&mut self, flags: Vec<u8>) -> Mask {
        let mut mask = self.mask(flags.len());
        mask.keep(&flags, |flag| flag != 0);
        self.flags.push(flags);
        mask
    }

    pub fn few(&mut self, count: usize) -> Vec<u16> {
        Self::filled(self.few.pop(), count, 0)
    }

    pub fn counts(&mut self, count: usize) -> Vec<i32> {
        Self::filled(self.counts.pop(), count, 0)
    }

    pub fn numbers(&mut self, count: usize, value: f64) -> Vec<f64> {
        Self::filled(self.numbers.pop(), count, value)
    }

    pub fn give_back(&mut self, mask: Mask) {
        self.masks.push(mask);
    }
}

pub struct Window<'w, 's> {
    pub world: &'w World,
    pub program: &'w Program,
    pub block: &'w Block,
    /// The number of the block.
    pub number: usize,
    /// The contact's slot, or 0 for the whole block.
    pub first: usize,
    /// One less than the number of contacts, which is a whole block or one.
    pub wrap: usize,
    pub now: Timestamp,
    /// The first instant, in microseconds, at which a verdict here may change by itself.
    pub until: i64,
    pub spare: &'s mut Spare,
}

/// What a mask's rows are.
#[derive(Clone, Copy)]
pub enum Rows<'w, 'a> {
    /// The contacts of the window.
    Contacts,
    /// Events of one type, from row `start` on.
    Events {
        set: &'w EventSet,
        part: &'w Part,
        start: usize,
        /// The part's conditions on contacts, decided.
        of_contact: &'a [Mask],
    },
}

impl<'w, 's> Window<'w, 's> {
    pub fn new(
        (world, program, number): (&'w World, &'w Program, usize),
        (first, wrap): (usize, usize),
        now: Timestamp,
        spare: &'s mut Spare,
    ) -> Self {
        spare.reclaim(program.folds.len());
        Self {
            world,
            program,
            block: &world.blocks[number],
            number,
            first,
            wrap,
            now,
            until: i64::MAX,
            spare,
        }
    }

    /// Narrows a mask of the window's contacts to those for whom the program holds.
    pub fn run(&mut self, mask: &mut Mask) {
        let program = self.program;
        self.narrow(&program.condition, Rows::Contacts, mask);
    }

    pub fn narrow(&mut self, node: &'w Node, rows: Rows<'w, '_>, mask: &mut Mask) {
        match node {
            Node::Const(true) => {}
            Node::Const(false) => mask.clear(),
            Node::And(parts) => {
                for part in parts {
                    if mask.is_empty() {
                        break;
                    }
                    self.narrow(part, rows, mask);
                }
            }
            Node::Or(parts) => self.any(parts, rows, mask),
            Node::Not(inner) => {
                let mut holds = self.mask_like(mask);
                self.narrow(inner, rows, &mut holds);
                mask.subtract(&holds);
                self.spare.give_back(holds);
            }
            Node::Exists(fold) => {
                self.ensure(*fold);
                match self.fold(*fold) {
                    Some(Gathered::Flags(flags)) => mask.intersect(flags),
                    Some(Gathered::Flag(false)) => mask.clear(),
                    _ => {}
                }
            }
            Node::OfContact(number) => {
                if let Rows::Events {
                    set,
                    start,
                    of_contact,
                    ..
                } = rows
                {
                    let slots = &set.slots()[start..start + mask.len()];
                    mask.keep_owners(slots, self.wrap, &of_contact[*number]);
                }
            }
            Node::Test(test) => self.test(test, rows, mask),
        }
    }

    /// What passes a part is not asked again.
    fn any(&mut self, parts: &'w [Node], rows: Rows<'w, '_>, mask: &mut Mask) {
        let mut left = self.mask_like(mask);
        let mut found = self.mask_like(mask);
        mask.clear();
        for part in parts {
            found.clone_from(&left);
            self.narrow(part, rows, &mut found);
            mask.unite(&found);
            left.subtract(&found);
            if left.is_empty() {
                break;
            }
        }
        self.spare.give_back(left);
        self.spare.give_back(found);
    }

    /// A copy of a mask in a spare buffer.
    fn mask_like(&mut self, mask: &Mask) -> Mask {
        self.spare.live(mask.words(), mask.len())
    }

    pub fn fold(&self, fold: usize) -> Option<&Gathered> {
        self.spare.folds[fold].as_ref()
    }

    /// Runs a fold unless it has been.
    pub fn ensure(&mut self, fold: usize) {
        if self.spare.folds[fold].is_none() {
            let program = self.program;
            let gathered = self.gather(&program.folds[fold]);
            self.spare.folds[fold] = Some(gathered);
        }
    }

    pub fn ensure_all(&mut self, sources: &[Source]) {
        sources
            .iter()
            .filter_map(Source::fold)
            .for_each(|fold| self.ensure(fold));
    }

    /// Something that a verdict rests on changes at this instant.
    pub fn changes_at(&mut self, micros: i64) {
        self.until = self.until.min(micros);
    }
}
