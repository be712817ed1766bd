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

use std::rc::Rc;

use crate::correction::corrected::Adjustment;
use crate::correction::factors::{Column, Factors};
use crate::distribution::estimator::Estimator;
use crate::influence::function::{FunctionOf, between, group_sums};
use crate::sums::cell::Cell;
use crate::sums::feature_map::LinearFunction;
use crate::sums::index::{Feature, GroupSum};

/// The joint error of some estimators.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) n: f64,
    /// What each member's error is multiplied by.
    pub(crate) inflation: Vec<f64>,
    /// `[member][adjustment][bin]`: `B_v` at each bin's end; the last adjustment is 1. Those of other members' adjustments,
    /// which are 0, are left out.
    pub(crate) slopes: Vec<Vec<Option<Vec<f64>>>>,
    pub(crate) covariances: Covariances,
    /// With clusters.
    pub(crate) groups: Option<GroupSums>,
}

/// The covariances of `e_b` and `D`.
#[derive(Debug)]
pub(crate) struct Covariances {
    /// `[member][member][bin]`: `q_b`.
    pub(crate) weights: Vec<Vec<Column>>,
    /// `[member][adjustment][bin]`: `C_b`.
    pub(crate) products: Vec<Vec<Column>>,
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

    fn bins(&self) -> usize {
        self.covariances.weights[0][0].len()
    }

    /// The variance of `sum_m by_m W_m(v)` at each bin's end.
    pub(crate) fn variance(&self, by: &[f64]) -> Vec<f64> {
        let by: Vec<f64> = by.iter().zip(&self.inflation).map(|(by, inflation)| by * inflation).collect();
        let by = by.as_slice();
        let combined = |adjustment: usize| {
            let mut sum = None;
            for (member, by) in self.slopes.iter().zip(by).filter(|(_, by)| **by != 0.0) {
                if let Some(slopes) = &member[adjustment] {
                    add_times(sum.get_or_insert_with(|| vec![0.0; self.bins()]), *by, slopes);
                }
            }
            sum
        };
        // Adjustments of policies that are not asked for have no slopes.
        let slopes: Slopes = (0..self.slopes[0].len()).filter_map(|a| Some((a, combined(a)?))).collect();
        let sums = match &self.groups {
            Some(groups) => groups.squares(by, &slopes),
            None => self.covariances.squares(by, &slopes),
        };
        sums.into_iter().map(|s| (s / (self.n * self.n)).max(0.0)).collect()
    }
}

/// Adjustments by their places, and the slopes of a sum of members at each bin's end.
type Slopes = Vec<(usize, Vec<f64>)>;

/// Every member's adjustments, with the member they belong to.
fn owned_adjustments<'a>(members: &[&'a Estimator<'_>]) -> Vec<(usize, &'a Adjustment)> {
    let own =
        |(m, e): (usize, &&'a Estimator<'_>)| e.corrected.adjustments.iter().map(move |a| (m, a)).collect::<Vec<_>>();
    members.iter().enumerate().flat_map(own).collect()
}

/// `B_v` of one member at each bin's end: 0 for the other's adjustments, and `F(v)` for the constant.
fn slopes(estimator: &Estimator<'_>, member: usize, adjustments: &[(usize, &Adjustment)]) -> Vec<Option<Vec<f64>>> {
    let sums = &estimator.sums;
    let slope =
        |&(owner, adjustment): &(usize, &Adjustment)| (owner == member).then(|| run_up(adjustment.slopes_by_bin(sums)));
    adjustments.iter().map(slope).chain([Some(run_up(estimator.corrected.masses(sums)))]).collect()
}

/// Running sums.
pub(crate) fn run_up(mut values: Vec<f64>) -> Vec<f64> {
    let mut sum = 0.0;
    for value in &mut values {
        sum += *value;
        *value = sum;
    }
    values
}

/// The sums of each bin of the left member's weight times each feature of the right one, a target's. Most were made with
/// the members.
fn target_factors(cell: &Cell, occupied: &[u32], left: &Estimator<'_>, right: &Estimator<'_>) -> Rc<Factors> {
    let weights = (left.sums.policy_weight(), right.sums.policy_weight());
    if left.is_logging() {
        Rc::clone(&right.sums.of_one)
    } else if weights.0 == weights.1 {
        Rc::clone(&right.sums.of_weight)
    } else {
        Rc::new(Factors::new(cell, weights.0, weights.1, occupied))
    }
}

impl Covariances {
    fn new(cell: &Cell, occupied: &[u32], members: &[&Estimator<'_>], adjustments: &[(usize, &Adjustment)]) -> Self {
        let (mut weights, mut products) = (Vec::new(), Vec::new());
        for left in members {
            let sum = Column::Kept(Rc::clone(&left.sums.of_one), Feature::G);
            let (mut by_member, mut by_adjustment) = (Vec::new(), Vec::new());
            for (owner, right) in members.iter().enumerate() {
                // Logging weighs every row 1, and has no adjustments.
                if right.is_logging() {
                    by_member.push(sum.clone());
                    continue;
                }
                let factors = target_factors(cell, occupied, left, right);
                by_member.push(Column::Kept(Rc::clone(&factors), Feature::G));
                let own = adjustments.iter().filter(|(of, _)| *of == owner);
                by_adjustment.extend(own.map(|(_, adjustment)| Column::new(&factors, &adjustment.factors)));
            }
            by_adjustment.push(sum);
            weights.push(by_member);
            products.push(by_adjustment);
        }
        Covariances { weights, products, adjustments: adjustment_moments(cell, members, adjustments) }
    }

    /// The sum of squares of `by' IF(v)` at each bin's end: `cum q - 2 B' cum C + B' V B`.
    fn squares(&self, by: &[f64], slopes: &Slopes) -> Vec<f64> {
        let bins = self.weights[0][0].len();
        let lefts = || by.iter().enumerate().filter(|(_, by)| **by != 0.0);
        let mut squares = vec![0.0; bins];
        for (l, left) in lefts() {
            for (right, weights) in by.iter().zip(&self.weights[l]) {
                add_times(&mut squares, left * right, weights);
            }
        }
        let mut squares = run_up(squares);
        for (place, (a, own)) in slopes.iter().enumerate() {
            let mut products = vec![0.0; bins];
            lefts().for_each(|(l, left)| add_times(&mut products, -2.0 * left, &self.products[l][*a]));
            let mut factor = run_up(products);
            // Of two adjustments, the later counts for both.
            for (other, slopes) in &slopes[..place] {
                add_times(&mut factor, 2.0 * self.adjustments[*a][*other], slopes);
            }
            add_times(&mut factor, self.adjustments[*a][*a], own);
            for ((square, slope), factor) in squares.iter_mut().zip(own).zip(&factor) {
                *square += slope * factor;
            }
        }
        squares
    }
}

/// `sums += c values`.
pub(crate) fn add_times(sums: &mut [f64], c: f64, values: &[f64]) {
    sums.iter_mut().zip(values).for_each(|(sum, x)| *sum += c * x);
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
    fn squares(&self, by: &[f64], slopes: &Slopes) -> Vec<f64> {
        let mut out = vec![0.0; self.weights[0][0].len()];
        for (group, adjustments) in self.adjustments.iter().enumerate() {
            let mut sum = 0.0;
            for (b, out) in out.iter_mut().enumerate() {
                sum += by.iter().zip(&self.weights).map(|(by, w)| by * w[group][b]).sum::<f64>();
                let shift: f64 = slopes.iter().map(|(a, slopes)| slopes[b] * adjustments[*a]).sum();
                *out += (sum - shift).powi(2);
            }
        }
        out
    }
}
