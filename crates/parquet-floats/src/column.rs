//! Columns of floats of a Parquet file, page by page, in the cases that nearly all logs are: values or lists of them, none
//! of them null and no list empty, stored plainly or with a dictionary.
//!
//! The levels of such pages need only be compared, which for lists takes a small part of the time that the general
//! reader needs. Whatever else a page has, `None` says so, and the general reader goes on.

use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{Encoding, Type};
use parquet::column::page::Page;
use parquet::file::metadata::ParquetMetaData;

use crate::Use;
use crate::bits::Bits;
use crate::chunks::Chunks;
use crate::levels::Levels;
use crate::memory::Account;
use crate::numbers::Numbers;
use crate::pages::Pages;
use crate::row_lengths::Lengths;

/// A float as Parquet stores it.
pub(crate) trait Float: Copy + Default {
    const STORED: Type;

    /// Appends the values in these bytes.
    fn extend(out: &mut Vec<Self>, bytes: &[u8]);
}

impl Float for f32 {
    const STORED: Type = Type::FLOAT;

    fn extend(out: &mut Vec<Self>, bytes: &[u8]) {
        out.extend(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
    }
}

impl Float for f64 {
    const STORED: Type = Type::DOUBLE;

    fn extend(out: &mut Vec<Self>, bytes: &[u8]) {
        out.extend(bytes.chunks_exact(8).map(|b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]])));
    }
}

/// A column of some row groups.
pub(crate) struct Floats<T> {
    chunks: Chunks,
    account: Arc<Account>,
    footer: Arc<ParquetMetaData>,
    column: usize,
    /// The row groups to come.
    groups: Range<usize>,
    pages: Pages,
    group: Group,
    dictionary: Vec<T>,
    page: Option<OpenPage>,
    has_lists: bool,
    /// Numbers of one bit: levels of a page's lists, then the values of a page with a dictionary of two entries.
    bits: Bits,
}

/// What pages of a row group that were not opened yet have to hold, as its footer says.
#[derive(Default)]
struct Group {
    rows: usize,
    values: usize,
}

/// A page, and what is left of it.
struct OpenPage {
    page: Page,
    /// Of all its rows.
    lengths: Lengths,
    /// Rows that were read.
    done: usize,
    values: Values,
}

enum Values {
    /// They begin at this byte.
    Plain(usize),
    Dictionary(Box<Numbers>),
    /// The page uses the first two entries of the dictionary at most; the column's bits say which.
    Two,
}

impl<T: Float> Floats<T> {
    /// Reads a leaf column; `None` if its levels are not those of a value or a list of values.
    pub(crate) fn new(
        chunks: Chunks,
        account: Arc<Account>,
        footer: Arc<ParquetMetaData>,
        column: usize,
        groups: Range<usize>,
    ) -> Option<Self> {
        let kind = footer.file_metadata().schema_descr().column(column);
        let flat = kind.max_rep_level() == 0 && kind.max_def_level() <= 1;
        let list = kind.max_rep_level() == 1 && kind.max_def_level() <= 3;
        if kind.physical_type() != T::STORED || !(flat || list) {
            return None;
        }
        Some(Floats {
            chunks,
            account,
            footer,
            column,
            groups,
            pages: Pages::default(),
            group: Group::default(),
            dictionary: Vec::new(),
            page: None,
            has_lists: list,
            bits: Bits::default(),
        })
    }

    /// The values of the next `rows` rows, and how many each row has.
    pub(crate) fn read(&mut self, rows: usize) -> Option<(Vec<T>, Lengths)> {
        let (mut values, mut lengths) = (Vec::with_capacity(rows), Lengths::default());
        while lengths.rows() < rows {
            match &mut self.page {
                Some(page) if page.rows_left() > 0 => {
                    let count = page.rows_left().min(rows - lengths.rows());
                    let wanted = lengths.append(&page.lengths, page.done, count);
                    // Room may be made for twice as many when it has to grow.
                    let bytes = 2 * (values.len() + wanted) * size_of::<T>();
                    self.account.hold(self.column, Use::Values, bytes as u64).ok()?;
                    values.reserve(wanted);
                    page.read(wanted, &self.dictionary, &mut self.bits, &mut values)?;
                    page.done += count;
                }
                _ => self.next_page()?,
            }
        }
        self.end_lists()?;
        Some((values, lengths))
    }

