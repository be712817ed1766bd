"""Writes the small Parquet files beside it, by several writers with various settings.

    python3 -m venv .venv && .venv/bin/pip install duckdb fastparquet numpy pandas polars pyarrow
    .venv/bin/python crates/parquet-floats/tests/corpus/make.py

The files were made by the versions in `python/requirements-test.txt`. Those of arrow-rs are written by
`cargo test -p parquet-floats --test oracle -- --ignored write_arrow_rs`.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import fastparquet
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent
ROWS = 260


def lists(kind: pa.DataType, values: np.ndarray, lengths: np.ndarray) -> pa.Array:
    """Lists of some lengths, which take the values as they come."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return pa.array([values[a:b] for a, b in pairwise(offsets)], kind)


def flat(random: np.random.Generator) -> dict[str, pa.Array]:
    """Columns without lists."""
    rows = np.arange(ROWS)
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7e308, 1.0])
    return {
        "distinct32": pa.array(random.normal(size=ROWS).astype("float32")),
        "distinct64": pa.array(random.normal(size=ROWS)),
        "few32": pa.array(random.choice(np.array([0.5, 0.25, 0.125, 3, 7], "float32"), ROWS)),
        "two64": pa.array(np.where(random.random(ROWS) < 0.05, 0.2, 0.8)),
        "one32": pa.array(np.full(ROWS, 0.25, "float32")),
        # Few values first, so that dictionaries with a limit are given up in the middle.
        "mixed64": pa.array(np.where(rows < ROWS // 2, rows % 3, random.normal(size=ROWS))),
        "special64": pa.array(random.choice(special, ROWS)),
        "nulls32": pa.array(random.normal(size=ROWS).astype("float32"), mask=rows % 7 == 3),
        "late_nulls64": pa.array(random.choice([0.1, 0.2, 0.3], ROWS), mask=(rows > 200) & (rows % 2 == 0)),
        "all_null64": pa.nulls(ROWS, pa.float64()),
        "whole": pa.array(random.integers(-5, 5, ROWS).astype("int32")),
        "label": pa.array(random.choice(["de", "fr", "", "a longer one"], ROWS), mask=rows % 11 == 0),
    }


def nested(random: np.random.Generator) -> dict[str, pa.Array]:
    """Columns of lists."""
    single, double = pa.list_(pa.float32()), pa.list_(pa.float64())
    values, ragged = random.choice(np.arange(40) / 64, 5 * ROWS), random.integers(1, 5, ROWS)
    with_empty = lists(double, values, random.integers(0, 4, ROWS)).to_pylist()
    odd = [None if row % 13 == 0 else items + [None] * (row % 5 == 0) for row, items in enumerate(with_empty)]
    return {
        "lists_of_3": lists(single, random.normal(size=3 * ROWS).astype("float32"), np.full(ROWS, 3)),
        "lists_of_1": lists(double, values, np.full(ROWS, 1)),
        "ragged": lists(double, values, ragged),
        "with_empty": pa.array(with_empty, double),
        "odd": pa.array(odd, double),
    }


def write_pyarrow(flat: pa.Table, both: pa.Table) -> None:
    packings = ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]
    small: dict[str, Any] = {"data_page_size": 300, "write_batch_size": 10}
    for packing in packings:
        pq.write_table(both, HERE / f"pyarrow_{packing}.parquet", compression=packing, data_page_version="1.0")
    ways: dict[str, dict[str, Any]] = {
        "v2": {"data_page_version": "2.0", "compression": "snappy", **small},
        "v2_plain": {"data_page_version": "2.0", "compression": "none", "use_dictionary": False},
        "plain_pages": {"use_dictionary": False, "compression": "snappy", "write_page_checksum": True, **small},
        "groups": {"row_group_size": 37, "compression": "zstd", "use_dictionary": ["few32", "two64", "odd"]},
        "overflow": {"dictionary_pagesize_limit": 100, "compression": "none", **small},
        "index": {"write_page_index": True, "store_schema": False, "compression": "snappy", **small},
    }
    for name, options in ways.items():
        pq.write_table(both, HERE / f"pyarrow_{name}.parquet", **options)
    floats = [name for name in flat.column_names if name[-2:] in ("32", "64")]
    split = dict.fromkeys(floats, "BYTE_STREAM_SPLIT")
    pq.write_table(flat, HERE / "pyarrow_split.parquet", use_dictionary=False, column_encoding=split)
    # Required columns, and lists of required items.
    sure = [name for name in flat.column_names if flat[name].null_count == 0]
    schema = pa.schema([pa.field(name, flat[name].type, nullable=False) for name in sure])
    pq.write_table(flat.select(sure).cast(schema), HERE / "pyarrow_required.parquet")
    items = [pa.field("item", kind, nullable=False) for kind in (pa.float32(), pa.float64())]
    kinds = {"lists_of_3": pa.list_(items[0], 3), "lists_of_1": pa.large_list(items[1]), "ragged": pa.list_(items[1])}
    schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in kinds.items()])
    pq.write_table(both.select(list(kinds)).cast(schema), HERE / "pyarrow_required_lists.parquet", compression="none")
    pq.write_table(both.slice(0, 0), HERE / "pyarrow_empty.parquet")


def write_polars(both: pa.Table) -> None:
    frame = pl.from_arrow(both)
    assert isinstance(frame, pl.DataFrame)
    for packing in ("uncompressed", "snappy", "zstd", "gzip", "lz4"):
        frame.write_parquet(HERE / f"polars_{packing}.parquet", compression=packing)
    frame.write_parquet(HERE / "polars_pages.parquet", row_group_size=64, data_page_size=200, statistics=False)


def write_duckdb(both: pa.Table) -> None:
    with duckdb.connect() as base:
        base.register("rows", both)
        for name, options in {
            "snappy": "compression snappy",
            "plain": "compression uncompressed",
            "zstd": "compression zstd, parquet_version v2",
            "dictionaries": "dictionary_size_limit 3, parquet_version v1",
        }.items():
            base.execute(f"copy rows to '{HERE}/duckdb_{name}.parquet' (format parquet, {options})")


def write_fastparquet(flat: pa.Table) -> None:
    frame = flat.to_pandas()
    frame["few_category"] = frame["label"].astype("category")
    for packing in ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD"):
        path = HERE / f"fastparquet_{packing.lower()}.parquet"
        fastparquet.write(str(path), frame, compression=packing, row_group_offsets=[0, 100])
    fastparquet.write(str(HERE / "fastparquet_nulls.parquet"), frame, has_nulls=True, stats=False)


def main() -> None:
    random = np.random.default_rng(7)
    table = pa.table(flat(random))
    both = pa.table({name: table[name] for name in table.column_names} | nested(random))
    write_pyarrow(table, both)
    write_polars(both)
    write_duckdb(both)
    write_fastparquet(table)


if __name__ == "__main__":
    main()
