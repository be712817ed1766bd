//! Sums as plain numbers, for a file format, and sums made of such numbers again.
//! See docs/methods.md, section 3.7.

use crate::spec::binning::Binning;
use crate::spec::error::{Error, Result};
use crate::spec::segment::Segment;
use crate::spec::specification::Spec;
use crate::sums::Sums;
use crate::sums::bins::{Bins, Resolution};
use crate::sums::cell::Cell;
use crate::sums::check::{Fault, Section, Sound, all_finite, segments_add_up};
use crate::sums::index::Shared;
use crate::sums::tally::Tally;

/// Numbers in the bins of one segment: 2 GB.
const MOST_NUMBERS: usize = 1 << 28;

/// All numbers of some [`Sums`].
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// What is summed.
    pub spec: Spec,
    /// All rows; none before the first.
    pub whole: Option<CellParts>,
    /// The rows of each segment, ascending.
    pub segments: Vec<(Segment, CellParts)>,
}

/// The numbers of a whole log, or of one of its segments.
#[derive(Debug, Clone, PartialEq)]
pub struct CellParts {
    /// How many rows.
    pub rows: u64,
    /// Slots of the longest slate.
    pub slots: usize,
    /// How finely rewards are told apart.
    pub resolution: Resolution,
    /// What rewards are measured from in the sums that are not of bins.
    pub origin: f64,
    /// The smallest and the largest reward.
    pub range: (f64, f64),
    /// The keys of the bins that have rows, ascending.
    pub keys: Vec<i64>,
    /// For each of these bins, its sums.
    pub bins: Vec<f64>,
    /// All other sums.
    pub others: Vec<f64>,
}

/// Whether numbers are those of a whole log or of one of its segments, which have fewer groups of clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// The whole log.
    Whole,
    /// One of so many segments.
    Segment(usize),
}

/// How many numbers a cell has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellSize {
    /// In each bin.
    pub bin: usize,
    /// Beside those in bins.
    pub others: usize,
}

impl CellKind {
    fn empty(self, spec: &Spec, slots: usize) -> Cell {
        match self {
            CellKind::Whole => Cell::of_log(spec, slots),
            CellKind::Segment(count) => Cell::of_segment(spec, count, slots),
        }
    }

    fn binning(self, spec: &Spec) -> Binning {
        match self {
            CellKind::Whole => spec.cell_binning(),
            CellKind::Segment(count) => spec.segment_binning(count),
        }
    }

    /// How many numbers such a cell has, given its slots and the number of its bins.
    pub fn size(self, spec: &Spec, slots: usize, bins: usize) -> CellSize {
        size(&self.empty(spec, slots), bins)
    }
}

fn size(cell: &Cell, bins: usize) -> CellSize {
    let moments: usize = cell.policies.iter().map(|policy| policy.moments.sums.len()).sum();
    let tallies = cell.policies.len() * Tally::numbers(cell.slots, cell.kept.basis.count());
    let cross: usize = cell.cross.iter().map(|cross| cross.sums.len()).sum();
    let clusters = cell.clusters.as_ref().map_or(0, |groups| {
        groups.features.iter().map(Vec::len).sum::<usize>() + bins.saturating_mul(groups.table.width)
    });
    CellSize { bin: cell.layout.places().len(), others: moments + tallies + cross + clusters }
}

impl Sums {
    /// All numbers.
    pub fn parts(&self) -> Parts {
        let segment = |(name, cell): (&Segment, &Cell)| (name.clone(), CellParts::of(cell));
        Parts {
            spec: self.spec.clone(),
            whole: self.whole.as_ref().map(CellParts::of),
            segments: self.segments.iter().map(segment).collect(),
        }
    }

    /// The sums that have these numbers.
    ///
    /// # Errors
    /// [`Error::Format`] if no log has them: every part is checked.
    pub fn from_parts(parts: Parts) -> Result<Sums> {
        let mut sums = Sums::new(parts.spec)?;
        let spec = &sums.spec;
        if let Some(whole) = parts.whole {
            sums.whole = Some(whole.into_cell(spec, CellKind::Whole).map_err(|fault| refused(&fault, spec, None))?);
        }
        let kind = CellKind::Segment(parts.segments.len());
        for (name, cell) in parts.segments {
            let cell = cell.into_cell(spec, kind).map_err(|fault| refused(&fault, spec, Some(&name)))?;
            if sums.segments.insert(name, cell).is_some() {
                return Err(Error::Format("a segment is in it twice".into()));
            }
        }
        if let Some(whole) = &sums.whole {
            let segments: Vec<&Cell> = sums.segments.values().collect();
            segments_add_up(whole, &segments).map_err(|fault| refused(&fault, spec, None))?;
        }
        Ok(sums)
    }
}

fn refused(fault: &Fault, spec: &Spec, segment: Option<&Segment>) -> Error {
    Error::Format(fault.in_words(spec, segment))
}

