//! Sums by group of clusters: rows of one user are not independent of each other, so their deviations are added up
//! before they are squared.

use crate::summary::bins::Moves;
use crate::summary::layout::Kept;
use crate::summary::table::Table;

/// Clusters are hashed into groups; for each group, the sums that its total deviation is a linear function of.
#[derive(Debug, Clone)]
pub(crate) struct ClusterSums {
    pub(crate) count: usize,
    basis: usize,
    /// For each policy and group, the sum of each feature.
    pub(crate) features: Vec<Vec<f64>>,
    /// For each bin and group: rows, and each policy's `sum W_j`.
    pub(crate) table: Table,
}

impl ClusterSums {
    pub(crate) fn new(kept: &Kept, slots: usize) -> Self {
        let (count, basis) = (kept.groups, kept.basis);
        let features = |p: usize| vec![0.0; count * kept.features(p, slots).len()];
        ClusterSums {
            count,
            basis,
            features: (0..kept.policies()).map(features).collect(),
            table: Table::without_extremes(count * (1 + basis * kept.policies())),
        }
    }

    fn stride(&self) -> usize {
        1 + self.basis * self.features.len()
    }

    pub(crate) fn move_rows(&mut self, moves: Option<&Moves>, rows: usize) {
        self.table.move_rows(moves, rows);
    }

    /// Adds a block's rows, given each policy's columns and where the basis stands in them.
    pub(crate) fn add(&mut self, groups: &[u16], bins: &[u32], policies: &[(&[Vec<f64>], usize)]) {
        let stride = self.stride();
        for (row, (&group, &bin)) in groups.iter().zip(bins).enumerate() {
            let group = usize::from(group);
            let sums = &mut self.table.row_mut(bin)[group * stride..][..stride];
            sums[0] += 1.0;
            for (p, (columns, basis)) in policies.iter().enumerate() {
                for j in 0..self.basis {
                    sums[1 + p * self.basis + j] += columns[basis + j][row];
                }
                let features = &mut self.features[p][group * columns.len()..][..columns.len()];
                for (sum, column) in features.iter_mut().zip(*columns) {
                    *sum += column[row];
                }
            }
        }
    }

    /// The weights of one group in a bin: rows, then the policy's `sum W_j`.
    pub(crate) fn basis_sums(&self, bin: u32, group: usize, policy: usize) -> impl Iterator<Item = f64> {
        let sums = &self.table.row(bin)[group * self.stride()..][..self.stride()];
        let own = &sums[1 + policy * self.basis..][..self.basis];
        std::iter::once(sums[0]).chain(own.iter().copied())
    }

    /// Applies a linear map to every group's features of a policy.
    pub(crate) fn transform(&mut self, policy: usize, rows: &[Vec<(usize, f64)>]) {
        let old = &self.features[policy];
        let width = old.len() / self.count;
        let mut new = Vec::with_capacity(self.count * rows.len());
        for group in old.chunks_exact(width) {
            new.extend(rows.iter().map(|row| row.iter().map(|&(f, c)| c * group[f]).sum::<f64>()));
        }
        self.features[policy] = new;
    }

    /// Adds features of other rows.
    pub(crate) fn merge_features(&mut self, other: &ClusterSums) {
        for (own, other) in self.features.iter_mut().zip(&other.features) {
            own.iter_mut().zip(other).for_each(|(a, b)| *a += b);
        }
    }

    /// How many groups have any rows.
    pub(crate) fn occupied(&self) -> usize {
        let (features, count) = (&self.features[0], self.count);
        // The first feature of each row is 1.
        features.chunks_exact(features.len() / count).filter(|group| group[0] > 0.0).count()
    }
}
