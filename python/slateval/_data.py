"""Whatever holds a log, as paths or as Arrow data."""

from __future__ import annotations

import importlib.util
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _arrays
from ._errors import ColumnError, DataTypeError, InputError
from ._rows_of_pandas import in_one_order
from ._segments_and_clusters import Piece, is_null, labels, plain
from ._text import shown

if TYPE_CHECKING:
    from . import _slateval
    from ._options import Options

WHAT = (
    "pass a path, a pandas or Polars frame, Arrow data (anything with __arrow_c_stream__), a DuckDB relation, a dict "
    "of arrays, or an iterable of these; or NumPy arrays as reward=, logging= and target="
)

LISTS = (
    "lists are read from Arrow data and dataframes, and those of pandas with pyarrow: install it, or pass an array of "
    "shape (n, K)"
)


class Elsewhere(ABC):
    """A log that other machines read: what comes back is its summary."""

    @abstractmethod
    def read(self, options: Options, method: str | None, progress: Any) -> _slateval.Summary:
        """The summary of all rows."""

    @abstractmethod
    def inspect(self, options: Options, method: str, band_width: float, progress: Any) -> tuple[str, str]:
        """Whether the log is fit for the job: JSON, and text."""


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


def is_address(path: str) -> bool:
    """Whether a path is an address, such as `s3://bucket/key`, which does not depend on the working directory."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", path) is not None


def _path(path: str | os.PathLike[str]) -> str:
    found = os.fspath(path)
    if not isinstance(found, str):
        raise DataTypeError("paths must be text, not bytes")
    if found == "-":
        raise InputError(
            "`-`: standard input is read by the command line; pass a path, or pyarrow.ipc.open_stream(sys.stdin.buffer)"
        )
    return found


def batches_of(data: Any, bases: set[str]) -> Batches:
    """The data as Arrow; only columns that may be needed, where leaving out others saves work."""
    found = _frame(data, bases)
    if found is not None:
        return Batches(iter(found[0]), found[1])
    _refuse_unless_iterable(data)
    return _items(data, bases)


def _items(data: Iterable[Any], bases: set[str]) -> Batches:
    """An iterable of frames, batches or tables, taken one by one."""
    items = iter(data)

    def opened(item: Any) -> tuple[Iterable[Any], list[str]]:
        found = _frame(item, bases)
        if found is None:
            raise _no_log_of(item)
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
    if library in ("pandas", "polars", "pyarrow") and (kind == "Series" or kind.endswith("Array")):
        raise DataTypeError(f"a {kind} is one column and no log; {WHAT}")
    if library == "pyspark":
        raise DataTypeError(f"a {kind} of Spark's is read on its cluster: use the functions of slateval.spark")
    if library == "pandas" and kind == "DataFrame":
        return _pandas(data, bases)
    if library == "polars" and kind == "LazyFrame":
        return _lazy(data, bases)
    if library == "polars" and kind == "DataFrame":
        return [data.select(needed(data.columns, bases))], list(data.columns)
    if library == "pyarrow" and hasattr(data, "scanner"):
        names = data.schema.names
        return [data.scanner(columns=needed(names, bases)).to_reader()], names
    if library == "pyarrow" and kind == "Scanner":
        return [data.to_reader()], []
    if library in ("duckdb", "_duckdb") and hasattr(data, "project"):
        quoted = ['"{}"'.format(name.replace('"', '""')) for name in needed(data.columns, bases)]
        return [data.project(", ".join(quoted)) if quoted else data], list(data.columns)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return [data], []
    if isinstance(data, Mapping):
        # Without rows there is nothing to tell a column's kind by.
        return [] if _is_empty(data, bases) else [_columns(data, bases)], [str(name) for name in data]
    return None


def parts_of(data: Any, bases: set[str]) -> Iterator[Any]:
    """The data as frames and batches one can look into, where the libraries for that are there."""
    found = _frame_parts(data, bases)
    if found is not None:
        yield from found
        return
    _refuse_unless_iterable(data)
    for item in data:
        within = _frame_parts(item, bases)
        if within is None:
            raise _no_log_of(item)
        yield from within


def _frame_parts(data: Any, bases: set[str]) -> Iterable[Any] | None:
    if isinstance(data, Mapping) or _is_seen(data):
        return [data]
    found = _frame(data, bases)
    if found is None:
        return None
    return chain.from_iterable([part] if _is_seen(part) or not _has_pyarrow() else _batches(part) for part in found[0])


def _is_seen(part: Any) -> bool:
    return (type(part).__module__.partition(".")[0], type(part).__name__) in _SEEN


def _refuse_unless_iterable(data: Any) -> None:
    if not isinstance(data, Iterable) or isinstance(data, (str, bytes)) or hasattr(data, "__array_interface__"):
        raise DataTypeError(f"a {type(data).__name__} is no log; {WHAT}")


def _no_log_of(item: Any) -> DataTypeError:
    return DataTypeError(f"an iterable of {type(item).__name__} is no log; {WHAT}")


_SEEN = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch")}


def _batches(part: Any) -> Iterator[Any]:
    import pyarrow

    if hasattr(part, "__arrow_c_stream__"):
        yield from pyarrow.RecordBatchReader.from_stream(part)
    else:
        yield pyarrow.record_batch(part)


def _has_pyarrow() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def needed(names: Iterable[Any], bases: set[str]) -> list[str]:
    """The columns that may be asked for: `mu`, and `mu_1` for `mu`."""

    def wanted(name: Any) -> bool:
        if not isinstance(name, str):
            return False
        base, _, slot = name.rpartition("_")
        return name in bases or (slot.isdigit() and base in bases)

    return [name for name in names if wanted(name)]


def refuse_twins(names: list[str]) -> None:
    """Refuses two columns of one name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataTypeError(f"the frame has two columns `{shown(twice)}`; rename one of them")


