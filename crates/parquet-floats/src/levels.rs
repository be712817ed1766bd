//! The levels of a Parquet page, which tell where lists begin and which values are null.

use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::schema::types::ColumnDescriptor;

/// Where in a page's bytes its levels are, and where they end.
pub(crate) struct Levels {
    pub(crate) repetition: Option<(usize, usize)>,
    pub(crate) definition: Option<(usize, usize)>,
    pub(crate) end: usize,
}

impl Levels {
    pub(crate) fn of(page: &Page, kind: &ColumnDescriptor) -> Option<Self> {
        let (repeated, optional) = (kind.max_rep_level() > 0, kind.max_def_level() > 0);
        let (repetition, definition) = match page {
            Page::DataPageV2 { rep_levels_byte_len, def_levels_byte_len, .. } => {
                let middle = *rep_levels_byte_len as usize;
                ((0, middle), (middle, middle + *def_levels_byte_len as usize))
            }
            Page::DataPage { buf, def_level_encoding, rep_level_encoding, .. } => {
                let old = |used, encoding: &Encoding| used && *encoding != Encoding::RLE;
                if old(repeated, rep_level_encoding) || old(optional, def_level_encoding) {
                    return None;
                }
                let repetition = if repeated { counted(buf, 0)? } else { (0, 0) };
                (repetition, if optional { counted(buf, repetition.1)? } else { (repetition.1, repetition.1) })
            }
            Page::DictionaryPage { .. } => return None,
        };
        (definition.1 <= page.buffer().len()).then_some(Levels {
            repetition: repeated.then_some(repetition),
            definition: optional.then_some(definition),
            end: definition.1,
        })
    }
}

/// The bytes behind their number, which stands at `at`.
fn counted(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let length: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    Some((at + 4, at + 4 + u32::from_le_bytes(length) as usize))
}
