//! What is read off draws of a CDF, many draws side by side.
//! See docs/methods.md, section 6.7.

use std::ops::Range;

use crate::estimate::distribution::{Distribution, ROUNDING};
use crate::math::normals::{SIDE, Side};
use crate::math::paths::{integrate, lay_around, sort};
use crate::math::powers::{Power, Powers};
use crate::question::tail::Tail;
use crate::uncertainty::readings::{Reading, Readings};
use crate::uncertainty::thinning::Thinning;

/// A distribution that errors are laid around at the ends of runs of its bins, and what is read off the sums. Inside a run
/// the draws have the shape of the distribution itself, bin by bin.
pub(crate) struct DrawnCurves<'a> {
    distribution: &'a Distribution,
    runs: Vec<Range<usize>>,
    /// The distribution at the ends of runs.
    cdf: Vec<f64>,
    /// How much further from 0 a path gets than it does at the ends of runs.
    missed: &'a [f64],
    /// For each bin, the share of its run's probability that lies in the run up to its end.
    shares: Vec<f64>,
    /// For each bin, the integral of the run's quantile function up to that share.
    integrals: Vec<f64>,
    /// The mean reward of each run.
    means: Vec<f64>,
    readings: Vec<Aimed>,
    tail: Tail,
}

/// A reading, and the run in which the distribution itself has it: that of a draw is not far.
struct Aimed {
    reading: Reading,
    run: usize,
    /// Of a probability, the share of the run's.
    share: f64,
}

impl<'a> DrawnCurves<'a> {
    pub(crate) fn new(
        distribution: &'a Distribution,
        thinning: &Thinning,
        missed: &'a [f64],
        readings: &Readings,
    ) -> Self {
        let mut this = DrawnCurves {
            distribution,
            runs: thinning.runs().collect(),
            cdf: thinning.at_ends(&distribution.repaired),
            missed,
            shares: Vec::with_capacity(distribution.bins.len()),
            integrals: Vec::with_capacity(distribution.bins.len()),
            means: Vec::with_capacity(thinning.len()),
            readings: Vec::new(),
            tail: readings.tail(),
        };
        for run in thinning.runs() {
            this.add_run(run);
        }
        this.readings = readings.all().map(|reading| this.aimed(reading)).collect();
        this
    }

    fn add_run(&mut self, run: Range<usize>) {
        let (bins, curve) = (&self.distribution.bins, self.distribution.curve());
        let total: f64 = run.clone().map(|b| curve.mass(b)).sum();
        let rows: f64 = bins[run.clone()].iter().map(|bin| bin.rows).sum();
        // A run that has no probability is filled as the log filled it, should a draw give it some.
        let share = |b: usize| if total > 0.0 { curve.mass(b) / total } else { bins[b].rows / rows };
        let (mut filled, mut integral) = (0.0, 0.0);
        for b in run {
            filled += share(b);
            integral += share(b) * bins[b].mean;
            self.shares.push(filled);
            self.integrals.push(integral);
        }
        self.means.push(integral);
    }

    fn aimed(&self, reading: Reading) -> Aimed {
        let curve = self.distribution.curve();
        let (bin, filled) = match reading {
            Reading::Cvar(alpha) => (curve.bin_at(self.tail.level(alpha)), 1.0),
            Reading::Quantile(level) => (curve.bin_at(level), 1.0),
            Reading::Probability(reward) => curve.place(reward),
        };
        let run = self.runs.partition_point(|run| run.end <= bin);
        let before = self.share_before(run, bin);
        Aimed { reading, run, share: before + filled * (self.shares[bin] - before) }
    }

    /// The share of a run's probability that lies before one of its bins.
    fn share_before(&self, run: usize, bin: usize) -> f64 {
        if bin == self.runs[run].start { 0.0 } else { self.shares[bin - 1] }
    }

    /// Makes CDFs of the errors in `path`, and says what it reads off them: how far the errors get from 0, then each reading.
    pub(crate) fn read(&self, path: &mut [Side], integrals: &mut Vec<Side>, said: &mut Vec<Side>) {
        let laid = lay_around(&self.cdf, self.missed, path);
        if !laid.ascend {
            sort(path);
        }
        if let Some(last) = path.last_mut() {
            last.as_flattened_mut().fill(1.0);
        }
        integrals.resize(path.len(), Side::default());
        if self.readings.iter().any(|aimed| matches!(aimed.reading, Reading::Cvar(_))) {
            integrate(&self.means, path, integrals);
        }
        said.push(laid.sup);
        said.extend(self.readings.iter().map(|aimed| {
            let mut values = Powers::default();
            for draw in 0..SIDE {
                values.set(draw, self.read_draw(aimed, &DrawnCurve { path, integrals, draw }));
            }
            values.values()
        }));
    }

