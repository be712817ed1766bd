//! Cascading clicks: what stands above changes how an item is liked.
//!
//! A context `x ~ N(0, I_2)` and an item `a` have the appeal `E(x, a) = theta'x~ + phi'a~ + x~'M a~` with `x~ = (1, x)` and
//! `a~ = (1, onehot(a))`, standardised to `l(x, a)`; the base reward is `f = logistic(l)`. Slot `k` is clicked with
//! probability `logistic(l(x, a_k) + sum_{j<k} W[a_k, a_j])`, independently, and the reward is the number of clicks.

use rand_distr::{Distribution as _, StandardNormal};

use crate::curve::logistic;
use crate::distribution::{Atoms, Distribution};
use crate::error::{Error, Result};
use crate::mixed::for_each_slate;
use crate::policy::Policy;
use crate::random::{Purpose, Random, stream, uniform};
use crate::table::Table;
use crate::world::{Context, Preferences, World};

/// A world of cascading clicks.
#[derive(Debug, Clone, PartialEq)]
pub struct Cascade {
    slots: usize,
    /// `l(x, a) = c + d'x` for each item, standardised.
    logits: Vec<[f64; 3]>,
    /// `W`, symmetric: `[a * items + b]`.
    influence: Vec<f64>,
}

/// Slates that are enumerated at most at each point of the quadrature.
const MOST_SLATES: f64 = 20_000.0;

impl Cascade {
    /// Parameters uniform on [-1, 1], influences normal with standard deviation 5.
    ///
    /// Appeals are standardised over the whole population of contexts and items, so that rows do not depend on each
    /// other through the batch they are drawn in.
    ///
    /// # Errors
    /// [`Error::BadSetting`] for no slots or fewer than two items.
    pub fn new(slots: usize, items: usize, seed: u64) -> Result<Self> {
        if slots == 0 || items < 2 {
            let given = format!("{slots}, {items}");
            return Err(Error::setting("slots and items", given, "a cascade needs a slot and two items"));
        }
        let random = &mut stream(seed, Purpose::World, 0);
        let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| 2.0 * uniform(random) - 1.0).collect() };
        let (theta, phi, m) = (draw(3), draw(items + 1), draw(3 * (items + 1)));
        let raw = |a: usize| {
            let mut line = [0, 1, 2].map(|i| theta[i] + m[i * (items + 1)] + m[i * (items + 1) + a + 1]);
            line[0] += phi[0] + phi[a + 1];
            line
        };
        let lines: Vec<[f64; 3]> = (0..items).map(raw).collect();
        Ok(Cascade { slots, logits: standardised(&lines), influence: symmetric(items, random) })
    }

    fn logit(&self, x: [f64; 2], item: usize) -> f64 {
        let [c, d1, d2] = self.logits[item];
        c + d1 * x[0] + d2 * x[1]
    }

    /// The probability of a click in slot `k`, given the slots above it.
    fn click(&self, x: [f64; 2], slate: &[u32], k: usize) -> f64 {
        let own = slate[k] as usize;
        let above: f64 = slate[..k].iter().map(|&b| self.influence[own * self.logits.len() + b as usize]).sum();
        logistic(self.logit(x, own) + above)
    }

    /// Adds `weight` times the distribution of clicks in one context to `clicks`.
    fn add_context(&self, x: [f64; 2], table: &Table, weight: f64, clicks: &mut [f64]) {
        // The probability of each number of clicks, slot by slot.
        let mut counts = vec![0.0; self.slots + 1];
        for_each_slate(self.slots, self.logits.len(), &mut |slate| {
            counts.fill(0.0);
            counts[0] = 1.0;
            for k in 0..self.slots {
                let q = self.click(x, slate, k);
                for count in (0..=k + 1).rev() {
                    let clicked = if count > 0 { counts[count - 1] } else { 0.0 };
                    counts[count] = clicked * q + counts[count] * (1.0 - q);
                }
            }
            let p = weight * table.probability(slate);
            clicks.iter_mut().zip(&counts).for_each(|(sum, count)| *sum += p * count);
        });
    }
}

