//! Random numbers that are the same on every machine and in every run.

/// A linear congruential generator with Knuth's constants. Its upper bits are the better ones.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next state: 64 bits, the lower of which repeat soon.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }

    /// Uniform on `[0, 1)`, a multiple of `2^-53`.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform on `[0, 1)`, a multiple of `2^-31`: short enough that sums of a few are exact.
    pub fn coarse(&mut self) -> f64 {
        (self.bits() >> 33) as f64 / f64::from(1_u32 << 31)
    }

    /// A whole number below `limit`; 0 if there is none.
    pub fn below(&mut self, limit: u64) -> u64 {
        (self.bits() >> 33) % limit.max(1)
    }
}

/// Numbers on `[0, 1)` of a seed, one for each call: see [`Random::uniform`].
pub fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut random = Random::new(seed);
    move || random.uniform()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_are_pinned() {
        let mut random = Random::new(1);
        assert_eq!([random.bits(), random.bits()], [7_806_831_264_735_756_412, 9_396_908_728_118_811_419]);
        assert_eq!(uniform(1)(), (7_806_831_264_735_756_412_u64 >> 11) as f64 / 2_f64.powi(53));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.coarse()) && random.below(7) < 7));
    }
}
