"""What slateval refuses, as exceptions that Python programs expect."""

from __future__ import annotations

from typing import Any

from . import _slateval


class Error(Exception):
    """Everything that slateval refuses; each exception is also one of Python's own."""

    def __init__(self, *args: Any) -> None:
        # Whatever a message quotes: the secrets of an address are not to end up in a log.
        super().__init__(*(_slateval.redacted_text(arg) if isinstance(arg, str) else arg for arg in args))


class InputError(Error, ValueError):
    """A value, a shape or a setting that cannot be right."""


class NoRowsError(InputError):
    """A log without rows: nothing to evaluate, and nothing to add."""


class DataTypeError(Error, TypeError):
    """Data of a kind that cannot hold what they should."""


class ColumnError(Error, KeyError):
    """A column that is not there."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument, quotes and all.
        return str(self.args[0]) if self.args else ""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class MissingFileError(Error, FileNotFoundError):
    """A path that leads nowhere."""


class SlatevalWarning(UserWarning):
    """A check that did not go well: what the numbers rest on may not hold."""
