//! Groups of clusters against the bins and the log.

use crate::sums::cell::Cell;
use crate::sums::check::policy::PolicyView;
use crate::sums::check::products::within_norms;
use crate::sums::check::rewards::RewardView;
use crate::sums::check::{Fault, Section, Sound, count};
use crate::sums::index::{Feature, GroupSum, Layout};

pub(super) fn check(cell: &Cell, rewards: &RewardView<'_>, policies: &[PolicyView<'_>]) -> Sound {
    let Some(groups) = &cell.clusters else { return Ok(()) };
    let occupied: Vec<u32> = cell.bins.ascending().into_iter().map(|(_, row)| row).collect();
    let occupied = occupied.iter().filter(|&&row| cell.table.row(row)[0] > 0.0);
    let mut rows = vec![0.0; groups.count];
    for ((b, &bin), &n) in occupied.enumerate().zip(&rewards.rows) {
        let mut in_bin = 0.0;
        for (group, rows) in rows.iter_mut().enumerate() {
            let own = groups.sum(bin, group, GroupSum::Rows);
            count(Section::Clusters, "the number of rows of a group", own)?;
            *rows += own;
            in_bin += own;
            for (policy, view) in policies.iter().enumerate() {
                for (j, sums) in view.basis.iter().enumerate() {
                    let square = sums[b][1] + rewards.rounding.of_sum(view.rounded_to[1]);
                    let sum = groups.sum(bin, group, GroupSum::Weight { policy, j });
                    within_norms(Section::Clusters, "a group's sum of W", sum, rewards, (own, square))
                        .map_err(|fault| fault.of_policy(policy))?;
                }
            }
        }
        if in_bin != n {
            return Err(Fault::new(Section::Clusters, "the groups of a bin do not have its rows"));
        }
    }
    for (policy, view) in policies.iter().enumerate() {
        let layout = cell.kept.features(policy, cell.slots);
        let norms = view.norms(&layout, rewards);
        for (features, &rows) in groups.features[policy].chunks_exact(layout.width()).zip(&rows) {
            if features[layout.place(Feature::One)] != rows {
                return Err(
                    Fault::new(Section::Clusters, "a group does not have the rows of its bins").of_policy(policy)
                );
            }
            for (&sum, &norm) in features.iter().zip(&norms) {
                within_norms(Section::Clusters, "a group's sum", sum, rewards, (rows, norm))
                    .map_err(|fault| fault.of_policy(policy))?;
            }
        }
    }
    Ok(())
}
