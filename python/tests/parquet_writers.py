"""Random slates, and Parquet files of them by four writers in random configurations.

Everything follows from a seed: the rows, the types of the columns, the writer and its options.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import fastparquet
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

# Types of rewards beside those of propensities.
WHOLE = ("int8", "int64", "uint32", "bool")

# What a log can be refused for, each in one row.
FAULTS = ("null reward", "NaN reward", "mu of 0", "mu above 1", "negative pi", "null mu")


@dataclass
class Slates:
    """Rows as NumPy has them. A slot that a slate does not have is NaN in `mu` and `pi`."""

    reward: np.ndarray
    mu: np.ndarray
    pi: np.ndarray
    labels: list[Any]
    fault: str | None = None
    faulty_row: int = 0

    @property
    def weights(self) -> np.ndarray:
        """Additive weights, without a correction."""
        return 1 + np.nansum(self.pi / self.mu - 1, axis=1)


@dataclass
class Plan:
    """What a seed decides before anything is written."""

    seed: int
    random: np.random.Generator
    writer: str
    numbers: str
    rewards: str
    layout: str
    slates: Slates


@dataclass
class Written:
    """A file, and how it came about."""

    slates: Slates
    path: Path
    how: dict[str, Any]

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.how.items())


def plan(seed: int) -> Plan:
    random = np.random.default_rng(seed)
    writer = str(random.choice(["pyarrow", "pyarrow", "polars", "duckdb", "fastparquet"]))
    numbers = str(random.choice(["float64", "float64", "float32", "float16", "decimal"]))
    layout = str(random.choice(["columns", "lists", "large lists", "fixed lists"]))
    if writer == "fastparquet":
        # It writes neither lists nor decimals as Parquet's own.
        layout, numbers = "columns", numbers.replace("decimal", "float64").replace("float16", "float32")
    if writer == "duckdb":
        numbers = numbers.replace("float16", "float32")
    rewards = str(random.choice([numbers, numbers, numbers, *WHOLE]))
    slates = draw(random, numbers, rewards, ragged=layout != "fixed lists")
    return Plan(seed, random, writer, numbers, rewards, layout, slates)


def write(seed: int, folder: Path) -> Written:
    """The file of a seed."""
    chosen = plan(seed)
    table = arrow_table(chosen)
    path = folder / f"{seed}.parquet"
    options = WRITERS[chosen.writer](chosen.random, table, path)
    how = {
        "seed": seed,
        "writer": chosen.writer,
        "rows": table.num_rows,
        "numbers": chosen.numbers,
        "rewards": chosen.rewards,
        "layout": chosen.layout,
        "fault": chosen.slates.fault,
        "labels": table["segment"].type,
    }
    return Written(chosen.slates, path, how | options)


def draw(random: np.random.Generator, numbers: str, kind: str, *, ragged: bool) -> Slates:
    """Random slates whose values are exact in the type that they will be written in."""
    rows = int(random.choice([1, 2, 9, 130, 700, 2500]))
    slots = int(random.integers(1, 6))
    if numbers in ("float64", "float32"):
        # Few different values ask for dictionaries, and many for other encodings.
        pool = random.uniform(0.02, 1, size=int(random.choice([3, 300, 5000]))).astype(numbers).astype(float)
        mu, pi = random.choice(pool, (rows, slots)), random.choice(pool, (rows, slots))
        rewards = random.normal(size=int(random.choice([2, 100, 1000]))).astype(numbers).astype(float)
    else:
        mu, pi = random.integers(1, 65, (rows, slots)) / 64, random.integers(0, 65, (rows, slots)) / 64
        rewards = random.integers(-32, 32, 20) / 8
    if kind in WHOLE:
        rewards = random.integers(0, 2 if kind == "bool" else 100, 20).astype(float)
        if kind.startswith("int"):
            rewards = 20 - rewards
    if ragged and random.random() < 0.5:
        absent = np.arange(slots) >= random.integers(0, slots + 1, rows)[:, None]
        # A log without any slot is refused.
        absent[0, 0] = False
        mu[absent], pi[absent] = np.nan, np.nan
    slates = Slates(random.choice(rewards, rows), mu, pi, labels(random, rows))
    if random.random() < 0.15:
        spoil(random, slates)
    return slates


def spoil(random: np.random.Generator, slates: Slates) -> None:
    """Plants a value that no log may have. Nulls are planted when the columns are made."""
    slates.fault = str(random.choice(FAULTS))
    slates.faulty_row = int(random.integers(len(slates.reward)))
    slates.mu[slates.faulty_row, 0], slates.pi[slates.faulty_row, 0] = 0.5, 0.5
    match slates.fault:
        case "mu of 0":
            slates.mu[slates.faulty_row, 0] = 0
        case "mu above 1":
            slates.mu[slates.faulty_row, 0] = 1.5
        case "negative pi":
            slates.pi[slates.faulty_row, 0] = -0.5


def labels(random: np.random.Generator, rows: int) -> list[Any]:
    """A segment for each row: texts, whole numbers, truth values or days, some of them null."""
    kind = str(random.choice(["text", "whole", "unsigned", "large", "truth", "day"]))
    pools: dict[str, list[Any]] = {
        "text": ["", "phone", "ä€😀", "x" * 300, "null", "7"],
        "whole": [-3, 0, 7, 100],
        "unsigned": [0, 7, 100],
        "large": [-(2**62), 2**53 + 1, 2**62],
        "truth": [True, False],
        "day": [datetime.date(1969, 12, 31), datetime.date(2024, 2, 29)],
    }
    pool = pools[kind] + ([None] if random.random() < 0.5 else [])
    return [pool[place] for place in random.integers(len(pool), size=rows)]


def arrow_table(plan: Plan) -> pa.Table:
    """The slates as an Arrow table, with its columns in random order."""
    slates, numbers = plan.slates, plan.numbers
    has_nan = plan.rewards.startswith("float") and plan.writer != "fastparquet"
    nulls = np.isnan(slates.reward)
    if slates.fault == "null reward" or (slates.fault == "NaN reward" and not has_nan):
        nulls[slates.faulty_row] = True
    reward = slates.reward.copy()
    if slates.fault == "NaN reward":
        reward[slates.faulty_row] = 0 if nulls[slates.faulty_row] else np.nan
    columns = {"reward": array(reward, nulls, plan.rewards), "segment": label_array(plan.random, slates.labels)}
    for name, values in (("mu", slates.mu), ("pi", slates.pi)):
        nulls = np.isnan(values)
        if slates.fault == "null mu" and name == "mu":
            nulls[slates.faulty_row, 0] = True
        columns |= slot_columns(name, values, nulls, slates.mu, numbers, plan.layout)
    names = list(columns)
    plan.random.shuffle(names)
    return pa.table({name: columns[name] for name in names})


def slot_columns(
    name: str, values: np.ndarray, nulls: np.ndarray, mu: np.ndarray, numbers: str, layout: str
) -> dict[str, pa.Array]:
    slots = range(mu.shape[1])
    if layout == "columns":
        return {f"{name}_{k + 1}": array(values[:, k], nulls[:, k], numbers) for k in slots}
    # A list ends where the slate does; a null inside it is a fault.
    is_there = ~np.isnan(mu)
    items = array(values[is_there], nulls[is_there], numbers)
    if layout == "fixed lists":
        return {name: pa.FixedSizeListArray.from_arrays(items, len(slots))}
    kind = pa.ListArray if layout == "lists" else pa.LargeListArray
    return {name: kind.from_arrays(np.concatenate([[0], np.cumsum(is_there.sum(axis=1))]), items)}


def array(values: np.ndarray, nulls: np.ndarray, numbers: str) -> pa.Array:
    if numbers == "decimal":
        return pa.array(values, pa.float64(), mask=nulls).cast(pa.decimal128(12, 6))
    return pa.array(values.astype(numbers), mask=nulls)


def label_array(random: np.random.Generator, values: list[Any]) -> pa.Array:
    plain = pa.array(values)
    if pa.types.is_string(plain.type):
        choices = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
    elif pa.types.is_integer(plain.type) and max(abs(value or 0) for value in values) <= 100:
        choices = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
        if min(value or 0 for value in values) >= 0:
            choices += [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
    else:
        return plain if not pa.types.is_null(plain.type) else pa.array(values, pa.string())
    return plain.cast(choices[random.integers(len(choices))])


def pick(random: np.random.Generator, **choices: list[Any]) -> dict[str, Any]:
    """One value for each option."""
    return {name: values[random.integers(len(values))] for name, values in choices.items()}


def by_pyarrow(random: np.random.Generator, table: pa.Table, path: Path) -> dict[str, Any]:
    options = pick(
        random,
        version=["1.0", "2.4", "2.6"],
        data_page_version=["1.0", "2.0"],
        compression=["none", "snappy", "gzip", "brotli", "lz4", "zstd"],
        use_dictionary=[True, False, ["reward", "segment"]],
        data_page_size=[64, 1000, 1 << 20],
        dictionary_pagesize_limit=[64, 1 << 20],
        write_batch_size=[1, 100, 1024],
        row_group_size=[1, 17, 500, 1 << 20],
        write_statistics=[True, False],
        write_page_index=[True, False],
        write_page_checksum=[True, False],
        store_schema=[True, False],
        use_compliant_nested_type=[True, False],
    )
    # A group for each row is wanted of small files only.
    options["row_group_size"] = max(options["row_group_size"], table.num_rows // 50)
    if options["use_dictionary"] is False:
        options["column_encoding"] = encodings(random, table.schema)
    pq.write_table(table, path, **options)
    return options


def encodings(random: np.random.Generator, schema: pa.Schema) -> dict[str, str]:
    """Encodings without a dictionary, as far as columns of such a type can have them."""
    chosen = {}
    for column in schema:
        kind = column.type
        if pa.types.is_floating(kind):
            choices = ["PLAIN", "BYTE_STREAM_SPLIT"]
        elif pa.types.is_integer(kind):
            choices = ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            choices = ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]
        elif pa.types.is_boolean(kind):
            choices = ["PLAIN", "RLE"]
        else:
            continue
        chosen[column.name] = choices[random.integers(len(choices))]
    return chosen


def by_polars(random: np.random.Generator, table: pa.Table, path: Path) -> dict[str, Any]:
    options = pick(
        random,
        compression=["uncompressed", "snappy", "gzip", "brotli", "lz4", "zstd"],
        statistics=[True, False],
        row_group_size=[16, 500, None],
        data_page_size=[64, 1000, None],
    )
    pl.from_arrow(table).write_parquet(path, **options)
    return options


def by_duckdb(random: np.random.Generator, table: pa.Table, path: Path) -> dict[str, Any]:
    options = pick(
        random,
        compression=["uncompressed", "snappy", "gzip", "brotli", "lz4_raw", "zstd"],
        parquet_version=["V1", "V2"],
        row_group_size=[2048, 122880],
        dictionary_size_limit=[1, 100, 100000],
    )
    written = ", ".join(f"{name.upper()} {value}" for name, value in options.items())
    connection = duckdb.connect()
    connection.register("slates", table)
    connection.execute(f"COPY (SELECT * FROM slates) TO '{path}' (FORMAT parquet, {written})")
    connection.close()
    return options


def by_fastparquet(random: np.random.Generator, table: pa.Table, path: Path) -> dict[str, Any]:
    options = pick(
        random,
        compression=[None, "SNAPPY", "GZIP", "BROTLI", "LZ4_RAW", "ZSTD"],
        row_group_offsets=[7, 500, 1 << 20],
        has_nulls=[True, False],
        stats=[True, False, "auto"],
    )
    options["row_group_offsets"] = max(options["row_group_offsets"], table.num_rows // 50)
    if not options["has_nulls"]:
        # Columns without nulls are written as required ones.
        options["has_nulls"] = [name for name in table.column_names if table[name].null_count > 0]
    pages = pick(random, DATAPAGE_VERSION=[1, 2], MAX_PAGE_SIZE=[1000, 1 << 20])
    before = {name: getattr(fastparquet.writer, name) for name in pages}
    try:
        for name, value in pages.items():
            setattr(fastparquet.writer, name, value)
        fastparquet.write(str(path), nullable_frame(table), write_index=False, object_encoding="utf8", **options)
    finally:
        for name, value in before.items():
            setattr(fastparquet.writer, name, value)
    return options | pages


def nullable_frame(table: pa.Table) -> pd.DataFrame:
    """The table in types of pandas that can be null without becoming floats."""
    frame = pd.DataFrame()
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if pa.types.is_integer(kind):
            frame[name] = pd.array(column.to_pylist(), dtype=str(kind).replace("uint", "UInt").replace("int", "Int"))
        elif pa.types.is_boolean(kind):
            frame[name] = pd.array(column.to_pylist(), dtype="boolean")
        elif pa.types.is_date(kind):
            # It has no days: they are written as text.
            frame[name] = pd.Series([None if day is None else str(day) for day in column.to_pylist()], dtype=object)
        elif pa.types.is_dictionary(kind):
            frame[name] = pd.Categorical(column.to_pylist())
        elif pa.types.is_floating(kind):
            frame[name] = column.to_numpy()
        else:
            frame[name] = pd.Series(column.to_pylist(), dtype=object)
    return frame


WRITERS = {"pyarrow": by_pyarrow, "polars": by_polars, "duckdb": by_duckdb, "fastparquet": by_fastparquet}
