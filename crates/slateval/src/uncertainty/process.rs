//! The error of estimated CDFs as a random process, from the summary alone.
//! See docs/methods.md, section 6.6.
//!
//! An estimator's error at `v` is `mean_i IF_i(v)` with `IF(v) = G U - B_v' (a, 1)`, `U = 1{R <= v}`, adjustments `a`
//! and slopes `B_v = (b_v, F(v))`. One draw of the Gaussian multiplier bootstrap is `sum_i xi_i IF_i(v) / n`. It needs
//! `e_b = sum_{i in b} xi_i G_i` of each bin and `D = sum_i xi_i (a_i, 1)`, which are jointly normal, with covariances
//! that the summary has: `q_b = sum G^2`, `C_b = sum G (a, 1)` and `V = sum (a, 1)(a, 1)'`. So they are drawn directly,
//! at a cost of `O(bins)` whatever the number of rows:
//!
//! `e_b ~ N(0, q_b)`, `D = sum_b C_b e_b / q_b + N(0, V - sum_b C_b C_b' / q_b)`, `W(v) = [sum_{b <= v} e_b - B_v' D] / n`.
//!
//! Two estimators are drawn together for the sake of their difference: then `G`, `e_b` are pairs and `q_b` is a matrix.

use std::borrow::Cow;

use crate::estimate::correction::Adjustment;
use crate::estimate::estimator::Estimator;
use crate::estimate::factors::{Factors, bin_factors};
use crate::estimate::influence::{FunctionOf, between, group_sums};
use crate::math::linear::dot;
use crate::summary::cell::Cell;
use crate::summary::feature_map::LinearFunction;
use crate::summary::index::{Feature, GroupSum};

/// The joint error of some estimators.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) n: f64,
    /// What each member's error is multiplied by.
    pub(crate) inflation: Vec<f64>,
    /// `[member][adjustment][bin]`: `B_v` at each bin's end; the last adjustment is 1.
    pub(crate) slopes: Vec<Vec<Vec<f64>>>,
    pub(crate) covariances: Covariances,
    /// With clusters.
    pub(crate) groups: Option<GroupSums>,
}

/// The covariances of `e_b` and `D`.
#[derive(Debug)]
pub(crate) struct Covariances {
    /// `[member][member][bin]`: `q_b`.
    pub(crate) weights: Vec<Vec<Vec<f64>>>,
    /// `[member][adjustment][bin]`: `C_b`.
    pub(crate) products: Vec<Vec<Vec<f64>>>,
    /// `[adjustment][adjustment]`: `V`.
    pub(crate) adjustments: Vec<Vec<f64>>,
}

/// The same by group of clusters: `e_b` and `D` are sums over groups with one multiplier each.
#[derive(Debug)]
pub(crate) struct GroupSums {
    /// `[member][group][bin]`.
    pub(crate) weights: Vec<Vec<Vec<f64>>>,
    /// `[group][adjustment]`.
    pub(crate) adjustments: Vec<Vec<f64>>,
}

