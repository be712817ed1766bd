//! Simulated slates, column by column.

use slateval::{Block, Field};

/// Rows of a log, as a [`Simulation`](crate::Simulation) draws them.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// The slate's reward.
    pub reward: Vec<f64>,
    /// Which context it was shown in: its index, or the row's number in the log where every context is another.
    pub context: Vec<u64>,
    /// The item shown, `[slot][row]`.
    pub items: Vec<Vec<u32>>,
    /// The logging propensity of that item, `[slot][row]`.
    pub mu: Vec<Vec<f64>>,
    /// For each target.
    pub targets: Vec<TargetRows>,
}

/// What a target policy would have done.
#[derive(Debug, Clone, Default)]
pub struct TargetRows {
    /// Its propensity of the item shown, `[slot][row]`.
    pub pi: Vec<Vec<f64>>,
    /// `chi_k = sum_a pi_k(a)^2 / mu_k(a) - 1`, `[slot][row]`.
    pub chi: Vec<Vec<f64>>,
    /// Its probability of showing the item anywhere, `[slot][row]`; no slots unless logging is a ranking.
    pub anywhere: Vec<Vec<f64>>,
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.reward.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.reward.is_empty()
    }

    /// Makes room; values are unspecified until they are drawn.
    pub(crate) fn resize(&mut self, rows: usize, slots: usize, targets: usize, ranking: bool) {
        let columns = |columns: &mut Vec<Vec<f64>>, slots: usize| {
            columns.resize(slots, Vec::new());
            columns.iter_mut().for_each(|column| column.resize(rows, 0.0));
        };
        self.reward.resize(rows, 0.0);
        self.context.resize(rows, 0);
        self.items.resize(slots, Vec::new());
        self.items.iter_mut().for_each(|column| column.resize(rows, 0));
        columns(&mut self.mu, slots);
        self.targets.resize(targets, TargetRows::default());
        for target in &mut self.targets {
            columns(&mut target.pi, slots);
            columns(&mut target.chi, slots);
            columns(&mut target.anywhere, if ranking { slots } else { 0 });
        }
    }

    /// Fills a block, which has the columns its specification asks for, with these rows.
    ///
    /// # Panics
    /// If there are more than [`Block::ROWS`] of them, or the block asks for what was not drawn: more targets, `any` of
    /// a log that is no ranking, the size of the pool, or ready-made weights.
    pub fn fill(&self, block: &mut Block) {
        block.reset(self.len(), self.items.len());
        for field in block.fields() {
            let column = match field {
                Field::Reward => &self.reward,
                Field::Logging { slot } => &self.mu[slot],
                Field::Target { policy, slot } => &self.targets[policy].pi[slot],
                Field::Chi { policy, slot } => &self.targets[policy].chi[slot],
                Field::Anywhere { policy, slot } => &self.targets[policy].anywhere[slot],
                _ => panic!("{field} is not simulated"),
            };
            block.column_mut(field).copy_from_slice(column);
        }
    }
}
