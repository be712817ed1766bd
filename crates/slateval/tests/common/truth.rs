//! Logs whose targets' reward distribution is known exactly.
//!
//! The reward's law is a mixture: a component, which is a set of slots, is picked evenly, and the actions in its slots
//! decide the law. Components of one slot make an additive CDF, pairs one of order 2.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use crate::common::Random;
use slateval::{Block, Field, Spec, Summary};

/// A law of rewards.
#[derive(Debug, Clone)]
pub enum Law {
    /// `F(v) = v^theta` on [0, 1].
    Power(f64),
    /// The part of the logistic function between two points, scaled to [0, 1] both ways.
    Slice(f64, f64),
    /// Probabilities of 0, 1, 2 and 3.
    Atoms([f64; 4]),
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Law {
    fn cdf(&self, v: f64) -> f64 {
        match self {
            Law::Power(theta) => v.clamp(0.0, 1.0).powf(*theta),
            Law::Slice(lo, hi) => {
                let v = v.clamp(0.0, 1.0);
                (logistic(lo + (hi - lo) * v) - logistic(*lo)) / (logistic(*hi) - logistic(*lo))
            }
            Law::Atoms(p) => p.iter().zip(0..).filter(|(_, r)| f64::from(*r) <= v).map(|(p, _)| p).sum(),
        }
    }

    fn draw(&self, random: &mut Random) -> f64 {
        let u = random.uniform();
        match self {
            Law::Power(theta) => u.powf(1.0 / theta),
            Law::Slice(lo, hi) => {
                let p = logistic(*lo) + u * (logistic(*hi) - logistic(*lo));
                (((p / (1.0 - p)).ln() - lo) / (hi - lo)).clamp(0.0, 1.0)
            }
            Law::Atoms(p) => random_index(p, u) as f64,
        }
    }
}

fn random_index(p: &[f64], u: f64) -> usize {
    let mut sum = 0.0;
    let found = p.iter().position(|p| {
        sum += p;
        u < sum
    });
    found.unwrap_or(p.len() - 1)
}

/// A recommender with contexts, two factored policies and rewards of a known law.
#[derive(Debug, Clone)]
pub struct Truth {
    pub slots: usize,
    pub items: usize,
    /// `[context][slot][action]`.
    pub mu: Vec<Vec<Vec<f64>>>,
    pub pi: Vec<Vec<Vec<f64>>>,
    /// Sets of slots.
    pub components: Vec<Vec<usize>>,
    /// `[context][component][actions of its slots, as digits]`.
    pub laws: Vec<Vec<Vec<Law>>>,
    /// Largest reward.
    pub top: f64,
}

impl Truth {
    /// Every slot's actions uniform, one context, laws as drawn.
    fn uniform(
        slots: usize,
        items: usize,
        components: Vec<Vec<usize>>,
        top: f64,
        mut target: impl FnMut(usize) -> Vec<f64>,
        mut law: impl FnMut() -> Law,
    ) -> Self {
        let laws = |c: &Vec<usize>| (0..items.pow(c.len() as u32)).map(|_| law()).collect();
        let laws = vec![components.iter().map(laws).collect()];
        let pi = vec![(0..slots).map(&mut target).collect()];
        let mu = vec![vec![vec![1.0 / items as f64; items]; slots]];
        Truth { slots, items, mu, pi, components, laws, top }
    }

    /// The paper's synthetic set-up: three slots, three actions, a deterministic target.
    pub fn slices(seed: u64) -> Self {
        let random = std::cell::RefCell::new(Random(seed));
        let target = |_| {
            let shown = random.borrow_mut().below(3);
            (0..3).map(|a| f64::from(u8::from(a == shown))).collect()
        };
        let law = || {
            let mut random = random.borrow_mut();
            let (a, b) = (12.0 * random.uniform() - 6.0, 12.0 * random.uniform() - 6.0);
            Law::Slice(a.min(b), a.max(b))
        };
        Self::uniform(3, 3, vec![vec![0], vec![1], vec![2]], 1.0, target, law)
    }

    /// Five slots of twenty actions in ten contexts; both policies differ by context.
    pub fn contextual(seed: u64) -> Self {
        let mut random = Random(seed);
        let (slots, items, contexts) = (5, 20, 10);
        let components: Vec<Vec<usize>> = (0..slots).map(|k| vec![k]).collect();
        let mut policies = |floor: f64| -> Vec<Vec<Vec<f64>>> {
            (0..contexts).map(|_| (0..slots).map(|_| random.simplex(items, floor)).collect()).collect()
        };
        let (mu, pi) = (policies(0.7), policies(0.3));
        let mut law = || Law::Power((1.2 * normal(&mut random)).exp());
        let laws = (0..contexts).map(|_| (0..slots).map(|_| (0..items).map(|_| law()).collect()).collect()).collect();
        Truth { slots, items, mu, pi, components, laws, top: 1.0 }
    }

