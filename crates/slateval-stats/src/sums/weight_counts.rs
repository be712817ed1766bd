//! How many rows have which weight, on edges that are the same for every log, so that counts add up.
//! See docs/methods.md, section 3.3.

use crate::result::diagnostics::WeightHistogram;
use crate::sums::check::{Fault, Section, count as count_of};

/// The counts behind a histogram. A bin is a sign, a power of two and a quarter of it: what the first bits of the number
/// say.
#[derive(Debug, Clone)]
pub struct WeightCounts {
    /// Weights below 0, largest size first; then those near 0; then those above. A count is the sum over all tables.
    tables: Box<[[u64; TABLE]; WeightCounts::TABLES]>,
}

/// Quarters of a power of two: as many as two bits of the mantissa tell apart.
const QUARTERS: u32 = 2;
const SHIFT: u32 = 20 - QUARTERS;

/// Sizes below `2^-4` are near 0.
const SMALLEST: i32 = -4;

/// Sizes of `2^16` and more are in one bin.
const LARGEST: i32 = 16;

/// Bins of each sign.
const SIDE: usize = ((LARGEST - SMALLEST) as usize) * (1 << QUARTERS) + 1;

/// Room for every bin that eight bits can name, so that none has to be checked.
const TABLE: usize = 1 << u8::BITS;

impl Default for WeightCounts {
    fn default() -> Self {
        WeightCounts { tables: Box::new([[0; TABLE]; WeightCounts::TABLES]) }
    }
}

impl WeightCounts {
    /// Tables that rows are counted in by turns: to count up the same number again has to wait for the last time.
    pub const TABLES: usize = 4;

    /// The tables, to be counted up at the [`bin`](WeightCounts::bin) of each weight.
    pub fn tables_mut(&mut self) -> &mut [[u64; TABLE]; Self::TABLES] {
        &mut self.tables
    }

    /// The bin of a weight. Sign, exponent and leading bits are in the upper half of the number.
    #[inline(always)]
    pub fn bin(g: f64) -> u8 {
        let upper = (g.to_bits() >> 32) as u32;
        // Biased exponent and leading bits, counted from the smallest size that is not near 0.
        let lead = ((upper & (u32::MAX >> 1)) >> SHIFT) as i32 - ((1023 + SMALLEST) << QUARTERS) + 1;
        let size = lead.clamp(0, SIDE as i32);
        (SIDE as i32 + if upper >> 31 == 1 { -size } else { size }) as u8
    }

    pub(crate) const NUMBERS: usize = 2 * SIDE + 1;

