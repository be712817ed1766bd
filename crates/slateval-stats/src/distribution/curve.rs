//! A distribution of rewards: the CDF as estimated and as repaired, and what is read off it.
//! See docs/methods.md, section 5.

use crate::spec::tail::Tail;

use crate::correction::weight_sums::Bin;

/// Sums of weights that should be equal to a level may miss it by rounding.
const ROUNDING: f64 = 1e-12;

/// What part of a bin is left out where all of it but its end is meant.
const LAST: f64 = 1e-6;

/// A CDF on the bins of a log.
#[derive(Debug, Clone)]
pub(crate) struct Distribution {
    pub(crate) bins: Vec<Bin>,
    /// `F` at the largest reward of each bin, as estimated. It may fall or leave [0, 1]. Without a correction it is
    /// unbiased, if the structure is right.
    pub(crate) raw: Vec<f64>,
    /// The same, made a CDF.
    pub(crate) repaired: Vec<f64>,
}

impl Distribution {
    /// From the probability of each bin.
    pub(crate) fn new(bins: Vec<Bin>, masses: impl Iterator<Item = f64>) -> Self {
        let raw: Vec<f64> = masses
            .scan(0.0, |sum, mass| {
                *sum += mass;
                Some(*sum)
            })
            .collect();
        let mut repaired = raw.clone();
        repair(&mut repaired);
        Distribution { bins, raw, repaired }
    }

    /// The distribution of the logged rewards themselves.
    pub(crate) fn logged(bins: Vec<Bin>) -> Self {
        let n: f64 = bins.iter().map(|b| b.rows).sum();
        let mut seen = 0.0;
        let share = |bin: &Bin| {
            seen += bin.rows;
            seen / n
        };
        let raw: Vec<f64> = bins.iter().map(share).collect();
        Distribution { bins, repaired: raw.clone(), raw }
    }

    /// The repaired CDF, to read things off.
    pub(crate) fn curve(&self) -> Curve<'_> {
        Curve { bins: &self.bins, cdf: &self.repaired }
    }
}

/// The reward that is meant by `v`, if no reward is `v`: one that differs in its last digits, as sums do, or, where all
/// rewards are in single precision, in which 0.2 is more than 0.2, the one that `v` is there.
fn meant(bins: &[Bin], v: f64) -> f64 {
    let from_v = bins.partition_point(|bin| bin.max < v);
    if bins.get(from_v).is_some_and(|bin| bin.min <= v) {
        return v;
    }
    let neighbours = bins[from_v.saturating_sub(1)..].iter().take(2);
    let atoms: Vec<f64> = neighbours.filter(|bin| bin.min == bin.max).map(|bin| bin.max).collect();
    let differs_by_rounding = |reward: &&f64| (**reward - v).abs() <= 4.0 * f64::EPSILON * v.abs();
    let is_single = |reward: f64| f64::from(reward as f32) == reward;
    let single = || {
        let same = atoms.iter().find(|reward| **reward as f32 == v as f32);
        same.filter(|_| bins.iter().all(|bin| is_single(bin.min) && is_single(bin.max)))
    };
    atoms.iter().find(differs_by_rounding).or_else(single).copied().unwrap_or(v)
}

/// A reward whose CDF is the probability of rewards below `v`: `F(v-)`, where `F(v)` counts an atom at `v` itself.
///
/// That is where the last bin below `v` ends. Inside a bin that is no atom, rewards are spread: there it is `v`, or at
/// the bin's very end a little less, as `F` would count the whole bin.
pub(crate) fn just_below(bins: &[Bin], v: f64) -> f64 {
    let v = meant(bins, v);
    let below = bins.partition_point(|bin| bin.max < v);
    match bins.get(below) {
        None => v,
        Some(bin) if bin.min >= v => below.checked_sub(1).map_or(f64::MIN, |last| bins[last].max),
        Some(bin) => v.min(bin.max - (bin.max - bin.min) * LAST),
    }
}

/// A CDF: its values at the largest reward of each bin, ascending, within [0, 1]. The last one is 1, unless the values
/// are the lower end of a band.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Curve<'a> {
    pub(crate) bins: &'a [Bin],
    pub(crate) cdf: &'a [f64],
}

