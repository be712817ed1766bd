//! Whether effects of some number of slots show in a log.
//! See docs/methods.md, sections 7.1 and 7.2.
//!
//! With `H_r = e_r(Z)`, effects of exactly `r` slots show in `T_r(v) = mean[H_r (1{R <= v} - p(v))]`, `p` the logged CDF:
//! 0 in expectation if there are none. Order `r` is active if `sup_v |T_r(v)|` is larger than multiplier draws of it are.
//! Mean and second moment have tests of their own, with `R` and `(R - mean R)^2` in place of the indicator. All orders
//! of a log are tested at a joint level of 5% (Holm).

use crate::correction::weight_sums::Bin;
use crate::distribution::estimator::Estimator;
use crate::interval::drawable::Steps;
use crate::interval::draws::{Grids, in_parallel, largest, select_quantile};
use crate::interval::normals::{Stream, normals};
use crate::interval::process::run_up;
use crate::math::normal;
use crate::result::selection::{FunctionalTest, OrderTest};
use crate::spec::settings::Settings;
use crate::sums::cell::Cell;
use crate::sums::feature_map::LinearFunction;
use crate::sums::index::{BinSum, Feature, GroupSum, Left, Power, Right, Shared};
use crate::sums::witness::Witness;

/// How often any order that has no effect is to be taken for active.
pub(crate) const LEVEL: f64 = 0.05;

/// What rounding may leave of the difference of two sums, or of the square of a product of ratios, as a part of these.
const ROUNDING: f64 = 1e-12;

/// What the orders of one policy are tested on.
#[derive(Clone, Copy)]
pub(crate) struct Tested<'a> {
    pub(crate) cell: &'a Cell,
    pub(crate) policy: usize,
    pub(crate) bins: &'a [Bin],
    /// The bins' places in the cell's table.
    pub(crate) occupied: &'a [u32],
    /// The logging policy beside the policy's ratios.
    pub(crate) logging: &'a Estimator<'a>,
    pub(crate) settings: &'a Settings,
    pub(crate) grids: &'a Grids,
}

/// What is known of one order before all are judged together.
pub(crate) struct Evidence {
    order: usize,
    and_above: bool,
    design_ess: Option<f64>,
    cdf: Candidate,
    mean: Candidate,
    variance: Candidate,
}

/// What is known of one order before its CDF is drawn without effects: that is done for all orders at once.
pub(crate) struct Clue {
    order: usize,
    and_above: bool,
    design_ess: Option<f64>,
    /// The sum of `H` in each run of bins.
    sums: Vec<f64>,
    /// How they vary.
    steps: Steps,
    mean: Candidate,
    variance: Candidate,
}

/// A statistic, and what it would be without effects.
struct Candidate {
    statistic: f64,
    without_effects: Null,
}

enum Null {
    /// Normal with this standard deviation, in absolute value.
    Normal(f64),
    /// These draws.
    Drawn(Vec<f64>),
}

impl Null {
    /// What a statistic exceeds with this probability.
    fn critical(&self, level: f64) -> f64 {
        match self {
            Null::Normal(deviation) => normal::upper_quantile(level / 2.0) * deviation,
            Null::Drawn(draws) => select_quantile(&mut draws.clone(), 1.0 - level),
        }
    }

    /// How likely a statistic this large is.
    fn probability(&self, statistic: f64) -> f64 {
        match self {
            Null::Normal(0.0) => f64::from(u8::from(statistic <= 0.0)),
            Null::Normal(deviation) => 2.0 * normal::upper_tail(statistic / deviation),
            Null::Drawn(draws) => {
                let above = draws.iter().filter(|draw| **draw >= statistic).count();
                above as f64 / draws.len() as f64
            }
        }
    }
}

/// Judges all orders together.
pub(crate) fn judge(evidence: &[Evidence]) -> Vec<OrderTest> {
    let family = |of: fn(&Evidence) -> &Candidate| holm(&evidence.iter().map(of).collect::<Vec<_>>());
    let (cdf, mean, variance) = (family(|e| &e.cdf), family(|e| &e.mean), family(|e| &e.variance));
    let test = |(i, e): (usize, &Evidence)| OrderTest {
        order: e.order,
        and_above: e.and_above,
        statistic: cdf[i].statistic,
        critical: cdf[i].critical,
        active: cdf[i].active,
        design_ess: e.design_ess,
        mean: mean[i],
        variance: variance[i],
    };
    evidence.iter().enumerate().map(test).collect()
}