impl CellParts {
    fn of(cell: &Cell) -> Self {
        let has_rows = |&(_, row): &(i64, u32)| cell.table.row(row)[Shared::Rows.place()] > 0.0;
        let occupied: Vec<(i64, u32)> = cell.bins.ascending().into_iter().filter(has_rows).collect();
        let places = cell.layout.places();
        let sums_of = |&(_, row): &(i64, u32)| {
            let sums = cell.table.row(row);
            places.iter().map(|&place| sums[place])
        };
        let mut others = Vec::new();
        for policy in &cell.policies {
            others.extend(&policy.moments.sums);
            others.extend(policy.tally.to_numbers());
        }
        others.extend(cell.cross.iter().flat_map(|cross| &cross.sums));
        if let Some(groups) = &cell.clusters {
            others.extend(groups.features.iter().flatten());
            others.extend(occupied.iter().flat_map(|&(_, row)| groups.table.row(row)));
        }
        CellParts {
            rows: cell.rows,
            slots: cell.slots,
            resolution: cell.bins.resolution(),
            origin: cell.origin,
            range: cell.bins.range().unwrap_or((0.0, 0.0)),
            keys: occupied.iter().map(|&(key, _)| key).collect(),
            bins: occupied.iter().flat_map(sums_of).collect(),
            others,
        }
    }

    fn into_cell(self, spec: &Spec, kind: CellKind) -> std::result::Result<Cell, Fault> {
        let mut cell = kind.empty(spec, self.slots);
        let places = cell.layout.places();
        let size = size(&cell, self.keys.len());
        if self.bins.len() != places.len() * self.keys.len() || self.others.len() != size.others {
            return Err(Fault::new(Section::Bins, "there are not as many numbers as its shape has"));
        }
        all_finite(Section::Bins, &self.bins)?;
        self.check_bins(kind.binning(spec), places.len())?;
        // The middle of rewards, rounded to a whole number.
        let largest = self.range.0.abs().max(self.range.1.abs());
        if !self.origin.is_finite() || self.origin.abs() > largest + 0.5 {
            return Err(Fault::new(Section::Rewards, "their origin lies outside of them"));
        }
        (cell.rows, cell.origin) = (self.rows, self.origin);
        let (bins, rows) = Bins::restore(kind.binning(spec), self.resolution, Some(self.range), &self.keys);
        if !bins.suit_range() {
            return Err(Fault::new(Section::Bins, "they are not as wide as their rewards need"));
        }
        cell.bins = bins;
        if cell.bins.table_rows().saturating_mul(cell.table.width) > MOST_NUMBERS {
            return Err(Fault::new(Section::Bins, "they would not fit into memory"));
        }
        cell.table.resize(cell.bins.table_rows());
        for (&row, sums) in rows.iter().zip(self.bins.chunks_exact(places.len())) {
            let to = cell.table.row_mut(row);
            places.iter().zip(sums).for_each(|(&place, &sum)| to[place] = sum);
        }
        self.fill_others(&mut cell, &rows)?;
        cell.check()?;
        Ok(cell)
    }

    fn fill_others(&self, cell: &mut Cell, rows: &[u32]) -> Sound {
        let mut rest = self.others.as_slice();
        let mut take = |count: usize| rest.split_off(..count).unwrap_or_default();
        let basis = cell.kept.basis.count();
        for (p, policy) in cell.policies.iter_mut().enumerate() {
            fill(Section::Moments, &mut policy.moments.sums, &mut take)?;
            let numbers = take(Tally::numbers(self.slots, basis));
            policy.tally = Tally::from_numbers(self.slots, numbers).map_err(|fault| fault.of_policy(p))?;
        }
        for cross in &mut cell.cross {
            fill(Section::Baseline, &mut cross.sums, &mut take)?;
        }
        if let Some(groups) = &mut cell.clusters {
            for features in &mut groups.features {
                fill(Section::Clusters, features, &mut take)?;
            }
            groups.table.resize(cell.bins.table_rows());
            for &row in rows {
                fill(Section::Clusters, groups.table.row_mut(row), &mut take)?;
            }
        }
        Ok(())
    }

    /// Refuses bins that no log can have filled.
    fn check_bins(&self, binning: Binning, width: usize) -> Sound {
        let fits = self.resolution.fits(binning, &self.keys);
        let ascending = self.keys.is_sorted_by(|a, b| a < b);
        // What is shared comes first in a bin.
        let rows: f64 = self.bins.chunks_exact(width).map(|sums| sums[Shared::Rows.place()]).sum();
        let ordered = |(key, sums): (&i64, &[f64])| {
            let (min, max) = (sums[Shared::Least.place()], -sums[Shared::MinusMost.place()]);
            self.resolution.has(*key, (min, max))
                && sums[Shared::Rows.place()] >= 1.0
                && self.range.0 <= min
                && min <= max
                && max <= self.range.1
        };
        let finite = self.range.0.is_finite() && self.range.1.is_finite();
        let whole = !self.keys.is_empty() && rows == self.rows as f64 && finite;
        if fits && ascending && whole && self.keys.iter().zip(self.bins.chunks_exact(width)).all(ordered) {
            Ok(())
        } else {
            Err(Fault::new(Section::Bins, "their keys, rows and rewards do not fit each other"))
        }
    }
}

/// Fills some sums with the numbers that come next, all of which are finite.
fn fill<'a>(section: Section, sums: &mut [f64], take: &mut impl FnMut(usize) -> &'a [f64]) -> Sound {
    let numbers = take(sums.len());
    all_finite(section, numbers)?;
    sums.copy_from_slice(numbers);
    Ok(())
}
