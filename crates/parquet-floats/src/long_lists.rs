//! How many values the lists of a column have, counted before the general reader makes room for them.
//!
//! That reader decodes the lists of a batch of rows as a whole, however long they are. Only levels are looked at here, and only
//! where the footer leaves open whether a batch fits into memory.

use std::ops::Range;

use parquet::column::page::Page;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use crate::bits::Bits;
use crate::chunks::Chunks;
use crate::levels::Levels;
use crate::pages::Pages;
use crate::row_lengths::Lengths;

/// Bytes that the general reader takes for a value of a list, its levels included.
pub(crate) const BYTES_OF_A_VALUE: u64 = 24;

/// Values of a column in one batch at most, as far as the footer tells: every row has one at least.
pub(crate) fn most_values(footer: &ParquetMetaData, column: usize, groups: Range<usize>, batch_rows: usize) -> u64 {
    let most = |group: &RowGroupMetaData| {
        let [values, rows] =
            [group.column(column).num_values(), group.num_rows()].map(|n| u64::try_from(n).unwrap_or(0));
        values.min(values.saturating_sub(rows).saturating_add(batch_rows as u64))
    };
    footer.row_groups()[groups].iter().map(most).fold(0, u64::saturating_add)
}

/// The same, counted. Where a page cannot be read, the general reader will come to the same page.
pub(crate) fn count_values(
    chunks: &Chunks,
    footer: &ParquetMetaData,
    column: usize,
    groups: Range<usize>,
    batch_rows: usize,
) -> u64 {
    let mut batch = Batch { limit: batch_rows, ..Batch::default() };
    for group in &footer.row_groups()[groups] {
        let chunk = group.column(column);
        let mut pages = Pages::default();
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        if pages.open(chunks.clone(), chunk, rows).is_none() {
            break;
        }
        while let Some(Some(page)) = pages.next() {
            batch.add(&page, footer, column);
            pages.recycle(page);
        }
    }
    batch.most.max(batch.values)
}

/// Values of the rows of a batch.
#[derive(Debug, Default)]
struct Batch {
    /// Rows at most.
    limit: usize,
    rows: usize,
    values: u64,
    most: u64,
    bits: Bits,
}

impl Batch {
    fn add(&mut self, page: &Page, footer: &ParquetMetaData, column: usize) {
        if matches!(page, Page::DictionaryPage { .. }) {
            return;
        }
        match self.lengths(page, footer, column) {
            Some(lengths) => lengths.iter().for_each(|length| self.add_row(length as u64)),
            // One list goes on from the page before, or the page has too many values to look at: they may be of one list.
            None => self.values = self.values.saturating_add(u64::from(page.num_values())),
        }
    }

    fn lengths(&mut self, page: &Page, footer: &ParquetMetaData, column: usize) -> Option<Lengths> {
        let count = page.num_values() as usize;
        let (start, end) = Levels::of(page, &footer.file_metadata().schema_descr().column(column))?.repetition?;
        self.bits.read(page.buffer().get(start..end)?, count)?;
        Lengths::of_lists(&self.bits, count)
    }

    fn add_row(&mut self, values: u64) {
        if self.rows == self.limit {
            self.most = self.most.max(self.values);
            (self.rows, self.values) = (0, 0);
        }
        self.rows += 1;
        self.values = self.values.saturating_add(values);
    }
}