/// The lowest order's share of the level, as a multiple of each other's: effects of few slots are the likeliest.
const LOWEST_SHARE: f64 = 3.0;

/// Holm's procedure, weighted. The statistic that is least likely against its share of the level is judged first. If it is
/// active, its share goes to the others, and the next is judged. At the first inactive one the procedure stops: that one and
/// the rest are inactive.
fn holm(candidates: &[&Candidate]) -> Vec<FunctionalTest> {
    let share = |i: usize| if i == 0 { LOWEST_SHARE } else { 1.0 };
    let probability = |i: usize| candidates[i].without_effects.probability(candidates[i].statistic) / share(i);
    let excess = |i: usize| candidates[i].statistic / candidates[i].without_effects.critical(LEVEL);
    let mut ascending: Vec<usize> = (0..candidates.len()).collect();
    ascending.sort_by(|&a, &b| probability(a).total_cmp(&probability(b)).then_with(|| excess(b).total_cmp(&excess(a))));
    let mut found = vec![FunctionalTest { statistic: 0.0, critical: 0.0, active: false }; candidates.len()];
    let (mut left, mut stopped): (f64, bool) = ((0..candidates.len()).map(share).sum(), false);
    for i in ascending {
        let Candidate { statistic, without_effects } = candidates[i];
        let critical = without_effects.critical(LEVEL * share(i) / left);
        let active = !stopped && *statistic > critical;
        found[i] = FunctionalTest { statistic: *statistic, critical, active };
        stopped |= !active;
        if active {
            left -= share(i);
        }
    }
    found
}

