//! Small logs for tests, and a plain way to put them into a summary.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use slateval::{Accumulator, Band, Block, Field, Segment, Settings, Spec, Summary};

/// One logged slate and one target's view of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Slate {
    pub reward: f64,
    pub mu: Vec<f64>,
    pub pi: Vec<f64>,
    pub chi: Vec<f64>,
}

impl Slate {
    pub fn z(&self) -> Vec<f64> {
        self.pi.iter().zip(&self.mu).map(|(p, m)| p / m - 1.0).collect()
    }
}

/// Adds rows of equal or different lengths, in blocks. A first target is as the slates say; each further one lies halfway
/// between the one before and logging. Clusters are forty, by reward; so are segments, as many as the name of their column
/// says.
pub fn add(summary: &mut Summary, slates: &[Slate]) {
    let mut sums = Accumulator::new(summary.spec().clone()).unwrap();
    let (chi, policies) = (summary.spec().policies[0].chi, summary.spec().policies.len());
    let clustered = summary.spec().cluster.is_some();
    let segments = summary.spec().by.as_ref().map(|column| column.parse::<i64>().unwrap());
    for rows in slates.chunks(Block::ROWS) {
        let mut block = Block::new(summary.spec());
        let slots = rows.iter().map(|s| s.mu.len()).max().unwrap();
        block.reset(rows.len(), slots);
        for (i, slate) in rows.iter().enumerate() {
            block.column_mut(Field::Reward)[i] = slate.reward;
            if clustered {
                block.set_cluster(i, &Segment::Int((slate.reward * 1e6) as i64 % 40));
            }
            if let Some(segments) = segments {
                block.set_segment(i, &Segment::Int((slate.reward * 1e9) as i64 % segments));
            }
            for slot in 0..slots {
                if slot >= slate.mu.len() {
                    block.set_missing(i, slot);
                    continue;
                }
                block.column_mut(Field::Logging { slot })[i] = slate.mu[slot];
                for policy in 0..policies {
                    let share = 0.5f64.powi(policy as i32);
                    let pi = share * slate.pi[slot] + (1.0 - share) * slate.mu[slot];
                    block.column_mut(Field::Target { policy, slot })[i] = pi;
                    if chi {
                        block.column_mut(Field::Chi { policy, slot })[i] = share * share * slate.chi[slot];
                    }
                }
            }
        }
        sums.add(&block).unwrap();
    }
    summary.add_sums(sums.finish()).unwrap();
}

pub fn summarise(spec: &Spec, slates: &[Slate]) -> Summary {
    let mut summary = Summary::new(spec.clone()).unwrap();
    add(&mut summary, slates);
    summary
}

/// Estimates without intervals.
pub fn points() -> Settings {
    let mut settings = Settings::default();
    settings.band = Band::None;
    settings
}

/// Intervals from as few draws as are allowed.
pub fn quick() -> Settings {
    let mut settings = Settings::default();
    settings.draws = 100;
    settings
}

/// SplitMix64: a generator small enough to be written down.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    /// A probability vector with no entry below `floor / n`.
    pub fn simplex(&mut self, n: usize, floor: f64) -> Vec<f64> {
        let raw: Vec<f64> = (0..n).map(|_| -self.uniform().max(1e-12).ln()).collect();
        let sum: f64 = raw.iter().sum();
        raw.iter().map(|x| floor / n as f64 + (1.0 - floor) * x / sum).collect()
    }

    pub fn draw(&mut self, p: &[f64]) -> usize {
        let u = self.uniform();
        let mut sum = 0.0;
        p.iter()
            .position(|p| {
                sum += p;
                u < sum
            })
            .unwrap_or(p.len() - 1)
    }
}

/// `n` slates of `k` slots with `items` actions each; policies, and so chi, vary by row. Rewards depend on all slots.
pub fn contextual_log(seed: u64, n: usize, k: usize, items: usize) -> Vec<Slate> {
    let mut random = Random(seed);
    let contexts: Vec<Vec<(Vec<f64>, Vec<f64>)>> =
        (0..7).map(|_| (0..k).map(|_| (random.simplex(items, 0.6), random.simplex(items, 0.1))).collect()).collect();
    let row = |_| {
        let context = &contexts[random.below(contexts.len())];
        let mut slate = Slate { reward: 0.0, mu: vec![], pi: vec![], chi: vec![] };
        for (mu, pi) in context {
            let a = random.draw(mu);
            slate.mu.push(mu[a]);
            slate.pi.push(pi[a]);
            slate.chi.push(pi.iter().zip(mu).map(|(p, m)| p * p / m).sum::<f64>() - 1.0);
            slate.reward += (a as f64 + 0.3 * random.uniform()) * (1.0 + 0.2 * slate.reward);
        }
        slate
    };
    (0..n).map(row).collect()
}
