//! The importance weight of one slate, as in the paper and beyond it.
//! See docs/methods.md, section 2.
//!
//! With slot ratios `Y_k = pi_k / mu_k` and `Z_k = Y_k - 1`, a [`Structure`] says which weight `G` makes
//! `F(v) = E[G 1{R <= v}]` the target's CDF. `slateval-accumulate` computes these weights for blocks of rows; its tests compare
//! every row with what stands here.

use crate::spec::structure::{Family, Structure};

impl Structure {
    /// The weights of slates given by their slot ratios `Y_k = pi_k / mu_k`, one slice per slot.
    ///
    /// For the structures that are functions of slot ratios: additive, product, order, interactions and paper-order.
    ///
    /// # Panics
    /// For `ranking` and `given`, which are not, and if the slices differ in length.
    ///
    /// ```
    /// use slateval_stats::Structure;
    /// // One slate of three slots: ratios 2, 2 and 0.
    /// let weight = |s: Structure| s.weights(&[&[2.0], &[2.0], &[0.0]])[0];
    /// assert_eq!(weight(Structure::Product), 0.0);
    /// assert_eq!(weight(Structure::Additive), 2.0);
    /// assert_eq!(weight(Structure::Order(2)), 1.0);
    /// ```
    pub fn weights(&self, ratios: &[&[f64]]) -> Vec<f64> {
        let slates = ratios.first().map_or(0, |y| y.len());
        assert!(ratios.iter().all(|y| y.len() == slates), "every slot has one ratio for each slate");
        let of_slate = |slate: usize| {
            let y: Vec<f64> = ratios.iter().map(|y| y[slate]).collect();
            match self {
                Structure::PaperOrder(m) => paper_order(*m, &y),
                _ => multilinear(self, &y.iter().map(|y| y - 1.0).collect::<Vec<_>>()),
            }
        };
        (0..slates).map(of_slate).collect()
    }

    /// Whether the weight is the same multilinear function of the `Z_k` that its second moment is of the `chi_k`:
    /// `E[G^2 | x] = G(chi(x))`.
    pub fn is_multilinear(&self) -> bool {
        matches!(self, Structure::Additive | Structure::Product | Structure::Order(_) | Structure::Interactions(_))
    }
}

/// `sum_{S in F} prod_{k in S} z_k` for the structure's family `F` of slot sets.
///
/// # Panics
/// For structures that are no such function: automatic, ranking, given and paper-order.
pub fn multilinear(structure: &Structure, z: &[f64]) -> f64 {
    match structure {
        Structure::Additive => 1.0 + z.iter().sum::<f64>(),
        Structure::Product => product(z),
        // All subsets: the product, to the last bit.
        Structure::Order(m) if *m >= z.len() => product(z),
        Structure::Order(m) => elementary(*m, z).into_iter().sum(),
        Structure::Interactions(family) => interactions(family, z),
        _ => unreachable!("{structure} is no function of slot ratios alone"),
    }
}

/// `prod_k (1 + z_k)`.
fn product(z: &[f64]) -> f64 {
    z.iter().map(|z| 1.0 + z).product()
}

/// The elementary symmetric polynomials `e_0(z)` to `e_m(z)`, by `e_j += z_k e_{j-1}`: O(K m).
pub fn elementary(m: usize, z: &[f64]) -> Vec<f64> {
    let mut e = vec![0.0; m.min(z.len()) + 1];
    e[0] = 1.0;
    for z in z {
        for j in (1..e.len()).rev() {
            e[j] += z * e[j - 1];
        }
    }
    e
}

/// 1, every single slot, and every set of the closed family. A set with a slot that the slate does not have contributes 0.
fn interactions(family: &Family, z: &[f64]) -> f64 {
    let sets = family.closure().iter().filter(|set| set.last().is_some_and(|&last| last < z.len()));
    1.0 + z.iter().sum::<f64>() + sets.map(|set| set.iter().map(|&k| z[k]).product::<f64>()).sum::<f64>()
}

/// The paper's equation for `G_m`: `e_m(Y) - C(K, m) + 1`, with `K` the slate's own length. Biased for `1 < m < K`.
pub fn paper_order(m: usize, y: &[f64]) -> f64 {
    if m > y.len() {
        return 1.0;
    }
    elementary(m, y)[m] - binomial(y.len(), m) + 1.0
}

/// `n` over `k`.
pub fn binomial(n: usize, k: usize) -> f64 {
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
/// assert_eq!(slateval_stats::ranking_weight(5, 3, 3.0, 3.0), 13.0);
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
