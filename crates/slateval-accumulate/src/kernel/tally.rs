//! Extremes and counts of a policy's weights and slots, a block at a time.
//! See docs/methods.md, section 3.3.

use slateval_stats::sums::{Tally, WeightTally};

use crate::kernel::ratios::SlotFacts;
use crate::kernel::weight_visit::{WeightSeen, WeightVisit};

/// Takes in the weights of a block, but for the counts.
pub(crate) fn add_weights(tally: &mut Tally, rows: usize, visits: &[WeightVisit]) {
    if rows > 0 {
        tally.weights.iter_mut().zip(visits).for_each(|(tally, visit)| add_seen(tally, visit.seen));
    }
}

fn add_seen(tally: &mut WeightTally, seen: WeightSeen) {
    tally.min = Some(tally.min.map_or(seen.least, |min| min.min(seen.least)));
    tally.max = Some(tally.max.map_or(seen.most, |max| max.max(seen.most)));
    tally.negative += seen.negative as u64;
    tally.absolute += seen.absolute;
    tally.cubes += seen.cubes;
    tally.fourths += seen.fourths;
}

/// Takes in what was seen of a slot while its ratios were computed.
pub(crate) fn add_slot(tally: &mut Tally, slot: usize, facts: SlotFacts) {
    let (smallest, largest) = facts.propensities;
    tally.smallest[slot] = tally.smallest[slot].min(smallest);
    tally.largest[slot] = tally.largest[slot].max(largest);
    tally.hits[slot] += facts.positive;
    tally.cubes[slot] += facts.cubes;
    tally.fourths[slot] += facts.fourths;
}
