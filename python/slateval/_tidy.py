"""Results as dataframes: one row for each number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._interval import Interval

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

COLUMNS = ("policy", "metric", "level", "estimate", "lower", "upper", "se", "reason")
"""The columns of every table of estimates, behind those that say what the estimates are of."""

_TEXT = ("policy", "baseline", "column", "metric", "reason", "name", "status", "message")
_WHOLE = ("rows",)

Row = dict[str, Any]


class Tidy:
    """Something that turns into a dataframe."""

    def _columns(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a pandas frame.

        Returns
        -------
        pandas.DataFrame
            One row for each number.

        Raises
        ------
        ImportError
            Without pandas.
        """
        return frame(self._columns(), "pandas")

    def to_polars(self) -> polars.DataFrame:
        """The same as a Polars frame.

        Returns
        -------
        polars.DataFrame
            One row for each number.

        Raises
        ------
        ImportError
            Without Polars.
        """
        made: polars.DataFrame = frame(self._columns(), "polars")
        return made

    def to_arrow(self) -> pyarrow.Table:
        """The same as a pyarrow table.

        Returns
        -------
        pyarrow.Table
            One row for each number.

        Raises
        ------
        ImportError
            Without pyarrow.
        """
        return frame(self._columns(), "pyarrow")


def row(metric: str, level: float | None, interval: Interval, **of: Any) -> Row:
    """One estimate; `of` says what it is an estimate of."""
    return {
        **of,
        "metric": metric,
        "level": level,
        "estimate": interval.estimate,
        "lower": interval.lower,
        "upper": interval.upper,
        "se": interval.se,
        "reason": interval.reason,
    }


def columns(rows: Iterable[Row], names: Iterable[str]) -> dict[str, list[Any]]:
    """Rows as columns of these names."""
    found: dict[str, list[Any]] = {name: [] for name in names}
    for each in rows:
        for name, values in found.items():
            values.append(each.get(name))
    return found


def frame(columns: Mapping[str, Any], library: str) -> Any:
    """Columns as a frame of a library that the user has."""
    module = _library(library)
    if library == "pandas":
        return module.DataFrame({name: _series(module, name, values) for name, values in columns.items()})
    if library == "polars":
        types = {"text": module.String, "whole": module.Int64, "number": module.Float64}
        made = {
            name: module.Series(name, values, types.get(_kind(name)), strict=False) for name, values in columns.items()
        }
        return module.DataFrame(made)
    types = {"text": module.string(), "whole": module.int64(), "number": module.float64()}
    return module.table({name: module.array(values, types.get(_kind(name))) for name, values in columns.items()})


def _series(pandas: Any, name: str, values: Any) -> Any:
    return pandas.Series(values, dtype={"whole": "int64", "number": "float64"}.get(_kind(name)))


def _kind(name: str) -> str:
    """What a column holds; segments are of any kind."""
    if name in _TEXT:
        return "text"
    return "whole" if name in _WHOLE else "any" if name == "segment" else "number"


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"to_{'arrow' if name == 'pyarrow' else name} needs {name}: pip install {name}") from None