    /// What one draw says. Powers inside bins are computed for all draws of a block at once.
    fn read_draw(&self, aimed: &Aimed, curve: &DrawnCurve<'_>) -> Power {
        match aimed.reading {
            Reading::Quantile(level) => self.quantile(curve, level, aimed.run),
            Reading::Probability(_) => {
                let (below, mass) = curve.step(aimed.run);
                Power::constant(below + aimed.share * mass)
            }
            Reading::Cvar(alpha) => {
                let below = self.integral_below(curve, self.tail.level(alpha), aimed.run);
                match self.tail {
                    Tail::Lower => below.scaled(1.0 / alpha, 0.0),
                    Tail::Upper => below.scaled(-1.0 / alpha, curve.integral(curve.path.len()) / alpha),
                }
            }
        }
    }

    fn quantile(&self, curve: &DrawnCurve<'_>, level: f64, near: usize) -> Power {
        let mut run = curve.places_before(near, |f| f < level - ROUNDING);
        if level <= ROUNDING {
            // A level of 0 is reached by the first run that has any probability.
            run = run.max(curve.places_before(0, |f| f <= 0.0));
        }
        let run = run.min(curve.path.len() - 1);
        let (below, mass) = curve.step(run);
        let share = if mass > 0.0 { ((level - below) / mass).clamp(0.0, 1.0) } else { 1.0 };
        let rounding = if mass > 0.0 { ROUNDING / mass } else { 0.0 };
        let (bin, share) = self.place_in(run, share, rounding);
        self.distribution.bins[bin].quantile_power(share)
    }

    /// The integral of the quantile function up to a level.
    fn integral_below(&self, curve: &DrawnCurve<'_>, level: f64, near: usize) -> Power {
        let run = curve.places_before(near, |f| f <= level);
        let whole = curve.integral(run);
        if run == curve.path.len() {
            return Power::constant(whole);
        }
        let (below, mass) = curve.step(run);
        let (bin, share) = self.place_in(run, ((level - below) / mass).clamp(0.0, 1.0), 0.0);
        let before = if bin == self.runs[run].start { 0.0 } else { self.integrals[bin - 1] };
        let own = self.shares[bin] - self.share_before(run, bin);
        self.distribution.bins[bin].integral_power(share).scaled(mass * own, whole + mass * before)
    }

    /// The bin in which a share of a run is reached, and the share of the bin.
    fn place_in(&self, run: usize, share: f64, rounding: f64) -> (usize, f64) {
        let bins = &self.runs[run];
        let reached = self.shares[bins.clone()].partition_point(|filled| *filled < share - rounding);
        let bin = (bins.start + reached).min(bins.end - 1);
        let before = self.share_before(run, bin);
        let own = self.shares[bin] - before;
        (bin, if own > 0.0 { ((share - before) / own).clamp(0.0, 1.0) } else { 1.0 })
    }
}

/// One of the draws.
struct DrawnCurve<'a> {
    path: &'a [Side],
    /// Of the quantile function, up to each of the path's values.
    integrals: &'a [Side],
    draw: usize,
}

impl DrawnCurve<'_> {
    fn value(&self, b: usize) -> f64 {
        self.path[b].as_flattened()[self.draw]
    }

    /// `F` before a bin, and the bin's probability.
    fn step(&self, b: usize) -> (f64, f64) {
        let below = if b == 0 { 0.0 } else { self.value(b - 1) };
        (below, self.value(b) - below)
    }

    /// The integral of the quantile function over the first `b` bins.
    fn integral(&self, b: usize) -> f64 {
        if b == 0 { 0.0 } else { self.integrals[b - 1].as_flattened()[self.draw] }
    }

    /// How many values come before those that do not, given that all such values do. The search begins at a place, and takes
    /// longer steps the further it has to go.
    fn places_before(&self, near: usize, comes_before: impl Fn(f64) -> bool) -> usize {
        let all = self.path.len();
        let before = |place: usize| comes_before(self.value(place));
        let (mut from, mut to, mut step) = (near.min(all), near.min(all), 1);
        // All below `from` come before, and none from `to` on.
        if from < all && before(from) {
            while to < all && before(to) {
                from = to + 1;
                to = (to + step).min(all);
                step *= 2;
            }
        } else {
            while from > 0 && !before(from - 1) {
                to = from - 1;
                from = from.saturating_sub(step);
                step *= 2;
            }
        }
        while from < to {
            let middle = (from + to) / 2;
            if before(middle) { from = middle + 1 } else { to = middle }
        }
        from
    }
}

