"""Columns of whatever dataframe the user has, as NumPy arrays, and values as whole numbers to join on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import DataTypeError

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def is_frame(value: object) -> bool:
    """Whether `value` has named columns: pandas, Polars, pyarrow, or anything that streams Arrow."""
    marks = ("column_names", "columns", "__arrow_c_stream__")
    return is_lazy(value) or any(hasattr(value, mark) for mark in marks)


def is_lazy(value: object) -> bool:
    """Whether `value` is a lazy frame of Polars, which has no columns until it is collected."""
    return type(value).__module__.startswith("polars") and type(value).__name__ == "LazyFrame"


def collected(value: Any) -> Any:
    """A lazy frame's rows; anything else as it is."""
    return value.collect() if is_lazy(value) else value


def read_columns(frame: Any, wanted: Sequence[str]) -> dict[str, Array]:
    """Those of the columns that `frame` has."""
    if isinstance(frame, Mapping):
        return {name: np.asarray(frame[name]) for name in wanted if name in frame}
    if hasattr(frame, "column_names"):
        return {name: _to_numpy(frame.column(name)) for name in wanted if name in frame.column_names}
    if hasattr(frame, "columns") and hasattr(frame, "__getitem__"):
        present = set(frame.columns)
        return {name: _to_numpy(frame[name]) for name in wanted if name in present}
    return read_columns(_from_stream(frame), wanted)


def _to_numpy(column: Any) -> Array:
    return np.asarray(column.to_numpy())


def _from_stream(frame: Any) -> Any:
    if not hasattr(frame, "__arrow_c_stream__"):
        raise DataTypeError(f"a table is a dataframe or a dict of arrays, not {type(frame).__name__}")
    try:
        pyarrow = import_module("pyarrow")
    except ImportError:
        raise DataTypeError(
            f"reading {type(frame).__name__} needs pyarrow: install it, or give a dict of NumPy arrays"
        ) from None
    return pyarrow.table(frame)


def has_missing(values: Array) -> bool:
    """Whether a key column has a null."""
    if values.dtype.kind == "f":
        return bool(np.isnan(values).any())
    if values.dtype.kind in "mM":
        return bool(np.isnat(values).any())
    return values.dtype == object and any(_is_null(value) for value in values.ravel().tolist())


def _is_null(value: object) -> bool:
    # NaN is the one value that differs from itself; pandas.NA has no truth value at all.
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)


def factorize(values: Array) -> tuple[Array, Ints]:
    """The different values, and for each value its place among them."""
    if values.dtype != object:
        universe, codes = np.unique(values, return_inverse=True)
        return universe, codes.reshape(values.shape).astype(np.int64)
    seen: dict[Any, int] = {}
    coded = np.fromiter((seen.setdefault(value, len(seen)) for value in values.tolist()), np.int64, values.size)
    universe = np.empty(len(seen), dtype=object)
    universe[:] = list(seen)
    return universe, coded


def places(values: Array, universe: Array) -> Ints:
    """The place of each value in `universe`, -1 where it is not in there."""
    if universe.size == 0:
        return np.full(values.shape, -1, dtype=np.int64)
    numeric = values.dtype.kind in "biuf" and universe.dtype.kind in "biuf"
    if not numeric and (values.dtype == object or values.dtype.kind != universe.dtype.kind):
        lookup = {value: at for at, value in enumerate(universe.tolist())}
        found = (lookup.get(value, -1) for value in values.ravel().tolist())
        return np.fromiter(found, np.int64, values.size).reshape(values.shape)
    order = np.argsort(universe, kind="stable")
    at = order[np.minimum(np.searchsorted(universe, values, sorter=order), universe.size - 1)]
    return np.where(universe[at] == values, at, -1).astype(np.int64)


def slice_rows(values: Any, start: int, stop: int) -> Any:
    """Rows of an array, a list or a dataframe."""
    if hasattr(values, "iloc"):
        return values.iloc[start:stop]
    if hasattr(values, "slice"):
        return values.slice(start, stop - start)
    return values[start:stop]
