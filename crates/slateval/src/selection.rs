//! Which order of weights the data ask for.
//!
//! With `H_r = e_r(Z)`, effects of exactly `r` slots show in `T_r(v) = mean[H_r (1{R <= v} - p(v))]`, `p` the logged CDF:
//! 0 in expectation if there are none. Order `r` is active if `sup_v |T_r(v)|` exceeds its 95% multiplier quantile. From
//! order 1, step up while the next order is active and the log can carry it: its design effective sample size is at
//! least 10. Mean and second moment have tests of their own, with `R` and `(R - mean R)^2` in place of the indicator: an
//! additive mean does not make an additive CDF, and the square of a sum of slots is of order 2.

use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::cell::Cell;
use crate::draws::{generator, in_parallel, quantile};
use crate::estimator::Estimator;
use crate::evaluation::{FunctionalTest, Interaction, OrderTest, Selection};
use crate::features::Features;
use crate::layout::PairSums;
use crate::linear::dot;
use crate::normal;
use crate::settings::Settings;
use crate::table::bin;
use crate::thinning::Thinning;
use crate::weighted::{Bin, Weighted};

/// How often an order that has no effect is to be taken for active.
const LEVEL: f64 = 0.05;

/// Design effective sample size below which an order cannot be used or tested.
pub(crate) const CARRIES: f64 = 10.0;

/// Draws for each pair of slots, of which there may be many.
const PAIR_DRAWS: usize = 400;

/// Draws that a chunk of tests shares a generator for.
const CHUNK: usize = 100;