impl Process {
    /// `occupied` are the bins' places in the cell's table, ascending. Members beyond the first are the logging policy
    /// beside the first's ratios, or a policy that the first is compared with.
    pub(crate) fn new(cell: &Cell, occupied: &[u32], members: &[&Estimator<'_>]) -> Self {
        let adjustments = owned_adjustments(members);
        let slopes = members.iter().enumerate().map(|(m, e)| slopes(e, m, &adjustments)).collect();
        let covariances = Covariances::new(cell, occupied, members, &adjustments);
        let groups = GroupSums::new(cell, occupied, members, &adjustments);
        let inflation = members.iter().map(|e| e.inflation()).collect();
        Process { n: cell.rows as f64, inflation, slopes, covariances, groups }
    }

    /// The logging policy's error by itself. It has no adjustments of its own but the constant, which is the last.
    pub(crate) fn of_logging(&self, member: usize) -> Process {
        let only_last = |columns: &[Vec<f64>]| columns.last().cloned().into_iter().collect();
        let Covariances { weights, products, adjustments } = &self.covariances;
        Process {
            n: self.n,
            inflation: vec![self.inflation[member]],
            slopes: vec![only_last(&self.slopes[member])],
            covariances: Covariances {
                weights: vec![vec![weights[member][member].clone()]],
                products: vec![only_last(&products[member])],
                adjustments: vec![adjustments.last().and_then(|row| row.last()).copied().into_iter().collect()],
            },
            groups: self.groups.as_ref().map(|groups| GroupSums {
                weights: vec![groups.weights[member].clone()],
                adjustments: groups.adjustments.iter().map(|row| row.last().copied().into_iter().collect()).collect(),
            }),
        }
    }

    fn bins(&self) -> usize {
        self.covariances.weights[0][0].len()
    }

    /// The variance of `sum_m by_m W_m(v)` at each bin's end.
    pub(crate) fn variance(&self, by: &[f64]) -> Vec<f64> {
        let by: Vec<f64> = by.iter().zip(&self.inflation).map(|(by, inflation)| by * inflation).collect();
        let by = by.as_slice();
        let combined = |adjustment: usize| {
            let mut sum = vec![0.0; self.bins()];
            for (member, by) in self.slopes.iter().zip(by) {
                sum.iter_mut().zip(&member[adjustment]).for_each(|(s, x)| *s += by * x);
            }
            sum
        };
        let slopes: Vec<Vec<f64>> = (0..self.slopes[0].len()).map(combined).collect();
        let sums = match &self.groups {
            Some(groups) => groups.squares(by, &slopes),
            None => self.covariances.squares(by, &slopes),
        };
        sums.into_iter().map(|s| (s / (self.n * self.n)).max(0.0)).collect()
    }
}

/// Every member's adjustments, with the member they belong to.
fn owned_adjustments<'a>(members: &[&'a Estimator<'_>]) -> Vec<(usize, &'a Adjustment)> {
    let own =
        |(m, e): (usize, &&'a Estimator<'_>)| e.corrected.adjustments.iter().map(move |a| (m, a)).collect::<Vec<_>>();
    members.iter().enumerate().flat_map(own).collect()
}

/// `B_v` of one member at each bin's end: 0 for the other's adjustments, and `F(v)` for the constant.
fn slopes(estimator: &Estimator<'_>, member: usize, adjustments: &[(usize, &Adjustment)]) -> Vec<Vec<f64>> {
    let sums = &estimator.sums;
    let mut slopes = vec![Vec::with_capacity(sums.of_one.len()); adjustments.len() + 1];
    let mut totals = vec![0.0; adjustments.len() + 1];
    for terms in sums.by_bin() {
        for (total, (owner, adjustment)) in totals.iter_mut().zip(adjustments) {
            if *owner == member {
                *total += adjustment.slope(&terms, sums.n);
            }
        }
        totals[adjustments.len()] += estimator.corrected.estimate(&terms, sums.n);
        slopes.iter_mut().zip(&totals).for_each(|(column, total)| column.push(*total));
    }
    slopes
}

fn apply(adjustment: &Adjustment, factors: &Factors) -> f64 {
    adjustment.factors.iter().map(|&(f, c)| c * factors[f]).sum()
}

/// The sums of each bin of the left member's weight times each feature of the right one, a target's. Most were made with
/// the members.
fn target_factors<'e>(
    cell: &Cell,
    occupied: &[u32],
    left: &Estimator<'_>,
    right: &'e Estimator<'_>,
) -> Cow<'e, [Factors]> {
    let weights = (left.sums.policy_weight(), right.sums.policy_weight());
    if left.is_logging() {
        Cow::Borrowed(&right.sums.of_one)
    } else if weights.0 == weights.1 {
        Cow::Borrowed(&right.sums.of_weight)
    } else {
        Cow::Owned(bin_factors(cell, weights.0, weights.1, occupied))
    }
}