    fn counts(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator {
        let count = |bin: usize| self.tables.iter().fold(0, |sum: u64, table| sum.saturating_add(table[bin]));
        (0..Self::NUMBERS).map(count)
    }

    /// How many rows each bin has.
    pub(crate) fn all(&self) -> Vec<u64> {
        self.counts().collect()
    }

    /// How many rows are counted.
    pub(crate) fn total(&self) -> u64 {
        self.counts().fold(0, u64::saturating_add)
    }

    /// The bins that have rows: how many, and what their weights lie between.
    pub(crate) fn occupied(&self) -> impl Iterator<Item = (u64, f64, f64)> {
        let bins = self.counts().enumerate().filter(|&(_, count)| count > 0);
        bins.map(|(bin, count)| (count, lower_edge(bin), lower_edge(bin + 1)))
    }

    /// Whether weights from the smallest to the largest have their ends in the outermost bins that have rows.
    pub(crate) fn have_ends(&self, min: f64, max: f64) -> bool {
        let bins = || self.counts().enumerate().filter(|&(_, count)| count > 0).map(|(bin, _)| bin);
        bins().next() == Some(usize::from(Self::bin(min))) && bins().next_back() == Some(usize::from(Self::bin(max)))
    }

    /// Whether so many of the weights can lie below 0: all of the bins below, and any of those near 0.
    pub(crate) fn can_have_below_zero(&self, rows: u64) -> bool {
        let below = self.counts().take(SIDE).fold(0, u64::saturating_add);
        let near = self.counts().nth(SIDE).unwrap_or(0);
        (below..=below.saturating_add(near)).contains(&rows)
    }

    /// Takes in others.
    pub(crate) fn merge(&mut self, other: &WeightCounts) {
        let add = |own: &mut u64, other: u64| *own = own.saturating_add(other);
        self.tables[0].iter_mut().zip(other.counts()).for_each(|(own, other)| add(own, other));
    }

    pub(crate) fn to_numbers(&self) -> impl Iterator<Item = f64> {
        self.counts().map(|count| count as f64)
    }

    /// The inverse of [`to_numbers`](WeightCounts::to_numbers). Refuses what counts nothing.
    pub(crate) fn from_numbers(numbers: &[f64]) -> Result<Self, Fault> {
        let mut counts = WeightCounts::default();
        for (to, &number) in counts.tables[0].iter_mut().zip(numbers) {
            *to = count_of(Section::Weights, "a number of weights", number)?;
        }
        Ok(counts)
    }

    /// The bins that hold rows, and those between; none without rows. The ends are the extremes themselves where a bin
    /// has no end of its own.
    pub(crate) fn histogram(&self, min: f64, max: f64) -> Option<WeightHistogram> {
        let counts: Vec<u64> = self.counts().collect();
        let first = counts.iter().position(|&count| count > 0)?;
        let last = counts.iter().rposition(|&count| count > 0)?;
        let mut edges: Vec<f64> = (first..=last + 1).map(lower_edge).collect();
        let end = edges.len() - 1;
        if !edges[0].is_finite() {
            edges[0] = min.min(edges[1]);
        }
        if !edges[end].is_finite() {
            edges[end] = max.max(edges[end - 1]);
        }
        Some(WeightHistogram { edges, counts: counts[first..=last].to_vec() })
    }
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
            let b = usize::from(WeightCounts::bin(g));
            let (low, high) = (lower_edge(b), lower_edge(b + 1));
            assert!(low <= g && g <= high && low < high, "{g}: bin {b} from {low} to {high}");
        }
        let edges: Vec<f64> = (0..=WeightCounts::NUMBERS).map(lower_edge).collect();
        assert!(edges.windows(2).all(|pair| pair[0] < pair[1]), "{edges:?}");
    }

    #[test]
    fn counts_add_up() {
        let weights: Vec<f64> = (0..1001).map(|i| f64::from(i) / 100.0 - 2.0).collect();
        let counted = |weights: &[f64]| {
            let mut counts = WeightCounts::default();
            for (row, &g) in weights.iter().enumerate() {
                counts.tables_mut()[row % WeightCounts::TABLES][usize::from(WeightCounts::bin(g))] += 1;
            }
            counts
        };
        let (whole, mut left) = (counted(&weights), counted(&weights[..333]));
        left.merge(&counted(&weights[333..]));
        assert!(whole.counts().eq(left.counts()));
        let numbers: Vec<f64> = whole.to_numbers().collect();
        assert!(WeightCounts::from_numbers(&numbers).is_ok_and(|read| read.counts().eq(whole.counts())));

        let WeightHistogram { edges, counts } = whole.histogram(-2.0, 8.0).unwrap_or_else(|| panic!("there are rows"));
        assert_eq!(counts.iter().sum::<u64>(), 1001);
        assert!(edges[0] <= -2.0 && edges[edges.len() - 1] >= 8.0, "{edges:?}");
        assert_eq!(WeightCounts::default().histogram(0.0, 0.0), None);
        let outer = counted(&[-1e9, 1e9]);
        let ends = outer.histogram(-1e9, 1e9).map(|h| (h.edges[0], h.edges[h.edges.len() - 1]));
        assert_eq!(ends, Some((-1e9, 1e9)));
    }
}