impl Curve<'_> {
    /// The smallest `v` with `F(v) >= level`.
    pub(crate) fn quantile(&self, level: f64) -> f64 {
        let b = self.bin_at(level);
        let (below, mass) = self.step(b);
        let share = if mass > 0.0 { ((level - below) / mass).clamp(0.0, 1.0) } else { 1.0 };
        self.bins[b].quantile(share)
    }

    /// `F(v)`; inside a bin, by the inverse of its quantile function.
    pub(crate) fn probability(&self, v: f64) -> f64 {
        let (b, share) = self.place(v);
        let (below, mass) = self.step(b);
        below + share * mass
    }

    /// The bin in which `F(v)` is read, and the share of its probability that lies up to `v`: 1 where it ends.
    ///
    /// An atom that differs from `v` by rounding is taken for `v` itself.
    pub(crate) fn place(&self, v: f64) -> (usize, f64) {
        let v = meant(self.bins, v);
        let ended = self.bins.partition_point(|bin| bin.max <= v);
        match self.bins.get(ended) {
            Some(bin) if bin.min <= v => (ended, bin.share_up_to(v)),
            _ if ended == 0 => (0, 0.0),
            _ => (ended - 1, 1.0),
        }
    }

    /// The probability of the bin that a quantile is read from; 0 for an atom, which is exact.
    pub(crate) fn blur(&self, level: f64) -> f64 {
        let b = self.bin_at(level);
        if self.bins[b].min == self.bins[b].max { 0.0 } else { self.step(b).1 }
    }

    /// How far the quantile of a level may lie below and above the value that [`quantile`](Self::quantile) gives. If
    /// its bin holds more than `fine` of the distribution, it may lie anywhere in the bin; otherwise both are 0.
    pub(crate) fn quantile_blur(&self, level: f64, fine: f64) -> (f64, f64) {
        let (b, value) = (self.bin_at(level), self.quantile(level));
        if self.mass(b) <= fine {
            return (0.0, 0.0);
        }
        ((value - self.bins[b].min).max(0.0), (self.bins[b].max - value).max(0.0))
    }

    /// The same for the CVaR of a tail: the rewards of such bins in it lie between their ends.
    pub(crate) fn tail_blur(&self, alpha: f64, tail: Tail, fine: f64) -> (f64, f64) {
        let level = tail.level(alpha);
        let (mut down, mut up) = (0.0, 0.0);
        for (b, bin) in self.bins.iter().enumerate() {
            let (below, mass) = self.step(b);
            if mass <= fine || bin.min == bin.max {
                continue;
            }
            let share = ((level - below) / mass).clamp(0.0, 1.0);
            let (share, value) = match tail {
                Tail::Lower => (share, bin.integral(share)),
                Tail::Upper => (1.0 - share, bin.mean - bin.integral(share)),
            };
            down += mass * (value - share * bin.min).max(0.0);
            up += mass * (share * bin.max - value).max(0.0);
        }
        (down / alpha, up / alpha)
    }

    /// `(1/alpha)` times the integral of the quantile function over the tail of probability `alpha`.
    pub(crate) fn cvar(&self, alpha: f64, tail: Tail) -> f64 {
        self.cvars(&[alpha], tail)[0]
    }

    /// The same for several tails at once.
    pub(crate) fn cvars(&self, alphas: &[f64], tail: Tail) -> Vec<f64> {
        let mut levels: Vec<f64> = alphas.iter().map(|&alpha| tail.level(alpha)).collect();
        if tail == Tail::Upper {
            levels.push(1.0);
        }
        let below = self.integrals_below(&levels);
        let tail_integral = |i: usize| match tail {
            Tail::Lower => below[i],
            Tail::Upper => below[alphas.len()] - below[i],
        };
        alphas.iter().enumerate().map(|(i, alpha)| tail_integral(i) / alpha).collect()
    }

    /// The quantile at which the tail of probability `alpha` begins.
    pub(crate) fn var(&self, alpha: f64, tail: Tail) -> f64 {
        self.quantile(tail.level(alpha))
    }

    /// `integral of quantile(u) over u in [0, level]` for each level; an atom at the end counts only for the share that
    /// it fills. One pass over the bins, whatever the number of levels.
    fn integrals_below(&self, levels: &[f64]) -> Vec<f64> {
        let mut ascending: Vec<usize> = (0..levels.len()).collect();
        ascending.sort_unstable_by(|&a, &b| levels[a].total_cmp(&levels[b]));
        let mut integrals = vec![0.0; levels.len()];
        let (mut b, mut integral) = (0, 0.0);
        for i in ascending {
            while b < self.bins.len() && self.cdf[b] <= levels[i] {
                integral += self.mass(b) * self.bins[b].mean;
                b += 1;
            }
            integrals[i] = integral;
            if b < self.bins.len() {
                let (below, mass) = self.step(b);
                integrals[i] += mass * self.bins[b].integral(((levels[i] - below) / mass).max(0.0));
            }
        }
        integrals
    }

    /// The first bin whose end reaches the level.
    pub(crate) fn bin_at(&self, level: f64) -> usize {
        let reached = self.cdf.partition_point(|&f| f < level - ROUNDING);
        // A level of 0 is reached by the first bin that has any probability.
        let first = self.cdf.partition_point(|&f| f <= 0.0);
        reached.max(first).min(self.bins.len() - 1)
    }

    /// The probability of a bin.
    pub(crate) fn mass(&self, b: usize) -> f64 {
        self.step(b).1
    }

    /// `F` before a bin, and the bin's probability.
    fn step(&self, b: usize) -> (f64, f64) {
        let below = if b == 0 { 0.0 } else { self.cdf[b - 1] };
        (below, self.cdf[b] - below)
    }
}

