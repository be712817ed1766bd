//! A named world: its contexts, its logs and its truth.

use slateval::{Block, Segment, Spec, Summary};

use super::law::{Law, Mix};
use super::scene::Scene;
use crate::random::{Purpose, Random, pick, stream};
use crate::rows::Rows;

/// A world with a log that is drawn quickly and a truth that is known exactly.
#[derive(Debug, Clone)]
pub struct World {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
    /// The numbers of rows it is run at, ascending.
    pub sizes: &'static [usize],
    /// The smaller of the tail probabilities that VaR and CVaR are asked for; the larger is [`World::WIDE_TAIL`].
    pub tail: f64,
    /// How its log is summarised. With segments, each context is one, and they take turns.
    pub spec: Spec,
    /// Its contexts.
    pub scenes: Vec<Scene>,
}

/// The distributions that intervals are to hold.
#[derive(Debug, Clone)]
pub struct Truths {
    /// The target's rewards.
    pub target: Mix,
    /// The logging policy's.
    pub logging: Mix,
}

impl World {
    /// The name of the target policy.
    pub const TARGET: &'static str = "new";

    /// The larger tail probability.
    pub const WIDE_TAIL: f64 = 0.25;

    /// The truth about the whole log.
    pub fn truths(&self) -> Truths {
        self.truths_of(&self.scenes)
    }

    /// The truth about each segment, ascending, of a world with segments; else about the whole log alone.
    pub fn segment_truths(&self) -> Vec<Truths> {
        match self.is_segmented() {
            true => self.scenes.chunks(1).map(|scene| self.truths_of(scene)).collect(),
            false => vec![self.truths()],
        }
    }

    /// Whether contexts are segments.
    pub fn is_segmented(&self) -> bool {
        self.spec.by.is_some()
    }

    fn truths_of(&self, scenes: &[Scene]) -> Truths {
        let whole: f64 = scenes.iter().map(|scene| scene.probability).sum();
        let mix = |laws: fn(&Scene) -> Vec<(f64, Law)>| {
            let share = |scene: &Scene| scene.probability / whole;
            Mix::new(scenes.iter().flat_map(|s| laws(s).into_iter().map(move |(p, law)| (p * share(s), law))))
        };
        Truths { target: mix(Scene::target_laws), logging: mix(Scene::logging_laws) }
    }

    /// The slots of its longest slate.
    pub fn slots(&self) -> usize {
        self.scenes.iter().map(|scene| scene.logging.len()).max().unwrap_or(0)
    }

    /// Draws rows of the log, beginning with row number `first`.
    pub fn draw(&self, first: usize, count: usize, random: &mut Random, rows: &mut Rows) {
        rows.resize(count, self.slots(), 1, false);
        let chi: Vec<Vec<f64>> = self.scenes.iter().map(Scene::chi).collect();
        let mut slate = Vec::with_capacity(self.slots());
        for row in 0..count {
            let x = match self.scenes.len() {
                1 => 0,
                contexts if self.is_segmented() => (first + row) % contexts,
                _ => pick(self.scenes.iter().map(|scene| scene.probability), random),
            };
            let scene = &self.scenes[x];
            scene.draw_slate(random, &mut slate);
            rows.context[row] = x as u64;
            rows.reward[row] = scene.draw_reward(&slate, random);
            let target = &mut rows.targets[0];
            for slot in 0..rows.items.len() {
                // A slot that the slate does not have decides nothing.
                let (item, mu, pi, chi) = match slate.get(slot) {
                    Some(&a) => (a, scene.logging[slot][a], scene.target[slot][a], chi[x][slot]),
                    None => (0, 1.0, 1.0, 0.0),
                };
                rows.items[slot][row] = item as u32;
                rows.mu[slot][row] = mu;
                target.pi[slot][row] = pi;
                target.chi[slot][row] = chi;
            }
        }
    }

    /// The summary of a log: a pure function of the number of rows and the seed.
    ///
    /// # Errors
    /// None, if the world is well-formed; else what the summary refuses.
    pub fn log(&self, count: usize, seed: u64) -> slateval::Result<Summary> {
        let mut random = stream(seed, Purpose::Log, count as u64);
        let mut summary = Summary::new(self.spec.clone())?;
        let mut block = Block::new(&self.spec);
        let mut rows = Rows::default();
        for first in (0..count).step_by(Block::ROWS) {
            self.draw(first, Block::ROWS.min(count - first), &mut random, &mut rows);
            rows.fill(&mut block);
            self.mark(&rows, &mut block);
            summary.add(&block)?;
        }
        Ok(summary)
    }

    /// Marks slots that short slates do not have, and segments.
    fn mark(&self, rows: &Rows, block: &mut Block) {
        let ragged = self.scenes.iter().any(|scene| scene.logging.len() < self.slots());
        for (row, &x) in rows.context.iter().enumerate().filter(|_| ragged || self.is_segmented()) {
            (self.scenes[x as usize].logging.len()..self.slots()).for_each(|slot| block.set_missing(row, slot));
            if self.is_segmented() {
                block.set_segment(row, &Segment::Int(x as i64));
            }
        }
    }
}
