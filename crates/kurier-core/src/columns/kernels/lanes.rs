//! The widest vectors this machine has. A kernel is compiled for them and for the target's
//! baseline, and which one runs is decided here, at run time.

/// A way to gather what was found out of 64 values.
pub trait Lanes: Copy {
    /// The bytes, each 0 or 255, as bits.
    fn bits(self, bytes: [u8; 64]) -> u64;
}

/// A loop that is worth wide vectors. Whatever it calls must be inlined into it.
pub trait Kernel {
    type Output;
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

pub fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(lanes) = x86::lanes() {
        return lanes.vectorize(
            #[inline(always)]
            || kernel.run(lanes),
        );
    }
    kernel.run(Baseline)
}

/// What any machine can.
#[derive(Clone, Copy)]
pub struct Baseline;

impl Lanes for Baseline {
    #[inline(always)]
    fn bits(self, bytes: [u8; 64]) -> u64 {
        let mut word = 0;
        for (at, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
            // One multiplication moves the eight bits next to each other.
            let ones = u64::from_le_bytes(*eight) & 0x0101_0101_0101_0101;
            word |= ones.wrapping_mul(0x0102_0408_1020_4080) >> 56 << (at * 8);
        }
        word
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::sync::OnceLock;

    use pulp::x86::V3;

    use super::Lanes;

    /// AVX2 and what comes with it, if the machine has that.
    pub fn lanes() -> Option<V3> {
        static LANES: OnceLock<Option<V3>> = OnceLock::new();
        *LANES.get_or_init(V3::try_new)
    }

    impl Lanes for V3 {
        #[inline(always)]
        fn bits(self, bytes: [u8; 64]) -> u64 {
            let half = |at: usize| {
                let bytes: [u8; 32] = bytes.as_chunks::<32>().0[at];
                let bits = self.avx2._mm256_movemask_epi8(pulp::cast(bytes));
                u64::from(bits.cast_unsigned())
            };
            half(0) | half(1) << 32
        }
    }
}
