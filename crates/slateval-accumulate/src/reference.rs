//! What every sum is: an accumulator of plain loops, one row at a time.
//! See docs/methods.md, section 3.2.
//!
//! It is slow and short. `oracle_tests.rs` compares the kernel with it, on random blocks; a change of the kernel has this one
//! oracle, and a new sum is written down here first.

use std::collections::BTreeMap;

use slateval_stats::sums::{
    Basis, BinSum, Cell, CrossProduct, Feature, GroupSum, Layout, Left, MomentSum, Pair, Power, Right, Ring, Shared,
    Tally, WeightCounts, WeightTally, Witness,
};
use slateval_stats::weights::{elementary, multilinear, paper_order};
use slateval_stats::{Family, ORDERS, Segment, Spec, Structure, Sums, ranking_weight};

/// Rewards are measured from where the first so many of a log lie, as a kernel does that adds a block at a time.
const FIRST: usize = 128;

/// One logged slate.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// The reward of the slate.
    pub reward: f64,
    /// `mu_k` of each slot; NaN in a slot that the slate does not have.
    pub logging: Vec<f64>,
    /// How many items a ranking was drawn from.
    pub pool: usize,
    /// What each target makes of the slate.
    pub targets: Vec<Target>,
    /// The group of the slate's cluster.
    pub group: usize,
    /// The slate's segment.
    pub segment: Segment,
}

/// What one target makes of a slate. Only what the specification asks for is read.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// `pi_k` of each slot.
    pub propensities: Vec<f64>,
    /// `chi_k` of each slot.
    pub chi: Vec<f64>,
    /// The probability of showing each slot's item anywhere.
    pub anywhere: Vec<f64>,
    /// The weight, where it is given.
    pub weight: f64,
}

/// The sums of some rows.
///
/// ```
/// use slateval_accumulate::reference::{Row, Target, sums};
/// use slateval_stats::{Settings, Source, Spec, Structure};
///
/// let target = |propensity| Target { propensities: vec![propensity], ..Target::default() };
/// let row = |reward, pi| Row { reward, logging: vec![0.5], targets: vec![target(pi)], ..Row::default() };
///
/// let sums = sums(Spec::new(Structure::Additive, ["new"]), &[row(1.0, 0.9), row(0.0, 0.1)]);
/// let evaluation = sums.evaluate(&Source::default(), &Settings::default())?;
/// assert_eq!(evaluation.policies[1].mean.estimate, Some(0.9));
/// # Ok::<(), slateval_stats::Error>(())
/// ```
///
/// # Panics
/// If a row lacks what the specification asks for.
pub fn sums(spec: Spec, rows: &[Row]) -> Sums {
    let all: Vec<&Row> = rows.iter().collect();
    let whole = (!rows.is_empty()).then(|| summed(Cell::of_log(&spec, slots(&spec, &all)), &all));
    let mut by_segment: BTreeMap<Segment, Vec<&Row>> = BTreeMap::new();
    if spec.by.is_some() {
        rows.iter().for_each(|row| by_segment.entry(row.segment.clone()).or_default().push(row));
    }
    let count = by_segment.len();
    let segment = |(name, rows): (Segment, Vec<&Row>)| {
        let cell = Cell::of_segment(&spec, count, slots(&spec, &rows));
        (name, summed(cell, &rows))
    };
    let segments = by_segment.into_iter().map(segment).collect();
    Sums::of_cells(spec, whole, segments)
}

fn slots(spec: &Spec, rows: &[&Row]) -> usize {
    let longest = rows.iter().map(|row| row.logging.len()).max().unwrap_or(0);
    if spec.structure.needs().slots { longest } else { 0 }
}

fn summed(mut cell: Cell, rows: &[&Row]) -> Cell {
    // -0.0 becomes 0.0.
    let rewards: Vec<f64> = rows.iter().map(|row| row.reward + 0.0).collect();
    cell.begin(range(&rewards[..rewards.len().min(FIRST)]));
    let mut bins = Vec::new();
    let moves = cell.bins.assign(&rewards, range(&rewards), &mut bins, Ring::rows);
    cell.move_rows(moves.as_ref());
    for ((row, reward), bin) in rows.iter().zip(rewards).zip(bins) {
        let policies: Vec<Numbers> =
            (0..cell.policies.len()).map(|policy| Numbers::new(&cell, row, policy, reward)).collect();
        add_to_bin(&mut cell, bin, reward, &policies);
        add_to_log(&mut cell, &policies);
        add_to_group(&mut cell, bin, row.group, &policies);
        add_propensities(&mut cell, row);
        cell.rows += 1;
    }
    cell
}

