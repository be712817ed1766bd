//! Rows of known patterns, each kept as its reward and a code for each policy.
//! See docs/methods.md, section 3.9.

use std::sync::Arc;

use crate::math::column::{Column, ROWS};
use crate::rows::block::Block;
use crate::rows::patterns::Codes;
use crate::summary::repeats::{KnownPatterns, Recognition};

/// Up to a block of rows.
#[derive(Debug, Clone)]
pub(crate) struct CodedRows {
    known: Arc<KnownPatterns>,
    rows: usize,
    rewards: Box<Column>,
    /// For each policy.
    codes: Vec<Codes>,
}

/// The codes of a block that was recognised.
#[derive(Debug)]
pub(crate) struct BlockCodes {
    known: Arc<KnownPatterns>,
    codes: Vec<Codes>,
}

impl BlockCodes {
    /// Of the block that was recognised last.
    pub(crate) fn new(recognition: &Recognition) -> Option<Self> {
        let known = recognition.known()?.clone();
        Some(BlockCodes { known, codes: recognition.codes().to_vec() })
    }

    pub(crate) fn known(&self) -> &Arc<KnownPatterns> {
        &self.known
    }

    /// Whether these are codes of some patterns: those of others mean something else.
    pub(crate) fn are_of(&self, known: &Arc<KnownPatterns>) -> bool {
        Arc::ptr_eq(&self.known, known)
    }
}

impl CodedRows {
    pub(crate) fn new(like: &BlockCodes) -> Self {
        let codes = vec![[0; ROWS]; like.codes.len()];
        CodedRows { known: like.known.clone(), rows: 0, rewards: Box::new(Column::ZERO), codes }
    }

    /// Numbers that a row takes, for so many policies: its reward, and a byte for each policy.
    pub(crate) fn width(policies: usize) -> usize {
        1 + policies.div_ceil(size_of::<f64>())
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn known(&self) -> &Arc<KnownPatterns> {
        &self.known
    }

    pub(crate) fn rewards(&self) -> &Column {
        &self.rewards
    }

    pub(crate) fn codes(&self) -> &[Codes] {
        &self.codes
    }

    /// Takes in a row.
    ///
    /// # Panics
    /// If there are [`Block::ROWS`] rows already.
    #[inline(always)]
    pub(crate) fn push(&mut self, codes: &BlockCodes, rewards: &Column, row: usize) {
        self.rewards.first_mut(ROWS)[self.rows] = rewards.get(row);
        for (to, from) in self.codes.iter_mut().zip(&codes.codes) {
            to[self.rows] = from[row];
        }
        self.rows += 1;
    }

    /// The block that these rows are.
    pub(crate) fn block(&self) -> Block {
        self.known.patterns.rows(self.rewards.first(self.rows), &self.codes)
    }

    /// Forgets the rows.
    pub(crate) fn clear(&mut self) {
        self.rows = 0;
    }
}
