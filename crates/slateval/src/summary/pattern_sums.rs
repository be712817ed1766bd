//! What one row of each pattern adds to the sums of a cell.
//! See docs/methods.md, section 3.9.

use std::ops::Range;

use crate::question::field::Field;
use crate::rows::patterns::{MOST_PATTERNS, Patterns};
use crate::summary::accumulate::Scratch;
use crate::summary::cell::{Cell, PolicySums};
use crate::summary::columns::PolicyBlock;
use crate::summary::index::Layout;
use crate::summary::layout::RowLayout;
use crate::summary::table::Table;

/// What the patterns of each policy add.
#[derive(Debug)]
pub(crate) struct PatternSums {
    /// To a row's bin: a row for each pattern, in which each policy has places of its own.
    pub(crate) in_bin: Table,
    pub(crate) policies: Vec<PolicyPatterns>,
}

#[derive(Debug)]
pub(crate) struct PolicyPatterns {
    /// Where in a bin the policy's sums stand.
    pub(crate) places: Vec<Range<usize>>,
    /// What each pattern adds to the sums over all rows, for a reward of 1.
    pub(crate) over_all: Vec<PolicySums>,
    /// For each pattern, where its weights are counted.
    pub(crate) counted: Vec<Vec<usize>>,
    /// The power of the reward that each moment is of.
    pub(crate) powers: Vec<usize>,
}

impl PatternSums {
    /// For cells like this one.
    pub(crate) fn new(cell: &Cell, patterns: &Patterns) -> Self {
        let (mut one, mut scratch) = (cell.empty_like(), Scratch::default());
        one.table.resize(MOST_PATTERNS);
        let mut of_policy = |policy| {
            let of_pattern = |pattern| one.add_one(patterns, policy, pattern, &mut scratch);
            let over_all: Vec<PolicySums> = (0..patterns.count(policy)).map(of_pattern).collect();
            let counted = over_all.iter().map(|one| one.tally.places()).collect();
            let powers = cell.policies[policy].moments.layout.keys().iter().map(|key| key.power()).collect();
            PolicyPatterns { places: places_of(&cell.layout, policy), over_all, counted, powers }
        };
        let policies = (0..cell.policies.len()).map(&mut of_policy).collect();
        PatternSums { in_bin: one.table, policies }
    }
}

impl Cell {
    /// Adds one row of a policy's pattern to the bin of that number. Returns what it adds to the sums over all rows.
    fn add_one(&mut self, patterns: &Patterns, policy: usize, pattern: usize, scratch: &mut Scratch) -> PolicySums {
        let (block, structure) = (patterns.one_row(policy, pattern), self.kept.structure().clone());
        scratch.rewards.fill(1, block.whole_column(Field::Reward));
        scratch.rewards.centre(1, 0.0);
        scratch.divisors.fill(&structure, &block, self.policies.len());
        let layout = self.policies[policy].moments.layout;
        let mut sums = PolicySums::new(layout);
        let rows = PolicyBlock { structure: &structure, block: &block, policy };
        sums.add(rows, &self.layout.witnesses[policy].layout.list, scratch);
        let Scratch { columns, squares, rewards, .. } = scratch;
        self.scatter(policy, columns, squares, (rewards, &[pattern as u32]));
        sums
    }
}

/// Where in a bin one policy's sums stand.
fn places_of(layout: &RowLayout, policy: usize) -> Vec<Range<usize>> {
    let (own, witnesses, pairs) = (&layout.own[policy], &layout.witnesses[policy], layout.pairs.get(policy));
    let all = [
        own.start..own.start + own.layout.len(),
        witnesses.start..witnesses.start + witnesses.layout.len(),
        pairs.map_or(0..0, |pairs| pairs.start..pairs.start + pairs.layout.len()),
    ];
    all.into_iter().filter(|places| !places.is_empty()).collect()
}
