//! Random files of arrow-rs's writer, with random settings.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, LargeListBuilder, ListBuilder, PrimitiveBuilder};
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, Int32Type};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use proptest::prelude::*;
use proptest::sample::select;

/// A file that is to be written.
#[derive(Debug, Clone)]
pub struct Written {
    rows: usize,
    columns: Vec<Column>,
    settings: Settings,
}

/// How a column's values come about.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    kind: Kind,
    shape: Shape,
    /// How many different values there are.
    values: u64,
    /// One value in so many is another than the one before: runs are as long.
    changes: u64,
    /// The row from which some values, and some lists, are null.
    nulls_from: usize,
    seed: u64,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Single,
    Double,
    Whole,
    Text,
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    Flat,
    Required,
    List { least: u64, most: u64 },
    LargeList { least: u64, most: u64 },
    FixedList(i32),
}

#[derive(Debug, Clone, Copy)]
struct Settings {
    second_version: bool,
    packing: Compression,
    dictionary: bool,
    dictionary_bytes: usize,
    page_bytes: usize,
    page_rows: usize,
    write_batch: usize,
    group_rows: usize,
    splits: bool,
    statistics: EnabledStatistics,
}

impl Written {
    pub fn any() -> impl Strategy<Value = Written> {
        let rows = prop_oneof![0..20_usize, 20..400_usize, 400..3000_usize];
        (rows, prop::collection::vec(Column::any(), 1..5), Settings::any())
            .prop_map(|(rows, columns, settings)| Written { rows, columns, settings })
    }

    /// A few files for the corpus.
    pub fn samples() -> Vec<(&'static str, Written)> {
        let column =
            |kind, shape, values, changes, nulls_from| Column { kind, shape, values, changes, nulls_from, seed: 7 };
        let list = |least, most| Shape::List { least, most };
        let columns = vec![
            column(Kind::Single, Shape::Flat, 1 << 40, 1, 1000),
            column(Kind::Double, Shape::Flat, 2, 20, 1000),
            column(Kind::Double, Shape::Required, 40, 1, 1000),
            column(Kind::Single, Shape::Flat, 5, 3, 150),
            column(Kind::Single, list(3, 3), 30, 1, 1000),
            column(Kind::Double, list(1, 5), 1 << 40, 1, 1000),
            column(Kind::Double, list(0, 3), 7, 2, 90),
            column(Kind::Single, Shape::LargeList { least: 2, most: 2 }, 9, 1, 1000),
            column(Kind::Double, Shape::FixedList(3), 9, 1, 1000),
            column(Kind::Text, Shape::Flat, 4, 1, 0),
        ];
        let plain = Settings {
            second_version: false,
            packing: Compression::UNCOMPRESSED,
            dictionary: true,
            dictionary_bytes: 1 << 20,
            page_bytes: 1 << 20,
            page_rows: 20_000,
            write_batch: 1024,
            group_rows: 1 << 20,
            splits: false,
            statistics: EnabledStatistics::Page,
        };
        let small = Settings { page_bytes: 200, page_rows: 30, write_batch: 10, group_rows: 100, ..plain };
        let ways = [
            ("default", plain),
            ("snappy", Settings { packing: Compression::SNAPPY, ..small }),
            ("v2", Settings { second_version: true, packing: Compression::SNAPPY, ..small }),
            ("zstd_v2", Settings { second_version: true, packing: Compression::ZSTD(ZstdLevel::default()), ..plain }),
            ("plain", Settings { dictionary: false, ..small }),
            ("overflow", Settings { dictionary_bytes: 60, ..small }),
            ("split", Settings { dictionary: false, splits: true, packing: Compression::LZ4_RAW, ..plain }),
        ];
        ways.into_iter()
            .map(|(name, settings)| (name, Written { rows: 260, columns: columns.clone(), settings }))
            .collect()
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn bytes(&self) -> Bytes {
        let arrays: Vec<ArrayRef> = self.columns.iter().map(|column| column.array(self.rows)).collect();
        let fields = self.columns.iter().zip(&arrays).enumerate().map(|(i, (column, array))| {
            Field::new(format!("c{i}"), array.data_type().clone(), !matches!(column.shape, Shape::Required))
        });
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), arrays).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(self.properties())).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes.into()
    }

    fn properties(&self) -> WriterProperties {
        let settings = &self.settings;
        let version = if settings.second_version { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_compression(settings.packing)
            .set_dictionary_enabled(settings.dictionary)
            .set_dictionary_page_size_limit(settings.dictionary_bytes)
            .set_data_page_size_limit(settings.page_bytes)
            .set_data_page_row_count_limit(settings.page_rows)
            .set_write_batch_size(settings.write_batch)
            .set_max_row_group_row_count(Some(settings.group_rows))
            .set_statistics_enabled(settings.statistics);
        // Behind a dictionary that overflows, or without one. Only the first column, which may not be text.
        if settings.splits && !matches!(self.columns[0].kind, Kind::Text) {
            return properties.set_column_encoding("c0".into(), Encoding::BYTE_STREAM_SPLIT).build();
        }
        properties.build()
    }
}