fn range(rewards: &[f64]) -> Option<(f64, f64)> {
    let least = rewards.iter().copied().reduce(f64::min)?;
    Some((least, rewards.iter().copied().fold(least, f64::max)))
}

/// The numbers of a row that sums are made of, as one target sees them.
struct Numbers {
    /// `R` seen from the cell's origin.
    r: f64,
    /// `Z_k`; 0 in a slot that the slate does not have.
    z: Vec<f64>,
    chi: Vec<f64>,
    /// `W_j`.
    w: Vec<f64>,
    /// `G_m`.
    g: Vec<f64>,
    /// Each witness of the policy's list.
    witnesses: Vec<f64>,
}

impl Numbers {
    fn new(cell: &Cell, row: &Row, policy: usize, reward: f64) -> Self {
        let (structure, target) = (cell.kept.structure(), &row.targets[policy]);
        let shape = cell.kept.shape(policy, cell.slots);
        let has = |k: usize| row.logging.get(k).is_some_and(|mu| !mu.is_nan());
        let ratio = |k: usize| match structure {
            _ if !has(k) => 0.0,
            Structure::Ranking(_) => row.pool as f64 * target.propensities[k].min(1.0) - 1.0,
            _ => target.propensities[k].min(1.0) / row.logging[k].min(1.0) - 1.0,
        };
        let z: Vec<f64> = (0..cell.slots).map(ratio).collect();
        let chi = |k: usize| if has(k) { target.chi[k] } else { 0.0 };
        let chi = if shape.chi { (0..cell.slots).map(chi).collect() } else { Vec::new() };
        let orders = elementary(z.len(), &z);
        let order = |j: usize| orders.get(j).copied().unwrap_or(0.0);
        let (w, g): (Vec<f64>, Vec<f64>) = match shape.basis {
            Basis::Orders(count) => {
                ((1..=count).map(order).collect(), (1..=count).map(|m| (0..=m).map(order).sum()).collect())
            }
            Basis::Single => {
                let weight = own_weight(structure, row, target, &z);
                (vec![weight], vec![weight])
            }
        };
        let list = &cell.layout.witnesses[policy].layout.list;
        let witnesses = list.iter().map(|&witness| of_witness(structure, witness, &z)).collect();
        Numbers { r: reward - cell.origin, z, chi, w, g, witnesses }
    }

    fn chi_error(&self, m: usize, k: usize) -> f64 {
        self.g[m] * self.z[k] - self.chi[k]
    }

    fn in_bin(&self, key: BinSum) -> f64 {
        match key {
            BinSum::Product(left, right) => {
                let left = match left {
                    Left::One => 1.0,
                    Left::Weight(j) => self.w[j],
                };
                let right = match right {
                    Right::Ratio(k) => self.z[k],
                    Right::Weight(j) => self.w[j],
                };
                left * right
            }
            BinSum::Chi(k) => self.chi[k],
            BinSum::ChiError { m, k } => self.g[m] * self.chi_error(m, k),
        }
    }

    fn moment(&self, key: MomentSum) -> f64 {
        let r = |power: usize| self.r.powi(power as i32);
        match key {
            MomentSum::Reward { power } => r(power),
            MomentSum::Weight { m, power } => self.g[m] * r(power),
            MomentSum::SquaredWeight { m, power } => self.g[m] * self.g[m] * r(power),
            MomentSum::Ratio { k, power } => self.z[k] * r(power),
            MomentSum::WeightedRatio { m, k, power } => self.g[m] * self.z[k] * r(power),
            MomentSum::Ratios { i, k } => self.z[i] * self.z[k],
            MomentSum::Chi { k, power } => self.chi[k] * r(power),
            MomentSum::ChiError { m, k, power } => self.g[m] * self.chi_error(m, k) * r(power),
            MomentSum::ChiErrors { m, i, k } => self.chi_error(m, i) * self.chi_error(m, k),
        }
    }

