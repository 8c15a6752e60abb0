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
    let mut words = words.iter().copied().chain(std::iter::repeat(0));
    let (whole, rest) = mask.as_chunks_mut::<64>();
    for (bytes, word) in whole.iter_mut().zip(&mut words) {
        match word {
            u64::MAX => *bytes = [1; 64],
            word => spread_word(word, bytes),
        }
    }
    words
        .next()
        .into_iter()
        .for_each(|word| spread_word(word, rest));
}

fn spread_word(word: u64, bytes: &mut [u8]) {
    let bits = bytes.iter_mut().enumerate();
    bits.for_each(|(bit, byte)| *byte = (word >> bit & 1) as u8);
}

/// Bytes as bits, as many words as they fill.
pub fn pack(mask: &[u8], words: &mut [u64]) {
    let (whole, rest) = mask.as_chunks::<64>();
    for (bytes, word) in whole.iter().zip(words.iter_mut()) {
        *word = pack_word(bytes);
    }
    if let Some(word) = words.get_mut(whole.len()) {
        let mut padded = [0; 64];
        padded[..rest.len()].copy_from_slice(rest);
        *word = pack_word(&padded);
    }
}

pub fn pack_word(bytes: &[u8; 64]) -> u64 {
    let (eights, _) = bytes.as_chunks::<8>();
    let mut word = 0;
    for (at, eight) in eights.iter().enumerate() {
        // Each byte is 0 or 1: one multiplication moves the eight bits next to each other.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
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
        let mut words = [7; 4];
        pack(&bytes, &mut words);
        let mut again = vec![9; 200];
        spread(&words, &mut again);
        assert_eq!(again, bytes);
    }
}
