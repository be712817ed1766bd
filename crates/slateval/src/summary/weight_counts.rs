//! How many rows have which weight, on edges that are the same for every log, so that counts add up.
//! See docs/methods.md, section 3.3.

use crate::answer::diagnostics::WeightHistogram;

use crate::math::vector::LANES;

/// The counts behind a histogram. A bin is a sign, a power of two and a quarter of it: what the first bits of the number
/// say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WeightCounts {
    /// Weights below 0, largest size first; then those near 0; then those above.
    counts: Vec<u64>,
}

/// Quarters of a power of two: as many as two bits of the mantissa tell apart.
const QUARTERS: u32 = 2;
const SHIFT: u32 = 52 - QUARTERS;

/// Sizes below `2^-4` are near 0.
const SMALLEST: i32 = -4;

/// Sizes of `2^16` and more are in one bin.
const LARGEST: i32 = 16;

/// Bins of each sign.
const SIDE: usize = ((LARGEST - SMALLEST) as usize) * (1 << QUARTERS) + 1;

impl Default for WeightCounts {
    fn default() -> Self {
        WeightCounts { counts: vec![0; Self::NUMBERS] }
    }
}

impl WeightCounts {
    pub(crate) const NUMBERS: usize = 2 * SIDE + 1;

    #[inline(always)]
    pub(crate) fn add(&mut self, weights: &[f64]) {
        // Rows next to each other often weigh the same: a table for each lane, so that none waits for the other's store.
        let mut tables = [[0u32; Self::NUMBERS]; LANES];
        let (whole, rest) = weights.as_chunks::<LANES>();
        for chunk in whole {
            for lane in 0..LANES {
                tables[lane][bin(chunk[lane])] += 1;
            }
        }
        rest.iter().for_each(|&g| tables[0][bin(g)] += 1);
        for table in &tables {
            self.counts.iter_mut().zip(table).for_each(|(count, &more)| *count += u64::from(more));
        }
    }

    pub(crate) fn merge(&mut self, other: &WeightCounts) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, other)| *own = own.saturating_add(*other));
    }

    pub(crate) fn to_numbers(&self) -> impl Iterator<Item = f64> {
        self.counts.iter().map(|&count| count as f64)
    }

    pub(crate) fn from_numbers(numbers: &[f64]) -> Self {
        WeightCounts { counts: numbers.iter().map(|&count| count as u64).collect() }
    }

    /// The bins that hold rows, and those between; none without rows. The ends are the extremes themselves where a bin
    /// has no end of its own.
    pub(crate) fn histogram(&self, min: f64, max: f64) -> Option<WeightHistogram> {
        let first = self.counts.iter().position(|&count| count > 0)?;
        let last = self.counts.iter().rposition(|&count| count > 0)?;
        let mut edges: Vec<f64> = (first..=last + 1).map(lower_edge).collect();
        let end = edges.len() - 1;
        if !edges[0].is_finite() {
            edges[0] = min.min(edges[1]);
        }
        if !edges[end].is_finite() {
            edges[end] = max.max(edges[end - 1]);
        }
        Some(WeightHistogram { edges, counts: self.counts[first..=last].to_vec() })
    }
}

/// The bin of a weight.
#[inline(always)]
fn bin(g: f64) -> usize {
    // Biased exponent and leading bits, counted from the smallest size that is not near 0.
    let lead = (g.abs().to_bits() >> SHIFT) as i64 - (i64::from(1023 + SMALLEST) << QUARTERS) + 1;
    let size = lead.clamp(0, SIDE as i64) as usize;
    if g < 0.0 { SIDE - size } else { SIDE + size }
}

/// Where a bin begins; its end is where the next one begins.
fn lower_edge(bin: usize) -> f64 {
    let edge = |size: usize| {
        let steps = size - 1;
        let quarter = (steps % (1 << QUARTERS)) as f64 / f64::from(1u32 << QUARTERS);
        (1.0 + quarter) * 2f64.powi(SMALLEST + (steps >> QUARTERS) as i32)
    };
    match bin {
        0 => f64::NEG_INFINITY,
        b if b <= SIDE => -edge(SIDE + 1 - b),
        b if b <= 2 * SIDE => edge(b - SIDE),
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_lies_in_its_bin() {
        let sizes = [0.0, 1e-300, 0.06, 0.0625, 0.07, 0.99, 1.0, 1.2, 1.25, 1.3, 2.0, 77.0, 65535.0, 65536.0, 1e300];
        for g in sizes.into_iter().flat_map(|g| [g, -g]) {
            let b = bin(g);
            let (low, high) = (lower_edge(b), lower_edge(b + 1));
            assert!(low <= g && g <= high && low < high, "{g}: bin {b} from {low} to {high}");
        }
        let edges: Vec<f64> = (0..=WeightCounts::NUMBERS).map(lower_edge).collect();
        assert!(edges.windows(2).all(|pair| pair[0] < pair[1]), "{edges:?}");
    }

    #[test]
    fn counts_add_up() {
        let weights: Vec<f64> = (0..1001).map(|i| f64::from(i) / 100.0 - 2.0).collect();
        let (mut whole, mut left, mut right) =
            (WeightCounts::default(), WeightCounts::default(), WeightCounts::default());
        whole.add(&weights);
        left.add(&weights[..333]);
        right.add(&weights[333..]);
        left.merge(&right);
        assert_eq!(whole, left);
        let numbers: Vec<f64> = whole.to_numbers().collect();
        assert_eq!(WeightCounts::from_numbers(&numbers), whole);

        let WeightHistogram { edges, counts } = whole.histogram(-2.0, 8.0).unwrap_or_else(|| panic!("there are rows"));
        assert_eq!(counts.iter().sum::<u64>(), 1001);
        assert!(edges[0] <= -2.0 && edges[edges.len() - 1] >= 8.0, "{edges:?}");
        assert_eq!(WeightCounts::default().histogram(0.0, 0.0), None);
        let mut outer = WeightCounts::default();
        outer.add(&[-1e9, 1e9]);
        let ends = outer.histogram(-1e9, 1e9).map(|h| (h.edges[0], h.edges[h.edges.len() - 1]));
        assert_eq!(ends, Some((-1e9, 1e9)));
    }
}
