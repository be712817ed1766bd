//! Rows that go to two cells, the whole log's and their segment's: they are weighed once.
//! See docs/methods.md, section 3.6.

use crate::math::vector;
use crate::question::field::Field;
use crate::question::structure::Structure;
use crate::rows::block::Block;
use crate::summary::accumulate::Scratch;
use crate::summary::cell::{Cell, PolicySums};
use crate::summary::columns::{PolicyBlock, PolicyColumns};
use crate::summary::index::MomentLayout;

/// Adds the rows of a block that has been checked to two cells. Rows are not looked for patterns.
pub(crate) fn add_to_both(mut cells: [&mut Cell; 2], structure: &Structure, block: &Block, scratch: &mut Scratch) {
    let rows = block.rows();
    scratch.rewards.fill(rows, block.whole_column(Field::Reward));
    let rewards = scratch.rewards.plain.first(rows);
    let range = block.reward_range().or_else(|| vector::range(rewards));
    for (cell, bins) in cells.iter_mut().zip([&mut scratch.bin_rows, &mut scratch.more_bin_rows]) {
        cell.make_room(block.slots());
        cell.assign_bins(rewards, range, bins);
        cell.rows += rows as u64;
    }
    let [one, other] = cells;
    if one.weighs_like(other) {
        scratch.rewards.centre(rows, one.origin);
        sum_both([one, other], structure, block, scratch);
        return;
    }
    for cell in [one, other] {
        scratch.rewards.centre(rows, cell.origin);
        cell.sum(structure, block, scratch);
        std::mem::swap(&mut scratch.bin_rows, &mut scratch.more_bin_rows);
    }
}

/// Adds rows to two cells that weigh them alike, given their bins in either.
fn sum_both(mut cells: [&mut Cell; 2], structure: &Structure, block: &Block, scratch: &mut Scratch) {
    let policies = cells[0].policies.len();
    scratch.divisors.fill(structure, block, policies);
    for policy in 0..policies {
        let rows = PolicyBlock { structure, block, policy };
        let mut sums = PolicySums::emptied(scratch.sums.take(), cells[0].policies[policy].moments.layout);
        sums.weigh(rows, &cells[0].layout.witnesses[policy].layout.list, scratch);
        let Scratch { columns, squares, rewards, bin_rows, more_bin_rows, .. } = &mut *scratch;
        for (cell, bins) in cells.iter_mut().zip([bin_rows, more_bin_rows]) {
            cell.policies[policy].take(&sums, columns);
            cell.scatter(policy, columns, squares, (rewards, bins));
        }
        scratch.sums = Some(sums);
    }
}

impl Cell {
    /// Whether all that is made of a row to be added is the same for another cell of the same log. Where single features are
    /// kept, cells differ in how many groups of clusters they have.
    fn weighs_like(&self, other: &Cell) -> bool {
        self.slots == other.slots && self.origin == other.origin && !self.kept.keeps_features()
    }
}

impl PolicySums {
    /// Sums of no rows, in memory that was used before if it suits. Weights that were counted stay.
    fn emptied(before: Option<Self>, layout: MomentLayout) -> Self {
        match before.filter(|sums| sums.moments.layout == layout) {
            Some(mut sums) => {
                sums.moments.sums.fill(0.0);
                sums.tally.forget_numbers();
                sums
            }
            None => Self::new(layout),
        }
    }

    /// Takes in a block that was weighed.
    fn take(&mut self, of_block: &PolicySums, columns: &PolicyColumns) {
        self.moments.merge(&of_block.moments);
        self.tally.add_numbers(&of_block.tally, 1);
        self.tally.count_weights(columns.rows, &columns.visits);
    }
}
