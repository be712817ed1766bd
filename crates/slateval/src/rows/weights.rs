//! Importance weights, a block of rows at a time and slot by slot, so that every loop runs over contiguous rows.
//! See docs/methods.md, section 2.

use crate::math::lanes::{Four, LANES, wide};
use crate::math::vector;
use crate::question::field::Field;
use crate::question::structure::{Family, Pool, Structure};
use crate::rows::block::Block;

impl Structure {
    /// The weights of slates given by their slot ratios `Y_k = pi_k / mu_k`, one slice per slot.
    ///
    /// For the structures that are functions of slot ratios: additive, product, order, interactions and paper-order.
    ///
    /// # Panics
    /// For `ranking` and `given`, which are not, and if the slices differ in length.
    ///
    /// ```
    /// use slateval::Structure;
    /// // One slate of three slots: ratios 2, 2 and 0.
    /// let weight = |s: Structure| s.weights(&[&[2.0], &[2.0], &[0.0]])[0];
    /// assert_eq!(weight(Structure::Product), 0.0);
    /// assert_eq!(weight(Structure::Additive), 2.0);
    /// assert_eq!(weight(Structure::Order(2)), 1.0);
    /// ```
    pub fn weights(&self, ratios: &[&[f64]]) -> Vec<f64> {
        let rows = ratios.first().map_or(0, |y| y.len());
        assert!(ratios.iter().all(|y| y.len() == rows), "every slot has one ratio for each slate");
        let z: Vec<Vec<f64>> = ratios.iter().map(|y| y.iter().map(|y| y - 1.0).collect()).collect();
        let mut g = vec![0.0; rows];
        match self {
            Structure::PaperOrder(m) => paper_order(*m, &z, |_| z.len(), &mut g, &mut Vec::new()),
            _ => multilinear(self, &z, &mut g, &mut Vec::new()),
        }
        g
    }

    /// Whether the weight is the same multilinear function of the `Z_k` that its second moment is of the `chi_k`:
    /// `E[G^2 | x] = G(chi(x))`.
    pub(crate) fn is_multilinear(&self) -> bool {
        matches!(self, Structure::Additive | Structure::Product | Structure::Order(_) | Structure::Interactions(_))
    }
}

/// `sum_k Z_k` and `sum_k Z_k^2` of every row of a block.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowSums {
    pub(crate) sum: Vec<f64>,
    pub(crate) squares: Vec<f64>,
}

/// What is remembered of a slot's ratios beside their first two moments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HigherPowers {
    /// `sum Z_k^3`.
    pub(crate) cubes: f64,
    /// `sum Z_k^4`.
    pub(crate) fourths: f64,
    /// Rows with `Y_k > 1`.
    pub(crate) positive: u64,
}

/// Fills `z[slot]` with `Z_k = pi_k / mu_k - 1` for one policy of a block that has been checked.
///
/// Ranking logs have `mu_k = 1/N`, so `Z_k = N pi_k - 1` there. A missing slot has `Z_k = 0`.
pub(crate) fn slot_ratios(
    structure: &Structure,
    block: &Block,
    policy: usize,
    z: &mut [Vec<f64>],
    rows: &mut RowSums,
    mut seen: impl FnMut(usize, HigherPowers),
) {
    for sums in [&mut rows.sum, &mut rows.squares] {
        sums.clear();
        sums.resize(block.rows(), 0.0);
    }
    for (slot, z) in z.iter_mut().enumerate() {
        let pi = block.column(Field::Target { policy, slot });
        match structure {
            Structure::Ranking(pool) => ranking_ratios(pool, block, slot, pi, z),
            _ => factored_ratios(pi, block.column(Field::Logging { slot }), z),
        }
        seen(slot, add_slot(z, &mut rows.sum, &mut rows.squares));
    }
}

wide! {
    /// `pi / mu - 1`. Probabilities stored in single precision may lie a little over 1.
    fn factored_ratios(pi: &[f64], mu: &[f64], z: &mut [f64]) = factored_ratios_of
}

