//! Masks: one byte per row, 0 or 1.

pub fn is_empty(mask: &[u8]) -> bool {
    mask.iter().fold(0, |all, byte| all | byte) == 0
}

/// Adds the rows of another mask.
pub fn unite(mask: &mut [u8], other: &[u8]) {
    mask.iter_mut().zip(other).for_each(|(m, o)| *m |= o);
}

/// Takes away the rows of another mask.
pub fn subtract(mask: &mut [u8], other: &[u8]) {
    mask.iter_mut().zip(other).for_each(|(m, o)| *m &= 1 ^ o);
}

/// Keeps the rows of another mask.
pub fn intersect(mask: &mut [u8], other: &[u8]) {
    mask.iter_mut().zip(other).for_each(|(m, o)| *m &= o);
}

/// Keeps the rows whose contact passes.
pub fn intersect_by_slot(mask: &mut [u8], slots: &[u16], wrap: usize, passes: &[u8]) {
    for (m, slot) in mask.iter_mut().zip(slots) {
        *m &= passes[usize::from(*slot) & wrap];
    }
}

/// Bits as bytes.
pub fn spread(words: &[u64], mask: &mut [u8]) {
    for (at, bytes) in mask.chunks_mut(64).enumerate() {
        match words.get(at).copied().unwrap_or(0) {
            u64::MAX => bytes.fill(1),
            word => {
                let bits = bytes.iter_mut().enumerate();
                bits.for_each(|(bit, byte)| *byte = (word >> bit & 1) as u8);
            }
        }
    }
}

/// Bytes as bits.
pub fn pack(mask: &[u8]) -> Vec<u64> {
    mask.chunks(64).map(pack_word).collect()
}

fn pack_word(bytes: &[u8]) -> u64 {
    let mut word = 0;
    for (at, eight) in bytes.chunks(8).enumerate() {
        let mut padded = [0; 8];
        padded[..eight.len()].copy_from_slice(eight);
        // Each byte is 0 or 1: one multiplication moves the eight bits next to each other.
        let bits = u64::from_le_bytes(padded).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word |= bits << (at * 8);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_bytes_are_the_same() {
        let bytes: Vec<u8> = (0..200u32)
            .map(|n| u8::from(n % 3 == 0 || n % 7 == 2))
            .collect();
        let words = pack(&bytes);
        let mut again = vec![9; 200];
        spread(&words, &mut again);
        assert_eq!(again, bytes);
    }
}
