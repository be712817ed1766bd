//! Known reward distributions: atoms, or a mixture of smooth curves on [0, 1].

use crate::curve::Curve;

/// A reward distribution that is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Finitely many values: enumerated, or a large sample.
    Atoms(Atoms),
    /// Curves on [0, 1] with their probabilities.
    Mixture(Mixture),
}

/// Values with their probabilities.
#[derive(Debug, Clone, PartialEq)]
pub struct Atoms {
    /// Ascending.
    values: Vec<f64>,
    /// `F` at each value; empty where all are equally likely.
    cumulative: Vec<f64>,
}

/// A mixture of curves.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    parts: Vec<(f64, Curve)>,
}

/// Sums of probabilities that should be equal to a level may miss it by rounding.
const ROUNDING: f64 = 1e-12;

impl Distribution {
    /// `F(v)`, the probability of a reward of at most `v`.
    pub fn cdf(&self, v: f64) -> f64 {
        match self {
            Distribution::Atoms(atoms) => atoms.upto(atoms.values.partition_point(|&x| x <= v)),
            Distribution::Mixture(mixture) => mixture.sum(|curve| curve.cdf(v)),
        }
    }

    /// The smallest `v` with `F(v) >= level`.
    pub fn quantile(&self, level: f64) -> f64 {
        match self {
            Distribution::Atoms(atoms) => atoms.values[atoms.reaching(level)],
            Distribution::Mixture(mixture) => bisect(|v| mixture.sum(|curve| curve.cdf(v)) >= level),
        }
    }

    /// The mean of the lower tail of probability `alpha`; an atom at its end counts for the share that it fills.
    pub fn cvar(&self, alpha: f64) -> f64 {
        let q = self.quantile(alpha);
        match self {
            Distribution::Atoms(atoms) => {
                let end = atoms.reaching(alpha);
                let before: f64 = (0..end).map(|i| atoms.values[i] * atoms.mass(i)).sum();
                (before + q * (alpha - atoms.upto(end))) / alpha
            }
            // Integration by parts: the integral of v dF up to q is q F(q) minus that of F.
            Distribution::Mixture(mixture) => (q * self.cdf(q) - mixture.sum(|curve| curve.integral(q))) / alpha,
        }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        match self {
            Distribution::Atoms(atoms) => atoms.moment(|x| x),
            Distribution::Mixture(mixture) => 1.0 - mixture.sum(|curve| curve.integral(1.0)),
        }
    }

    /// The variance.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        match self {
            Distribution::Atoms(atoms) => atoms.moment(|x| (x - mean) * (x - mean)),
            Distribution::Mixture(mixture) => mixture.sum(Curve::second_moment) - mean * mean,
        }
    }

    /// The smallest and the largest reward.
    pub fn range(&self) -> (f64, f64) {
        match self {
            Distribution::Atoms(atoms) => (atoms.values[0], atoms.values[atoms.values.len() - 1]),
            Distribution::Mixture(_) => (0.0, 1.0),
        }
    }

    /// Where the CDF is worth a look: every value if there are at most `points` of them, else equal steps over the range.
    pub fn grid(&self, points: usize) -> Vec<f64> {
        if let Distribution::Atoms(atoms) = self
            && !atoms.cumulative.is_empty()
            && atoms.values.len() <= points
        {
            return atoms.values.clone();
        }
        let (lo, hi) = self.range();
        let step = (hi - lo) / (points.max(2) - 1) as f64;
        (0..points).map(|i| if i + 1 == points { hi } else { lo + step * i as f64 }).collect()
    }
}

impl Atoms {
    /// Values with their probabilities, which sum to 1. Equal values are added together.
    pub fn new(mut pairs: Vec<(f64, f64)>) -> Self {
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut values, mut cumulative): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut sum = 0.0;
        for (value, mass) in pairs {
            sum += mass;
            if values.last() == Some(&value) {
                cumulative.pop();
            } else {
                values.push(value);
            }
            cumulative.push(sum);
        }
        Atoms { values, cumulative }
    }

    /// A sample, each value as likely as any other.
    ///
    /// # Panics
    /// If there is none.
    pub fn of_sample(mut values: Vec<f64>) -> Self {
        assert!(!values.is_empty(), "a sample has values");
        values.sort_unstable_by(f64::total_cmp);
        Atoms { values, cumulative: Vec::new() }
    }

    /// The probability of the first `count` values.
    fn upto(&self, count: usize) -> f64 {
        match (count, self.cumulative.is_empty()) {
            (0, _) => 0.0,
            (_, true) => count as f64 / self.values.len() as f64,
            (_, false) => self.cumulative[count - 1],
        }
    }

    fn mass(&self, i: usize) -> f64 {
        self.upto(i + 1) - self.upto(i)
    }

    /// The first value at which `F` reaches the level.
    fn reaching(&self, level: f64) -> usize {
        let last = self.values.len() - 1;
        let reached = match self.cumulative.is_empty() {
            true => (level * self.values.len() as f64 * (1.0 - ROUNDING)).ceil().max(1.0) as usize - 1,
            false => self.cumulative.partition_point(|&f| f < level - ROUNDING),
        };
        reached.min(last)
    }

    fn moment(&self, of: impl Fn(f64) -> f64) -> f64 {
        if self.cumulative.is_empty() {
            return self.values.iter().map(|&x| of(x)).sum::<f64>() / self.values.len() as f64;
        }
        self.values.iter().enumerate().map(|(i, &x)| of(x) * self.mass(i)).sum()
    }
}

impl Mixture {
    /// Curves with their probabilities, which sum to 1.
    pub fn new(parts: Vec<(f64, Curve)>) -> Self {
        Mixture { parts: parts.into_iter().filter(|(p, _)| *p > 0.0).collect() }
    }

    fn sum(&self, of: impl Fn(&Curve) -> f64) -> f64 {
        self.parts.iter().map(|(p, curve)| p * of(curve)).sum()
    }
}

/// The smallest `v` in [0, 1] for which a monotone condition holds, to the last bit.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut lo, mut hi) = (0.0, 1.0);
    loop {
        let mid = 0.5 * (lo + hi);
        if mid <= lo || mid >= hi {
            return hi;
        }
        if holds(mid) { hi = mid } else { lo = mid }
    }
}
