//! Whether logging and target propensities were given in each other's place.

use slateval::{Block, Field};

/// Standard errors that a mean must lie from 1 to be taken for another.
const SURE: f64 = 4.0;

/// The ratios of one target in each slot, both ways round. Rows drawn by the policy in the denominator give them mean 1.
#[derive(Debug, Default)]
pub(super) struct Ratios {
    /// `[slot]`: `pi / mu`, as it should be.
    away: Vec<Moments>,
    /// `[slot]`: `mu / pi`.
    back: Vec<Moments>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Ratios {
    pub(super) fn see(&mut self, block: &Block, policy: usize) {
        let slots = self.away.len().max(block.slots());
        self.away.resize(slots, Moments::default());
        self.back.resize(slots, Moments::default());
        for slot in 0..block.slots() {
            let (mu, pi) = (block.column(Field::Logging { slot }), block.column(Field::Target { policy, slot }));
            for row in (0..block.rows()).filter(|&row| !block.is_missing(row, slot)) {
                self.away[slot].add(pi[row] / mu[row]);
                self.back[slot].add(mu[row] / pi[row]);
            }
        }
    }

    /// Whether `mu / pi` has mean 1 in every slot, and `pi / mu` has not.
    pub(super) fn look_exchanged(&self) -> bool {
        let distances = self.away.iter().zip(&self.back).map(|(away, back)| (away.distance(), back.distance()));
        let distances: Vec<(f64, f64)> = distances.collect();
        // A target that never shows what was logged has an infinite ratio: comparisons with it are false.
        distances.iter().any(|(away, back)| *away > SURE && *away > 2.0 * back)
            && distances.iter().all(|(_, back)| *back < SURE)
    }
}

impl Moments {
    fn add(&mut self, ratio: f64) {
        self.count += 1.0;
        self.sum += ratio;
        self.squares += ratio * ratio;
    }

    /// How far the mean lies from 1, in standard errors.
    fn distance(self) -> f64 {
        let mean = self.sum / self.count;
        let variance = self.squares / self.count - mean * mean;
        // What never varies is 1 in every row, or tells nothing.
        if self.count == 0.0 || variance <= 1e-12 {
            return 0.0;
        }
        (mean - 1.0).abs() / (variance / self.count).sqrt()
    }
}
