"""Progress bars: on standard error, a callable, or tqdm's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ._errors import DataTypeError

Tell = Callable[[int, "int | None"], None]
"""Takes the rows read so far, and all rows where they are known."""


class _Updating:
    """A bar such as tqdm's: told of the rows since it was last told."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar
        self.done = 0

    def __call__(self, rows: int, total: int | None) -> None:
        if total is not None and getattr(self.bar, "total", total) is None:
            self.bar.total = total
        if rows > self.done:
            self.bar.update(rows - self.done)
            self.done = rows


class _Printed:
    """A line on standard error."""

    def __call__(self, rows: int, total: int | None) -> None:
        of = f" of {total:,}" if total else ""
        end = "\n" if rows == total else ""
        print(f"\rslateval: {rows:,}{of} rows", end=end, file=sys.stderr, flush=True)


def teller(progress: Any) -> Tell | None:
    """What to call with the rows read so far."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return _Printed()
    if hasattr(progress, "update"):
        return _Updating(progress)
    if callable(progress):
        tell: Tell = progress
        return tell
    raise DataTypeError("progress must be True, a function of (rows, total), or a bar with update(n) such as tqdm's")