    fn feature(&self, feature: Feature) -> f64 {
        match feature {
            Feature::One => 1.0,
            Feature::Ratio(k) => self.z[k],
            Feature::Weight(j) => self.w[j],
            Feature::Reward => self.r,
            Feature::SquaredReward => self.r * self.r,
            Feature::WeightedReward(j) => self.w[j] * self.r,
            Feature::WeightedSquaredReward(j) => self.w[j] * self.r * self.r,
            Feature::Chi(k) => self.chi[k],
            Feature::WeightedRatio(j, k) => self.w[j] * self.z[k],
            Feature::ChiError(k) => self.chi_error(0, k),
        }
    }
}

/// The weight of a structure that is no sum of orders.
fn own_weight(structure: &Structure, row: &Row, target: &Target, z: &[f64]) -> f64 {
    // Slots that the slate does not have are none, which matters to weights that are made of `Y_k` itself.
    let own: Vec<usize> = (0..z.len()).filter(|&k| row.logging.get(k).is_some_and(|mu| !mu.is_nan())).collect();
    let sum = |values: &[f64]| own.iter().map(|&k| values[k].min(1.0)).sum::<f64>();
    match structure {
        Structure::Given => target.weight,
        Structure::Ranking(_) => ranking_weight(row.pool, own.len(), sum(&target.propensities), sum(&target.anywhere)),
        Structure::PaperOrder(m) => paper_order(*m, &own.iter().map(|&k| 1.0 + z[k]).collect::<Vec<_>>()),
        _ => multilinear(structure, z),
    }
}

/// All products of `Z_k` of the witness's orders, but for those that the structure's weight has.
fn of_witness(structure: &Structure, witness: Witness, z: &[f64]) -> f64 {
    let orders = elementary(z.len(), z);
    let is_shown = |order: usize| match witness {
        Witness::Order(own) => order == own,
        Witness::Beyond(own) => order > own,
    };
    let all: f64 = (0..orders.len()).filter(|&order| is_shown(order)).map(|order| orders[order]).sum();
    let family = if let Structure::Interactions(family) = structure { Some(family) } else { None };
    let has = family
        .into_iter()
        .flat_map(Family::closure)
        .filter(|set| is_shown(set.len()) && set.iter().all(|&k| k < z.len()));
    all - has.map(|set| set.iter().map(|&k| z[k]).product::<f64>()).sum::<f64>()
}

fn add_to_bin(cell: &mut Cell, bin: u32, reward: f64, policies: &[Numbers]) {
    let sums = cell.table.row_mut(bin);
    let shared = |shared: Shared| match shared {
        Shared::Rows => 1.0,
        Shared::Reward | Shared::Least => reward,
        Shared::MinusMost => 0.0 - reward,
    };
    let power = |x: f64, power: Power| if power == Power::First { x } else { x * x };
    Shared::merge(sums, &Shared::ALL.map(shared));
    for (policy, numbers) in policies.iter().enumerate() {
        let own = &cell.layout.own[policy];
        own.layout.keys().into_iter().for_each(|key| sums[own.place(key)] += numbers.in_bin(key));
        let witnesses = &cell.layout.witnesses[policy];
        for (&witness, &h) in witnesses.layout.list.iter().zip(&numbers.witnesses) {
            sums[witnesses.place((witness, Power::First))] += h;
            sums[witnesses.place((witness, Power::Second))] += h * h;
        }
        if let Some(pairs) = cell.layout.pairs.get(policy) {
            for pair @ Pair { j, k, power: of } in pairs.layout.keys() {
                sums[pairs.place(pair)] += power(numbers.z[j] * numbers.z[k], of);
            }
        }
    }
    for cross in &cell.layout.cross {
        let (policy, baseline) = (&policies[cross.policy], &policies[cross.baseline]);
        for key in cross.sums.layout.keys() {
            sums[cross.sums.place(key)] += match key {
                CrossProduct::OfPolicy(i, right) => policy.w[i] * baseline.feature(right),
                CrossProduct::OfBaseline(i, right) => baseline.w[i] * policy.feature(right),
            };
        }
    }
}

fn add_to_log(cell: &mut Cell, policies: &[Numbers]) {
    for (policy, numbers) in policies.iter().enumerate() {
        let sums = &mut cell.policies[policy];
        let layout = sums.moments.layout;
        layout.keys().into_iter().for_each(|key| sums.moments.sums[layout.place(key)] += numbers.moment(key));
        add_to_tally(&mut sums.tally, cell.kept.structure(), layout.shape.chi, numbers);
    }
    for (cross, (policy, baseline)) in cell.cross.iter_mut().zip(cell.kept.compared()) {
        let features = |p: usize| cell.kept.features(p, cell.slots).keys();
        let [left, right] = [policy, baseline].map(|p| features(p).into_iter().map(move |feature| (p, feature)));
        for (a, (p, left)) in left.enumerate() {
            for (b, (q, right)) in right.clone().enumerate() {
                cross.sums[a * cross.columns + b] += policies[p].feature(left) * policies[q].feature(right);
            }
        }
    }
}

