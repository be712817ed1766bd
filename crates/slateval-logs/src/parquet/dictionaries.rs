//! Labels that a Parquet file stores as a dictionary and places in it are read as that: a label is then looked at once for
//! all its rows.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType, Fields, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::ConvertedType;

/// Bytes in the file of a dictionary at most. Readers run through the dictionary once a batch, which pays where it is much
/// smaller than the batch. Large dictionaries also end in pages without, which cost more as dictionaries than as text.
const LARGEST: i64 = 16 << 10;

/// Has the reader hand out the dictionaries of those columns that have one in all these row groups. Where the reader cannot,
/// columns keep their type.
pub(crate) fn with_dictionaries(
    footer: ArrowReaderMetadata,
    columns: &[usize],
    groups: Range<usize>,
) -> ArrowReaderMetadata {
    let suitable: Vec<usize> =
        columns.iter().copied().filter(|&column| is_suitable(&footer, column, groups.clone())).collect();
    if suitable.is_empty() {
        return footer;
    }
    let schema = footer.schema();
    let fields = schema.fields().iter().enumerate().map(|(column, field)| {
        if !suitable.contains(&column) {
            return field.clone();
        }
        let data_type = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    });
    let schema = Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(footer.metadata().clone(), options).unwrap_or(footer)
}

/// Whether a column is text and has a small dictionary in each of these row groups.
fn is_suitable(footer: &ArrowReaderMetadata, column: usize, groups: Range<usize>) -> bool {
    let is_text =
        matches!(footer.schema().field(column).data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let kinds = footer.parquet_schema();
    let leaf = (0..kinds.num_columns()).find(|&leaf| kinds.get_column_root_idx(leaf) == column);
    let Some(leaf) = leaf.filter(|_| is_text) else { return false };
    // The reader takes dictionaries of text that is called anything else, such as JSON, for bytes.
    if kinds.column(leaf).converted_type() != ConvertedType::UTF8 {
        return false;
    }
    footer.metadata().row_groups()[groups].iter().all(|group| {
        let chunk = group.column(leaf);
        let size = chunk.dictionary_page_offset().and_then(|start| chunk.data_page_offset().checked_sub(start));
        size.is_some_and(|size| (1..=LARGEST).contains(&size))
    })
}