#[inline(always)]
fn factored_ratios_of<F: Four>(pi: &[f64], mu: &[f64], z: &mut [f64]) {
    for (z, (&pi, &mu)) in z.iter_mut().zip(pi.iter().zip(mu)) {
        *z = vector::min(pi, 1.0) / vector::min(mu, 1.0) - 1.0;
    }
}

fn ranking_ratios(pool: &Pool, block: &Block, slot: usize, pi: &[f64], z: &mut [f64]) {
    for (row, (z, &pi)) in z.iter_mut().zip(pi).enumerate() {
        let missing = block.is_missing(row, slot);
        *z = if missing { 0.0 } else { block.pool_size(pool, row) * pi.min(1.0) - 1.0 };
    }
}

wide! {
    /// Adds a slot to the rows' sums of ratios and of their squares.
    fn add_slot(z: &[f64], sum: &mut [f64], squares: &mut [f64]) -> HigherPowers = add_slot_in_lanes
}

#[inline(always)]
fn add_slot_in_lanes<F: Four>(z: &[f64], sum: &mut [f64], squares: &mut [f64]) -> HigherPowers {
    let ((z, z_rest), (sum, sum_rest)) = (z.as_chunks::<LANES>(), sum.as_chunks_mut::<LANES>());
    let (squares, squares_rest) = squares.as_chunks_mut::<LANES>();
    let zero = F::splat(0.0);
    let (mut cubes, mut fourths, mut positive) = (zero, zero, zero);
    for (z, (sum, squares)) in z.iter().zip(sum.iter_mut().zip(squares)) {
        let z = F::load(z);
        let square = z.times(z);
        z.plus(F::load(sum)).store(sum);
        square.plus(F::load(squares)).store(squares);
        cubes = square.times_plus(z, cubes);
        fourths = square.times_plus(square, fourths);
        positive = positive.plus(zero.is_below(z));
    }
    let mut seen =
        HigherPowers { cubes: cubes.total(), fourths: fourths.total(), positive: positive.total() as u64 };
    for (&z, (sum, squares)) in z_rest.iter().zip(sum_rest.iter_mut().zip(squares_rest)) {
        *sum += z;
        *squares += z * z;
        seen.cubes += z * z * z;
        seen.fourths += (z * z) * (z * z);
        seen.positive += u64::from(z > 0.0);
    }
    seen
}

/// Fills `g` with the weights of one policy, given its slot ratios.
pub(crate) fn weigh(
    structure: &Structure,
    block: &Block,
    policy: usize,
    z: &[Vec<f64>],
    rows: &RowSums,
    g: &mut [f64],
    scratch: &mut Vec<Vec<f64>>,
) {
    match structure {
        Structure::Additive => g.iter_mut().zip(&rows.sum).for_each(|(g, sum)| *g = 1.0 + sum),
        Structure::Given => g.copy_from_slice(block.column(Field::Weight { policy })),
        Structure::Ranking(pool) => ranking(pool, block, policy, g),
        Structure::PaperOrder(m) => paper_order(*m, z, |row| block.length(row), g, scratch),
        _ => multilinear(structure, z, g, scratch),
    }
}

/// `sum_{S in F} prod_{k in S} z_k` for the structure's family `F` of slot sets.
pub(crate) fn multilinear(structure: &Structure, z: &[Vec<f64>], g: &mut [f64], scratch: &mut Vec<Vec<f64>>) {
    match structure {
        Structure::Product => product(z, g),
        Structure::Order(m) if *m >= z.len() => product(z, g),
        Structure::Additive | Structure::Order(1) => additive(z, g),
        Structure::Order(m) => order(*m, z, g, scratch),
        Structure::Interactions(family) => interactions(family, z, g, scratch),
        _ => unreachable!("{structure} is no function of slot ratios alone"),
    }
}

/// `1 + sum_k Z_k`.
fn additive(z: &[Vec<f64>], g: &mut [f64]) {
    g.fill(1.0);
    for z in z {
        for (g, z) in g.iter_mut().zip(z) {
            *g += z;
        }
    }
}