impl Column {
    fn any() -> impl Strategy<Value = Column> {
        let kind = prop_oneof![3 => Just(Kind::Single), 3 => Just(Kind::Double), 1 => Just(Kind::Whole), 1 => Just(Kind::Text)];
        let lengths = (0..4_u64, 0..4_u64);
        let shape = prop_oneof![
            3 => Just(Shape::Flat),
            1 => Just(Shape::Required),
            2 => lengths.clone().prop_map(|(least, more)| Shape::List { least, most: least + more }),
            1 => lengths.prop_map(|(least, more)| Shape::LargeList { least, most: least + more }),
            1 => (1..4_i32).prop_map(Shape::FixedList),
        ];
        let values = prop_oneof![select(vec![1, 2, 3, 4, 5, 200, 300]), 1..70_000_u64, Just(1 << 60)];
        let nulls_from = prop_oneof![3 => Just(usize::MAX), 1 => 0..3000_usize, 1 => Just(0)];
        (kind, shape, values, select(vec![1_u64, 2, 10, 100]), nulls_from, any::<u64>()).prop_map(
            |(kind, shape, values, changes, nulls_from, seed)| Column {
                kind,
                shape,
                values,
                changes,
                nulls_from,
                seed,
            },
        )
    }

    fn array(&self, rows: usize) -> ArrayRef {
        match self.kind {
            Kind::Single => self.numbers::<Float32Type>(rows, |bits| f32::from_bits(bits as u32)),
            Kind::Double => {
                self.numbers::<Float64Type>(rows, |bits| f64::from_bits(bits.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            }
            Kind::Whole => self.numbers::<Int32Type>(rows, |bits| bits as i32),
            Kind::Text => {
                let mut numbers = self.stream();
                let text = |row| (!self.is_null(row, numbers())).then(|| format!("{:x}", numbers()));
                Arc::new((0..rows).map(text).collect::<StringArray>())
            }
        }
    }

    fn numbers<T: ArrowPrimitiveType>(&self, rows: usize, number: impl Fn(u64) -> T::Native) -> ArrayRef {
        let mut stream = self.stream();
        let mut one = |row: usize| {
            let is_null = self.is_null(row, stream());
            let value = number(stream());
            (!is_null).then_some(value)
        };
        let length = |row: usize, least: u64, most: u64| least + (row as u64 ^ self.seed) % (most - least + 1);
        let items = || PrimitiveBuilder::<T>::new();
        macro_rules! lists {
            ($builder:expr, $length:expr) => {{
                let mut builder = $builder;
                for row in 0..rows {
                    (0..$length(row)).for_each(|_| builder.values().append_option(one(row)));
                    builder.append(!self.is_null(row, row as u64 * 3));
                }
                Arc::new(builder.finish())
            }};
        }
        match self.shape {
            Shape::Flat | Shape::Required => Arc::new((0..rows).map(one).collect::<PrimitiveArray<T>>()),
            Shape::List { least, most } => lists!(ListBuilder::new(items()), |row| length(row, least, most)),
            Shape::LargeList { least, most } => lists!(LargeListBuilder::new(items()), |row| length(row, least, most)),
            Shape::FixedList(size) => lists!(FixedSizeListBuilder::new(items(), size), |_| size),
        }
    }

    fn is_null(&self, row: usize, random: u64) -> bool {
        row >= self.nulls_from && !matches!(self.shape, Shape::Required) && random.is_multiple_of(5)
    }

    /// Random numbers below `values`, the next one mostly the one before.
    fn stream(&self) -> impl FnMut() -> u64 {
        let (mut state, mut last, column) = (self.seed | 1, 0, *self);
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = state >> 20;
            if random.is_multiple_of(column.changes) {
                last = (random / column.changes) % column.values;
            }
            last
        }
    }
}

impl Settings {
    fn any() -> impl Strategy<Value = Settings> {
        let packings = vec![
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(GzipLevel::default()),
            Compression::BROTLI(BrotliLevel::default()),
            Compression::LZ4,
            Compression::LZ4_RAW,
            Compression::ZSTD(ZstdLevel::default()),
        ];
        let statistics = vec![EnabledStatistics::None, EnabledStatistics::Chunk, EnabledStatistics::Page];
        (
            any::<(bool, bool, bool)>(),
            select(packings),
            select(vec![8_usize, 64, 1000, 1 << 20]),
            select(vec![64_usize, 1000, 1 << 20]),
            select(vec![1_usize, 10, 100, 20_000]),
            select(vec![1_usize, 7, 100, 1024]),
            select(vec![13_usize, 100, 1000, 1 << 20]),
            select(statistics),
        )
            .prop_map(
                |(flags, packing, dictionary_bytes, page_bytes, page_rows, write_batch, group_rows, statistics)| {
                    let (second_version, dictionary, splits) = flags;
                    Settings {
                        second_version,
                        packing,
                        dictionary,
                        dictionary_bytes,
                        page_bytes,
                        page_rows,
                        write_batch,
                        group_rows,
                        splits,
                        statistics,
                    }
                },
            )
    }
}
