"""Columns of segments and clusters: reads one value for each slate, and turns missing values into nulls."""

from __future__ import annotations

from typing import Any

from ._errors import DataTypeError, InputError

Piece = tuple[str, Any, bytes | None]
"""A column: its name, an array or a list, and a mask with a 1 for every value that is missing."""

LARGEST = 2**63 - 1


def labels(column: str, argument: str, values: Any) -> Piece:
    """Reads whole numbers, truth values, text or dates. Masked values, NaN, NaT, NA and None become null."""
    import numpy as np

    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    try:
        array = np.asarray(plain(values))
    except ValueError:
        raise InputError(f"{argument}: rows of different lengths; pass (n,): one value for each slate") from None
    if array.ndim != 1:
        raise InputError(f"{argument} has shape {array.shape}; pass (n,): one value for each slate")
    if array.dtype.kind == "f" and array.size:
        raise DataTypeError(f"{argument} holds numbers with decimals; put them into bins, or use .astype(int)")
    if array.dtype.kind == "S":
        raise _bytes(argument)
    if array.dtype.kind in "iu":
        if array.dtype == np.uint64 and array.size and int(array.max()) > LARGEST:
            raise _large(argument, int(array.max()))
        whole = np.require(array.astype(np.int64, copy=False), requirements=["C", "A"])
        return column, whole, None if mask is None else mask.tobytes()
    if array.dtype.kind in "mM":
        mask = np.isnat(array) if mask is None else mask | np.isnat(array)
        array = array.astype(str)
    listed = [None if is_null(value) else value for value in array.tolist()]
    if mask is not None:
        listed = [None if hidden else value for value, hidden in zip(listed, mask.tolist(), strict=True)]
    return column, _of_one_kind(argument, listed), None


def is_null(value: object) -> bool:
    """Whether a value means that there is none."""
    # NaN and NaT differ from themselves; pandas.NA has no truth value at all.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def plain(values: Any) -> Any:
    """Values as Python objects, where their library would turn whole numbers with nulls into floats."""
    import numpy as np

    library = type(values).__module__.partition(".")[0]
    if library == "polars" or library == "pyarrow":
        listed = values.to_list() if library == "polars" else values.to_pylist()
        found = np.empty(len(listed), dtype=object)
        found[:] = listed
        return found if values.null_count else values
    if library == "pandas" and str(values.dtype).startswith(("category", "Int", "UInt", "boolean")):
        return values.astype(object)
    return values


def _of_one_kind(argument: str, values: list[Any]) -> list[Any]:
    import numpy as np

    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    kinds = {type(value) for value in values if value is not None}
    if any(issubclass(kind, bytes) for kind in kinds):
        raise _bytes(argument)
    if kinds == {float}:
        raise DataTypeError(f"{argument} holds numbers with decimals; put them into bins, or use .astype(int)")
    if len(kinds) > 1 or not all(issubclass(kind, (bool, int, str)) for kind in kinds):
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        what = "values of different kinds" if len(kinds) > 1 else "values of a kind that is not read"
        raise DataTypeError(
            f"`{argument}` holds {what} ({found}); pass whole numbers, truth values or text, and None for none"
        )
    if kinds == {int}:
        for value in values:
            if value is not None and not -LARGEST - 1 <= value <= LARGEST:
                raise _large(argument, value)
    return values


def _bytes(argument: str) -> DataTypeError:
    return DataTypeError(f"{argument} holds bytes; text is needed: decode them, for example with .astype(str)")


def _large(argument: str, value: int) -> InputError:
    return InputError(
        f"{argument} holds {value}; whole numbers go up to {LARGEST}: make them text, for example with .astype(str)"
    )
