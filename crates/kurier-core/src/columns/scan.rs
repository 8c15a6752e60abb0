//! A plan over all contacts at once, and over one contact again and again.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::World;
use super::bitmap::Bitmap;
use super::block::{BLOCK, place};
use super::kernels::mask;
use super::program::{Depth, Program, compile};
use super::window::{Spare, Window};
use crate::expr::{FOREVER, Plan, Verdict};
use crate::time::Timestamp;

/// With fewer blocks than this a second thread costs more than it saves.
const BLOCKS_PER_THREAD: usize = if cfg!(test) { 1 } else { 8 };

/// For whom a plan holds, and the first instant at which that may have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    pub members: Bitmap,
    pub until: Timestamp,
}

/// A plan made ready for one contact at a time. It follows the world as that grows.
#[derive(Debug, Clone)]
pub struct Prepared {
    plan: Plan,
    program: Program,
    /// The shape of the world it was made for.
    shape: u64,
    spare: Spare,
}

impl World {
    /// Decides a plan for every contact, on all cores.
    pub fn scan(&self, plan: &Plan, now: Timestamp) -> Scan {
        let program = compile(plan, self, Depth::Scan);
        let next = AtomicUsize::new(0);
        let threads = cores().min(self.blocks.len().div_ceil(BLOCKS_PER_THREAD));
        let work = || self.scan_blocks(&program, now, &next);
        let found: Vec<Found> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut found = vec![work()];
            let joined = others.into_iter().map(|thread| thread.join());
            found.extend(
                joined.map(|found| found.unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
            );
            found
        });
        self.united(found)
    }

    fn scan_blocks(&self, program: &Program, now: Timestamp, next: &AtomicUsize) -> Found {
        let mut found = Found {
            blocks: Vec::new(),
            until: i64::MAX,
        };
        let mut spare = Spare::default();
        let mut mask = vec![0; BLOCK];
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(block) = self.blocks.get(at) else {
                return found;
            };
            mask::spread(block.live(), &mut mask);
            let window = (0, BLOCK - 1);
            let mut window = Window::new((self, program, at), window, now, &mut spare);
            window.until = found.until;
            window.run(&mut mask);
            found.until = window.until;
            let mut words = [0; BLOCK.div_ceil(64)];
            mask::pack(&mask, &mut words);
            found.blocks.push((at, words));
        }
    }

    fn united(&self, found: Vec<Found>) -> Scan {
        let mut members = Bitmap::from_words(vec![0; (self.blocks.len() * BLOCK).div_ceil(64)]);
        let mut until = i64::MAX;
        for found in found {
            until = until.min(found.until);
            for (at, words) in found.blocks {
                members.put(at * BLOCK, &words);
            }
        }
        Scan {
            members,
            until: Timestamp::from_micros(until),
        }
    }

    /// Makes a plan ready for [`World::verdict`].
    pub fn prepare(&self, plan: &Plan) -> Prepared {
        Prepared {
            plan: plan.clone(),
            program: compile(plan, self, Depth::Row),
            shape: self.shape,
            spare: Spare::default(),
        }
    }

    /// Decides a plan for one contact. It does not hold for a number that is nobody's.
    pub fn verdict(&self, prepared: &mut Prepared, number: u32, now: Timestamp) -> Verdict {
        if prepared.shape != self.shape {
            prepared.program = compile(&prepared.plan, self, Depth::Row);
            prepared.shape = self.shape;
        }
        let (block, slot) = place(number);
        if !self
            .blocks
            .get(block)
            .is_some_and(|block| block.is_live(slot))
        {
            return Verdict {
                holds: false,
                until: FOREVER,
            };
        }
        let spare = &mut prepared.spare;
        let window = (usize::from(slot), 0);
        let mut window = Window::new((self, &prepared.program, block), window, now, spare);
        let mut mask = [1];
        window.run(&mut mask);
        Verdict {
            holds: mask[0] != 0,
            until: Timestamp::from_micros(window.until),
        }
    }
}

/// What one thread found.
struct Found {
    blocks: Vec<(usize, [u64; BLOCK.div_ceil(64)])>,
    until: i64,
}

/// Asking the system is slower than a small scan, so it is asked once.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}