const _: () = assert!(SIDE == 8, "the last value of a CDF is written out");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::distribution::{Curve, repair};
    use crate::estimate::weight_sums::Bin;
    use crate::math::normals;
    use crate::question::combination::Metric;

    /// Many draws at once against one after the other.
    #[test]
    fn blocks_are_read_as_single_curves_are() {
        const BINS: usize = 60;
        let bin = |b: usize| {
            let (min, max) = (b as f64, b as f64 + if b.is_multiple_of(3) { 0.0 } else { 0.9 });
            Bin { rows: 1.0, min, mean: 0.7 * min + 0.3 * max, max }
        };
        let distribution = Distribution::logged((0..BINS).map(bin).collect());
        let metrics = [0.01, 0.1, 0.5, 0.9, 0.99].into_iter().flat_map(|p| [Metric::Cvar(p), Metric::Quantile(p)]);
        let metrics: Vec<Metric> = metrics.chain([-1.0, 0.0, 17.3, 30.0, 99.0].map(Metric::Probability)).collect();
        for (tail, noise) in [(Tail::Lower, 0.0), (Tail::Lower, 0.01), (Tail::Upper, 0.02), (Tail::Upper, 0.4)] {
            let readings = Readings::new(metrics.iter().copied(), tail);
            let mut path = vec![Side::default(); BINS];
            normals::fill(&std::array::from_fn(|d| normals::key(9, 0, d as u64)), &mut path);
            path.as_flattened_mut().as_flattened_mut().iter_mut().for_each(|z| *z *= noise);
            let errors = path.clone();
            let missed = [0.125; BINS];
            let mut said = Vec::new();
            DrawnCurves::new(&distribution, &Thinning::none(&distribution.bins), &missed, &readings).read(
                &mut path,
                &mut Vec::new(),
                &mut said,
            );
            for draw in 0..SIDE {
                let error: Vec<f64> = errors.iter().map(|row| row.as_flattened()[draw]).collect();
                let sup = error.iter().fold(0.0, |sup: f64, w| sup.max(w.abs())) + 0.125;
                assert_eq!(said[0].as_flattened()[draw], sup);
                let mut cdf: Vec<f64> = error.iter().zip(&distribution.repaired).map(|(w, f)| f + w).collect();
                repair(&mut cdf);
                let expected = readings.read(Curve { bins: &distribution.bins, cdf: &cdf });
                for (i, (found, expected)) in said[1..].iter().zip(&expected).enumerate() {
                    let found = found.as_flattened()[draw];
                    assert!((found - expected).abs() <= 1e-9, "{tail:?} {noise} reading {i}: {found} {expected}");
                }
            }
        }
    }

    /// Runs of bins say of the estimate itself what bins say.
    #[test]
    fn without_errors_runs_are_read_as_their_bins_are() {
        let bin = |b: usize| Bin { rows: 1.0, min: b as f64, mean: b as f64 + 0.3, max: b as f64 + 0.8 };
        let bins: Vec<Bin> = (0..5000).map(bin).collect();
        let mass = |b: usize| (1.0 + (b % 7) as f64 - f64::from(u8::from(b.is_multiple_of(5)))) / 19_000.0;
        let distribution = Distribution::new(bins, (0..5000).map(mass));
        let metrics = [0.003, 0.1, 0.5, 0.87, 0.99].into_iter().flat_map(|p| [Metric::Cvar(p), Metric::Quantile(p)]);
        let metrics: Vec<Metric> = metrics.chain([-1.0, 17.3, 2500.5, 4998.0].map(Metric::Probability)).collect();
        let thinning = Thinning::fine(&distribution.bins);
        assert!(thinning.len() < 1000);
        for tail in [Tail::Lower, Tail::Upper] {
            let readings = Readings::new(metrics.iter().copied(), tail);
            let missed = vec![0.0; thinning.len()];
            let mut path = vec![Side::default(); thinning.len()];
            let curves = DrawnCurves::new(&distribution, &thinning, &missed, &readings);
            let mut said = Vec::new();
            curves.read(&mut path, &mut Vec::new(), &mut said);
            for (found, expected) in said[1..].iter().zip(readings.read(distribution.curve())) {
                let found = found[0][0];
                assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{found} {expected}");
            }
        }
    }
}
