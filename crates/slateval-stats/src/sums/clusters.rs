//! Sums by group of clusters. Rows of one user are not independent of each other: their deviations are added up before
//! they are squared.
//! See docs/methods.md, sections 3.5 and 6.12.

use crate::sums::bins::Moves;
use crate::sums::feature_map::{FeatureMap, LinearFunction, Weight};
use crate::sums::index::{Feature, FeatureLayout, GroupLayout, GroupSum, Layout};
use crate::sums::layout::Kept;
use crate::sums::table::Table;

/// Clusters are hashed into groups; for each group, the sums that its total deviation is a linear function of.
#[derive(Debug, Clone)]
pub struct ClusterSums {
    /// How many groups there are.
    pub count: usize,
    /// Where sums stand in a group's part of a bin.
    layout: GroupLayout,
    /// For each policy, where a feature stands.
    features_layout: Vec<FeatureLayout>,
    /// For each policy and group, the sum of each feature.
    pub features: Vec<Vec<f64>>,
    /// For each bin and group, the sums of the [`GroupLayout`].
    pub table: Table,
}

impl ClusterSums {
    pub(crate) fn new(kept: &Kept, slots: usize) -> Self {
        let count = kept.groups;
        let layout = GroupLayout { policies: kept.policies(), basis: kept.basis.count() };
        let features_layout: Vec<FeatureLayout> = (0..kept.policies()).map(|p| kept.features(p, slots)).collect();
        ClusterSums {
            count,
            layout,
            features: features_layout.iter().map(|features| vec![0.0; count * features.width()]).collect(),
            features_layout,
            table: Table::of_sums(count * layout.width()),
        }
    }

    pub(crate) fn move_rows(&mut self, moves: Option<&Moves>, rows: usize) {
        self.table.move_rows(moves, rows);
    }

    /// Where sums stand in a group's part of a bin.
    pub fn layout(&self) -> GroupLayout {
        self.layout
    }

    /// The sums of one group in a bin.
    pub fn bin_mut(&mut self, bin: u32, group: usize) -> &mut [f64] {
        let stride = self.layout.width();
        &mut self.table.row_mut(bin)[group * stride..][..stride]
    }

    /// The sums of a policy's features over one group.
    pub fn features_mut(&mut self, policy: usize, group: usize) -> &mut [f64] {
        let width = self.features_layout[policy].width();
        &mut self.features[policy][group * width..][..width]
    }

    /// A sum of one group in a bin.
    pub(crate) fn sum(&self, bin: u32, group: usize, sum: GroupSum) -> f64 {
        self.table.row(bin)[group * self.layout.width() + self.layout.place(sum)]
    }

    /// The sum of a policy's weight over one group in a bin.
    pub(crate) fn weight_sum(&self, bin: u32, group: usize, policy: usize, weight: Weight) -> f64 {
        let constant = weight.constant() * self.sum(bin, group, GroupSum::Rows);
        constant + weight.terms().map(|j| self.sum(bin, group, GroupSum::Weight { policy, j })).sum::<f64>()
    }

    /// The sum of a linear function of a policy's features over each group.
    pub(crate) fn sums_of(&self, policy: usize, function: &LinearFunction) -> Vec<f64> {
        self.by_group(policy).map(|features| function.apply(features)).collect()
    }

    /// The sums of a policy's features, group by group.
    fn by_group(&self, policy: usize) -> impl Iterator<Item = &[f64]> {
        self.features[policy].chunks_exact(self.features_layout[policy].width())
    }

    /// Applies a linear map to every group's features of a policy.
    pub(crate) fn transform(&mut self, policy: usize, map: &FeatureMap) {
        let new = self.by_group(policy).flat_map(|features| map.apply(features)).collect();
        self.features[policy] = new;
        self.features_layout[policy] = map.to;
    }

    /// Adds features of other rows.
    pub(crate) fn merge_features(&mut self, other: &ClusterSums) {
        for (own, other) in self.features.iter_mut().zip(&other.features) {
            own.iter_mut().zip(other).for_each(|(a, b)| *a += b);
        }
    }

    /// How many groups have any rows.
    pub(crate) fn occupied(&self) -> usize {
        let rows = self.features_layout[0].place(Feature::One);
        self.by_group(0).filter(|features| features[rows] > 0.0).count()
    }
}
