"""NumPy arrays, and what becomes one, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from . import _slateval
from ._errors import DataTypeError, InputError
from ._options import Columns
from ._segments_and_clusters import Piece, labels

SLOTS = "(n, K): one row per slate, one column per slot"


def check_shapes(shapes: Mapping[str, tuple[int, ...]]) -> None:
    rows = {argument: shape[0] for argument, shape in shapes.items()}
    slots = {argument: shape[1] for argument, shape in shapes.items() if len(shape) == 2}
    for what, counts in (("rows", rows), ("slots", slots)):
        if len(set(counts.values())) > 1:
            found = ", ".join(f"{argument} {count}" for argument, count in counts.items())
            raise InputError(f"the arrays have different numbers of {what}: {found}; every slate needs all of them")


def numbers(column: str, argument: str, values: Any, missing: bool = False) -> tuple[list[Piece], tuple[int, ...]]:
    """The columns of an array; with `missing`, NaN stands for a slot that the slate does not have."""
    import numpy as np

    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{argument}: rows of different lengths; {_ragged(argument)}") from None
    if array.dtype.kind not in "biuf":
        raise DataTypeError(_no_numbers(argument, array))
    if array.ndim not in (1, 2) or (array.ndim == 2 and argument == "reward"):
        wanted = "(n,)" if argument == "reward" else SLOTS
        raise InputError(f"{argument} has shape {array.shape}; pass {wanted}")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if mask is None and missing and argument != "reward":
        mask = np.isnan(array)
    if array.ndim == 2 and not array.flags.c_contiguous and array.flags.f_contiguous:
        # Columns are contiguous: no copy as one column for each slot.
        slots = range(array.shape[1])
        return [(f"{column}_{k + 1}", array[:, k], _mask(mask, k)) for k in slots], array.shape
    array = np.require(array, requirements=["C", "A"])
    array = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    return [(column, array, _mask(mask))], array.shape


def _mask(mask: Any, slot: int | None = None) -> bytes | None:
    if mask is None:
        return None
    part: bytes = (mask if slot is None else mask[:, slot]).tobytes()
    return part


def _no_numbers(argument: str, array: Any) -> str:
    """Says what an array holds in place of numbers, and how to make numbers of it."""
    kind = array.dtype.kind if array.dtype != object else _kind_of_objects(array)
    what = "Python objects" if array.dtype == object else str(array.dtype)
    if kind == "O":
        advice = _ragged(argument)
    elif kind in "UST":
        text = "the text" if array.ndim == 1 else "the text of each column"
        advice = f"numbers are needed: convert {text} to numbers, for example with pandas.to_numeric"
    elif kind == "m":
        advice = (
            "a span of time is no number: divide it by a unit, for example "
            f'{argument} / np.timedelta64(1, "s") for seconds'
        )
    elif kind == "M":
        advice = "a point in time is no number: pass the array of numbers"
    else:
        advice = "real numbers are needed: pass an array of floats"
    return f"{argument} is an array of {what}; {advice}"


def _kind_of_objects(array: Any) -> str:
    """The kind that NumPy would give to the objects: text, spans of time, points in time, or others."""
    import numpy as np

    for value in array.flat:
        if isinstance(value, (str, bytes)):
            return "U"
        if isinstance(value, (timedelta, np.timedelta64)):
            return "m"
        # NaT of pandas may stand for a span as well; it differs from itself.
        if isinstance(value, (date, np.datetime64)) and value == value:
            return "M"
    return "O"


def _ragged(argument: str) -> str:
    if argument == "reward":
        return "pass one number for each slate, for example with .astype(float)"
    return (
        f"pass floats of shape {SLOTS}; where slates differ in length, NaN in all arrays for slots that are not "
        "there, or a dataframe with list columns"
    )


def has_nan(*arguments: Any) -> bool:
    """Whether any of the slots' arrays has NaN in it."""
    import numpy as np

    for argument in arguments:
        for array in argument.values() if isinstance(argument, Mapping) else [argument]:
            try:
                if array is not None and np.isnan(np.asarray(array, dtype=float)).any():
                    return True
            except (TypeError, ValueError):
                # No numbers, which has been said already.
                return False
    return False


