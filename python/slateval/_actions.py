"""What was shown: slates of items as an array of whole numbers, -1 where a slate has no such slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._columns import Array, Flags, Ints, places
from ._errors import InputError

MISSING = -1


@dataclass(frozen=True)
class Items:
    """How items are numbered: by a list of them, or by themselves."""

    universe: Array | None

    def encode(self, values: Array, what: str) -> Ints:
        """The number of each item; -1 for one that is not in the list."""
        if self.universe is not None:
            return places(values, self.universe)
        if values.dtype.kind not in "iu":
            raise InputError(
                f"{what} are of type {values.dtype}, not whole numbers: give `items`, the list of all items in the "
                "order in which the policies' probabilities have them"
            )
        return values.astype(np.int64)

    def name(self, number: int) -> str:
        """The item as the user knows it."""
        return str(number) if self.universe is None else repr(self.universe[number : number + 1].tolist()[0])


def item_list(items: Sequence[Any] | Array | None) -> Items:
    """`items` as given by the user."""
    if items is None:
        return Items(None)
    universe = np.asarray(items)
    if universe.ndim != 1 or universe.size == 0:
        raise InputError("items must be a list of at least one item")
    if len(set(universe.tolist())) != universe.size:
        raise InputError("items must be different from each other")
    return Items(universe)


def read_actions(actions: Any, items: Items) -> Ints:
    """`(n, K)` item numbers, -1 for slots that a slate does not have."""
    values, absent = as_matrix(actions)
    present = values[~absent]
    numbers = np.full(values.shape, MISSING, dtype=np.int64)
    numbers[~absent] = items.encode(present, "actions")
    wrong = np.argwhere(~absent & (numbers < 0))
    if wrong.size:
        row, slot = wrong[0]
        raise InputError(
            f"actions: row {row + 1}, slot {slot + 1}: {values[row, slot : slot + 1].tolist()[0]!r} is not an item"
            + (" of `items`" if items.universe is not None else "; -1 stands for a slot that is not there")
        )
    return numbers


def as_matrix(actions: Any) -> tuple[Array, Flags]:
    """`(n, K)` items as they were given, and which slots are not there."""
    masked = actions if isinstance(actions, np.ma.MaskedArray) else None
    try:
        values = np.asarray(actions if masked is None else masked.data)
    except ValueError:
        raise InputError(_ragged(actions)) from None
    if values.ndim == 1 and not (values.dtype == object and any(map(_is_row, values))):
        # One item for each slate: one slot.
        values = values.reshape(-1, 1)
        masked = None if masked is None else masked.reshape(-1, 1)
    if values.ndim != 2:
        raise InputError(_ragged(actions) if values.dtype == object else f"actions must be (n, K), not {values.shape}")
    if values.shape[0] == 0 or values.shape[1] == 0:
        raise InputError(f"actions must have rows and slots; they are {values.shape}")
    absent = np.zeros(values.shape, dtype=bool) if masked is None else np.ma.getmaskarray(masked)
    if values.dtype.kind in "iu":
        absent = absent | (values == MISSING)
    elif values.dtype == object:
        absent = absent | np.frompyfunc(_stands_for_missing, 1, 1)(values).astype(bool)
    return values, absent


def _is_row(value: object) -> bool:
    return isinstance(value, (list, tuple, np.ndarray))


def _stands_for_missing(value: object) -> bool:
    return value is None or (isinstance(value, int) and value == MISSING) or value != value


def _ragged(actions: Any) -> str:
    lengths = [len(row) if hasattr(row, "__len__") else 0 for row in actions]
    odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), 0)
    return (
        f"actions must be (n, K): row {odd + 1} has {lengths[odd]} slots where row 1 has {lengths[0]}; "
        "fill shorter slates with -1"
    )