/// Lines `c + d'x` with mean 0 and variance 1 over all items and `x ~ N(0, I)`.
fn standardised(lines: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let n = lines.len() as f64;
    let mean = lines.iter().map(|line| line[0]).sum::<f64>() / n;
    let square = |[c, d1, d2]: &[f64; 3]| (c - mean).powi(2) + d1 * d1 + d2 * d2;
    let sd = (lines.iter().map(square).sum::<f64>() / n).sqrt();
    lines.iter().map(|[c, d1, d2]| [(c - mean) / sd, d1 / sd, d2 / sd]).collect()
}

fn symmetric(items: usize, random: &mut Random) -> Vec<f64> {
    let mut influence = vec![0.0; items * items];
    for a in 0..items {
        for b in 0..=a {
            let normal: f64 = StandardNormal.sample(random);
            influence[a * items + b] = 5.0 * normal;
            influence[b * items + a] = 5.0 * normal;
        }
    }
    influence
}

/// Whether a policy's probabilities change smoothly with the context, as the quadrature needs: a favourite does not.
fn is_smooth(policy: Policy) -> bool {
    match policy {
        Policy::Uniform | Policy::Ranking | Policy::Mismatch => true,
        Policy::Softmax { scale } | Policy::PlackettLuce { scale } => scale.abs() <= 10.0,
        Policy::Deterministic | Policy::EpsilonGreedy { .. } => false,
    }
}

/// Points and weights for expectations over a standard normal variable: the trapezoidal rule, which converges faster
/// than any power of the step for functions as smooth as these.
fn normal_points() -> Vec<(f64, f64)> {
    const STEP: f64 = 0.25;
    let density = |x: f64| (-0.5 * x * x).exp();
    let points: Vec<f64> = (-30..=30).map(|i| STEP * f64::from(i)).collect();
    let total: f64 = points.iter().map(|&x| density(x)).sum();
    points.into_iter().map(|x| (x, density(x) / total)).collect()
}

impl World for Cascade {
    fn slots(&self) -> usize {
        self.slots
    }

    fn items(&self) -> usize {
        self.logits.len()
    }

    fn contexts(&self) -> Option<usize> {
        None
    }

    fn context(&self, random: &mut Random) -> Context {
        let x = StandardNormal.sample(random);
        let y = StandardNormal.sample(random);
        Context { index: 0, features: [x, y] }
    }

    /// Scores are base rewards, the favourite is the item with the highest; the same in every slot.
    fn preferences(&self, context: &Context, out: &mut Preferences) {
        let scores = out.scores_mut(0);
        for (item, score) in scores.iter_mut().enumerate() {
            *score = logistic(self.logit(context.features, item));
        }
        let best = out.best(0);
        out.favourites_mut().fill(best);
        out.copy_first_slot();
    }

    fn reward(&self, context: &Context, slate: &[u32], random: &mut Random) -> f64 {
        let clicked = |k: usize| uniform(random) < self.click(context.features, slate, k);
        (0..slate.len()).map(clicked).filter(|&clicked| clicked).count() as f64
    }

    /// Enumerates slates at each point of a quadrature over contexts, for policies that are smooth in the context.
    fn exact(&self, policy: Policy) -> Result<Option<Distribution>> {
        let (slots, items) = (self.slots, self.items());
        if (items as f64).powi(slots as i32) > MOST_SLATES || !is_smooth(policy) {
            return Ok(None);
        }
        let points = normal_points();
        let mut clicks = vec![0.0; slots + 1];
        let mut preferences = Preferences::new(slots, items);
        let mut table = Table::default();
        for (x, px) in &points {
            for (y, py) in &points {
                // Together these corners have a probability of less than 1e-12.
                if x * x + y * y > 56.0 {
                    continue;
                }
                let features = [*x, *y];
                self.preferences(&Context { index: 0, features }, &mut preferences);
                table.fill(policy, &preferences)?;
                self.add_context(features, &table, px * py, &mut clicks);
            }
        }
        let total: f64 = clicks.iter().sum();
        let atoms = clicks.iter().enumerate().map(|(count, p)| (count as f64, p / total)).collect();
        Ok(Some(Distribution::Atoms(Atoms::new(atoms))))
    }
}
