//! Extremes and counts of a policy's weights: what diagnostics rest on beside the sums.

/// What is remembered of the weights themselves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tally {
    pub(crate) weight_min: Option<f64>,
    pub(crate) weight_max: Option<f64>,
    /// Rows with `G < 0`.
    pub(crate) negative: u64,
    /// `sum |G|`.
    pub(crate) absolute: f64,
    /// `sum G(chi)`, which estimates `n E[G^2]` without waiting for rare hits to happen.
    pub(crate) design_chi: f64,
    /// `sum G(Z^2)`, its stand-in where chi is not known.
    pub(crate) design_ratios: f64,
    /// `sum e_2(Z)` and `sum e_2(Z)^2`: 0 in the mean if the logging policy fills its slots independently.
    pub(crate) pairs: f64,
    pub(crate) pairs_squared: f64,
    /// Values of chi below 0, which no policy has.
    pub(crate) negative_chi: u64,
    /// For each slot, rows with `Y_k > 1`.
    pub(crate) hits: Vec<u64>,
    /// For each slot, the smallest logging propensity.
    pub(crate) smallest: Vec<f64>,
}

impl Tally {
    pub(crate) fn new(slots: usize) -> Self {
        Tally {
            weight_min: None,
            weight_max: None,
            negative: 0,
            absolute: 0.0,
            design_chi: 0.0,
            design_ratios: 0.0,
            pairs: 0.0,
            pairs_squared: 0.0,
            negative_chi: 0,
            hits: vec![0; slots],
            smallest: vec![1.0; slots],
        }
    }

    pub(crate) fn widen(&mut self, slots: usize) {
        self.hits.resize(slots, 0);
        self.smallest.resize(slots, 1.0);
    }

    pub(crate) fn add_weights(&mut self, weights: &[f64]) {
        let mut extremes = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut negative, mut absolute) = (0u64, 0.0);
        for &g in weights {
            extremes = (extremes.0.min(g), extremes.1.max(g));
            negative += u64::from(g < 0.0);
            absolute += g.abs();
        }
        if !weights.is_empty() {
            self.weight_min = Some(self.weight_min.map_or(extremes.0, |m| m.min(extremes.0)));
            self.weight_max = Some(self.weight_max.map_or(extremes.1, |m| m.max(extremes.1)));
        }
        self.negative += negative;
        self.absolute += absolute;
    }

    pub(crate) fn add_slot(&mut self, slot: usize, z: &[f64], mu: Option<&[f64]>) {
        self.hits[slot] += z.iter().map(|&z| u64::from(z > 0.0)).sum::<u64>();
        if let Some(mu) = mu {
            self.smallest[slot] = mu.iter().fold(self.smallest[slot], |least, &mu| least.min(mu));
        }
    }

    /// Takes in `sum_k Z_k` and `sum_k Z_k^2` of each row: `e_2 = (s_1^2 - s_2) / 2`.
    pub(crate) fn add_pairs(&mut self, sums: &[f64], squares: &[f64]) {
        let (mut pairs, mut squared) = (0.0, 0.0);
        for (s1, s2) in sums.iter().zip(squares) {
            let e2 = (s1 * s1 - s2) / 2.0;
            pairs += e2;
            squared += e2 * e2;
        }
        self.pairs += pairs;
        self.pairs_squared += squared;
    }

    pub(crate) fn merge(&mut self, other: &Tally) {
        let least = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::min);
        let most = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
        self.weight_min = least(self.weight_min, other.weight_min);
        self.weight_max = most(self.weight_max, other.weight_max);
        self.negative += other.negative;
        self.absolute += other.absolute;
        self.design_chi += other.design_chi;
        self.design_ratios += other.design_ratios;
        self.pairs += other.pairs;
        self.pairs_squared += other.pairs_squared;
        self.negative_chi += other.negative_chi;
        for (a, b) in self.hits.iter_mut().zip(&other.hits) {
            *a += b;
        }
        for (a, b) in self.smallest.iter_mut().zip(&other.smallest) {
            *a = a.min(*b);
        }
    }

    /// How many numbers a tally of this many slots is.
    pub(crate) fn numbers(slots: usize) -> usize {
        9 + 2 * slots
    }

    /// All of it as numbers, for the file format. Counts stay exact up to 2^53 rows.
    pub(crate) fn to_numbers(&self) -> Vec<f64> {
        let mut numbers = vec![
            self.weight_min.unwrap_or(f64::NAN),
            self.weight_max.unwrap_or(f64::NAN),
            self.negative as f64,
            self.absolute,
            self.design_chi,
            self.design_ratios,
            self.pairs,
            self.pairs_squared,
            self.negative_chi as f64,
        ];
        numbers.extend(self.hits.iter().map(|&hits| hits as f64));
        numbers.extend(&self.smallest);
        numbers
    }

    /// The inverse of [`to_numbers`](Tally::to_numbers).
    pub(crate) fn from_numbers(slots: usize, numbers: &[f64]) -> Option<Self> {
        let (fixed, by_slot) = numbers.split_at_checked(9)?;
        let (hits, smallest) = by_slot.split_at_checked(slots)?;
        let known = |x: f64| (!x.is_nan()).then_some(x);
        Some(Tally {
            weight_min: known(fixed[0]),
            weight_max: known(fixed[1]),
            negative: fixed[2] as u64,
            absolute: fixed[3],
            design_chi: fixed[4],
            design_ratios: fixed[5],
            pairs: fixed[6],
            pairs_squared: fixed[7],
            negative_chi: fixed[8] as u64,
            hits: hits.iter().map(|&hits| hits as u64).collect(),
            smallest: smallest.to_vec(),
        })
    }
}
