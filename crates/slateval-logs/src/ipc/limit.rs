//! How much memory the messages of an Arrow file or stream may take, column by column.

use std::sync::Arc;

use arrow_schema::{DataType, Field, SchemaRef, UnionMode};

use crate::error::Error;
use crate::find::place::Place;
use crate::formats::room::{Excess, Held, Holding, Room};

/// The limit of one reader.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    schema: SchemaRef,
    /// The columns whose buffers are unpacked; all are held as they are in the message.
    read: Vec<usize>,
    held: Arc<Held>,
}

/// The bytes of a buffer in its message, and unpacked if it is packed.
type Size = (u64, u64);

impl Limit {
    pub(crate) fn new(schema: SchemaRef, read: Vec<usize>, room: &Room) -> Self {
        Limit { schema, read, held: room.reader() }
    }

    /// Holds a record batch in place of the one before.
    pub(crate) fn hold_batch(&self, sizes: &[Size], views: impl Iterator<Item = i64>) -> Result<(), Excess> {
        let mut columns = vec![0_u64; self.schema.fields().len().max(1)];
        let owners = self.owners(views);
        // Fields that do not fit the buffers are for the reader to refuse.
        let first = self.read.first().copied().unwrap_or(0);
        for (i, (packed, unpacked)) in sizes.iter().enumerate() {
            let column = owners.get(i).copied().unwrap_or(first);
            let unpacked = if self.read.contains(&column) { *unpacked } else { 0 };
            if let Some(sum) = columns.get_mut(column) {
                *sum = sum.saturating_add(*packed).saturating_add(unpacked);
            }
        }
        let mut columns = columns.into_iter().enumerate();
        columns.try_for_each(|(column, bytes)| self.held.hold(column, Holding::Page, bytes))
    }

    /// Holds a dictionary in place of the one before. Writers number dictionaries in the order of their columns.
    pub(crate) fn hold_dictionary(&self, number: i64, sizes: &[Size]) -> Result<(), Excess> {
        let fields = self.schema.fields().iter().enumerate();
        let owners: Vec<usize> = fields.flat_map(|(i, field)| vec![i; dictionaries(field)]).collect();
        let column = usize::try_from(number).ok().and_then(|number| owners.get(number)).or(self.read.first());
        let bytes = sizes.iter().fold(0_u64, |sum, (packed, unpacked)| sum.saturating_add(packed + unpacked));
        self.held.hold(column.copied().unwrap_or(0), Holding::Dictionary, bytes)
    }

    /// The error of whoever read it, or that it was too large.
    pub(crate) fn error(&self, place: &Place, otherwise: impl FnOnce() -> Error) -> Error {
        let name = |column: usize| self.schema.fields().get(column).map_or(String::new(), |field| field.name().clone());
        self.held.failure(place.path(), name).unwrap_or_else(otherwise)
    }

    /// The column of each buffer.
    fn owners(&self, mut views: impl Iterator<Item = i64>) -> Vec<usize> {
        let fields = self.schema.fields().iter().enumerate();
        fields.flat_map(|(i, field)| vec![i; buffers(field.data_type(), &mut views)]).collect()
    }
}

/// How many dictionaries a field has.
fn dictionaries(field: &Field) -> usize {
    match field.data_type() {
        DataType::Dictionary(_, _) => 1,
        other => children(other).iter().map(|child| dictionaries(child)).sum(),
    }
}

/// How many buffers a field has, as the format lays them out. `views` says how many more those of views have.
fn buffers(data_type: &DataType, views: &mut impl Iterator<Item = i64>) -> usize {
    let own = match data_type {
        DataType::Null | DataType::RunEndEncoded(_, _) => 0,
        DataType::Struct(_) | DataType::FixedSizeList(_, _) | DataType::Union(_, UnionMode::Sparse) => 1,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => 3,
        DataType::ListView(_) | DataType::LargeListView(_) => 3,
        // No message has more than a few thousand buffers.
        DataType::Utf8View | DataType::BinaryView => {
            2 + views.next().and_then(|more| u16::try_from(more).ok()).map_or(0, usize::from)
        }
        _ => 2,
    };
    own + children(data_type).iter().map(|child| buffers(child.data_type(), views)).sum::<usize>()
}

fn children(data_type: &DataType) -> Vec<&Field> {
    match data_type {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => vec![item],
        DataType::Struct(fields) => fields.iter().map(|field| field.as_ref()).collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field.as_ref()).collect(),
        DataType::RunEndEncoded(ends, values) => vec![ends, values],
        _ => Vec::new(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::PathBuf;

    use arrow_schema::Schema;

    use super::*;

    #[test]
    fn buffers_belong_to_the_columns_that_the_format_says() {
        let item = Arc::new(Field::new("item", DataType::Float32, true));
        let key = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let fields = [
            ("text", DataType::Utf8),
            ("lists", DataType::List(item.clone())),
            ("arrays", DataType::FixedSizeList(item, 3)),
            ("views", DataType::Utf8View),
            ("number", DataType::Float64),
            ("key", key),
        ];
        let fields: Vec<Field> = fields.map(|(name, kind)| Field::new(name, kind, true)).into();
        let schema = Arc::new(Schema::new(fields));
        let limit = Limit::new(schema, vec![1, 4], &Room::new(2000, 1));
        assert_eq!(limit.owners([1].into_iter()), [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5]);
        // The text is not read, so that it is never unpacked.
        let mut sizes = vec![(10, 5000), (10, 5000), (10, 5000), (10, 50), (10, 50), (10, 50), (10, 600)];
        limit.hold_batch(&sizes, [1].into_iter()).unwrap();
        sizes[6].1 = 900;
        limit.hold_batch(&sizes, [1].into_iter()).unwrap_err();
        let place = Place::from(PathBuf::from("a.arrow"));
        let error = limit.error(&place, || unreachable!("it was refused")).to_string();
        assert!(error.contains("column `lists`"), "{error}");
    }
}