def of_arguments(
    reward: Any,
    logging: Any,
    target: Any,
    chi: Any,
    anywhere: Any,
    weight: Any,
    by: Any,
    cluster: Any,
    *,
    missing: bool = False,
) -> tuple[_slateval.Table, Columns]:
    """The arrays given as arguments, under the names that a log would give them."""
    columns = Columns(reward="reward", logging="mu")
    slots: list[tuple[str, str, Any]] = [("reward", "reward", reward)]
    if isinstance(reward, str) or reward is None:
        raise DataTypeError(
            "there are no data: pass a log (a dataframe, Arrow data, paths) and the names of its columns, or arrays as "
            "reward, logging and target"
        )
    if logging is None and weight is None:
        raise InputError(f"there are no logging propensities: pass logging=, an array {SLOTS}")
    if logging is not None:
        slots.append(("mu", "logging", logging))
    for argument, base, arrays in (
        ("target", "pi", target),
        ("chi", "chi", chi),
        ("anywhere", "any", anywhere),
        ("weight", "weight", weight),
    ):
        for name, array in _by_target(argument, arrays):
            column = f"{base}_{name}" if name else base
            slots.append((column, f"{argument}[{name!r}]" if name else argument, array))
            if argument == "target" and name:
                columns.target.append((name, column))
            if argument == "weight" and name and not any(own == name for own, _ in columns.target):
                columns.target.append((name, f"pi_{name}"))
    for _, argument, array in slots:
        if isinstance(array, str):
            raise DataTypeError(f"{argument} is the name of a column, and there are no data: pass an array")
    shaped = [(column, argument, _two(array) if argument != "reward" else array) for column, argument, array in slots]
    pieces, shapes = [], {}
    for column, argument, array in shaped:
        one = argument == "reward" or argument.startswith("weight")
        own, shapes[argument] = numbers(column, argument, _flat(array) if one else array, missing and not one)
        pieces += own
    taken = {piece[0] for piece in pieces}
    for argument, values in (("by", by), ("cluster", cluster)):
        if values is None:
            continue
        if isinstance(values, str):
            raise DataTypeError(f"{argument} is the name of a column, and there are no data: pass an array")
        named = _named(argument, values, taken)
        for name, array in named.items():
            piece = labels(name, argument if len(named) == 1 else f"{argument} ({name})", array)
            shapes[piece[0]] = (len(piece[1]),)
            pieces.append(piece)
        setattr(columns, argument, ", ".join(named))
        taken |= set(named)
    check_shapes(shapes)
    return _slateval.Table.from_arrays(pieces), columns


def _named(argument: str, values: Any, taken: set[str]) -> dict[str, Any]:
    """One array or several, under the names they have: those of a frame, of series, of a dict."""
    if argument == "by" and isinstance(values, Mapping):
        given = [(name, array) for name, array in values.items()]
    elif argument == "by" and hasattr(values, "columns") and not callable(values.columns):
        given = [(name, values[name]) for name in values.columns]
    elif argument == "by" and isinstance(values, (list, tuple)) and values and all(map(_is_array, values)):
        given = [(getattr(array, "name", None), array) for array in values]
    else:
        given = [(getattr(values, "name", None), values)]
    named: dict[str, Any] = {}
    for place, (name, array) in enumerate(given, start=1):
        own = name if isinstance(name, str) and name.strip() and name not in taken | set(named) else None
        named[own or (argument if len(given) == 1 else f"{argument}_{place}")] = array
    return named


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array__") and len(getattr(value, "shape", ())) == 1


def _by_target(argument: str, arrays: Any) -> list[tuple[str | None, Any]]:
    if arrays is None:
        return []
    if isinstance(arrays, Mapping):
        for name in arrays:
            if not isinstance(name, str):
                raise DataTypeError(f"{argument}: a target's name must be text, not {name!r}")
        return list(arrays.items())
    return [(None, arrays)]


def _two(array: Any) -> Any:
    """One slot may be given as one column."""
    import numpy as np

    if not isinstance(array, np.ndarray):
        array = np.asarray(array) if hasattr(array, "__array__") else array
    return array.reshape(-1, 1) if getattr(array, "ndim", None) == 1 and array.dtype.kind in "biuf" else array


def _flat(array: Any) -> Any:
    shape: tuple[int, ...] = getattr(array, "shape", ())
    return array.reshape(-1) if len(shape) == 2 and shape[1] == 1 else array