/// `prod_k (1 + Z_k)`.
fn product(z: &[Vec<f64>], g: &mut [f64]) {
    g.fill(1.0);
    for z in z {
        for (g, z) in g.iter_mut().zip(z) {
            *g *= 1.0 + z;
        }
    }
}

/// `sum_{j<=m} e_j(Z)`, the elementary symmetric polynomials by `e_j += Z_k e_{j-1}`: O(K m) a row.
fn order(m: usize, z: &[Vec<f64>], g: &mut [f64], e: &mut Vec<Vec<f64>>) {
    elementary(m, z, g.len(), e);
    g.fill(1.0);
    for e in &e[..m] {
        for (g, e) in g.iter_mut().zip(e) {
            *g += e;
        }
    }
}

/// Fills `e[j - 1]` with `e_j(z)` for `1 <= j <= m`.
pub(crate) fn elementary(m: usize, z: &[Vec<f64>], rows: usize, e: &mut Vec<Vec<f64>>) {
    resize(m, rows, e);
    z.iter().enumerate().for_each(|(k, z)| step(m, k, z, e));
    e[z.len().min(m)..m].iter_mut().for_each(|e| e.fill(0.0));
}

/// The same, with `rest`, the sum of `e_j(z)` over all `j > m`, in `e[m]`. `m` is at least 1.
///
/// Adding slot `z`: `rest` becomes `rest + z (rest + e_m)`, because a product of more than `m` slots either lacks `z`,
/// or is `z` times a product of at least `m` slots.
pub(crate) fn elementary_with_rest(m: usize, z: &[Vec<f64>], rows: usize, e: &mut Vec<Vec<f64>>) {
    resize(m + 1, rows, e);
    e[m].fill(0.0);
    for (k, z) in z.iter().enumerate() {
        if k >= m {
            let (below, rest) = e.split_at_mut(m);
            add_rest(z, &below[m - 1], &mut rest[0]);
        }
        step(m, k, z, e);
    }
    e[z.len().min(m)..m].iter_mut().for_each(|e| e.fill(0.0));
}

fn resize(count: usize, rows: usize, e: &mut Vec<Vec<f64>>) {
    e.resize(e.len().max(count), Vec::new());
    e[..count].iter_mut().for_each(|e| e.resize(rows, 0.0));
}

/// Takes the `k`-th slot into `e_1` to `e_m`, of which those beyond `k` have not been filled yet.
fn step(m: usize, k: usize, z: &[f64], e: &mut [Vec<f64>]) {
    for j in (2..=m.min(k + 1)).rev() {
        let (below, above) = e.split_at_mut(j - 1);
        match j == k + 1 {
            true => vector::multiply(z, &below[j - 2], &mut above[0]),
            false => vector::add_product(z, &below[j - 2], &mut above[0]),
        }
    }
    match (m, k) {
        (0, _) => {}
        (_, 0) => e[0].copy_from_slice(z),
        _ => vector::add_column(z, &mut e[0]),
    }
}

wide! {
    /// `rest += z (rest + last)`.
    fn add_rest(z: &[f64], last: &[f64], rest: &mut [f64]) = add_rest_of
}

#[inline(always)]
fn add_rest_of<F: Four>(z: &[f64], last: &[f64], rest: &mut [f64]) {
    for ((rest, last), z) in rest.iter_mut().zip(last).zip(z) {
        *rest = z.mul_add(*rest + last, *rest);
    }
}

/// Every single slot and every set of the closed family.
fn interactions(family: &Family, z: &[Vec<f64>], g: &mut [f64], scratch: &mut Vec<Vec<f64>>) {
    additive(z, g);
    scratch.resize(scratch.len().max(1), Vec::new());
    let term = &mut scratch[0];
    // A set with a slot that no slate of this block has contributes Z = 0.
    for set in family.closure().iter().filter(|set| set.last().is_some_and(|&last| last < z.len())) {
        term.clone_from(&z[set[0]]);
        for &k in &set[1..] {
            for (term, z) in term.iter_mut().zip(&z[k]) {
                *term *= z;
            }
        }
        for (g, term) in g.iter_mut().zip(&*term) {
            *g += term;
        }
    }
}

