//! How much memory a summary can take, told before there is one.

use crate::question::binning::Binning;
use crate::question::spec::Spec;
use crate::summary::Summary;
use crate::summary::index::{GroupLayout, Layout, MomentLayout};
use crate::summary::layout::{Kept, RowLayout};

/// Bytes of a number.
const NUMBER: u64 = 8;

impl Summary {
    /// Bytes that a summary of this specification takes at most, for slates of so many slots: all bins are in use, and with
    /// [`by`](Spec::by) there are so many segments, which share bins. While rows are added, there are also
    /// [rows that wait](crate::Accumulator::most_waiting_bytes).
    ///
    /// ```
    /// use slateval::{Spec, Structure, Summary};
    ///
    /// let spec = Spec::new(Structure::Auto, ["new"]);
    /// assert!(Summary::most_bytes(&spec, 5, 0) < 10_000_000);
    /// assert!(Summary::most_bytes(&spec, 500, 0) > 10 * Summary::most_bytes(&spec, 5, 0));
    /// ```
    pub fn most_bytes(spec: &Spec, slots: usize, segments: usize) -> u64 {
        let slots = if spec.structure.needs().slots { slots } else { 0 };
        let whole = cell_numbers(spec, spec.cell_binning(), spec.groups(), slots);
        let segments = if spec.by.is_some() { segments.min(Self::SEGMENTS) } else { 0 };
        let each = match segments {
            0 => 0,
            _ => cell_numbers(spec, spec.segment_binning(segments), spec.segment_groups(), slots),
        };
        NUMBER.saturating_mul(whole.saturating_add(each.saturating_mul(segments as u64)))
    }
}

/// Numbers of a cell with all its bins.
fn cell_numbers(spec: &Spec, binning: Binning, groups: u16, slots: usize) -> u64 {
    let kept = Kept::new(spec, groups);
    let bins = binning.capacity as u64;
    let moments: u64 = (0..kept.policies()).map(|p| MomentLayout { shape: kept.shape(p, slots) }.len() as u64).sum();
    let features = |p: usize| kept.features(p, slots).len() as u64;
    let cross: u64 = kept.compared().map(|(p, b)| features(p).saturating_mul(features(b))).sum();
    let width = RowLayout::new(&kept, slots).width as u64;
    let mut numbers = bins.saturating_mul(width).saturating_add(moments + cross);
    if kept.groups > 0 {
        let layout = GroupLayout { policies: kept.policies(), basis: kept.basis.len() };
        let of_bins = bins.saturating_mul(layout.len() as u64);
        let of_features: u64 = (0..kept.policies()).map(features).sum();
        numbers = numbers.saturating_add((of_bins + of_features).saturating_mul(kept.groups as u64));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::field::Field;
    use crate::question::segment::Segment;
    use crate::question::structure::Structure;
    use crate::rows::block::Block;

    /// Rows with as many different rewards as there are bins, in as many segments as asked for.
    fn filled(spec: &Spec, slots: usize, segments: i64) -> Summary {
        let mut summary = Summary::new(spec.clone()).expect("a specification");
        for block_index in 0..80 {
            let mut block = Block::new(spec);
            block.reset(Block::ROWS, slots);
            for row in 0..Block::ROWS {
                let i = block_index * Block::ROWS + row;
                block.column_mut(Field::Reward)[row] = i as f64;
                for slot in 0..slots {
                    block.column_mut(Field::Logging { slot })[row] = 0.5;
                    for policy in 0..spec.policies.len() {
                        block.column_mut(Field::Target { policy, slot })[row] = 0.25;
                    }
                }
                if spec.by.is_some() {
                    block.set_segment(row, &Segment::Int(i as i64 % segments));
                }
            }
            summary.add(&block).expect("good rows");
        }
        summary
    }

    /// The file holds the same numbers without the gaps between them.
    #[test]
    fn summaries_take_no_more_than_they_are_said_to() {
        for (spec, slots, segments) in [
            (Spec::new(Structure::Auto, ["a"]), 3, 0),
            (Spec::new(Structure::Additive, ["a", "b"]), 8, 0),
            (Spec::new(Structure::Auto, ["a", "b"]).by("x"), 4, 7),
        ] {
            let bytes = filled(&spec, slots, segments).to_bytes().len() as u64;
            let said = Summary::most_bytes(&spec, slots, segments as usize);
            assert!(bytes < said + 100_000 && said < 20 * bytes, "{bytes} of {said}");
        }
    }
}
