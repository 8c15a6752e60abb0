//! Which bits the next header must have, by the rule of its chain at its height.

use super::Chain;
use super::branch::{Branch, Point};
use super::refusal::Refusal;
use super::target;
use super::u256::U256;

const SPACING_SECONDS: u64 = 600;
/// Blocks between two changes of the target, and how long they should take.
const PERIOD: u32 = 2_016;
const PERIOD_SECONDS: u64 = PERIOD as u64 * SPACING_SECONDS;
/// The last block that Bitcoin SV has in common with Bitcoin.
const COMMON_LAST: u32 = 478_558;
/// The last block before the target follows the work of a day.
const EMERGENCY_LAST: u32 = 504_031;
const EMERGENCY_SECONDS: i64 = 12 * 3_600;
const DAY: u32 = 144;
/// How far down the rule of the day's work looks: a day, and the two before its first.
pub(super) const DAY_CONTEXT: u32 = DAY + 3;

/// The bits of the header that follows the branch's last.
pub(super) fn required_bits(chain: Chain, branch: &Branch<'_>) -> Result<u32, Refusal> {
    let height = branch.height() + 1;
    match chain {
        Chain::Regtest => Ok(branch.last().bits),
        Chain::Btc => by_period(chain, branch),
        Chain::Bsv if height <= COMMON_LAST => by_period(chain, branch),
        Chain::Bsv if height <= EMERGENCY_LAST => by_emergency(chain, branch),
        Chain::Bsv => by_day(chain, branch),
    }
}

/// So many headers from `start` on are needed before the rule can be applied to all that
/// follow.
pub(super) fn context(chain: Chain, start: u32) -> u32 {
    let to_period = (PERIOD - start % PERIOD) % PERIOD;
    match (chain, start) {
        (Chain::Regtest, _) | (_, 0) => 1,
        (Chain::Bsv, start) if start + DAY_CONTEXT > EMERGENCY_LAST => DAY_CONTEXT,
        _ => to_period + 1,
    }
}

fn at(branch: &Branch<'_>, height: u32) -> Result<Point, Refusal> {
    branch.at(height).ok_or(Refusal::ContextMissing)
}

/// Bitcoin's: every 2,016 blocks, by the time they took.
fn by_period(chain: Chain, branch: &Branch<'_>) -> Result<u32, Refusal> {
    let last = branch.last();
    if !(branch.height() + 1).is_multiple_of(PERIOD) {
        return Ok(last.bits);
    }
    let first = at(branch, branch.height() + 1 - PERIOD)?;
    let took = seconds_between(&first, &last, PERIOD_SECONDS / 4, PERIOD_SECONDS * 4);
    let target = target::expand(last.bits).map_err(Refusal::Compact)?;
    // Beyond 256 bits it is beyond the limit all the more.
    let stretched = target.checked_mul(took);
    let next = stretched.and_then(|target| target.checked_div(U256::from_u64(PERIOD_SECONDS)));
    Ok(limited(chain, next))
}

/// Bitcoin Cash's first: as Bitcoin's, and a quarter easier where six blocks took half a day.
fn by_emergency(chain: Chain, branch: &Branch<'_>) -> Result<u32, Refusal> {
    if (branch.height() + 1).is_multiple_of(PERIOD) {
        return by_period(chain, branch);
    }
    let bits = branch.last().bits;
    let earlier = branch.height().checked_sub(6);
    let earlier = earlier.and_then(|height| branch.median_time(height));
    let earlier = earlier.ok_or(Refusal::ContextMissing)?;
    let later = branch
        .median_time(branch.height())
        .ok_or(Refusal::ContextMissing)?;
    if i64::from(later) - i64::from(earlier) < EMERGENCY_SECONDS {
        return Ok(bits);
    }
    let target = target::expand(bits).map_err(Refusal::Compact)?;
    Ok(limited(chain, target.checked_add(target >> 2)))
}

/// Bitcoin Cash's second, which Bitcoin SV kept: by the work of the last 144 blocks and the
/// time it took, both ends being the median of three by time.
fn by_day(chain: Chain, branch: &Branch<'_>) -> Result<u32, Refusal> {
    let height = branch.height();
    let last = median_of_three(branch, height)?;
    let first = height.checked_sub(DAY).ok_or(Refusal::ContextMissing)?;
    let first = median_of_three(branch, first)?;
    let day = u64::from(DAY) * SPACING_SECONDS;
    let took = seconds_between(&first, &last, day / 2, day * 2);
    let work = last.work.wrapping_sub(first.work);
    let rate = work.checked_mul(SPACING_SECONDS);
    let expected = rate.and_then(|rate| rate.checked_div(U256::from_u64(took)));
    let expected = expected.ok_or(Refusal::WorkOverflow)?;
    // (2^256 - work) / work, in 256 bits.
    let next = U256::ZERO.wrapping_sub(expected).checked_div(expected);
    Ok(limited(chain, next))
}

fn median_of_three(branch: &Branch<'_>, height: u32) -> Result<Point, Refusal> {
    let below = height.checked_sub(2).ok_or(Refusal::ContextMissing)?;
    let mut three = [
        at(branch, below)?,
        at(branch, height - 1)?,
        at(branch, height)?,
    ];
    // These three steps and no other sort: among equal times they choose what the network did.
    for (a, b) in [(0, 2), (0, 1), (1, 2)] {
        if three[a].time > three[b].time {
            three.swap(a, b);
        }
    }
    Ok(three[1])
}

