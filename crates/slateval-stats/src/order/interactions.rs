//! How strongly each two slots' effects on the reward depend on each other.
//! See docs/methods.md, section 7.9.

use crate::correction::weight_sums::{Bin, WeightSums};
use crate::distribution::estimator::Estimator;
use crate::interval::drawable::Steps;
use crate::interval::draws::{Grids, select_quantile};
use crate::math::normal;
use crate::order::order_test::{LEVEL, deviations, logged_cdf, sup_draws, sup_statistic};
use crate::result::selection::Interaction;
use crate::spec::settings::Settings;
use crate::sums::cell::Cell;
use crate::sums::index::{Pair, Power};

/// Draws for each pair of slots, of which there may be many.
const PAIR_DRAWS: usize = 400;

/// How strongly each two slots interact under one policy.
pub(crate) fn interactions(
    cell: &Cell,
    policy: usize,
    name: &str,
    (bins, occupied): (&[Bin], &[u32]),
    settings: &Settings,
    grids: &Grids,
) -> Vec<Interaction> {
    let section = &cell.layout.pairs[policy];
    let Grids { of_tests, .. } = grids;
    let logged = of_tests.at_ends(&logged_cdf(cell, occupied));
    let rewards = Estimator::of_logging(cell, WeightSums::of_logging(cell, policy, occupied), bins);
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
        let column = |power: Power| -> Vec<f64> {
            let place = section.place(Pair { j, k, power });
            of_tests.sums(&occupied.iter().map(|&row| cell.table.row(row)[place]).collect::<Vec<f64>>())
        };
        let strength = sup_statistic(column(Power::First), &logged) / n;
        let steps = deviations(&column(Power::Second), design_effect);
        let mut drawn = sup_draws(&[&Steps::OfRuns(vec![steps])], &logged, &few).swap_remove(0);
        let critical = select_quantile(&mut drawn, 1.0 - LEVEL) / n * further;
        Interaction { policy: name.to_owned(), slots: [j + 1, k + 1], strength, critical, active: strength > critical }
    };
    let mut found: Vec<Interaction> = pairs.iter().map(pair).collect();
    found.sort_by(|a, b| b.strength.total_cmp(&a.strength));
    found
}
