//! Numbers of 256 bits: targets and work. Only what the rules of difficulty need.

use std::cmp::Ordering;
use std::ops::{Not, Shl, Shr};

/// An unsigned number, its lowest 64 bits first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct U256([u64; 4]);

impl U256 {
    pub const ZERO: Self = Self([0; 4]);
    pub const ONE: Self = Self([1, 0, 0, 0]);

    /// The highest 64 bits first, as one writes numbers.
    pub const fn from_words(words: [u64; 4]) -> Self {
        Self([words[3], words[2], words[1], words[0]])
    }

    pub const fn from_u64(low: u64) -> Self {
        Self([low, 0, 0, 0])
    }

    pub fn from_le_bytes(bytes: &[u8; 32]) -> Self {
        let mut limbs = [0; 4];
        for (limb, chunk) in limbs.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            *limb = u64::from_le_bytes(word);
        }
        Self(limbs)
    }

    pub fn to_be_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, limb) in bytes.chunks_exact_mut(8).zip(self.0.iter().rev()) {
            chunk.copy_from_slice(&limb.to_be_bytes());
        }
        bytes
    }

    pub const fn low_u64(self) -> u64 {
        self.0[0]
    }

    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }

    /// How many bits it takes to write.
    pub fn bits(self) -> u32 {
        match self.0.iter().rposition(|limb| *limb != 0) {
            Some(top) => (top as u32 + 1) * 64 - self.0[top].leading_zeros(),
            None => 0,
        }
    }

    pub fn checked_add(self, other: Self) -> Option<Self> {
        let mut sum = [0; 4];
        let mut carry = false;
        for ((sum, a), b) in sum.iter_mut().zip(self.0).zip(other.0) {
            let (once, first) = a.overflowing_add(b);
            let (twice, second) = once.overflowing_add(u64::from(carry));
            *sum = twice;
            carry = first || second;
        }
        (!carry).then_some(Self(sum))
    }

    /// `self - other`, around the end where `other` is greater.
    #[must_use]
    pub fn wrapping_sub(self, other: Self) -> Self {
        let mut difference = [0; 4];
        let mut borrow = false;
        for ((limb, a), b) in difference.iter_mut().zip(self.0).zip(other.0) {
            let (once, first) = a.overflowing_sub(b);
            let (twice, second) = once.overflowing_sub(u64::from(borrow));
            *limb = twice;
            borrow = first || second;
        }
        Self(difference)
    }

    pub fn checked_mul(self, factor: u64) -> Option<Self> {
        let mut product = [0; 4];
        let mut carry = 0;
        for (limb, a) in product.iter_mut().zip(self.0) {
            let wide = u128::from(a) * u128::from(factor) + carry;
            *limb = wide as u64;
            carry = wide >> 64;
        }
        (carry == 0).then_some(Self(product))
    }

    /// The whole part of the quotient; none by zero.
    pub fn checked_div(self, divisor: Self) -> Option<Self> {
        let limbs = divisor.bits().div_ceil(64) as usize;
        match limbs {
            0 => None,
            1 => Some(self.div_word(divisor.0[0])),
            _ => Some(self.div_long(divisor, limbs)),
        }
    }

    fn div_word(self, divisor: u64) -> Self {
        let mut quotient = [0; 4];
        let mut rest = 0_u128;
        for at in (0..4).rev() {
            let wide = (rest << 64) | u128::from(self.0[at]);
            quotient[at] = (wide / u128::from(divisor)) as u64;
            rest = wide % u128::from(divisor);
        }
        Self(quotient)
    }

    /// Division as on paper, a digit being 64 bits (Knuth, The Art of Computer Programming,
    /// 4.3.1, algorithm D). The divisor has `limbs` digits, two or more.
    fn div_long(self, divisor: Self, limbs: usize) -> Self {
        let shift = divisor.0[limbs - 1].leading_zeros();
        let divisor = (divisor << shift).0;
        let mut rest = [0; 5];
        rest[..4].copy_from_slice(&(self << shift).0);
        if shift > 0 {
            rest[4] = self.0[3] >> (64 - shift);
        }
        let mut quotient = [0; 4];
        for at in (0..=4 - limbs).rev() {
            let digit = guess(&rest[at..], &divisor[..limbs]);
            quotient[at] = take(&mut rest[at..=at + limbs], &divisor[..limbs], digit);
        }
        Self(quotient)
    }
}

/// The next digit of the quotient, or one more than it.
fn guess(rest: &[u64], divisor: &[u64]) -> u64 {
    let limbs = divisor.len();
    let (high, next) = (
        u128::from(divisor[limbs - 1]),
        u128::from(divisor[limbs - 2]),
    );
    let top = (u128::from(rest[limbs]) << 64) | u128::from(rest[limbs - 1]);
    let (mut digit, mut left) = (top / high, top % high);
    while digit >> 64 != 0 || digit * next > (left << 64 | u128::from(rest[limbs - 2])) {
        digit -= 1;
        left += high;
        if left >> 64 != 0 {
            break;
        }
    }
    digit as u64
}

/// Takes `digit` times the divisor from the rest, once less where that was too much; the
/// digit that was right.
fn take(rest: &mut [u64], divisor: &[u64], digit: u64) -> u64 {
    let limbs = divisor.len();
    let (mut borrow, mut carry) = (0_u64, 0_u64);
    for at in 0..limbs {
        let wide = u128::from(digit) * u128::from(divisor[at]) + u128::from(carry);
        carry = (wide >> 64) as u64;
        let (once, first) = rest[at].overflowing_sub(wide as u64);
        let (twice, second) = once.overflowing_sub(borrow);
        rest[at] = twice;
        borrow = u64::from(first) + u64::from(second);
    }
    let (once, first) = rest[limbs].overflowing_sub(carry);
    let (twice, second) = once.overflowing_sub(borrow);
    rest[limbs] = twice;
    if !first && !second {
        return digit;
    }
    give_back(rest, divisor);
    digit - 1
}

fn give_back(rest: &mut [u64], divisor: &[u64]) {
    let mut carry = false;
    for (rest, divisor) in rest.iter_mut().zip(divisor.iter().chain([&0])) {
        let (once, first) = rest.overflowing_add(*divisor);
        let (twice, second) = once.overflowing_add(u64::from(carry));
        *rest = twice;
        carry = first || second;
    }
}

impl Not for U256 {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0.map(|limb| !limb))
    }
}

/// What is shifted out is lost.
impl Shl<u32> for U256 {
    type Output = Self;

    fn shl(self, by: u32) -> Self {
        let (whole, part) = ((by / 64) as usize, by % 64);
        let limb = |at: usize| at.checked_sub(whole).map_or(0, |from| self.0[from]);
        let carried = |at: usize| match part {
            0 => 0,
            _ => at.checked_sub(1).map_or(0, limb) >> (64 - part),
        };
        Self([0, 1, 2, 3].map(|at| limb(at) << part | carried(at)))
    }
}

impl Shr<u32> for U256 {
    type Output = Self;

    fn shr(self, by: u32) -> Self {
        let (whole, part) = ((by / 64) as usize, by % 64);
        let limb = |at: usize| self.0.get(at + whole).copied().unwrap_or_default();
        let carried = |at: usize| match part {
            0 => 0,
            _ => limb(at + 1) << (64 - part),
        };
        Self([0, 1, 2, 3].map(|at| limb(at) >> part | carried(at)))
    }
}

impl Ord for U256 {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for U256 {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
