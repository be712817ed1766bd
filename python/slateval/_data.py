"""Whatever holds a log, as paths or as Arrow data."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from . import _arrays
from ._errors import DataTypeError

WHAT = (
    "pass a path, a pandas or Polars frame, Arrow data (anything with __arrow_c_stream__), a DuckDB relation, a dict "
    "of arrays, or an iterable of these; or NumPy arrays as reward=, logging= and target="
)


class Batches(NamedTuple):
    """Objects with Arrow data, and the names of all columns they have, read or not."""

    objects: Iterator[Any]
    names: list[str]


def paths_of(data: Any) -> list[str] | None:
    """The paths, if that is what the data are."""
    if isinstance(data, (str, os.PathLike)):
        return [_path(data)]
    if isinstance(data, (list, tuple)) and data and all(isinstance(item, (str, os.PathLike)) for item in data):
        return [_path(item) for item in data]
    return None


def _path(path: str | os.PathLike[str]) -> str:
    found = os.fspath(path)
    if isinstance(found, str):
        return found
    raise DataTypeError("paths must be text, not bytes")


def batches_of(data: Any, bases: set[str]) -> Batches:
    """The data as Arrow; only columns that may be needed, where leaving out others saves work."""
    found = _frame(data, bases)
    if found is not None:
        return Batches(iter(found[0]), found[1])
    if not isinstance(data, Iterable) or isinstance(data, (str, bytes)) or hasattr(data, "__array_interface__"):
        raise DataTypeError(f"a {type(data).__name__} is no log; {WHAT}")
    return _items(data, bases)


def _items(data: Iterable[Any], bases: set[str]) -> Batches:
    """An iterable of frames, batches or tables, taken one by one."""
    items = iter(data)

    def opened(item: Any) -> tuple[Iterable[Any], list[str]]:
        found = _frame(item, bases)
        if found is None:
            raise DataTypeError(f"an iterable of {type(item).__name__} is no log; {WHAT}")
        return found

    for first in items:
        objects, names = opened(first)
        rest = chain.from_iterable(opened(item)[0] for item in items)
        return Batches(chain(objects, rest), names)
    return Batches(iter(()), [])


def _frame(data: Any, bases: set[str]) -> tuple[Iterable[Any], list[str]] | None:
    """One thing that holds rows; nothing if it is not known as such."""
    library = type(data).__module__.partition(".")[0]
    kind = type(data).__name__
    if library == "pandas" and kind == "DataFrame":
        return _pandas(data, bases)
    if library == "polars" and kind == "LazyFrame":
        return _lazy(data, bases)
    if library == "polars" and kind == "DataFrame":
        return [data.select(_needed(data.columns, bases))], list(data.columns)
    if library == "pyarrow" and hasattr(data, "scanner"):
        names = data.schema.names
        return [data.scanner(columns=_needed(names, bases)).to_reader()], names
    if library == "pyarrow" and kind == "Scanner":
        return [data.to_reader()], []
    if library in ("duckdb", "_duckdb") and hasattr(data, "project"):
        quoted = ['"{}"'.format(name.replace('"', '""')) for name in _needed(data.columns, bases)]
        return [data.project(", ".join(quoted)) if quoted else data], list(data.columns)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return [data], []
    if isinstance(data, Mapping):
        return [_columns(data, bases)], [str(name) for name in data]
    return None


def _needed(names: Iterable[Any], bases: set[str]) -> list[str]:
    """The columns that may be asked for: `mu`, and `mu_1` for `mu`."""

    def wanted(name: Any) -> bool:
        if not isinstance(name, str):
            return False
        base, _, slot = name.rpartition("_")
        return name in bases or (slot.isdigit() and base in bases)

    return [name for name in names if wanted(name)]


def _lazy(data: Any, bases: set[str]) -> tuple[Iterable[Any], list[str]]:
    names = data.collect_schema().names()
    narrow = data.select(_needed(names, bases))
    if hasattr(narrow, "collect_batches"):
        return narrow.collect_batches(), names
    return [narrow.collect(engine="streaming")], names


def _pandas(data: Any, bases: set[str]) -> tuple[Iterable[Any], list[str]]:
    names = [name for name in data.columns if isinstance(name, str)]
    needed = _needed(data.columns, bases)
    narrow = data[needed]
    if len(set(needed)) < len(needed):
        twice = next(name for name in needed if needed.count(name) > 1)
        raise DataTypeError(f"the frame has two columns `{twice}`; rename one of them")
    if importlib.util.find_spec("pyarrow") is None or not hasattr(narrow, "__arrow_c_stream__"):
        return [_columns({name: narrow[name] for name in needed}, bases)], names
    return [_Pandas(narrow)], names


class _Pandas:
    """A frame without its index, which is no column."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        import pyarrow

        try:
            return pyarrow.Table.from_pandas(self.frame, preserve_index=False).__arrow_c_stream__(requested_schema)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError) as error:
            reason = "; ".join(str(part) for part in error.args)
            raise DataTypeError(f"a column of the frame holds different kinds of values: {reason}") from error


def _columns(data: Mapping[Any, Any], bases: set[str]) -> Any:
    """A dict of arrays. NaN stands for a value that is not there, as it does in pandas."""
    import numpy as np

    from . import _slateval

    pieces: list[_arrays.Piece] = []
    for name in _needed(data, bases):
        values = data[name] if isinstance(data[name], np.ma.MaskedArray) else np.asarray(data[name])
        if values.dtype.kind == "f" and np.isnan(values).any():
            values = np.ma.masked_invalid(values)
        if values.dtype.kind in "OUSTmM" or (values.dtype.kind in "biu" and values.ndim == 1):
            pieces.append(_arrays.labels(name, name, values))
        else:
            pieces += _arrays._numbers(name, name, values)[0]
    return _slateval.Table.from_arrays(pieces)
