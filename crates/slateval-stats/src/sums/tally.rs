//! Extremes and counts of a policy's weights: what diagnostics rest on beside the sums.
//! See docs/methods.md, section 3.3.

use crate::spec::structure::ORDERS;
use crate::sums::check::{Fault, Section, all_finite, count};
use crate::sums::weight_counts::WeightCounts;

/// What is remembered of the weights themselves.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Of the structure's weight, or of the weight of each order where one is to be chosen.
    pub weights: Vec<WeightTally>,
    /// `sum e_2(Z)` and `sum e_2(Z)^2`: 0 in the mean if the logging policy fills its slots independently.
    pub pairs: f64,
    /// `sum e_2(Z)^2`.
    pub pairs_squared: f64,
    /// Values of chi below 0, which no policy has.
    pub negative_chi: u64,
    /// For each slot, rows with `Y_k > 1`.
    pub hits: Vec<u64>,
    /// For each slot, the smallest logging propensity.
    pub smallest: Vec<f64>,
    /// For each slot, the largest.
    pub largest: Vec<f64>,
    /// For each slot, `sum Z_k^3` and `sum Z_k^4`: how much hangs on the rows that a slot's control is fitted to.
    pub cubes: Vec<f64>,
    /// For each slot, `sum Z_k^4`.
    pub fourths: Vec<f64>,
    /// `sum prod_k (1 + chi_k)` and `sum prod_k (1 + Z_k^2)`, for slates of more slots than orders are told apart: what
    /// the log is worth where nothing is assumed.
    pub product_chi: f64,
    /// `sum prod_k (1 + Z_k^2)`.
    pub product_ratios: f64,
}

/// What is remembered of one weight.
#[derive(Debug, Clone, Default)]
pub struct WeightTally {
    /// The smallest weight; none without rows.
    pub min: Option<f64>,
    /// The largest weight.
    pub max: Option<f64>,
    /// Rows with `G < 0`.
    pub negative: u64,
    /// `sum |G|`.
    pub absolute: f64,
    /// `sum G^3` and `sum G^4`.
    pub cubes: f64,
    /// `sum G^4`.
    pub fourths: f64,
    /// `sum G(chi)`, which estimates `n E[G^2]` without waiting for rare hits to happen. Like the next, it is kept for
    /// weights of order 2 and above; that of the additive one follows from other sums.
    pub design_chi: f64,
    /// `sum G(Z^2)`, its stand-in where chi is not known.
    pub design_ratios: f64,
    /// How many rows have which weight.
    pub counts: WeightCounts,
}

/// A sum as it is written. High powers of large weights overflow where the estimates do not: the largest number stands for
/// them.
fn storable(sum: f64) -> f64 {
    if sum.is_nan() { f64::MAX } else { sum.clamp(f64::MIN, f64::MAX) }
}

impl WeightTally {
    /// Numbers beside the counts.
    const PLAIN: usize = 8;
    const NUMBERS: usize = Self::PLAIN + WeightCounts::NUMBERS;

    fn merge(&mut self, other: &WeightTally) {
        let least = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::min);
        let most = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
        self.min = least(self.min, other.min);
        self.max = most(self.max, other.max);
        self.negative = self.negative.saturating_add(other.negative);
        self.absolute += other.absolute;
        self.cubes += other.cubes;
        self.fourths += other.fourths;
        self.design_chi += other.design_chi;
        self.design_ratios += other.design_ratios;
        self.counts.merge(&other.counts);
    }

    fn to_numbers(&self) -> impl Iterator<Item = f64> {
        let (min, max) = (self.min.unwrap_or(f64::NAN), self.max.unwrap_or(f64::NAN));
        let plain: [f64; Self::PLAIN] = [
            min,
            max,
            self.negative as f64,
            storable(self.absolute),
            storable(self.design_chi),
            storable(self.design_ratios),
            storable(self.cubes),
            storable(self.fourths),
        ];
        plain.into_iter().chain(self.counts.to_numbers())
    }

    /// The inverse of [`to_numbers`](WeightTally::to_numbers). Refuses what is not finite, and what counts nothing.
    fn from_numbers(numbers: &[f64]) -> Result<Self, Fault> {
        all_finite(Section::Weights, numbers)?;
        Ok(WeightTally {
            min: Some(numbers[0]),
            max: Some(numbers[1]),
            negative: count(Section::Weights, "the number of negative weights", numbers[2])?,
            absolute: numbers[3],
            design_chi: numbers[4],
            design_ratios: numbers[5],
            cubes: numbers[6],
            fourths: numbers[7],
            counts: WeightCounts::from_numbers(&numbers[Self::PLAIN..])?,
        })
    }
}