impl Tested<'_> {
    /// One of the orders that weights are kept of.
    pub(crate) fn order(&self, order: usize, design_ess: Option<f64>) -> Clue {
        let Tested { cell, policy, occupied, .. } = *self;
        let section = &cell.layout.own[policy];
        // Tested orders are 2 and above: their products are kept as they are.
        let (j, place) = (order - 1, |left| section.place(BinSum::Product(left, Right::Weight(order - 1))));
        let (w, ww) = (place(Left::One), place(Left::Weight(j)));
        let runs = &self.grids.of_tests;
        let squares = self.column(ww);
        if self.are_rounding(order, &squares) {
            return self.silent(order, false, design_ess);
        }
        let steps = match &cell.clusters {
            None => Steps::OfRuns(vec![deviations(&runs.sums(&squares), 1.0)]),
            Some(groups) => {
                let of_group = |group: usize| {
                    let weight = |&row: &u32| groups.sum(row, group, GroupSum::Weight { policy, j: order - 1 });
                    runs.sums(&occupied.iter().map(weight).collect::<Vec<_>>())
                };
                Steps::OfGroups((0..groups.count).map(of_group).collect())
            }
        };
        let (mean, variance) = self.moments_of_order(order, &squares);
        Clue { order, and_above: false, design_ess, sums: runs.sums(&self.column(w)), steps, mean, variance }
    }

    /// What a structure leaves out. Clusters are not kept for these: slots are filled
    /// anew for each slate, so that without effects rows are no more alike in clusters than rewards are.
    pub(crate) fn witness(&self, witness: Witness, design_ess: Option<f64>) -> Clue {
        let section = &self.cell.layout.witnesses[self.policy];
        let column = |power: Power| self.column(section.place((witness, power)));
        let (sums, squares) = (column(Power::First), column(Power::Second));
        let and_above = matches!(witness, Witness::Beyond(_));
        if self.are_rounding(witness.order(), &squares) {
            return self.silent(witness.order(), and_above, design_ess);
        }
        let (mean, variance) = self.moments_in_bins(&sums, &squares);
        let runs = &self.grids.of_tests;
        let steps = Steps::OfRuns(vec![deviations(&runs.sums(&squares), self.logging.design_effect)]);
        Clue { order: witness.order(), and_above, design_ess, sums: runs.sums(&sums), steps, mean, variance }
    }

    /// Whether products of so many slots, given their squares, are what rounding leaves of slots that the target does not
    /// change. Such a product is next to nothing times one of fewer slots, and no test looks at the scale: it would find again
    /// what those have found.
    fn are_rounding(&self, order: usize, squares: &[f64]) -> bool {
        let (n, sums) = (self.cell.rows as f64, &self.logging.sums);
        let of_ratios = (0..sums.slots).map(|k| sums.zz(k, k)).sum::<f64>() / n;
        squares.iter().sum::<f64>() / n <= ROUNDING * of_ratios.powi(order as i32)
    }

    /// An order of which nothing can be seen.
    fn silent(&self, order: usize, and_above: bool, design_ess: Option<f64>) -> Clue {
        let sums = self.grids.of_tests.sums(&vec![0.0; self.occupied.len()]);
        let none = || Candidate { statistic: 0.0, without_effects: Null::Normal(0.0) };
        let steps = Steps::OfRuns(vec![sums.clone()]);
        Clue { order, and_above, design_ess, sums, steps, mean: none(), variance: none() }
    }

    /// Draws what all orders would look like without effects.
    pub(crate) fn evidence(&self, clues: Vec<Clue>) -> Vec<Evidence> {
        let n = self.cell.rows as f64;
        let logged = self.grids.of_tests.at_ends(&logged_cdf(self.cell, self.occupied));
        let steps: Vec<&Steps> = clues.iter().map(|clue| &clue.steps).collect();
        let drawn = sup_draws(&steps, &logged, self.settings);
        let evidence = |(clue, draws): (Clue, Vec<f64>)| {
            let Clue { order, and_above, design_ess, sums, mean, variance, .. } = clue;
            let draws = draws.into_iter().map(|sup| sup / n).collect();
            let statistic = sup_statistic(sums, &logged) / n;
            let cdf = Candidate { statistic, without_effects: Null::Drawn(draws) };
            Evidence { order, and_above, design_ess, cdf, mean, variance }
        };
        clues.into_iter().zip(drawn).map(evidence).collect()
    }

    fn column(&self, place: usize) -> Vec<f64> {
        self.occupied.iter().map(|&row| self.cell.table.row(row)[place]).collect()
    }

    /// `mean[H (R - mean R)]` and `mean[H ((R - mean R)^2 - var R)]`, from sums over all rows; how much they vary, from
    /// the sums of `H^2` in each bin.
    fn moments_of_order(&self, order: usize, squares: &[f64]) -> (Candidate, Candidate) {
        let (totals, n) = (&self.logging.sums.totals, self.cell.rows as f64);
        let j = order - 1;
        let mean = totals.rewards(1) / n;
        let variance = totals.rewards(2) / n - mean * mean;
        let candidate = |c: [f64; 3]| {
            let square: f64 = match &self.cell.clusters {
                None => {
                    let of = |bin: &Bin| {
                        let r = bin.mean - self.cell.origin;
                        (c[0] + (c[1] + c[2] * r) * r).powi(2)
                    };
                    self.bins.iter().zip(squares).map(|(bin, square)| of(bin) * square).sum()
                }
                Some(groups) => {
                    let terms = [Feature::Weight(j), Feature::WeightedReward(j), Feature::WeightedSquaredReward(j)];
                    let terms: Vec<(Feature, f64)> = terms.into_iter().zip(c).collect();
                    let x = LinearFunction::new(self.cell.kept.features(self.policy, self.cell.slots), &terms);
                    groups.sums_of(self.policy, &x).iter().map(|sum| sum.powi(2)).sum()
                }
            };
            // H_j = G_j - G_{j-1}.
            let (mut sum, mut size) = (0.0, 0.0);
            for (power, x) in c.iter().enumerate() {
                let (own, below) = (totals.weight(j, power), totals.weight(j - 1, power));
                sum += x * (own - below);
                size += x.abs() * (own.abs() + below.abs());
            }
            // Where a slot is as good as unchanged, H is next to nothing, and the difference may be rounding.
            let statistic = if sum.abs() > ROUNDING * size { sum.abs() / n } else { 0.0 };
            Candidate { statistic, without_effects: Null::Normal(square.max(0.0).sqrt() / n) }
        };
        (candidate([-mean, 1.0, 0.0]), candidate([mean * mean - variance, -2.0 * mean, 1.0]))
    }

    /// The same for a witness, with the mean reward of each bin in place of its rewards.
    fn moments_in_bins(&self, sums: &[f64], squares: &[f64]) -> (Candidate, Candidate) {
        let (bins, n) = (self.bins, self.cell.rows as f64);
        let average = |of: &dyn Fn(&Bin) -> f64| bins.iter().map(|b| b.rows * of(b)).sum::<f64>() / n;
        let mean = average(&|b| b.mean);
        let variance = average(&|b| (b.mean - mean).powi(2));
        let candidate = |of: &dyn Fn(&Bin) -> f64| {
            let with = |values: &[f64], power: i32| -> f64 {
                bins.iter().zip(values).map(|(b, x)| of(b).powi(power) * x).sum()
            };
            let deviation = (self.logging.design_effect * with(squares, 2)).max(0.0).sqrt() / n;
            Candidate { statistic: with(sums, 1).abs() / n, without_effects: Null::Normal(deviation) }
        };
        (candidate(&|b| b.mean - mean), candidate(&|b| (b.mean - mean).powi(2) - variance))
    }
}