fn add_to_tally(tally: &mut Tally, structure: &Structure, with_chi: bool, numbers: &Numbers) {
    let Numbers { z, chi, g, .. } = numbers;
    tally.weights.iter_mut().zip(g).for_each(|(tally, &g)| add_weight(tally, g));
    let pairs = elementary(2, z).get(2).copied().unwrap_or(0.0);
    tally.pairs += pairs;
    tally.pairs_squared += pairs * pairs;
    tally.negative_chi += chi.iter().filter(|&&chi| chi < -1e-6).count() as u64;
    for (k, z) in z.iter().enumerate() {
        tally.hits[k] += u64::from(*z > 0.0);
        tally.cubes[k] += z.powi(3);
        tally.fourths[k] += z.powi(4);
    }
    let squares: Vec<f64> = z.iter().map(|z| z * z).collect();
    add_design(tally, structure, &squares, |weight| &mut weight.design_ratios, |tally| &mut tally.product_ratios);
    if with_chi {
        add_design(tally, structure, chi, |weight| &mut weight.design_chi, |tally| &mut tally.product_chi);
    }
}

fn add_weight(tally: &mut WeightTally, g: f64) {
    tally.min = Some(tally.min.map_or(g, |min| min.min(g)));
    tally.max = Some(tally.max.map_or(g, |max| max.max(g)));
    tally.negative += u64::from(g < 0.0);
    tally.absolute += g.abs();
    tally.cubes += g.powi(3);
    tally.fourths += g.powi(4);
    tally.counts.tables_mut()[0][usize::from(WeightCounts::bin(g))] += 1;
}

/// `E[G^2 | x] = G(chi(x))`, for the factors chi or `Z^2`. What follows from other sums is not kept.
fn add_design(
    tally: &mut Tally,
    structure: &Structure,
    factors: &[f64],
    own: impl Fn(&mut WeightTally) -> &mut f64,
    product: impl Fn(&mut Tally) -> &mut f64,
) {
    let kept = tally.weights.len();
    match structure {
        Structure::Auto => {
            let of_order = |m: usize| multilinear(&Structure::Order(m), factors);
            tally.weights.iter_mut().zip(1..).for_each(|(tally, m)| *own(tally) += of_order(m));
        }
        Structure::Product | Structure::Order(_) | Structure::Interactions(_) if !structure.is_additive() => {
            *own(&mut tally.weights[0]) += multilinear(structure, factors);
        }
        _ => {}
    }
    // With all orders kept, the highest is the product of slates that have no more slots.
    let is_kept = match structure {
        Structure::Auto => kept < ORDERS || factors.len() > ORDERS,
        Structure::Additive | Structure::Order(_) | Structure::Interactions(_) => true,
        _ => false,
    };
    if is_kept {
        *product(tally) += multilinear(&Structure::Product, factors);
    }
}

fn add_propensities(cell: &mut Cell, row: &Row) {
    if !cell.kept.structure().needs().logging {
        return;
    }
    for policy in &mut cell.policies {
        for (k, mu) in row.logging.iter().enumerate().filter(|(_, mu)| !mu.is_nan()) {
            policy.tally.smallest[k] = policy.tally.smallest[k].min(*mu);
            policy.tally.largest[k] = policy.tally.largest[k].max(*mu);
        }
    }
}

fn add_to_group(cell: &mut Cell, bin: u32, group: usize, policies: &[Numbers]) {
    let Some(groups) = &mut cell.clusters else { return };
    let (layout, group) = (groups.layout(), group % groups.count);
    groups.bin_mut(bin, group)[layout.place(GroupSum::Rows)] += 1.0;
    for (policy, numbers) in policies.iter().enumerate() {
        for (j, w) in numbers.w.iter().enumerate() {
            groups.bin_mut(bin, group)[layout.place(GroupSum::Weight { policy, j })] += w;
        }
        let features = cell.kept.features(policy, cell.slots);
        for feature in features.keys() {
            groups.features_mut(policy, group)[features.place(feature)] += numbers.feature(feature);
        }
    }
}