/// The paper's equation for `G_m`: `e_m(Y) - C(K, m) + 1`, with `K` the slate's own length.
fn paper_order(m: usize, z: &[Vec<f64>], length: impl Fn(usize) -> usize, g: &mut [f64], scratch: &mut Vec<Vec<f64>>) {
    if m > z.len() {
        return g.fill(1.0);
    }
    // A missing slot has Y = 1, which would add sets that do not exist: its Y counts as 0 in e_m instead, and a slate
    // shorter than m has no sets of m slots at all.
    elementary_of_ratios(m, z, &length, g.len(), scratch);
    for (row, (g, e)) in g.iter_mut().zip(&scratch[m - 1]).enumerate() {
        *g = e - binomial(length(row), m) + 1.0;
    }
}

fn elementary_of_ratios(
    m: usize,
    z: &[Vec<f64>],
    length: &impl Fn(usize) -> usize,
    rows: usize,
    e: &mut Vec<Vec<f64>>,
) {
    let ragged = (0..rows).any(|row| length(row) < z.len());
    let y: Vec<Vec<f64>> = z.iter().map(|z| z.iter().map(|z| 1.0 + z).collect()).collect();
    elementary(m, &y, rows, e);
    if !ragged {
        return;
    }
    for row in (0..rows).filter(|&row| length(row) < z.len()) {
        // Slots beyond the slate's length have Y = 1 exactly; dividing their factor (1 + t) out of the generating
        // polynomial prod_k (1 + Y_k t) leaves that of the slots that exist.
        for _ in length(row)..z.len() {
            e[0][row] -= 1.0;
            for j in 1..m {
                e[j][row] -= e[j - 1][row];
            }
        }
    }
}

fn binomial(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64)
}

/// The weight of a slate of `k` items that logging drew uniformly without replacement from `n`, for an additive CDF.
///
/// `own` is `H = sum_k q_k(s_k)`, the target's probability of each shown item in its own slot, summed; `anywhere` is
/// `Q = sum_k sum_j q_j(s_k)`, of each shown item anywhere in the slate. `Gamma_mu` has a closed-form pseudo-inverse, so
/// `G = (n-1) H + ((n-1) Q - k (k-1)) / (n-k) - (k-1)` for `k < n` and `(n-1) H - (n-2)` for `k = n`.
///
/// ```
/// // The target would have shown exactly this slate of 3 out of 5 items.
/// assert_eq!(slateval::ranking_weight(5, 3, 3.0, 3.0), 13.0);
/// ```
pub fn ranking_weight(n: usize, k: usize, own: f64, anywhere: f64) -> f64 {
    let (items, slots) = (n as f64, k as f64);
    if k == 0 {
        1.0
    } else if k == n {
        (items - 1.0) * own - (items - 2.0)
    } else {
        (items - 1.0) * own + ((items - 1.0) * anywhere - slots * (slots - 1.0)) / (items - slots) - (slots - 1.0)
    }
}

/// [`ranking_weight`] for every row of a block.
fn ranking(pool: &Pool, block: &Block, policy: usize, g: &mut [f64]) {
    let mut own = vec![0.0; g.len()];
    let mut anywhere = vec![0.0; g.len()];
    for slot in 0..block.slots() {
        let pi = block.column(Field::Target { policy, slot });
        let any = block.column(Field::Anywhere { policy, slot });
        for row in (0..g.len()).filter(|&row| !block.is_missing(row, slot)) {
            own[row] += pi[row].min(1.0);
            anywhere[row] += any[row].min(1.0);
        }
    }
    for (row, g) in g.iter_mut().enumerate() {
        *g = ranking_weight(block.pool_size(pool, row) as usize, block.length(row), own[row], anywhere[row]);
    }
}