impl Tally {
    pub(crate) fn new(slots: usize, weights: usize) -> Self {
        Tally {
            weights: vec![WeightTally::default(); weights],
            pairs: 0.0,
            pairs_squared: 0.0,
            negative_chi: 0,
            hits: vec![0; slots],
            smallest: vec![1.0; slots],
            largest: vec![0.0; slots],
            cubes: vec![0.0; slots],
            fourths: vec![0.0; slots],
            product_chi: 0.0,
            product_ratios: 0.0,
        }
    }

    pub(crate) fn widen(&mut self, slots: usize) {
        self.hits.resize(slots, 0);
        self.smallest.resize(slots, 1.0);
        self.largest.resize(slots, 0.0);
        self.cubes.resize(slots, 0.0);
        self.fourths.resize(slots, 0.0);
    }

    /// Slates have more slots than orders are told apart from now on: of those before, the highest order assumes nothing.
    pub(crate) fn begin_products(&mut self) {
        if let Some(highest) = self.weights.get(ORDERS - 1) {
            (self.product_chi, self.product_ratios) = (highest.design_chi, highest.design_ratios);
        }
    }

    pub(crate) fn merge(&mut self, other: &Tally) {
        self.weights.iter_mut().zip(&other.weights).for_each(|(own, other)| own.merge(other));
        self.pairs += other.pairs;
        self.pairs_squared += other.pairs_squared;
        self.negative_chi = self.negative_chi.saturating_add(other.negative_chi);
        for (a, b) in self.hits.iter_mut().zip(&other.hits) {
            *a = a.saturating_add(*b);
        }
        for (a, b) in self.smallest.iter_mut().zip(&other.smallest) {
            *a = a.min(*b);
        }
        for (a, b) in self.largest.iter_mut().zip(&other.largest) {
            *a = a.max(*b);
        }
        self.cubes.iter_mut().zip(&other.cubes).for_each(|(a, b)| *a += b);
        self.fourths.iter_mut().zip(&other.fourths).for_each(|(a, b)| *a += b);
        self.product_chi += other.product_chi;
        self.product_ratios += other.product_ratios;
    }

    /// Numbers of a policy as a whole.
    const FIXED: usize = 5;

    /// How many numbers a tally of this many slots and weights is.
    pub(crate) fn numbers(slots: usize, weights: usize) -> usize {
        Self::FIXED + 5 * slots + WeightTally::NUMBERS * weights
    }

    /// All of it as numbers, for the file format. Counts stay exact up to 2^53 rows.
    pub(crate) fn to_numbers(&self) -> Vec<f64> {
        let negative_chi = self.negative_chi as f64;
        let [pairs, squared] = [self.pairs, self.pairs_squared].map(storable);
        let mut numbers = vec![pairs, squared, negative_chi, storable(self.product_chi), storable(self.product_ratios)];
        numbers.extend(self.hits.iter().map(|&hits| hits as f64));
        numbers.extend(&self.smallest);
        numbers.extend(&self.largest);
        numbers.extend(self.cubes.iter().copied().map(storable));
        numbers.extend(self.fourths.iter().copied().map(storable));
        numbers.extend(self.weights.iter().flat_map(WeightTally::to_numbers));
        numbers
    }

    /// The inverse of [`to_numbers`](Tally::to_numbers), given as many [`numbers`](Tally::numbers). Refuses what is not
    /// finite, and what counts nothing.
    pub(crate) fn from_numbers(slots: usize, numbers: &[f64]) -> Result<Self, Fault> {
        let (fixed, rest) = numbers.split_at(Self::FIXED);
        let (of_slots, weights) = rest.split_at(5 * slots);
        all_finite(Section::Slots, fixed)?;
        all_finite(Section::Slots, of_slots)?;
        let [hits, smallest, largest, cubes, fourths] = [0, 1, 2, 3, 4].map(|i| &of_slots[i * slots..][..slots]);
        let hits =
            hits.iter().map(|&hits| count(Section::Slots, "the number of hits", hits)).collect::<Result<_, _>>()?;
        let weights = weights.chunks_exact(WeightTally::NUMBERS).map(WeightTally::from_numbers);
        Ok(Tally {
            weights: weights.collect::<Result<_, _>>()?,
            pairs: fixed[0],
            pairs_squared: fixed[1],
            negative_chi: count(Section::Slots, "the number of negative chi", fixed[2])?,
            hits,
            smallest: smallest.to_vec(),
            largest: largest.to_vec(),
            cubes: cubes.to_vec(),
            fourths: fourths.to_vec(),
            product_chi: fixed[3],
            product_ratios: fixed[4],
        })
    }
}