impl Covariances {
    fn new(cell: &Cell, occupied: &[u32], members: &[&Estimator<'_>], adjustments: &[(usize, &Adjustment)]) -> Self {
        let column = |of: &[Factors], feature: Feature| of.iter().map(|factors| factors[feature]).collect::<Vec<f64>>();
        let (mut weights, mut products) = (Vec::new(), Vec::new());
        for left in members {
            let sum = column(&left.sums.of_one, Feature::G);
            let (mut by_member, mut by_adjustment) = (Vec::new(), Vec::new());
            for (owner, right) in members.iter().enumerate() {
                // Logging weighs every row 1, and has no adjustments.
                if right.is_logging() {
                    by_member.push(sum.clone());
                    continue;
                }
                let factors = target_factors(cell, occupied, left, right);
                by_member.push(column(&factors, Feature::G));
                let own = adjustments.iter().filter(|(of, _)| *of == owner);
                by_adjustment.extend(own.map(|(_, a)| factors.iter().map(|f| apply(a, f)).collect::<Vec<f64>>()));
            }
            by_adjustment.push(sum);
            weights.push(by_member);
            products.push(by_adjustment);
        }
        Covariances { weights, products, adjustments: adjustment_moments(cell, members, adjustments) }
    }

    /// The sum of squares of `by' IF(v)` at each bin's end: `cum q - 2 B' cum C + B' V B`.
    fn squares(&self, by: &[f64], slopes: &[Vec<f64>]) -> Vec<f64> {
        let bins = self.weights[0][0].len();
        // Adjustments of policies that are not asked for have no slopes.
        let used: Vec<usize> = (0..slopes.len()).filter(|&a| slopes[a].iter().any(|slope| *slope != 0.0)).collect();
        let adjustments: Vec<Vec<f64>> =
            used.iter().map(|&a| used.iter().map(|&other| self.adjustments[a][other]).collect()).collect();
        let (mut q, mut c, mut slope) = (0.0, vec![0.0; used.len()], vec![0.0; used.len()]);
        let mut out = Vec::with_capacity(bins);
        for b in 0..bins {
            for (l, left) in by.iter().enumerate().filter(|(_, by)| **by != 0.0) {
                q += by.iter().zip(&self.weights[l]).map(|(right, weights)| left * right * weights[b]).sum::<f64>();
                c.iter_mut().zip(&used).for_each(|(c, &a)| *c += left * self.products[l][a][b]);
            }
            slope.iter_mut().zip(&used).for_each(|(to, &a)| *to = slopes[a][b]);
            let quadratic: f64 = adjustments.iter().zip(&slope).map(|(row, s)| s * dot(row, &slope)).sum();
            out.push(q - 2.0 * dot(&slope, &c) + quadratic);
        }
        out
    }
}

/// `V = sum (a, 1)(a, 1)'`.
fn adjustment_moments(cell: &Cell, members: &[&Estimator<'_>], adjustments: &[(usize, &Adjustment)]) -> Vec<Vec<f64>> {
    let of = |owner: usize, factors: &[(Feature, f64)]| {
        (owner, LinearFunction::new(members[owner].sums.features(), factors))
    };
    let mut all: Vec<(usize, LinearFunction)> = adjustments.iter().map(|&(owner, a)| of(owner, &a.factors)).collect();
    all.push(of(0, &[(Feature::One, 1.0)]));
    let all: Vec<FunctionOf<'_>> =
        all.iter().map(|(owner, function)| FunctionOf { sums: &members[*owner].sums, function }).collect();
    let row = |&x: &FunctionOf<'_>| all.iter().map(|&y| between(cell, x, y)).collect();
    all.iter().map(row).collect()
}

impl GroupSums {
    fn new(
        cell: &Cell,
        occupied: &[u32],
        members: &[&Estimator<'_>],
        adjustments: &[(usize, &Adjustment)],
    ) -> Option<Self> {
        let groups = cell.clusters.as_ref()?;
        let weights = |e: &&Estimator<'_>| {
            let weight = |group: usize, row: u32| groups.weight_sum(row, group, e.sums.policy, e.sums.weight);
            (0..groups.count).map(|g| occupied.iter().map(|&row| weight(g, row)).collect()).collect()
        };
        let column = |&(owner, adjustment): &(usize, &Adjustment)| {
            let sums = &members[owner].sums;
            let function = &LinearFunction::new(sums.features(), &adjustment.factors);
            group_sums(cell, FunctionOf { sums, function }).unwrap_or_default()
        };
        let columns: Vec<Vec<f64>> = adjustments.iter().map(column).collect();
        let rows = |g: usize| occupied.iter().map(|&row| groups.sum(row, g, GroupSum::Rows)).sum();
        let row = |g: usize| columns.iter().map(|c| c[g]).chain([rows(g)]).collect();
        Some(GroupSums {
            weights: members.iter().map(weights).collect(),
            adjustments: (0..groups.count).map(row).collect(),
        })
    }

    /// The sum over groups of the square of `by' IF(v)`, summed within the group.
    fn squares(&self, by: &[f64], slopes: &[Vec<f64>]) -> Vec<f64> {
        let bins = slopes[0].len();
        let mut out = vec![0.0; bins];
        for (group, adjustments) in self.adjustments.iter().enumerate() {
            let mut sum = 0.0;
            for (b, out) in out.iter_mut().enumerate() {
                sum += by.iter().zip(&self.weights).map(|(by, w)| by * w[group][b]).sum::<f64>();
                let shift: f64 = slopes.iter().zip(adjustments).map(|(s, a)| s[b] * a).sum();
                *out += (sum - shift).powi(2);
            }
        }
        out
    }
}
