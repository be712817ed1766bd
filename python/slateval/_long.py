"""Logs of one row per slot: whether a slate goes on where the last rows that were added ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import _data
from ._errors import InputError
from ._options import Options

ONE_ADD = "keep the rows of a slate in one add, or give all rows to one add as an iterable"

Ends = tuple[()] | tuple[Any, Any]
"""The first and the last slate; nothing of no rows."""


@dataclass(frozen=True)
class Last:
    """The slate of the last row that was added; not known if it could not be seen."""

    slate: Any = None
    known: bool = True


class Watch:
    """Sees the first and the last slate of rows as they pass by."""

    def __init__(self, options: Options, before: Last | None) -> None:
        self._column = options.columns.slate or "slate_id"
        self._bases = options.bases()
        self._before = before
        self._started = False
        self.last = before

    def over(self, data: Any) -> Any:
        """The data, watched. A slate lies within one file, so that paths need not be."""
        if _data.paths_of(data) is not None:
            self.last = None
            return data
        return self._watched(data)

    def _watched(self, data: Any) -> Iterator[Any]:
        for part in _data.parts_of(data, self._bases):
            self._see(_ends(part, self._column))
            yield part

    def _see(self, ends: Ends | None) -> None:
        if ends is not None and not ends:
            return
        if not self._started and self._before is not None:
            if ends is None or not self._before.known:
                raise InputError(
                    f"where these rows begin and end cannot be seen without pyarrow: install it, or {ONE_ADD}"
                )
            if ends[0] == self._before.slate:
                raise InputError(f"slate {ends[0]!r} was in the rows added before as well: {ONE_ADD}")
        self._started = True
        self.last = Last(known=False) if ends is None else Last(ends[1])


def _ends(part: Any, column: str) -> Ends | None:
    """Nothing too where there is no such column, which the reader says better; `None` if it cannot be seen."""
    import numpy as np

    library = type(part).__module__.partition(".")[0]
    if library == "pyarrow" and hasattr(part, "num_rows"):
        if column not in part.schema.names or part.num_rows == 0:
            return ()
        values = part.column(column)
        return values[0].as_py(), values[-1].as_py()
    if library not in ("pandas", "polars") and not isinstance(part, Mapping):
        return None
    if column not in (part if isinstance(part, Mapping) else part.columns) or len(part[column]) == 0:
        return ()
    given = part[column].iloc[[0, -1]] if library == "pandas" else part[column]
    first, last = np.asarray(given)[[0, -1]].tolist()
    return first, last
