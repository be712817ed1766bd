//! How much memory a summary can take, told before there is one.

use crate::spec::binning::Binning;
use crate::spec::specification::Spec;
use crate::sums::Sums;
use crate::sums::index::{GroupLayout, Layout, MomentLayout};
use crate::sums::layout::{Kept, RowLayout};

/// Bytes of a number.
const NUMBER: u64 = 8;

impl Sums {
    /// Bytes that a summary of this specification takes at most, for slates of so many slots: all bins are in use, and with
    /// [`by`](Spec::by) there are so many segments, which share bins. While rows are added, there are also
    /// rows that wait in an accumulator.
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
    let moments: u64 = (0..kept.policies()).map(|p| MomentLayout { shape: kept.shape(p, slots) }.width() as u64).sum();
    let features = |p: usize| kept.features(p, slots).width() as u64;
    let cross: u64 = kept.compared().map(|(p, b)| features(p).saturating_mul(features(b))).sum();
    let width = RowLayout::new(&kept, slots).width as u64;
    let mut numbers = bins.saturating_mul(width).saturating_add(moments + cross);
    if kept.groups > 0 {
        let layout = GroupLayout { policies: kept.policies(), basis: kept.basis.count() };
        let of_bins = bins.saturating_mul(layout.width() as u64);
        let of_features: u64 = (0..kept.policies()).map(features).sum();
        numbers = numbers.saturating_add((of_bins + of_features).saturating_mul(kept.groups as u64));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{self, Row, Target};
    use crate::spec::segment::Segment;
    use crate::spec::structure::Structure;
    use crate::sums::parts::CellParts;

    /// Numbers of rows with as many different rewards as there are bins, in as many segments as asked for.
    fn numbers_of(spec: &Spec, slots: usize, segments: i64) -> u64 {
        let target = Target { propensities: vec![0.25; slots], ..Target::default() };
        let row = |i: i64| Row {
            reward: i as f64,
            logging: vec![0.5; slots],
            targets: vec![target.clone(); spec.policies.len()],
            segment: if spec.by.is_some() { Segment::Int(i % segments) } else { Segment::Null },
            ..Row::default()
        };
        let rows: Vec<Row> = (0..10_240).map(row).collect();
        let parts = reference::sums(spec.clone(), &rows).parts();
        let numbers = |cell: &CellParts| (cell.keys.len() + cell.bins.len() + cell.others.len()) as u64;
        parts.whole.iter().chain(parts.segments.iter().map(|(_, cell)| cell)).map(numbers).sum()
    }

    /// The parts are the same numbers without the gaps between them.
    #[test]
    fn sums_take_no_more_than_they_are_said_to() {
        for (spec, slots, segments) in [
            (Spec::new(Structure::Auto, ["a"]), 3, 0),
            (Spec::new(Structure::Additive, ["a", "b"]), 8, 0),
            (Spec::new(Structure::Auto, ["a", "b"]).by("x"), 4, 7),
        ] {
            let bytes = 8 * numbers_of(&spec, slots, segments);
            let said = Sums::most_bytes(&spec, slots, segments as usize);
            assert!(bytes < said + 100_000 && said < 20 * bytes, "{bytes} of {said}");
        }
    }
}
