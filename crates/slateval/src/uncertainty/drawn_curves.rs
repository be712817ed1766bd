//! What is read off draws of a CDF, many draws side by side.
//! See docs/methods.md, section 6.7.

use crate::estimate::distribution::{Distribution, ROUNDING};
use crate::math::normals::{SIDE, Side};
use crate::math::paths::{integrate, lay_around, sort};
use crate::question::tail::Tail;
use crate::uncertainty::readings::{Reading, Readings};

/// A distribution that errors are laid around, and what is read off the sums.
pub(crate) struct DrawnCurves<'a> {
    distribution: &'a Distribution,
    /// How much further from 0 a path gets than it does at the ends of the distribution's bins.
    missed: &'a [f64],
    readings: Vec<Aimed>,
    means: Vec<f64>,
    tail: Tail,
}

/// A reading, and the bin in which the distribution itself has it: that of a draw is not far.
struct Aimed {
    reading: Reading,
    bin: usize,
    /// Of a probability, the share of its bin.
    share: f64,
}

/// What a block of draws says of a member.
pub(crate) struct BlockRead {
    pub(crate) sup: Side,
    /// For each reading.
    pub(crate) values: Vec<Side>,
}

impl<'a> DrawnCurves<'a> {
    pub(crate) fn new(distribution: &'a Distribution, missed: &'a [f64], readings: &Readings) -> Self {
        let curve = distribution.curve();
        let tail = readings.tail();
        let aimed = |reading: Reading| {
            let (bin, share) = match reading {
                Reading::Cvar(alpha) => (curve.bin_at(tail.level(alpha)), 0.0),
                Reading::Quantile(level) => (curve.bin_at(level), 0.0),
                Reading::Probability(reward) => curve.place(reward),
            };
            Aimed { reading, bin, share }
        };
        DrawnCurves {
            distribution,
            missed,
            readings: readings.all().map(aimed).collect(),
            means: distribution.bins.iter().map(|bin| bin.mean).collect(),
            tail,
        }
    }

    /// Makes CDFs of the errors in `path`, and reads them.
    pub(crate) fn read(&self, path: &mut [Side], integrals: &mut Vec<Side>) -> BlockRead {
        let laid = lay_around(&self.distribution.repaired, self.missed, path);
        if !laid.ascend {
            sort(path);
        }
        if let Some(last) = path.last_mut() {
            *last = [[1.0; 4]; 2];
        }
        integrals.resize(path.len(), Side::default());
        if self.readings.iter().any(|aimed| matches!(aimed.reading, Reading::Cvar(_))) {
            integrate(&self.means, path, integrals);
        }
        let values = self.readings.iter().map(|aimed| {
            let mut values = Side::default();
            for (draw, value) in values.as_flattened_mut().iter_mut().enumerate() {
                *value = self.read_draw(aimed, &DrawnCurve { path, integrals, draw });
            }
            values
        });
        BlockRead { sup: laid.sup, values: values.collect() }
    }

    fn read_draw(&self, aimed: &Aimed, curve: &DrawnCurve<'_>) -> f64 {
        match aimed.reading {
            Reading::Quantile(level) => self.quantile(curve, level, aimed.bin),
            Reading::Probability(_) => {
                let (below, mass) = curve.step(aimed.bin);
                below + aimed.share * mass
            }
            Reading::Cvar(alpha) => {
                let below = self.integral_below(curve, self.tail.level(alpha), aimed.bin);
                match self.tail {
                    Tail::Lower => below / alpha,
                    Tail::Upper => (curve.integral(curve.path.len()) - below) / alpha,
                }
            }
        }
    }

    fn quantile(&self, curve: &DrawnCurve<'_>, level: f64, near: usize) -> f64 {
        let mut b = curve.places_before(near, |f| f < level - ROUNDING);
        if level <= ROUNDING {
            // A level of 0 is reached by the first bin that has any probability.
            b = b.max(curve.places_before(0, |f| f <= 0.0));
        }
        let b = b.min(curve.path.len() - 1);
        let (below, mass) = curve.step(b);
        let share = if mass > 0.0 { ((level - below) / mass).clamp(0.0, 1.0) } else { 1.0 };
        self.distribution.bins[b].quantile(share)
    }

    /// The integral of the quantile function up to a level.
    fn integral_below(&self, curve: &DrawnCurve<'_>, level: f64, near: usize) -> f64 {
        let b = curve.places_before(near, |f| f <= level);
        let whole = curve.integral(b);
        let Some(bin) = self.distribution.bins.get(b) else { return whole };
        let (below, mass) = curve.step(b);
        whole + mass * bin.integral(((level - below) / mass).clamp(0.0, 1.0))
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
            let read = DrawnCurves::new(&distribution, &missed, &readings).read(&mut path, &mut Vec::new());
            for draw in 0..SIDE {
                let error: Vec<f64> = errors.iter().map(|row| row.as_flattened()[draw]).collect();
                let sup = error.iter().fold(0.0, |sup: f64, w| sup.max(w.abs())) + 0.125;
                assert_eq!(read.sup.as_flattened()[draw], sup);
                let mut cdf: Vec<f64> = error.iter().zip(&distribution.repaired).map(|(w, f)| f + w).collect();
                repair(&mut cdf);
                let expected = readings.read(Curve { bins: &distribution.bins, cdf: &cdf });
                for (i, (found, expected)) in read.values.iter().zip(&expected).enumerate() {
                    let found = found.as_flattened()[draw];
                    assert!((found - expected).abs() <= 1e-9, "{tail:?} {noise} reading {i}: {found} {expected}");
                }
            }
        }
    }
}
