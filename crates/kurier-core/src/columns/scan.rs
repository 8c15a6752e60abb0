//! A plan over all contacts at once, and over one contact again and again.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use super::World;
use super::bitmap::{Bitmap, Shared};
use super::block::{BLOCK, place};
use super::kernels::mask::Mask;
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
        let threads = cores().min(self.blocks.len().div_ceil(BLOCKS_PER_THREAD));
        let work = Work::new(self.blocks.len(), threads.max(1));
        if threads <= 1 {
            self.scan_blocks(&program, now, (&work, 0));
        } else {
            let (program, work) = (&program, &work);
            // They wait for work all the time: to start one takes a tenth of a scan.
            rayon_core::in_place_scope(|scope| {
                for thread in 1..threads {
                    scope.spawn(move |_| self.scan_blocks(program, now, (work, thread)));
                }
                self.scan_blocks(program, now, (work, 0));
            });
        }
        Scan {
            members: work.members.finish(),
            until: Timestamp::from_micros(work.until.into_inner()),
        }
    }

    fn scan_blocks(&self, program: &Program, now: Timestamp, (work, thread): (&Work, usize)) {
        let mut until = i64::MAX;
        let mut spare = Spare::default();
        let mut mask = Mask::default();
        for at in work.blocks(thread) {
            mask.refill_from(self.blocks[at].live(), BLOCK);
            let window = (0, BLOCK - 1);
            let mut window = Window::new((self, program, at), window, now, &mut spare);
            window.until = until;
            window.run(&mut mask);
            until = window.until;
            work.members.put(at * BLOCK, mask.words());
        }
        work.until.fetch_min(until, Ordering::Relaxed);
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
        let mut mask = window.spare.mask(1);
        window.run(&mut mask);
        let verdict = Verdict {
            holds: mask.get(0),
            until: Timestamp::from_micros(window.until),
        };
        spare.give_back(mask);
        verdict
    }
}

/// What threads share over a scan.
struct Work {
    shares: Vec<Share>,
    members: Shared,
    until: AtomicI64,
}

/// The blocks one thread looks at first: the same in every scan, so that a core may still have
/// them in its cache. On a line of the cache of its own.
#[repr(align(64))]
struct Share {
    /// The block that nobody has looked at yet.
    next: AtomicUsize,
    end: usize,
}

impl Work {
    fn new(blocks: usize, threads: usize) -> Self {
        let first = |thread: usize| blocks * thread / threads;
        let share = |thread: usize| Share {
            next: AtomicUsize::new(first(thread)),
            end: first(thread + 1),
        };
        Self {
            shares: (0..threads).map(share).collect(),
            members: Shared::new(blocks * BLOCK),
            until: AtomicI64::new(i64::MAX),
        }
    }

    /// The blocks of a thread's share, and what is left of the others'.
    fn blocks(&self, thread: usize) -> impl Iterator<Item = usize> + '_ {
        let (before, own) = self.shares.split_at(thread);
        own.iter().chain(before).flat_map(|share| {
            std::iter::from_fn(|| {
                let at = share.next.fetch_add(1, Ordering::Relaxed);
                (at < share.end).then_some(at)
            })
        })
    }
}

/// Asking the system is slower than a small scan, so it is asked once.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}