    /// Three slots of three actions and rewards 0, 1, 2, 3; the target prefers one action in each slot.
    pub fn atoms(seed: u64) -> Self {
        let random = std::cell::RefCell::new(Random(seed));
        let target = |_| preferring(random.borrow_mut().below(3), 3);
        let law = || {
            let p = random.borrow_mut().simplex(4, 0.2);
            Law::Atoms([p[0], p[1], p[2], p[3]])
        };
        Self::uniform(3, 3, vec![vec![0], vec![1], vec![2]], 3.0, target, law)
    }

    /// Four slots of three actions: an additive CDF.
    pub fn additive(seed: u64) -> Self {
        Self::powers(seed, (0..4).map(|k| vec![k]).collect())
    }

    /// The same with every pair of slots: an instance whose order-2 part lies between .10 and .13 and whose order-1 part
    /// is at least .05.
    pub fn pairwise(seed: u64) -> Self {
        let pairs: Vec<Vec<usize>> = (0..4).flat_map(|k| (0..k).map(move |j| vec![j, k])).collect();
        let instances = (0..).map(|i| Self::powers(seed + i, pairs.clone()));
        let fits = |truth: &Truth| (0.10..=0.13).contains(&truth.part(2)) && truth.part(1) >= 0.05;
        instances.into_iter().find(fits).unwrap()
    }

    fn powers(seed: u64, components: Vec<Vec<usize>>) -> Self {
        let random = std::cell::RefCell::new(Random(seed));
        let target = |_| preferring(random.borrow_mut().below(3), 3);
        let law = || Law::Power((1.2 * normal(&mut random.borrow_mut())).exp());
        Self::uniform(4, 3, components, 1.0, target, law)
    }

    /// `sup_v |sum_{|S| = order} E_mu[prod_{k in S} Z_k F(v | A)]|`, by enumeration; one context.
    pub fn part(&self, order: usize) -> f64 {
        let at = |v: f64| -> f64 {
            let count = self.items.pow(self.slots as u32);
            let slate = |s: usize| (0..self.slots).map(|k| s / self.items.pow(k as u32) % self.items).collect();
            let part = |actions: Vec<usize>| {
                let mut e = vec![0.0; order + 1];
                e[0] = 1.0;
                let mut probability = 1.0;
                for (k, &a) in actions.iter().enumerate() {
                    probability *= self.mu[0][k][a];
                    let z = self.pi[0][k][a] / self.mu[0][k][a] - 1.0;
                    for j in (1..=order).rev() {
                        e[j] += z * e[j - 1];
                    }
                }
                probability * e[order] * self.cdf_given(0, &actions, v)
            };
            (0..count).map(slate).map(part).sum()
        };
        (1..50).map(|i| at(f64::from(i) / 50.0).abs()).fold(0.0, f64::max)
    }

    fn cdf_given(&self, context: usize, actions: &[usize], v: f64) -> f64 {
        let component = |(c, slots): (usize, &Vec<usize>)| self.law(context, c, slots, actions).cdf(v);
        self.components.iter().enumerate().map(component).sum::<f64>() / self.components.len() as f64
    }

    fn law(&self, context: usize, component: usize, slots: &[usize], actions: &[usize]) -> &Law {
        let digits = slots.iter().fold(0, |digits, &k| digits * self.items + actions[k]);
        &self.laws[context][component][digits]
    }

    /// The CDF of a policy's rewards.
    pub fn cdf(&self, policy: &[Vec<Vec<f64>>], v: f64) -> f64 {
        let mut sum = 0.0;
        for (x, laws) in self.laws.iter().enumerate() {
            for (slots, laws) in self.components.iter().zip(laws) {
                for (digits, law) in laws.iter().enumerate() {
                    let mut rest = digits;
                    let mut probability = 1.0;
                    for &k in slots.iter().rev() {
                        probability *= policy[x][k][rest % self.items];
                        rest /= self.items;
                    }
                    sum += probability * law.cdf(v);
                }
            }
        }
        sum / (self.laws.len() * self.components.len()) as f64
    }

