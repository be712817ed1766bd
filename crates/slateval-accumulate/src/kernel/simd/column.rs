//! A number for each row of a block.

use crate::kernel::simd::lanes::{LANES, Lanes};

/// Rows of a block. All columns that one policy's rows become, some forty, stay in the processor's nearest two caches
/// while they are worked on; with twice as many rows they collide in the nearest, and a row costs a quarter more.
pub(crate) const ROWS: usize = 128;

/// Groups of [`LANES`] rows.
pub(crate) const GROUPS: usize = ROWS / LANES;

/// A number for each row of a block. Loops run over whole groups of [`LANES`] rows, so that they need no end of their own:
/// whoever fills a column makes the rows that fill up the last group harmless.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Column([Lanes; GROUPS]);

impl Column {
    pub(crate) const ZERO: Column = Column([[0.0; LANES]; GROUPS]);

    #[inline(always)]
    pub(crate) fn groups(&self) -> &[Lanes; GROUPS] {
        &self.0
    }

    #[inline(always)]
    pub(crate) fn groups_mut(&mut self) -> &mut [Lanes; GROUPS] {
        &mut self.0
    }

    /// The numbers of the first rows.
    #[inline(always)]
    pub(crate) fn first(&self, rows: usize) -> &[f64] {
        &self.0.as_flattened()[..rows]
    }

    #[inline(always)]
    pub(crate) fn first_mut(&mut self, rows: usize) -> &mut [f64] {
        &mut self.0.as_flattened_mut()[..rows]
    }

    /// Fills up the last group behind the first rows.
    pub(crate) fn fill_up(&mut self, rows: usize, with: f64) {
        self.0.as_flattened_mut()[rows..groups_of(rows) * LANES].fill(with);
    }

    #[inline(always)]
    pub(crate) fn get(&self, row: usize) -> f64 {
        self.0.as_flattened()[row]
    }
}

/// How many groups hold so many rows. The compiler sees that they are no more than a column has.
#[inline(always)]
pub(crate) fn groups_of(rows: usize) -> usize {
    rows.div_ceil(LANES).min(GROUPS)
}

/// Makes room for some columns.
pub(crate) fn resize(columns: &mut Vec<Column>, count: usize) {
    columns.resize(count, Column::ZERO);
}
