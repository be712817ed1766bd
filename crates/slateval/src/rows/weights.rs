//! Importance weights, a block of rows at a time and slot by slot, so that every loop runs over contiguous rows.
//! See docs/methods.md, section 2.

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

/// What was seen of a slot's propensities and ratios in a block of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlotFacts {
    /// Rows with `Y_k > 1`.
    pub(crate) hits: u64,
    /// The smallest and the largest logging propensity.
    pub(crate) propensities: (f64, f64),
    /// `sum Z_k^3` and `sum Z_k^4`.
    pub(crate) higher_powers: (f64, f64),
}

/// Fills `z[slot]` with `Z_k = pi_k / mu_k - 1` for one policy of a block that has been checked.
///
/// Ranking logs have `mu_k = 1/N`, so `Z_k = N pi_k - 1` there. A missing slot has `Z_k = 0`.
#[inline(always)]
pub(crate) fn slot_ratios(
    structure: &Structure,
    block: &Block,
    policy: usize,
    z: &mut [Vec<f64>],
    rows: &mut RowSums,
    mut seen: impl FnMut(usize, SlotFacts),
) {
    for sums in [&mut rows.sum, &mut rows.squares] {
        sums.clear();
        sums.resize(block.rows(), 0.0);
    }
    for (slot, z) in z.iter_mut().enumerate() {
        let pi = block.column(Field::Target { policy, slot });
        let mu = match structure {
            Structure::Ranking(pool) => {
                ranking_ratios(pool, block, slot, pi, z);
                None
            }
            _ => {
                let mu = block.column(Field::Logging { slot });
                factored_ratios(pi, mu, z);
                Some(mu)
            }
        };
        add_row_sums(z, rows);
        let facts = SlotFacts {
            hits: z.iter().map(|&z| u64::from(z > 0.0)).sum(),
            propensities: mu.and_then(vector::range).unwrap_or((1.0, 0.0)),
            higher_powers: vector::higher_powers(z),
        };
        seen(slot, facts);
    }
}

/// Probabilities stored in single precision may lie a little over 1.
#[inline(always)]
fn factored_ratios(pi: &[f64], mu: &[f64], z: &mut [f64]) {
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

#[inline(always)]
fn add_row_sums(z: &[f64], rows: &mut RowSums) {
    for (z, (sum, squares)) in z.iter().zip(rows.sum.iter_mut().zip(&mut rows.squares)) {
        *sum += z;
        *squares += z * z;
    }
}

/// Fills `g` with the weights of one policy, given its slot ratios.
#[inline(always)]
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
#[inline(always)]
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
#[inline(always)]
fn additive(z: &[Vec<f64>], g: &mut [f64]) {
    g.fill(1.0);
    for z in z {
        for (g, z) in g.iter_mut().zip(z) {
            *g += z;
        }
    }
}

/// `prod_k (1 + Z_k)`.
#[inline(always)]
fn product(z: &[Vec<f64>], g: &mut [f64]) {
    g.fill(1.0);
    for z in z {
        for (g, z) in g.iter_mut().zip(z) {
            *g *= 1.0 + z;
        }
    }
}

/// `sum_{j<=m} e_j(Z)`, the elementary symmetric polynomials by `e_j += Z_k e_{j-1}`: O(K m) a row.
#[inline(always)]
fn order(m: usize, z: &[Vec<f64>], g: &mut [f64], e: &mut Vec<Vec<f64>>) {
    elementary(m, z, g.len(), e);
    g.fill(1.0);
    for e in &e[1..=m] {
        for (g, e) in g.iter_mut().zip(e) {
            *g += e;
        }
    }
}

/// Fills `e[j]` with `e_j(z)` for `j <= m`.
#[inline(always)]
pub(crate) fn elementary(m: usize, z: &[Vec<f64>], rows: usize, e: &mut Vec<Vec<f64>>) {
    e.resize(e.len().max(m + 1), Vec::new());
    for (j, e) in e.iter_mut().enumerate().take(m + 1) {
        e.clear();
        e.resize(rows, if j == 0 { 1.0 } else { 0.0 });
    }
    for (k, z) in z.iter().enumerate() {
        step(m, k, z, e);
    }
}

/// The same, with `rest`, the sum of `e_j(z)` over all `j > m`, in `e[m + 1]`.
///
/// Adding slot `z`: `rest` becomes `rest + z (rest + e_m)`, because a product of more than `m` slots either lacks `z`,
/// or is `z` times a product of at least `m` slots.
#[inline(always)]
pub(crate) fn elementary_with_rest(m: usize, z: &[Vec<f64>], rows: usize, e: &mut Vec<Vec<f64>>) {
    e.resize(e.len().max(m + 2), Vec::new());
    for (j, e) in e.iter_mut().enumerate().take(m + 2) {
        e.clear();
        e.resize(rows, if j == 0 { 1.0 } else { 0.0 });
    }
    for (k, z) in z.iter().enumerate() {
        if k >= m {
            let (below, rest) = e.split_at_mut(m + 1);
            for ((rest, last), z) in rest[0].iter_mut().zip(&below[m]).zip(z) {
                *rest += z * (*rest + last);
            }
        }
        step(m, k, z, e);
    }
}

/// Takes the `k`-th slot into `e_1` to `e_m`.
#[inline(always)]
fn step(m: usize, k: usize, z: &[f64], e: &mut [Vec<f64>]) {
    for j in (1..=m.min(k + 1)).rev() {
        let (below, above) = e.split_at_mut(j);
        for ((e, lower), z) in above[0].iter_mut().zip(&below[j - 1]).zip(z) {
            *e += z * lower;
        }
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
    for (row, (g, e)) in g.iter_mut().zip(&scratch[m]).enumerate() {
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
            for j in 1..=m {
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