impl Selection {
    /// Chooses among the orders that `estimators` are of, the first of order 1.
    pub(crate) fn choose(
        cell: &Cell,
        policy: usize,
        occupied: &[u32],
        estimators: &[Estimator<'_>],
        settings: &Settings,
    ) -> Self {
        let highest = cell.slots.min(estimators.len()).max(1);
        let test = |order: usize| test_order(cell, policy, occupied, order, &estimators[order - 1], settings);
        let orders: Vec<OrderTest> = (2..=highest).map(test).collect();
        let carried =
            |order: usize| order <= highest && estimators[order - 1].design_ess.is_some_and(|ess| ess >= CARRIES);
        let step_up = |active: fn(&OrderTest) -> bool| {
            let reached = orders.iter().take_while(|test| active(test) && carried(test.order));
            reached.last().map_or(1, |test| test.order)
        };
        let cdf = step_up(|test| test.active);
        let mean = step_up(|test| test.mean.active);
        let variance = step_up(|test| test.variance.active).max(mean);
        let mut selection = Selection { orders, cdf, mean, variance, band: None, reason: String::new() };
        selection.band = selection.guard(cdf, cell.slots);
        selection.reason = selection.explain(cell.slots, estimators.len());
        selection
    }

    /// The order at which an interval needs no trust in `order`: the next one, where it exists and the log carries it.
    pub(crate) fn guard(&self, order: usize, slots: usize) -> Option<usize> {
        if order == slots {
            return Some(order);
        }
        let next = self.orders.iter().find(|test| test.order == order + 1)?;
        next.design_ess.is_some_and(|ess| ess >= CARRIES).then_some(order + 1)
    }

    /// Why nothing read off the CDF can be trusted: the data speak for a higher order than could be used.
    pub(crate) fn refuted(&self, slots: usize) -> Option<String> {
        if self.cdf == slots || self.orders.is_empty() {
            return None;
        }
        match self.orders.iter().find(|test| test.order == self.cdf + 1) {
            Some(next) if next.active && self.band.is_none() => Some(format!(
                "order {} shows in the log, which cannot carry it: order {} is likely wrong",
                next.order, self.cdf
            )),
            Some(_) => None,
            None => Some(format!("every order up to {} shows in the log, and higher ones are not tested", self.cdf)),
        }
    }

    fn explain(&self, slots: usize, kept: usize) -> String {
        let chosen = format!("CDF at order {}, mean at {}, variance at {}", self.cdf, self.mean, self.variance);
        let stop = self.orders.iter().find(|test| test.order == self.cdf + 1);
        let why = match stop {
            None if self.cdf == slots => format!("slates have {slots} slots: nothing is assumed at this order"),
            None if kept == 1 => {
                "the target's slots are not independent given the context, so higher orders cannot be tested: \
                 intervals hold only if order 1 does"
                    .to_owned()
            }
            None => format!(
                "every order up to {kept} shows in the log, and higher ones are not tested: nothing vouches for order {}",
                self.cdf
            ),
            Some(next) => {
                let compared = if next.active { "exceeds" } else { "stays within" };
                let found = format!(
                    "at order {} the test statistic {:.3} {compared} {:.3}",
                    next.order, next.statistic, next.critical
                );
                if self.band.is_some() {
                    format!(
                        "{found}; bands are centred at order {}, so that they need not trust the choice",
                        next.order
                    )
                } else {
                    let ess = next.design_ess.unwrap_or(0.0);
                    let verdict = if next.active { "is likely wrong" } else { "could not be validated" };
                    format!(
                        "{found}, but the log is worth only {ess:.1} rows there ({CARRIES} are needed): order {} \
                         {verdict}, and what is read off the CDF holds only if it is right",
                        self.cdf
                    )
                }
            }
        };
        let unguarded = [("mean", self.mean), ("variance", self.variance)]
            .into_iter()
            .filter(|&(_, order)| order != self.cdf && self.guard(order, slots).is_none())
            .map(|(what, order)| {
                format!("; the {what}'s order {order} could not be validated, and its interval trusts it")
            });
        format!("{chosen}: {why}{}", unguarded.collect::<String>())
    }
}

fn test_order(
    cell: &Cell,
    policy: usize,
    occupied: &[u32],
    order: usize,
    estimator: &Estimator<'_>,
    settings: &Settings,
) -> OrderTest {
    let section = &cell.layout.own[policy];
    let (w, ww) = (section.sums.w(order - 1), section.sums.row(order) + section.sums.w(order - 1));
    let thinning = Thinning::new(&estimator.distribution.bins);
    let column =
        |place: usize| -> Vec<f64> { occupied.iter().map(|&row| cell.table.row(row)[section.start + place]).collect() };
    let (sums, squares) = (thinning.sums(&column(w)), thinning.sums(&column(ww)));
    let logged = thinning.at_ends(&logged_cdf(cell, occupied));
    let statistic = sup_statistic(&sums, &logged) / cell.rows as f64;
    let critical = match &cell.groups {
        None => sup_critical(&squares, &logged, 1.0 - LEVEL, settings),
        Some(groups) => {
            let of_group = |group: usize| -> Vec<f64> {
                let weight = |&row: &u32| groups.basis_sums(row, group, policy).nth(order).unwrap_or(0.0);
                thinning.sums(&occupied.iter().map(weight).collect::<Vec<f64>>())
            };
            let by_group: Vec<Vec<f64>> = (0..groups.count).map(of_group).collect();
            sup_critical_of_groups(&by_group, &logged, 1.0 - LEVEL, settings)
        }
    } / cell.rows as f64;
    let (mean, variance) = test_moments(cell, policy, order);
    OrderTest {
        order,
        statistic,
        critical,
        active: statistic > critical,
        design_ess: estimator.design_ess,
        mean,
        variance,
    }
}

/// The logged CDF at each bin's end.
fn logged_cdf(cell: &Cell, occupied: &[u32]) -> Vec<f64> {
    let mut seen = 0.0;
    let share = |&row: &u32| {
        seen += cell.table.row(row)[bin::ROWS];
        seen / cell.rows as f64
    };
    occupied.iter().map(share).collect()
}

/// `sup_v |sum_{b <= v} s_b - p(v) sum_b s_b|`.
fn sup_statistic(sums: &[f64], logged: &[f64]) -> f64 {
    let total: f64 = sums.iter().sum();
    let mut sum = 0.0;
    let step = |(s, p): (&f64, &f64)| {
        sum += s;
        (sum - p * total).abs()
    };
    sums.iter().zip(logged).map(step).fold(0.0, f64::max)
}

/// A quantile of the same where each bin's sum is a normal with the given variance.
fn sup_critical(variances: &[f64], logged: &[f64], level: f64, settings: &Settings) -> f64 {
    let scales: Vec<f64> = variances.iter().map(|v| v.max(0.0).sqrt()).collect();
    sup_quantile(logged, level, settings, |rng, drawn| {
        for (e, scale) in drawn.iter_mut().zip(&scales) {
            let z: f64 = StandardNormal.sample(rng);
            *e = scale * z;
        }
    })
}

/// The same where deviations are added up by group first.
fn sup_critical_of_groups(by_group: &[Vec<f64>], logged: &[f64], level: f64, settings: &Settings) -> f64 {
    sup_quantile(logged, level, settings, |rng, drawn| {
        drawn.fill(0.0);
        for group in by_group {
            let z: f64 = StandardNormal.sample(rng);
            drawn.iter_mut().zip(group).for_each(|(e, w)| *e += z * w);
        }
    })
}

/// A quantile of [`sup_statistic`] over draws of the bins' sums.
fn sup_quantile(
    logged: &[f64],
    level: f64,
    settings: &Settings,
    draw: impl Fn(&mut Xoshiro256PlusPlus, &mut [f64]) + Sync,
) -> f64 {
    let chunks = settings.draws.max(CHUNK) / CHUNK;
    let sups = in_parallel(chunks, settings.threads, |chunk| {
        let mut rng = generator(settings.seed, chunk);
        let mut drawn = vec![0.0; logged.len()];
        let mut sup = || {
            draw(&mut rng, &mut drawn);
            sup_statistic(&drawn, logged)
        };
        (0..CHUNK).map(|_| sup()).collect::<Vec<f64>>()
    });
    let mut sups: Vec<f64> = sups.into_iter().flatten().collect();
    sups.sort_unstable_by(f64::total_cmp);
    quantile(&sups, level)
}

/// `mean[H (R - mean R)]` and `mean[H ((R - mean R)^2 - var R)]` against their standard errors.
fn test_moments(cell: &Cell, policy: usize, order: usize) -> (FunctionalTest, FunctionalTest) {
    let (sums, n) = (&cell.policies[policy], cell.rows as f64);
    let (f, gram, j) = (sums.features, &sums.gram, order - 1);
    let mean = gram.get(Features::ONE, f.r()) / n;
    let variance = gram.get(Features::ONE, f.r2()) / n - mean * mean;
    let test = |coefficients: [f64; 3]| {
        let mut x = vec![0.0; f.len()];
        for (place, c) in [f.w(j), f.wr(j), f.wr2(j)].into_iter().zip(coefficients) {
            x[place] = c;
        }
        let mut one = vec![0.0; f.len()];
        one[Features::ONE] = 1.0;
        let square = match &cell.groups {
            None => gram.between(&x, &x),
            Some(groups) => groups.features[policy].chunks_exact(f.len()).map(|group| dot(&x, group).powi(2)).sum(),
        };
        let statistic = (gram.between(&x, &one) / n).abs();
        let critical = normal::upper_quantile(LEVEL / 2.0) * square.max(0.0).sqrt() / n;
        FunctionalTest { statistic, critical, active: statistic > critical }
    };
    (test([-mean, 1.0, 0.0]), test([mean * mean - variance, -2.0 * mean, 1.0]))
}

/// How strongly each two slots interact under one policy.
pub(crate) fn interactions(
    cell: &Cell,
    policy: usize,
    name: &str,
    (bins, occupied): (&[Bin], &[u32]),
    settings: &Settings,
) -> Vec<Interaction> {
    let start = cell.layout.pairs[policy].start;
    let thinning = Thinning::new(bins);
    let logged = thinning.at_ends(&logged_cdf(cell, occupied));
    let rewards = Estimator::of_logging(cell, Weighted::of_logging(cell, policy, occupied), bins);
    // Clusters are kept for weights, not for pairs of slots: pairs are taken to be as alike in them as rewards are.
    let design_effect = rewards.design_effect;
    let n = cell.rows as f64;
    let pairs: Vec<(usize, usize)> = (0..cell.slots).flat_map(|k| (0..k).map(move |j| (j, k))).collect();
    // All pairs considered: each is tested at its share of the level, so far out in the tail that draws do not reach it;
    // the tail is that of a normal.
    let share = LEVEL / pairs.len().max(1) as f64;
    let further = normal::upper_quantile(share / 2.0) / normal::upper_quantile(LEVEL / 2.0);
    let few = Settings { draws: settings.draws.min(PAIR_DRAWS), ..settings.clone() };
    let pair = |&(j, k): &(usize, usize)| {
        let place = start + PairSums::place(j, k);
        let column = |place: usize| -> Vec<f64> {
            thinning.sums(&occupied.iter().map(|&row| cell.table.row(row)[place]).collect::<Vec<f64>>())
        };
        let strength = sup_statistic(&column(place), &logged) / n;
        let noise = sup_critical(&column(place + 1), &logged, 1.0 - LEVEL, &few) / n;
        let critical = noise * further * design_effect.sqrt();
        Interaction { policy: name.to_owned(), slots: [j + 1, k + 1], strength, critical, active: strength > critical }
    };
    let mut found: Vec<Interaction> = pairs.iter().map(pair).collect();
    found.sort_by(|a, b| b.strength.total_cmp(&a.strength));
    found
}
