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

use crate::estimate::influence::{FunctionOf, between, group_sums};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::estimate::correction::Adjustment;
use crate::estimate::estimator::Estimator;
use crate::estimate::factors::{Factors, bin_factors};
use crate::math::linear::{dot, square_root};
use crate::summary::cell::Cell;
use crate::summary::feature_map::LinearFunction;
use crate::summary::index::{Feature, GroupSum};
use crate::uncertainty::thinning::Thinning;

/// The joint error of one or two estimators.
#[derive(Debug)]
pub(crate) struct Process {
    n: f64,
    /// What each member's error is multiplied by.
    inflation: Vec<f64>,
    /// `[member][adjustment][bin]`: `B_v` at each bin's end; the last adjustment is 1.
    slopes: Vec<Vec<Vec<f64>>>,
    covariances: Covariances,
    /// With clusters.
    groups: Option<GroupSums>,
}

/// A process that can be drawn.
#[derive(Debug)]
pub(crate) struct Drawable {
    n: f64,
    inflation: Vec<f64>,
    slopes: Vec<Vec<Vec<f64>>>,
    source: Source,
}

/// Where `e_b` and `D` come from.
#[derive(Debug)]
enum Source {
    Rows(DrawFactors),
    Groups(GroupSums),
}

/// The covariances of `e_b` and `D`.
#[derive(Debug)]
struct Covariances {
    /// `[member][member][bin]`: `q_b`.
    weights: Vec<Vec<Vec<f64>>>,
    /// `[member][adjustment][bin]`: `C_b`.
    products: Vec<Vec<Vec<f64>>>,
    /// `[adjustment][adjustment]`: `V`.
    adjustments: Vec<Vec<f64>>,
}

/// The same by group of clusters: `e_b` and `D` are sums over groups with one multiplier each.
#[derive(Debug)]
struct GroupSums {
    /// `[member][group][bin]`.
    weights: Vec<Vec<Vec<f64>>>,
    /// `[group][adjustment]`.
    adjustments: Vec<Vec<f64>>,
}

/// `e_b` and `D` as linear functions of independent standard normals.
#[derive(Debug)]
struct DrawFactors {
    /// `[member][normal][bin]`: the square root of `q_b`, lower triangular.
    weights: Vec<Vec<Vec<f64>>>,
    /// `[normal][adjustment][bin]`: the part of `D` that follows from `e_b`.
    explained: Vec<Vec<Vec<f64>>>,
    /// The columns of a square root of the rest's covariance.
    rest: Vec<Vec<f64>>,
}

/// Buffers for draws.
#[derive(Debug, Default)]
pub(crate) struct DrawScratch {
    normals: Vec<Vec<f64>>,
    shift: Vec<f64>,
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