    /// Opens the next page if the last list may go on there: such a page is not known.
    fn end_lists(&mut self) -> Option<()> {
        let is_used_up = self.page.as_ref().is_none_or(|page| page.rows_left() == 0);
        if self.has_lists && is_used_up && self.group.values > 0 { self.next_page() } else { Some(()) }
    }

    fn next_page(&mut self) -> Option<()> {
        if let Some(done) = self.page.take() {
            self.pages.recycle(done.page);
        }
        loop {
            if self.group.values == 0 {
                self.next_group()?;
                continue;
            }
            // Fewer values than there should be would put the column out of step with the others.
            match self.pages.next()?? {
                page @ Page::DictionaryPage { .. } => self.take_dictionary(page)?,
                page => {
                    self.page = Some(self.open(page)?);
                    return Some(());
                }
            }
        }
    }

    fn take_dictionary(&mut self, page: Page) -> Option<()> {
        if !matches!(page.encoding(), Encoding::PLAIN | Encoding::PLAIN_DICTIONARY) {
            return None;
        }
        self.dictionary.clear();
        T::extend(&mut self.dictionary, page.buffer());
        let is_whole = self.dictionary.len() == page.num_values() as usize;
        self.pages.recycle(page);
        is_whole.then_some(())
    }

    fn next_group(&mut self) -> Option<()> {
        let group = self.footer.row_group(self.groups.next()?);
        let rows = usize::try_from(group.num_rows()).ok()?;
        let chunk = group.column(self.column);
        let values = usize::try_from(chunk.num_values()).ok()?;
        self.group = Group { rows, values };
        // Each group has its own.
        self.dictionary.clear();
        self.pages.open(self.chunks.clone(), chunk, rows)
    }

    /// Checks a page's levels, and finds its values.
    fn open(&mut self, page: Page) -> Option<OpenPage> {
        let kind = self.footer.file_metadata().schema_descr().column(self.column);
        let bytes = page.buffer();
        let count = page.num_values() as usize;
        let levels = Levels::of(&page, &kind)?;
        let lengths = match levels.repetition {
            None => Lengths::equal(count, 1),
            Some((start, end)) => {
                self.bits.read(bytes.get(start..end)?, count)?;
                Lengths::of_lists(&self.bits, count)?
            }
        };
        self.group.take(lengths.rows(), count)?;
        if let Some((start, end)) = levels.definition {
            let most = u32::try_from(kind.max_def_level()).ok()?;
            let bits = (u32::BITS - most.leading_zeros()) as usize;
            if !Numbers::new(start, end, bits)?.are_all(bytes, most, count)? {
                return None;
            }
        }
        let values = self.values(&page, levels.end, count)?;
        Some(OpenPage { page, lengths, done: 0, values })
    }

    /// The values of a page, `count` of them, which begin at a byte.
    fn values(&mut self, page: &Page, at: usize, count: usize) -> Option<Values> {
        match page.encoding() {
            Encoding::PLAIN => {
                // Writers give a dictionary up when it has become too large, and hardly ever come back to it.
                self.dictionary = Vec::new();
                Some(Values::Plain(at))
            }
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                let bytes = page.buffer();
                let (&bits, places) = bytes.get(at..)?.split_first()?;
                if bits == 1 && self.dictionary.len() > 1 && self.bits.read(places, count).is_some() {
                    return Some(Values::Two);
                }
                Numbers::new(at + 1, bytes.len(), usize::from(bits)).map(|places| Values::Dictionary(Box::new(places)))
            }
            _ => None,
        }
    }
}

impl Group {
    /// Takes the rows and values of a page away. `None` if there should be fewer, or if rows are left without a value.
    fn take(&mut self, rows: usize, values: usize) -> Option<()> {
        self.rows = self.rows.checked_sub(rows)?;
        self.values = self.values.checked_sub(values)?;
        (self.values > 0 || self.rows == 0).then_some(())
    }
}

impl OpenPage {
    fn rows_left(&self) -> usize {
        self.lengths.rows() - self.done
    }

    /// Appends the next `count` values, which must not be more than are left.
    fn read<T: Float>(&mut self, count: usize, dictionary: &[T], bits: &mut Bits, out: &mut Vec<T>) -> Option<()> {
        let bytes = self.page.buffer();
        match &mut self.values {
            Values::Plain(at) => {
                let end = *at + count * size_of::<T>();
                T::extend(out, bytes.get(*at..end)?);
                *at = end;
            }
            Values::Dictionary(packed) => packed.look_up(bytes, dictionary, count, out)?,
            Values::Two => bits.choose(*dictionary.first_chunk()?, count, out)?,
        }
        Some(())
    }
}