/// The logged CDF at each bin's end.
pub(crate) fn logged_cdf(cell: &Cell, occupied: &[u32]) -> Vec<f64> {
    let mut seen = 0.0;
    let share = |&row: &u32| {
        seen += cell.table.row(row)[Shared::Rows.place()];
        seen / cell.rows as f64
    };
    occupied.iter().map(share).collect()
}

/// `sup_v |sum_{b <= v} s_b - p(v) sum_b s_b|`.
pub(crate) fn sup_statistic(sums: Vec<f64>, logged: &[f64]) -> f64 {
    let path = run_up(sums);
    let total = path.last().copied().unwrap_or(0.0);
    largest(path.iter().zip(logged).map(|(sum, p)| (sum - p * total).abs()))
}

/// Standard deviations, given variances and what multiplies them.
pub(crate) fn deviations(variances: &[f64], times: f64) -> Vec<f64> {
    variances.iter().map(|v| (times * v).max(0.0).sqrt()).collect()
}

/// Draws of the same for several processes, which are made of the same normals.
pub(crate) fn sup_draws(processes: &[&Steps], logged: &[f64], settings: &Settings) -> Vec<Vec<f64>> {
    let count = processes.iter().map(|steps| steps.normals()).max().unwrap_or(0);
    let draw = |draw: usize| -> Vec<f64> {
        let normals = [normals(settings.seed, Stream::Steps(0), draw, count)];
        processes.iter().map(|steps| sup_statistic(steps.drawn(&normals), logged)).collect()
    };
    let sups = in_parallel(settings.draws, settings.threads, draw);
    (0..processes.len()).map(|process| sups.iter().map(|of_draw| of_draw[process]).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal_candidate(statistic: f64) -> Candidate {
        Candidate { statistic, without_effects: Null::Normal(1.0) }
    }

    #[test]
    fn holm_steps_down_from_the_least_likely() {
        let judged = |statistics: &[f64]| -> Vec<bool> {
            let candidates: Vec<Candidate> = statistics.iter().map(|&s| normal_candidate(s)).collect();
            holm(&candidates.iter().collect::<Vec<_>>()).iter().map(|test| test.active).collect()
        };
        // Of three, the first is judged at .03 (2.170), the others at .01 (2.576); with one of those out of the way, at
        // .0375 (2.081) and .0125 (2.498); alone, at .05 (1.960).
        assert_eq!(judged(&[2.2, 0.0, 0.0]), [true, false, false]);
        assert_eq!(judged(&[2.1, 0.0, 0.0]), [false, false, false]);
        assert_eq!(judged(&[2.1, 2.6, 0.0]), [true, true, false]);
        assert_eq!(judged(&[2.1, 2.5, 2.5]), [false, false, false]);
        assert_eq!(judged(&[2.0, 2.6, 2.6]), [true, true, true]);
        assert_eq!(judged(&[2.0]), [true]);
        assert_eq!(judged(&[]), [] as [bool; 0]);
    }

    #[test]
    fn what_is_active_exceeds_its_critical_value() {
        for statistics in [[2.0, 2.2, 2.5], [0.1, 2.3, 2.6], [3.0, 2.0, 2.5], [2.0, 2.6, 2.7]] {
            let candidates: Vec<Candidate> = statistics.iter().map(|&s| normal_candidate(s)).collect();
            for test in holm(&candidates.iter().collect::<Vec<_>>()) {
                assert!(!test.active || test.statistic > test.critical, "{statistics:?} {test:?}");
            }
        }
    }
}