fn seconds_between(first: &Point, last: &Point, least: u64, most: u64) -> u64 {
    let seconds = u64::from(last.time).saturating_sub(u64::from(first.time));
    seconds.clamp(least, most)
}

fn limited(chain: Chain, target: Option<U256>) -> u32 {
    let most = chain.target_max();
    target::compact(target.map_or(most, |target| target.min(most)))
}

#[cfg(test)]
mod tests {
    use super::super::super::hash::Hash256;
    use super::super::header::Header;
    use super::super::node::Node;
    use super::super::tree::Tree;
    use super::*;

    const BITS: u32 = 0x1801_4735;

    /// A tree that ends at a height, with blocks of one difficulty so many seconds apart;
    /// no one could mine it here, and no one asks.
    fn tree(chain: Chain, tip: u32, count: u32, apart: u32) -> Tree {
        let mut tree = Tree::from_genesis(chain);
        (tree.start, tree.nodes, tree.active) = (tip + 1 - count, Vec::new(), Vec::new());
        let each = target::work(target::expand(BITS).expect("a target"));
        for number in 0..count {
            let header = Header {
                time: 1_500_000_000 + number * apart,
                bits: BITS,
                ..chain.genesis()
            };
            let work = each.checked_mul(u64::from(number) + 1).expect("small");
            let place = (number.saturating_sub(1), tree.start + number);
            tree.nodes
                .push(Node::new(&header, Hash256::default(), work, place));
            tree.active.push(number);
        }
        tree
    }

    fn scaled(numerator: u64, denominator: u64) -> u32 {
        let target = target::expand(BITS).expect("a target");
        let target = target.checked_mul(numerator).expect("small");
        target::compact(
            target
                .checked_div(U256::from_u64(denominator))
                .expect("not by zero"),
        )
    }

    #[test]
    fn a_period_makes_it_four_times_harder_or_easier_at_most() {
        let next = |apart| tree(Chain::Btc, 2_016 * 240 - 1, PERIOD, apart).next_bits();
        // 2,015 times ten minutes: what every chain since the first has measured.
        assert_eq!(next(600), Ok(scaled(2_015, 2_016)));
        assert_eq!(next(300), Ok(scaled(2_015, 4_032)));
        assert_eq!(next(1), Ok(scaled(1, 4)));
        assert_eq!(next(60_000), Ok(scaled(4, 1)));
    }

    #[test]
    fn within_a_period_nothing_changes_and_its_first_must_be_known() {
        let next = |tip, count| tree(Chain::Btc, tip, count, 1).next_bits();
        assert_eq!(next(2_016 * 240, 3), Ok(BITS));
        assert_eq!(
            next(2_016 * 240 - 1, PERIOD - 1),
            Err(Refusal::ContextMissing)
        );
    }

    #[test]
    fn the_target_never_passes_the_limit() {
        let mut easy = tree(Chain::Btc, 2_016 * 240 - 1, PERIOD, 60_000);
        easy.nodes
            .iter_mut()
            .for_each(|node| node.bits = 0x1d00_ffff);
        assert_eq!(easy.next_bits(), Ok(0x1d00_ffff));
    }

    /// Six blocks further on, the median is six blocks' time later.
    #[test]
    fn twelve_hours_for_six_blocks_are_an_emergency() {
        let next = |tip, apart| tree(Chain::Bsv, tip, 20, apart).next_bits();
        assert_eq!(next(480_000, 7_200), Ok(scaled(5, 4)));
        assert_eq!(next(480_000, 7_199), Ok(BITS));
        // Before the split and after the rule's end there is none.
        assert_eq!(next(COMMON_LAST - 1, 7_200), Ok(BITS));
        assert_eq!(next(COMMON_LAST, 7_200), Ok(scaled(5, 4)));
        assert_eq!(next(EMERGENCY_LAST - 1, 7_200), Ok(scaled(5, 4)));
        assert_eq!(next(EMERGENCY_LAST, 7_200), Err(Refusal::ContextMissing));
    }

    #[test]
    fn a_days_work_makes_it_twice_as_hard_or_easy_at_most() {
        let next = |apart| {
            let bits = tree(Chain::Bsv, 600_000, DAY_CONTEXT, apart).next_bits();
            target::expand(bits.expect("enough is known")).expect("a target")
        };
        // The work of a block is rounded down, so the target is rounded up: by very little.
        let near = |found: U256, wanted: u32| {
            let wanted = target::expand(wanted).expect("a target");
            assert!(
                found >= wanted && found.wrapping_sub(wanted) <= wanted >> 12,
                "{found:?}"
            );
        };
        near(next(600), BITS);
        near(next(450), scaled(3, 4));
        near(next(1), scaled(1, 2));
        near(next(6_000), scaled(2, 1));
        let short = tree(Chain::Bsv, 600_000, DAY_CONTEXT - 1, 600).next_bits();
        assert_eq!(short, Err(Refusal::ContextMissing));
    }
}