    /// Slates logged under `mu`, straight into a summary with one target.
    pub fn log(&self, spec: &Spec, n: usize, random: &mut Random) -> Summary {
        let mut summary = Summary::new(spec.clone()).unwrap();
        let with_chi = spec.policies[0].chi;
        let chi = |x: usize, k: usize| -> f64 {
            self.pi[x][k].iter().zip(&self.mu[x][k]).map(|(p, m)| p * p / m).sum::<f64>() - 1.0
        };
        let chi: Vec<Vec<f64>> = (0..self.mu.len()).map(|x| (0..self.slots).map(|k| chi(x, k)).collect()).collect();
        let mut block = Block::new(spec);
        let mut left = n;
        let mut actions = vec![0; self.slots];
        while left > 0 {
            let rows = left.min(Block::ROWS);
            left -= rows;
            block.reset(rows, self.slots);
            for row in 0..rows {
                let x = random.below(self.mu.len());
                for slot in 0..self.slots {
                    let a = random.draw(&self.mu[x][slot]);
                    actions[slot] = a;
                    block.column_mut(Field::Logging { slot })[row] = self.mu[x][slot][a];
                    block.column_mut(Field::Target { policy: 0, slot })[row] = self.pi[x][slot][a];
                    if with_chi {
                        block.column_mut(Field::Chi { policy: 0, slot })[row] = chi[x][slot];
                    }
                }
                let component = random.below(self.components.len());
                let law = self.law(x, component, &self.components[component], &actions);
                block.column_mut(Field::Reward)[row] = law.draw(random);
            }
            summary.add(&block).unwrap();
        }
        summary
    }

    /// What is to be found out about the target.
    pub fn answers(&self) -> Answers {
        self.answers_of(&self.pi)
    }

    /// The same about the logging policy.
    pub fn logging_answers(&self) -> Answers {
        self.answers_of(&self.mu)
    }

    fn answers_of(&self, policy: &[Vec<Vec<f64>>]) -> Answers {
        let f = |v: f64| self.cdf(policy, v);
        if let Law::Atoms(_) = self.laws[0][0][0] {
            let p: Vec<f64> = (0..4).map(|r| f(f64::from(r)) - f(f64::from(r) - 1.0)).collect();
            let moment = |power: i32| p.iter().zip(0..).map(|(p, r)| p * f64::from(r).powi(power)).sum::<f64>();
            return Answers { mean: moment(1), variance: moment(2) - moment(1).powi(2), grid: None, atoms: Some(p) };
        }
        // E[R^k] = top - integral of F and the like, on a fine grid.
        const STEPS: usize = 20_000;
        let grid: Vec<f64> = (0..=STEPS).map(|i| f(self.top * i as f64 / STEPS as f64)).collect();
        let step = self.top / STEPS as f64;
        let above = |i: usize| 1.0 - (grid[i] + grid[i + 1]) / 2.0;
        let mean: f64 = (0..STEPS).map(|i| above(i) * step).sum();
        let second: f64 = (0..STEPS).map(|i| 2.0 * (i as f64 + 0.5) * step * above(i) * step).sum();
        Answers { mean, variance: second - mean * mean, grid: Some((grid, step)), atoms: None }
    }
}

/// The target's true values.
#[derive(Debug, Clone)]
pub struct Answers {
    pub mean: f64,
    pub variance: f64,
    grid: Option<(Vec<f64>, f64)>,
    atoms: Option<Vec<f64>>,
}

impl Answers {
    pub fn cdf(&self, v: f64) -> f64 {
        if let Some(p) = &self.atoms {
            return p.iter().zip(0..).filter(|(_, r)| f64::from(*r) <= v).map(|(p, _)| p).sum();
        }
        let (grid, step) = self.grid.as_ref().unwrap();
        let place = (v / step).clamp(0.0, grid.len() as f64 - 1.0);
        let (below, share) = (place.floor() as usize, place.fract());
        grid[below] + share * (grid[(below + 1).min(grid.len() - 1)] - grid[below])
    }

    pub fn quantile(&self, level: f64) -> f64 {
        if let Some(p) = &self.atoms {
            return random_index(p, level - 1e-12) as f64;
        }
        let (grid, step) = self.grid.as_ref().unwrap();
        let i = grid.partition_point(|&f| f < level).clamp(1, grid.len() - 1);
        let share = (level - grid[i - 1]) / (grid[i] - grid[i - 1]);
        (i as f64 - 1.0 + share) * step
    }

    /// `(1/alpha)` times the integral of the quantiles below `alpha`.
    pub fn cvar(&self, alpha: f64) -> f64 {
        const STEPS: usize = 4000;
        let level = |i: usize| alpha * (i as f64 + 0.5) / STEPS as f64;
        (0..STEPS).map(|i| self.quantile(level(i))).sum::<f64>() / STEPS as f64
    }
}

fn preferring(action: usize, items: usize) -> Vec<f64> {
    (0..items).map(|a| 0.2 / items as f64 + if a == action { 0.8 } else { 0.0 }).collect()
}

/// Box and Muller's.
fn normal(random: &mut Random) -> f64 {
    let (u, v) = (random.uniform().max(1e-300), random.uniform());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}
