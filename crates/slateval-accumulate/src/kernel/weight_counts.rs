//! Counts weights in the bins of their histogram, a block at a time.
//! See docs/methods.md, section 3.3.

use slateval_stats::sums::{WeightCounts, WeightTally};

use crate::kernel::simd::column::{Column, ROWS, groups_of};
use crate::kernel::simd::lanes::LANES;
use crate::kernel::weight_visit::WeightVisit;

/// Counts the rows of some weights, whose bins were found, each into its own counts.
pub(crate) fn count(rows: usize, visits: &[WeightVisit], tallies: &mut [WeightTally]) {
    for (visits, tallies) in visits.chunks(AT_ONCE).zip(tallies.chunks_mut(AT_ONCE)) {
        match (visits, tallies) {
            ([a], [t]) => count_bins(rows, [a], [t]),
            ([a, b], [t, u]) => count_bins(rows, [a, b], [t, u]),
            ([a, b, c], [t, u, v]) => count_bins(rows, [a, b, c], [t, u, v]),
            ([a, b, c, d], [t, u, v, w]) => count_bins(rows, [a, b, c, d], [t, u, v, w]),
            _ => unreachable!("{AT_ONCE} at once, and as many of either"),
        }
    }
}

/// Weights that are counted in one loop.
const AT_ONCE: usize = 4;

/// Rows next to each other often weigh the same, and to count one up has to wait until the last was stored. So there are
/// several tables, taken in turns, and all weights of a row are counted before those of the next.
fn count_bins<const WEIGHTS: usize>(
    rows: usize,
    visits: [&WeightVisit; WEIGHTS],
    tallies: [&mut WeightTally; WEIGHTS],
) {
    let mut tables = tallies.map(|tally| tally.counts.tables_mut());
    let rows = rows.min(ROWS);
    for row in 0..rows {
        for (table, visit) in tables.iter_mut().zip(visits) {
            table[row % WeightCounts::TABLES][usize::from(visit.bins[row])] += 1;
        }
    }
}

/// The bins of some weights.
#[inline(always)]
pub(crate) fn find_bins(rows: usize, weights: &Column, bins: &mut [u8; ROWS]) {
    for (to, &g) in bins.iter_mut().zip(weights.first(groups_of(rows) * LANES)) {
        *to = WeightCounts::bin(g);
    }
}
