"""Warnings that point to the user's own line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable

from ._errors import SlatevalWarning

_PACKAGE = __name__.partition(".")[0]


def warn(messages: Iterable[str]) -> None:
    """Warns once for each message, at the line outside of this package that called it."""
    for message in messages:
        warnings.warn(message, SlatevalWarning, stacklevel=_depth())


def _depth() -> int:
    """The number of frames between `warn`, which is the first, and the caller of the package."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, depth = frame.f_back, depth + 1
    return depth
