//! Numbers of 256 bits, compact targets and work.

use proptest::prelude::*;

use super::super::chain::target::{CompactFault, compact, expand, work};
use super::super::chain::{Chain, U256};

fn number() -> impl Strategy<Value = U256> {
    (prop::array::uniform4(any::<u64>()), 0..256_u32)
        .prop_map(|(words, shift)| U256::from_words(words) >> shift)
}

fn product(a: U256, b: U256) -> Option<U256> {
    let mut sum = U256::ZERO;
    for bit in 0..b.bits() {
        if (b >> bit).low_u64() & 1 == 1 {
            let part = a << bit;
            if part >> bit != a {
                return None;
            }
            sum = sum.checked_add(part)?;
        }
    }
    Some(sum)
}

proptest! {
    /// A quotient is the greatest number whose product with the divisor is not too much.
    #[test]
    fn division_undoes_multiplication(dividend in number(), divisor in number()) {
        let Some(quotient) = dividend.checked_div(divisor) else {
            return Err(TestCaseError::reject("by zero"));
        };
        let least = product(quotient, divisor).expect("not more than the dividend");
        prop_assert!(least <= dividend);
        prop_assert!(dividend.wrapping_sub(least) < divisor);
    }

    #[test]
    fn products_are_sums_of_shifts(a in number(), b in any::<u64>()) {
        prop_assert_eq!(a.checked_mul(b), product(a, U256::from_u64(b)));
    }

    #[test]
    fn sums_can_be_taken_back(a in number(), b in number()) {
        if let Some(sum) = a.checked_add(b) {
            prop_assert_eq!(sum.wrapping_sub(b), a);
            prop_assert!(sum >= a && sum >= b);
        } else {
            prop_assert!(a > !b);
        }
    }

    /// Bits that a rule could ask for stand for one target and are the bits of it.
    #[test]
    fn compact_bits_of_a_target_are_read_as_it(target in number()) {
        prop_assume!(target > U256::ZERO);
        let read = expand(compact(target)).expect("bits of a target");
        prop_assert!(read <= target);
        prop_assert_eq!(compact(read), compact(target));
        prop_assert!(target.wrapping_sub(read) >> target.bits().saturating_sub(15) == U256::ZERO);
    }

    #[test]
    fn bytes_are_the_number(a in number()) {
        let mut bytes = a.to_be_bytes();
        bytes.reverse();
        prop_assert_eq!(U256::from_le_bytes(&bytes), a);
    }
}

#[test]
fn division_where_the_first_guess_is_too_much() {
    let words = |words| U256::from_words(words);
    let dividend = words([u64::MAX - 1, u64::MAX, 0, 0]);
    let divisor = words([0, 0x8000_0000_0000_0000, 0, 1]);
    let quotient = dividend.checked_div(divisor).expect("not by zero");
    let least = product(quotient, divisor).expect("not more");
    assert!(dividend.wrapping_sub(least) < divisor && least <= dividend);
    assert_eq!(dividend.checked_div(U256::ZERO), None);
}

/// Each of these is read as an easy target, or as worth all the work there is, by readers
/// that let them wrap around.
#[test]
fn compact_bits_that_are_no_target_are_refused() {
    let cases = [
        (0x0000_0000, CompactFault::Zero),
        (0x2000_0000, CompactFault::Zero),
        (0x0100_3456, CompactFault::Zero),
        (0x1d80_ffff, CompactFault::Negative),
        (0x0180_0000 | 0x0012_0000, CompactFault::Negative),
        (0x2300_ffff, CompactFault::Overflow),
        (0x2200_ffff, CompactFault::Overflow),
        (0x2112_3456, CompactFault::Overflow),
        (0xff12_3456, CompactFault::Overflow),
    ];
    for (bits, fault) in cases {
        assert_eq!(expand(bits), Err(fault), "{bits:08x}");
    }
    let good = [
        0x1d00_ffff,
        0x207f_ffff,
        0x2200_00ff,
        0x2100_ffff,
        0x0112_0000,
        0x1814_735d,
    ];
    for bits in good {
        assert!(expand(bits).is_ok(), "{bits:08x}");
    }
}

#[test]
fn work_is_exact() {
    let genesis = expand(Chain::Btc.genesis().bits).expect("a target");
    assert_eq!(work(genesis), U256::from_u64(0x1_0001_0001));
    let home = expand(Chain::Regtest.genesis().bits).expect("a target");
    assert_eq!(work(home), U256::from_u64(2));
    assert_eq!(work(U256::ONE), U256::ONE << 255);
}

#[test]
fn the_first_blocks_are_those_of_their_chains() {
    let main = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f";
    let home = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206";
    assert_eq!(Chain::Btc.genesis().hash().to_string(), main);
    assert_eq!(Chain::Bsv.genesis().hash().to_string(), main);
    assert_eq!(Chain::Regtest.genesis().hash().to_string(), home);
    assert_eq!(Chain::named("bsv"), Some(Chain::Bsv));
    assert_eq!(Chain::named("bch"), None);
}
