//! Sums by group of clusters, a row at a time.
//! See docs/methods.md, section 3.5.

use slateval_stats::sums::{ClusterSums, FeatureLayout, GroupSum};

use crate::kernel::simd::column::Column;

/// The columns of a policy's features in a block of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FeatureColumns<'a> {
    pub(crate) layout: FeatureLayout,
    pub(crate) columns: &'a [Column],
}

/// Adds a block's rows, given each row's group and bin and each policy's columns.
pub(crate) fn add(sums: &mut ClusterSums, groups: &[u16], bins: &[u32], policies: &[FeatureColumns<'_>]) {
    let layout = sums.layout();
    for (row, (&group, &bin)) in groups.iter().zip(bins).enumerate() {
        let group = usize::from(group) % sums.count;
        let of_bin = sums.bin_mut(bin, group);
        of_bin[layout.place(GroupSum::Rows)] += 1.0;
        for (policy, &FeatureColumns { layout: features, columns }) in policies.iter().enumerate() {
            let own = &mut of_bin[layout.place(GroupSum::Weight { policy, j: 0 })..];
            add_row(own, &columns[features.weights()], row);
        }
        for (policy, of_policy) in policies.iter().enumerate() {
            add_row(sums.features_mut(policy, group), of_policy.columns, row);
        }
    }
}

fn add_row(sums: &mut [f64], columns: &[Column], row: usize) {
    sums.iter_mut().zip(columns).for_each(|(sum, column)| *sum += column.get(row));
}
