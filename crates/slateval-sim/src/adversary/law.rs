//! Laws of rewards, and mixtures of them: everything that is asked of a reward distribution, in closed form.

use rand_distr::{Distribution as _, Gamma, StandardNormal};

use super::special::{gamma_pq, normal_cdf, normal_density};
use crate::random::{Random, pick, uniform};

/// A law of rewards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// A gamma distribution.
    Gamma {
        /// Its shape.
        shape: f64,
        /// Its scale.
        scale: f64,
    },
    /// `exp(N(mu, sigma^2))`.
    LogNormal {
        /// The mean of the logarithm.
        mu: f64,
        /// The standard deviation of the logarithm.
        sigma: f64,
    },
    /// A normal distribution.
    Normal {
        /// Its mean.
        mean: f64,
        /// Its standard deviation.
        sd: f64,
    },
    /// `F(v) = v^theta` on [0, 1].
    Power {
        /// Positive.
        theta: f64,
    },
    /// One value.
    Atom(f64),
}

impl Law {
    /// A gamma distribution of scale 1.
    pub fn gamma(shape: f64) -> Self {
        Law::Gamma { shape, scale: 1.0 }
    }

    /// `P(R <= v)`.
    pub fn cdf(&self, v: f64) -> f64 {
        match *self {
            Law::Gamma { shape, scale } => gamma_pq(shape, v / scale).0,
            Law::LogNormal { mu, sigma } if v > 0.0 => normal_cdf((v.ln() - mu) / sigma),
            Law::LogNormal { .. } => 0.0,
            Law::Normal { mean, sd } => normal_cdf((v - mean) / sd),
            Law::Power { theta } => v.clamp(0.0, 1.0).powf(theta),
            Law::Atom(at) => f64::from(u8::from(at <= v)),
        }
    }

    /// `E[R; R <= v]`.
    pub fn mean_upto(&self, v: f64) -> f64 {
        match *self {
            Law::Gamma { shape, scale } => shape * scale * gamma_pq(shape + 1.0, v / scale).0,
            Law::LogNormal { mu, sigma } if v > 0.0 => self.mean() * normal_cdf((v.ln() - mu) / sigma - sigma),
            Law::LogNormal { .. } => 0.0,
            Law::Normal { mean, sd } => {
                let z = (v - mean) / sd;
                mean * normal_cdf(z) - sd * normal_density(z)
            }
            Law::Power { theta } => self.mean() * v.clamp(0.0, 1.0).powf(theta + 1.0),
            Law::Atom(at) => at * self.cdf(v),
        }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        match *self {
            Law::Gamma { shape, scale } => shape * scale,
            Law::LogNormal { mu, sigma } => (mu + sigma * sigma / 2.0).exp(),
            Law::Normal { mean, .. } => mean,
            Law::Power { theta } => theta / (theta + 1.0),
            Law::Atom(at) => at,
        }
    }

    /// `E[R^2]`.
    pub fn second_moment(&self) -> f64 {
        match *self {
            Law::Gamma { shape, scale } => shape * (shape + 1.0) * scale * scale,
            Law::LogNormal { mu, sigma } => (2.0 * mu + 2.0 * sigma * sigma).exp(),
            Law::Normal { mean, sd } => mean * mean + sd * sd,
            Law::Power { theta } => theta / (theta + 2.0),
            Law::Atom(at) => at * at,
        }
    }

    /// Two values with all but a negligible part of the probability between them.
    fn range(&self) -> (f64, f64) {
        match *self {
            Law::Gamma { shape, scale } => (0.0, scale * (shape + 40.0 * (shape + 1.0))),
            Law::LogNormal { mu, sigma } => (0.0, (mu + 10.0 * sigma).exp()),
            Law::Normal { mean, sd } => (mean - 10.0 * sd, mean + 10.0 * sd),
            Law::Power { .. } => (0.0, 1.0),
            Law::Atom(at) => (at, at),
        }
    }

    /// Draws a reward.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> f64 {
        let normal = |random: &mut Random| -> f64 { StandardNormal.sample(random) };
        match *self {
            // Shapes and scales are positive, so there is always a distribution to draw from.
            Law::Gamma { shape, scale } => Gamma::new(shape, scale).map_or(f64::NAN, |gamma| gamma.sample(random)),
            Law::LogNormal { mu, sigma } => (mu + sigma * normal(random)).exp(),
            Law::Normal { mean, sd } => mean + sd * normal(random),
            Law::Power { theta } => uniform(random).powf(1.0 / theta),
            Law::Atom(at) => at,
        }
    }
}

/// Laws with their probabilities: a reward distribution that is known exactly.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mix {
    /// Probabilities, which sum to 1, and laws.
    pub parts: Vec<(f64, Law)>,
}

/// Sums of probabilities that should be equal to a level may miss it by rounding.
const ROUNDING: f64 = 1e-12;

impl Mix {
    /// A mixture in which equal laws are one. What has no probability is left out.
    pub fn new(parts: impl IntoIterator<Item = (f64, Law)>) -> Self {
        let mut merged: Vec<(f64, Law)> = Vec::new();
        for (p, law) in parts.into_iter().filter(|(p, _)| *p > 0.0) {
            match merged.iter_mut().find(|(_, known)| *known == law) {
                Some((sum, _)) => *sum += p,
                None => merged.push((p, law)),
            }
        }
        Mix { parts: merged }
    }

    fn sum(&self, of: impl Fn(&Law) -> f64) -> f64 {
        self.parts.iter().map(|(p, law)| p * of(law)).sum()
    }

    /// `P(R <= v)`.
    pub fn cdf(&self, v: f64) -> f64 {
        self.sum(|law| law.cdf(v))
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.sum(Law::mean)
    }

    /// The variance.
    pub fn variance(&self) -> f64 {
        self.sum(Law::second_moment) - self.mean() * self.mean()
    }

    /// The standard deviation.
    pub fn std(&self) -> f64 {
        self.variance().sqrt()
    }

    /// The smallest `v` with `F(v) >= level`, by bisection.
    pub fn quantile(&self, level: f64) -> f64 {
        let ranges = self.parts.iter().map(|(_, law)| law.range());
        let join = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        let (mut lo, mut hi) = ranges.reduce(join).unwrap_or((0.0, 0.0));
        if self.cdf(lo) >= level - ROUNDING {
            return lo;
        }
        loop {
            let mid = 0.5 * (lo + hi);
            if mid <= lo || mid >= hi || hi - lo < 1e-15 * hi.abs() {
                return hi;
            }
            if self.cdf(mid) >= level - ROUNDING { hi = mid } else { lo = mid }
        }
    }

    /// The mean of the lower tail of probability `alpha`; an atom at its end counts for the share that it fills.
    pub fn cvar(&self, alpha: f64) -> f64 {
        let q = self.quantile(alpha);
        (self.sum(|law| law.mean_upto(q)) - q * (self.cdf(q) - alpha)) / alpha
    }

    /// Draws a reward.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> f64 {
        match &self.parts[..] {
            [] => f64::NAN,
            [(_, law)] => law.draw(random),
            parts => parts[pick(parts.iter().map(|(p, _)| *p), random)].1.draw(random),
        }
    }
}

impl From<Law> for Mix {
    fn from(law: Law) -> Self {
        Mix { parts: vec![(1.0, law)] }
    }
}