impl Bin {
    /// The quantile inside a bin: `min + (max - min) u^p`, with the `p` that gives the bin its mean. An atom has one
    /// value.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        match self.tilt() {
            None => self.max,
            Some(t) => self.min + (self.max - self.min) * share.powf((1.0 - t) / t),
        }
    }

    /// The inverse of that quantile function, for `v` in a bin that does not end there.
    fn share_up_to(&self, v: f64) -> f64 {
        let height = ((v - self.min) / (self.max - self.min)).clamp(0.0, 1.0);
        match self.tilt() {
            None => 0.0,
            Some(t) => height.powf(t / (1.0 - t)),
        }
    }

    /// The integral of that quantile function up to `share`.
    pub(crate) fn integral(&self, share: f64) -> f64 {
        match self.tilt() {
            None => self.mean * share,
            Some(t) => self.min * share + (self.mean - self.min) * share.powf(1.0 / t),
        }
    }

    /// Where the mean lies between the extremes.
    fn tilt(&self) -> Option<f64> {
        let t = (self.mean - self.min) / (self.max - self.min);
        (t > 0.0 && t < 1.0).then_some(t)
    }
}

/// Makes a CDF of an estimate that falls or leaves [0, 1]: clips its values to [0, 1], then sorts them (rearrangement).
/// Neither step increases the largest distance to any true CDF. The last value becomes 1.
pub(crate) fn repair(values: &mut [f64]) {
    values.iter_mut().for_each(|f| *f = f.clamp(0.0, 1.0));
    sort_nearly_sorted(values);
    if let Some(last) = values.last_mut() {
        *last = 1.0;
    }
}

/// Sorts a CDF that hardly falls by moving each value to its place among those before it, and gives up in favour of a
/// general method where values have far to go.
fn sort_nearly_sorted(values: &mut [f64]) {
    let mut moves = 8 * values.len();
    for i in 1..values.len() {
        let value = values[i];
        let mut place = i;
        while place > 0 && values[place - 1] > value {
            values[place] = values[place - 1];
            place -= 1;
        }
        values[place] = value;
        moves = moves.saturating_sub(i - place);
        if moves == 0 {
            return values.sort_unstable_by(f64::total_cmp);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atoms(rewards: &[f64]) -> Vec<Bin> {
        rewards.iter().map(|&r| Bin { rows: 1.0, min: r, mean: r, max: r }).collect()
    }

    /// `P(R < v)` and `P(R <= v)` where all atoms are equally likely, by what is read.
    fn read(bins: &[Bin], v: f64) -> (f64, f64) {
        let n = bins.len() as f64;
        let cdf: Vec<f64> = (1..=bins.len()).map(|i| i as f64 / n).collect();
        let curve = Curve { bins, cdf: &cdf };
        let at = |v: f64| {
            let (bin, share) = curve.place(v);
            let below = if bin == 0 { 0.0 } else { cdf[bin - 1] };
            below + share * (cdf[bin] - below)
        };
        (at(just_below(bins, v)), at(v))
    }

    /// Cents beside a million differ by less than a millionth.
    #[test]
    fn rewards_are_told_apart_however_close_they_are() {
        let rewards: Vec<f64> = (0..300).map(|cents| 1_500_000.0 + f64::from(cents) / 100.0).collect();
        let bins = atoms(&rewards);
        for v in rewards.iter().flat_map(|&r| [r, r - 0.003, r + 0.003]) {
            let count = |is: &dyn Fn(f64) -> bool| rewards.iter().filter(|&&r| is(r)).count() as f64 / 300.0;
            let (below, upto) = read(&bins, v);
            assert!((below - count(&|r| r < v)).abs() < 1e-12 && (upto - count(&|r| r <= v)).abs() < 1e-12, "{v}");
        }
    }

    #[test]
    fn what_differs_by_rounding_is_meant() {
        // In single precision, 0.2 is more than 0.2 and 0.7 is less than 0.7.
        for v in [0.2, 0.7] {
            let bins = atoms(&[0.0, f64::from(v as f32), 1.0]);
            let (below, upto) = read(&bins, v);
            assert!((below - 1.0 / 3.0).abs() < 1e-12 && (upto - 2.0 / 3.0).abs() < 1e-12, "{v}");
        }
        let bins = atoms(&[0.0, 0.1 + 0.2, 1.0]);
        assert!((read(&bins, 0.3).1 - 2.0 / 3.0).abs() < 1e-12);
    }
}
