//! Compact bits, the target they stand for, and the work that meeting it is worth.

use super::u256::U256;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CompactFault {
    #[error("the target is negative")]
    Negative,
    #[error("the target does not fit 256 bits")]
    Overflow,
    #[error("the target is zero")]
    Zero,
}

/// The target of compact bits. What wraps around in other readers is refused here: a target
/// of zero, for instance, would be worth all the work there is.
pub fn expand(bits: u32) -> Result<U256, CompactFault> {
    let (size, sign) = (bits >> 24, bits & 0x0080_0000 != 0);
    let mantissa = match size {
        0..=3 => (bits & 0x007f_ffff) >> (8 * (3 - size)),
        _ => bits & 0x007f_ffff,
    };
    let fits = match mantissa {
        0 => return Err(CompactFault::Zero),
        1..=0xff => size <= 34,
        0x100..=0xffff => size <= 33,
        _ => size <= 32,
    };
    match (sign, fits) {
        (true, _) => Err(CompactFault::Negative),
        (_, false) => Err(CompactFault::Overflow),
        _ => Ok(U256::from_u64(u64::from(mantissa)) << (8 * size.saturating_sub(3))),
    }
}

/// The compact bits of a target, which keep its three highest bytes.
pub fn compact(target: U256) -> u32 {
    let size = target.bits().div_ceil(8);
    let mantissa = match size {
        0..=3 => target.low_u64() << (8 * (3 - size)),
        _ => (target >> (8 * (size - 3))).low_u64(),
    } as u32;
    // The highest bit of the mantissa is the sign.
    match mantissa & 0x0080_0000 {
        0 => mantissa | size << 24,
        _ => mantissa >> 8 | (size + 1) << 24,
    }
}

/// How many hashes meeting the target takes on average: 2^256 / (target + 1).
///
/// Only for a target that is known to be within its chain's limit and met.
pub fn work(target: U256) -> U256 {
    let divisor = target.checked_add(U256::ONE).unwrap_or(U256::ONE);
    let quotient = (!target).checked_div(divisor).unwrap_or(U256::ZERO);
    quotient.checked_add(U256::ONE).unwrap_or(quotient)
}
