//! Draws of a CDF.
//! See docs/methods.md, section 6.7.

use std::ops::Range;

use crate::distribution::curve::{Curve, Distribution, repair};
use crate::interval::thinning::Thinning;

/// A distribution that errors are laid around at the ends of runs of its bins. Inside a run, draws have the shape of the
/// distribution itself.
pub(crate) struct DrawnCurves<'a> {
    distribution: &'a Distribution,
    runs: Vec<Range<usize>>,
    /// The distribution at the ends of runs.
    cdf: Vec<f64>,
    /// For each bin, the share of its run's probability that lies above its end.
    above: Vec<f64>,
}

impl<'a> DrawnCurves<'a> {
    pub(crate) fn new(distribution: &'a Distribution, thinning: &Thinning) -> Self {
        let (bins, curve) = (&distribution.bins, distribution.curve());
        let mut above = vec![0.0; bins.len()];
        for run in thinning.runs() {
            let total: f64 = run.clone().map(|b| curve.mass(b)).sum();
            let rows: f64 = bins[run.clone()].iter().map(|bin| bin.rows).sum();
            // A run without probability is filled as the log filled it, should a draw give it some.
            let share = |b: usize| if total > 0.0 { curve.mass(b) / total } else { bins[b].rows / rows };
            for b in run.rev().skip(1) {
                above[b] = above[b + 1] + share(b + 1);
            }
        }
        let cdf = thinning.at_ends(&distribution.repaired);
        DrawnCurves { distribution, runs: thinning.runs().collect(), cdf, above }
    }

    /// The CDF `repair(F + W)` at the ends of bins, given `W` at the ends of runs.
    pub(crate) fn cdf(&self, mut path: Vec<f64>) -> Vec<f64> {
        path.iter_mut().zip(&self.cdf).for_each(|(w, f)| *w += f);
        repair(&mut path);
        let (mut cdf, mut below) = (self.above.clone(), 0.0);
        for (run, end) in self.runs.iter().zip(path) {
            let mass = end - below;
            cdf[run.clone()].iter_mut().for_each(|f| *f = end - *f * mass);
            below = end;
        }
        cdf
    }

    /// The same, to read things off.
    pub(crate) fn curve<'c>(&'c self, cdf: &'c [f64]) -> Curve<'c> {
        Curve { bins: &self.distribution.bins, cdf }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::correction::weight_sums::Bin;
    use crate::interval::readings::Readings;
    use crate::spec::combination::Metric;
    use crate::spec::tail::Tail;

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
        let curves = DrawnCurves::new(&distribution, &thinning);
        let cdf = curves.cdf(vec![0.0; thinning.len()]);
        for tail in [Tail::Lower, Tail::Upper] {
            let readings = Readings::new(metrics.iter().copied(), tail);
            let expected = readings.read(distribution.curve());
            for (found, expected) in readings.read(curves.curve(&cdf)).into_iter().zip(expected) {
                assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{found} {expected}");
            }
        }
    }

    /// A draw keeps the shape of the distribution inside each run, and is a CDF.
    #[test]
    fn inside_a_run_a_draw_has_the_shape_of_the_distribution() {
        let bins: Vec<Bin> =
            (0..5000).map(|b| Bin { rows: 1.0, min: b as f64, mean: b as f64, max: b as f64 }).collect();
        let distribution = Distribution::new(bins, (0..5000).map(|b| (1.0 + f64::from(b % 7)) / 20_000.0));
        let thinning = Thinning::fine(&distribution.bins);
        let path: Vec<f64> = (0..thinning.len()).map(|run| 0.01 * (run as f64 / 3.0).sin()).collect();
        let mut ends: Vec<f64> =
            thinning.at_ends(&distribution.repaired).iter().zip(&path).map(|(f, w)| f + w).collect();
        repair(&mut ends);
        let cdf = DrawnCurves::new(&distribution, &thinning).cdf(path);
        assert_eq!(thinning.at_ends(&cdf), ends);
        assert!(cdf.is_sorted());
        let (drawn, own) = (Curve { bins: &distribution.bins, cdf: &cdf }, distribution.curve());
        for run in thinning.runs().filter(|run| run.len() > 1) {
            let total = |curve: Curve<'_>| run.clone().map(|b| curve.mass(b)).sum::<f64>();
            let times = total(drawn) / total(own);
            assert!(run.clone().all(|b| (drawn.mass(b) - times * own.mass(b)).abs() < 1e-12), "{run:?}");
        }
    }
}