    /// The same process at the ends of runs of bins, ready to be drawn.
    pub(crate) fn drawable(&self, thinning: &Thinning) -> Drawable {
        let at_ends = |columns: &Vec<Vec<f64>>| columns.iter().map(|c| thinning.at_ends(c)).collect();
        let sums = |columns: &Vec<Vec<f64>>| columns.iter().map(|c| thinning.sums(c)).collect();
        let slopes: Vec<Vec<Vec<f64>>> = self.slopes.iter().map(at_ends).collect();
        let source = match &self.groups {
            Some(groups) => Source::Groups(GroupSums {
                weights: groups.weights.iter().map(sums).collect(),
                adjustments: groups.adjustments.clone(),
            }),
            None => {
                let thinned = Covariances {
                    weights: self.covariances.weights.iter().map(sums).collect(),
                    products: self.covariances.products.iter().map(sums).collect(),
                    adjustments: self.covariances.adjustments.clone(),
                };
                Source::Rows(thinned.factors())
            }
        };
        Drawable { n: self.n, inflation: self.inflation.clone(), slopes, source }
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

impl Drawable {
    /// Draws `W` of each member into `out`.
    pub(crate) fn draw(&self, rng: &mut Xoshiro256PlusPlus, scratch: &mut DrawScratch, out: &mut [Vec<f64>]) {
        match &self.source {
            Source::Groups(groups) => groups.draw(rng, scratch, out),
            Source::Rows(factors) => factors.draw(rng, scratch, out),
        }
        for ((path, slopes), inflation) in out.iter_mut().zip(&self.slopes).zip(&self.inflation) {
            let mut sum = 0.0;
            for e in path.iter_mut() {
                sum += *e;
                *e = sum;
            }
            for (slope, shift) in slopes.iter().zip(&scratch.shift) {
                path.iter_mut().zip(slope).for_each(|(w, b)| *w -= b * shift);
            }
            let scale = inflation / self.n;
            path.iter_mut().for_each(|w| *w *= scale);
        }
    }

    /// An empty path for each member.
    pub(crate) fn paths(&self) -> Vec<Vec<f64>> {
        self.slopes.iter().map(|slopes| vec![0.0; slopes[0].len()]).collect()
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

impl Covariances {
    fn new(cell: &Cell, occupied: &[u32], members: &[&Estimator<'_>], adjustments: &[(usize, &Adjustment)]) -> Self {
        let weight = |m: usize| members[m].sums.policy_weight();
        // [left][right][bin]
        let pairs: Vec<Vec<Vec<Factors>>> = (0..members.len())
            .map(|l| (0..members.len()).map(|r| bin_factors(cell, weight(l), weight(r), occupied)).collect())
            .collect();
        let weights = pairs
            .iter()
            .map(|rights| rights.iter().map(|bins| bins.iter().map(|factors| factors[Feature::G]).collect()).collect());
        let products = pairs.iter().enumerate().map(|(left, rights)| {
            let of = |&(owner, a): &(usize, &Adjustment)| rights[owner].iter().map(|f| apply(a, f)).collect();
            let one = rights[left].iter().map(|factors| factors[Feature::One]).collect();
            adjustments.iter().map(of).chain([one]).collect()
        });
        Covariances {
            weights: weights.collect(),
            products: products.collect(),
            adjustments: adjustment_moments(cell, members, adjustments),
        }
    }

    /// The sum of squares of `by' IF(v)` at each bin's end: `cum q - 2 B' cum C + B' V B`.
    fn squares(&self, by: &[f64], slopes: &[Vec<f64>]) -> Vec<f64> {
        let bins = self.weights[0][0].len();
        let (mut q, mut c) = (0.0, vec![0.0; slopes.len()]);
        let mut out = Vec::with_capacity(bins);
        for b in 0..bins {
            for (l, left) in by.iter().enumerate() {
                q += by.iter().enumerate().map(|(r, right)| left * right * self.weights[l][r][b]).sum::<f64>();
                c.iter_mut().zip(&self.products[l]).for_each(|(c, product)| *c += left * product[b]);
            }
            let slope: Vec<f64> = slopes.iter().map(|s| s[b]).collect();
            let quadratic: f64 = self.adjustments.iter().zip(&slope).map(|(row, s)| s * dot(row, &slope)).sum();
            out.push(q - 2.0 * dot(&slope, &c) + quadratic);
        }
        out
    }

    /// How to draw them.
    fn factors(&self) -> DrawFactors {
        let (members, bins, count) = (self.weights.len(), self.weights[0][0].len(), self.adjustments.len());
        let mut weights = vec![vec![Vec::with_capacity(bins); members]; members];
        let mut explained = vec![vec![Vec::with_capacity(bins); count]; members];
        for b in 0..bins {
            let (root, by_normal) = self.bin_factors(b);
            for (columns, values) in weights.iter_mut().zip(root).chain(explained.iter_mut().zip(by_normal)) {
                columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            }
        }
        let scale: Vec<f64> = self.adjustments.iter().enumerate().map(|(i, row)| row[i]).collect();
        let mut rest = self.adjustments.clone();
        for (i, row) in rest.iter_mut().enumerate() {
            for (j, v) in row.iter_mut().enumerate() {
                *v -= explained.iter().map(|normal| dot(&normal[i], &normal[j])).sum::<f64>();
            }
        }
        DrawFactors { weights, explained, rest: square_root(&rest, &scale) }
    }

    /// `L` with `L L' = q_b`, and `L^-1 C_b`: Cholesky, row by row. A member whose weights vanish in the bin, or are a
    /// multiple of the other's, explains nothing of its own.
    fn bin_factors(&self, b: usize) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let (members, count) = (self.weights.len(), self.adjustments.len());
        let mut root = vec![vec![0.0; members]; members];
        let mut explained = vec![vec![0.0; count]; members];
        for m in 0..members {
            for e in 0..m {
                let left = self.weights[m][e][b] - dot(&root[m][..e], &root[e][..e]);
                root[m][e] = if root[e][e] > 0.0 { left / root[e][e] } else { 0.0 };
            }
            let total = self.weights[m][m][b];
            let left = total - dot(&root[m][..m], &root[m][..m]);
            if left <= 1e-12 * total {
                continue;
            }
            root[m][m] = left.sqrt();
            let (known, own) = explained.split_at_mut(m);
            for (a, (own, product)) in own[0].iter_mut().zip(&self.products[m]).enumerate() {
                let others: f64 = known.iter().zip(&root[m]).map(|(known, l)| l * known[a]).sum();
                *own = (product[b] - others) / root[m][m];
            }
        }
        (root, explained)
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

impl DrawFactors {
    fn draw(&self, rng: &mut Xoshiro256PlusPlus, scratch: &mut DrawScratch, out: &mut [Vec<f64>]) {
        let bins = out[0].len();
        scratch.normals.resize(out.len(), Vec::new());
        for normals in &mut scratch.normals {
            normals.clear();
            normals.extend(StandardNormal.sample_iter(&mut *rng).take(bins).map(|z: f64| z));
        }
        for (member, path) in out.iter_mut().enumerate() {
            path.fill(0.0);
            for (scale, normals) in self.weights[member][..=member].iter().zip(&scratch.normals) {
                for (e, (scale, z)) in path.iter_mut().zip(scale.iter().zip(normals)) {
                    *e += scale * z;
                }
            }
        }
        scratch.shift.clear();
        let count = self.explained[0].len();
        for a in 0..count {
            let explained = self.explained.iter().zip(&scratch.normals);
            scratch.shift.push(explained.map(|(by, z)| crate::math::linear::dot(&by[a], z)).sum());
        }
        for column in &self.rest {
            let z: f64 = StandardNormal.sample(rng);
            scratch.shift.iter_mut().zip(column).for_each(|(d, c)| *d += z * c);
        }
    }
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

    fn draw(&self, rng: &mut Xoshiro256PlusPlus, scratch: &mut DrawScratch, out: &mut [Vec<f64>]) {
        out.iter_mut().for_each(|path| path.fill(0.0));
        scratch.shift.clear();
        scratch.shift.resize(self.adjustments[0].len(), 0.0);
        for (group, adjustments) in self.adjustments.iter().enumerate() {
            let z: f64 = StandardNormal.sample(rng);
            for (path, weights) in out.iter_mut().zip(&self.weights) {
                path.iter_mut().zip(&weights[group]).for_each(|(e, w)| *e += z * w);
            }
            scratch.shift.iter_mut().zip(adjustments).for_each(|(d, a)| *d += z * a);
        }
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