def _lazy(data: Any, bases: set[str]) -> tuple[Iterable[Any], list[str]]:
    names = data.collect_schema().names()
    narrow = data.select(needed(names, bases))
    if hasattr(narrow, "collect_batches"):
        return narrow.collect_batches(), names
    return [narrow.collect(engine="streaming")], names


def _pandas(data: Any, bases: set[str]) -> tuple[Iterable[Any], list[str]]:
    names = [name for name in data.columns if isinstance(name, str)]
    wanted = needed(data.columns, bases)
    refuse_twins(wanted)
    narrow = data[wanted]
    if not _has_pyarrow() or not hasattr(narrow, "__arrow_c_stream__"):
        return [_columns({name: narrow[name] for name in wanted}, bases)], names
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
            raise DataTypeError(f"a column of the frame holds different kinds of values: {shown(reason)}") from error


def _columns(data: Mapping[Any, Any], bases: set[str]) -> Any:
    """A dict of arrays. NaN stands for a value that is not there, as it does in pandas."""
    from . import _slateval

    pieces: list[Piece] = []
    shapes: dict[str, tuple[int, ...]] = {}
    for name, given in in_one_order({name: data[name] for name in needed(data, bases)}).items():
        values = _array(name, given)
        shapes[name] = values.shape[:1] or (1,)
        if values.dtype.kind in "OUSTmM" or (values.dtype.kind in "biu" and values.ndim == 1):
            pieces.append(labels(name, name, values))
        else:
            pieces += _arrays.numbers(name, name, values)[0]
    if not pieces:
        names = ", ".join(f"`{shown(str(name))}`" for name in data) or "none at all"
        raise ColumnError(
            f"data: there is none of the columns that a log has; they are reward, mu_1 and pi_1 unless "
            f"you say others. Columns: {names}"
        )
    _arrays.check_shapes(shapes)
    return _slateval.Table.from_arrays(pieces)


def _array(name: str, given: Any) -> Any:
    import numpy as np

    try:
        values = given if isinstance(given, np.ma.MaskedArray) else np.asarray(plain(given))
    except ValueError:
        raise InputError(f"column `{shown(name)}`: {LISTS}") from None
    if values.dtype == object and any(isinstance(value, (list, tuple, np.ndarray)) for value in values.flat):
        raise DataTypeError(f"column `{shown(name)}` holds lists: {LISTS}")
    if values.dtype == object and values.ndim == 1 and not isinstance(values, np.ma.MaskedArray):
        values = _decimals(values)
    if values.dtype.kind != "f":
        return values
    missing = np.isnan(np.ma.getdata(values))
    return np.ma.array(values, mask=np.ma.getmaskarray(values) | missing) if missing.any() else values


def _decimals(values: Any) -> Any:
    """Numbers with decimals among which some are missing, as floats with NaN."""
    import numpy as np

    listed = values.tolist()
    kinds = {type(value) for value in listed if not is_null(value)}
    if float not in kinds or not kinds <= {float, int}:
        return values
    return np.array([np.nan if is_null(value) else value for value in listed], dtype=float)


def _is_empty(data: Mapping[Any, Any], bases: set[str]) -> bool:
    wanted = needed(data, bases)
    return bool(wanted) and all(hasattr(data[name], "__len__") and len(data[name]) == 0 for name in wanted)
