//! Plackett-Luce rankings: slot by slot, an item not shown yet with probability proportional to its weight.
//!
//! `weights[k * items + a]` is the weight of item `a` in slot `k`.

use std::collections::HashMap;

use crate::random::{Random, uniform};

/// More sets of items than this are not enumerated.
const MOST_SETS: f64 = 2e6;

/// The probability of every item in every slot, exactly: forwards over the sets of items shown so far, whose order does
/// not matter for what follows. `None` if there are too many sets, or too many items for a set to be a number.
pub(crate) fn marginals(weights: &[f64], items: usize) -> Option<Vec<f64>> {
    let slots = weights.len() / items;
    if items > 64 || (0..slots).map(|k| binomial(items, k)).sum::<f64>() > MOST_SETS {
        return None;
    }
    let mut marginal = vec![0.0; weights.len()];
    let mut shown: HashMap<u64, f64> = HashMap::from([(0, 1.0)]);
    for (weights, marginal) in weights.chunks(items).zip(marginal.chunks_mut(items)) {
        let mut next: HashMap<u64, f64> = HashMap::new();
        // Sums of floats depend on their order, and a hash map's order on chance.
        let mut sets: Vec<(u64, f64)> = shown.into_iter().collect();
        sets.sort_unstable_by_key(|(set, _)| *set);
        for (set, p) in sets {
            let left = || (0..items).filter(|a| set >> a & 1 == 0);
            let total: f64 = left().map(|a| weights[a]).sum();
            for a in left() {
                let p = p * weights[a] / total;
                marginal[a] += p;
                *next.entry(set | 1 << a).or_insert(0.0) += p;
            }
        }
        shown = next;
    }
    Some(marginal)
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k.min(n)).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64)
}

/// The probability of a slate without repeats.
pub(crate) fn probability(weights: &[f64], items: usize, slate: &[u32]) -> f64 {
    let step = |(k, weights): (usize, &[f64])| {
        let left: f64 = (0..items).filter(|&a| !slate[..k].contains(&(a as u32))).map(|a| weights[a]).sum();
        weights[slate[k] as usize] / left
    };
    weights.chunks(items).enumerate().map(step).product()
}

/// Draws a slate.
pub(crate) fn draw(weights: &[f64], items: usize, random: &mut Random, slate: &mut [u32]) {
    for (k, weights) in weights.chunks(items).enumerate() {
        let (shown, rest) = slate.split_at_mut(k);
        let left = || (0..items as u32).filter(|a| !shown.contains(a));
        let mut u = uniform(random) * left().map(|a| weights[a as usize]).sum::<f64>();
        let chosen = left().find(|&a| {
            u -= weights[a as usize];
            u < 0.0
        });
        // Rounding may leave nothing over: the last one it is.
        rest[0] = chosen.or_else(|| left().next_back()).unwrap_or(0);
    }
}
