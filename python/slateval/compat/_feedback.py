"""Long logs, one row per slot, as arrays with one row per slate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._columns import Array, Flags, Floats, Ints
from .._errors import ColumnError, DataTypeError, InputError
from .._options import slots_argument
from .._rows_of_pandas import in_one_order

# How far a slate's propensity may be from the product of its slots' before those are taken to depend on each other.
TOLERANCE = 1e-6

Pair = tuple[Any, Any]


@dataclass(frozen=True, eq=False)
class Feedback:
    """Slates: `reward` (n,), slot propensities (n, K), and the ratio of whole-slate propensities (n,).

    `slate_id` has the slate of each row, ascending. Slots that a slate does not have are NaN. `logging` and `target`
    are None without slot propensities, `weight` is None without those of slates. Where both are there,
    `logging_is_joint` and `target_is_joint` tell whether a policy's slots depend on each other.
    """

    slate_id: Array
    slots: int
    reward: Floats
    logging: Floats | None
    target: Floats | None
    weight: Floats | None
    logging_is_joint: bool
    target_is_joint: bool

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for `slateval.evaluate(**feedback.arguments())`.

        Slot propensities, if logging's slots are independent as far as can be seen, with `target_slots="joint"` if the
        target's slots are seen to depend on each other. Otherwise the ready-made product weight.
        """
        if self.logging is None or self.logging_is_joint:
            if self.weight is None:
                raise InputError(
                    "the logging policy's slots depend on each other: give evaluation_policy_pscore too, or use "
                    "slateval.weights.pseudo_inverse with the logging policy"
                )
            return {"reward": self.reward, "weight": self.weight, "structure": "given"}
        arguments: dict[str, Any] = {"reward": self.reward, "logging": self.logging, "target": self.target}
        return arguments | slots_argument("joint" if self.target_is_joint else "independent")


def needed(given: Any, name: str, keys: Sequence[str], giver: str) -> None:
    """Refuses a dict that lacks what it should hold."""
    if not isinstance(given, Mapping):
        raise DataTypeError(f"{name} must be a dict of arrays as {giver} give it, not a {type(given).__name__}")
    missing = [key for key in keys if key not in given]
    if missing:
        found = ", ".join(map(repr, given)) or "nothing"
        raise ColumnError(
            f"{name} has no {missing[0]!r}: pass what {giver} give, with {', '.join(keys)}; this one has {found}"
        )


@dataclass(frozen=True)
class _Places:
    """Where each long row goes."""

    slate_id: Array
    row: Ints
    slot: Ints
    slots: int

    def spread(self, values: Floats) -> Floats:
        """Long values as (n, K)."""
        wide = np.full((self.slate_id.size, self.slots), np.nan)
        wide[self.row, self.slot] = values
        return wide


def read_feedback(*, slate_id: Any, position: Any, reward: Any, slots: Pair, slates: Pair) -> Feedback:
    """Slates from long arrays; `slots` and `slates` are the logging and the evaluation policy's propensities."""
    reward, slate_id, position, *given = in_one_order(
        {
            "reward": reward,
            "slate_id": slate_id,
            "position": position,
            "pscore_item_position": slots[0],
            "evaluation_policy_pscore_item_position": slots[1],
            "pscore": slates[0],
            "evaluation_policy_pscore": slates[1],
        }
    ).values()
    slots, slates = (given[0], given[1]), (given[2], given[3])
    rewards = _numbers(reward, "reward", None)
    if not np.isfinite(rewards).all():
        raise InputError(f"reward: row {int((~np.isfinite(rewards)).argmax()) + 1} is not a finite number")
    places = _places(slate_id, position, rewards.size)
    if any(value is None for value in slots) and any(value is None for value in slates):
        raise InputError(
            "give pscore_item_position with evaluation_policy_pscore_item_position, or pscore with "
            "evaluation_policy_pscore"
        )
    mu, pi = _by_slot(slots, places)
    whole_mu, whole_pi = _by_slate(slates, places)
    return Feedback(
        slate_id=places.slate_id,
        slots=places.slots,
        reward=np.bincount(places.row, rewards, places.slate_id.size).astype(np.float64),
        logging=mu,
        target=pi,
        weight=None if whole_mu is None or whole_pi is None else whole_pi / whole_mu,
        logging_is_joint=_differ(mu, whole_mu),
        target_is_joint=_differ(pi, whole_pi),
    )


def _by_slot(pair: Pair, places: _Places) -> tuple[Floats | None, Floats | None]:
    if pair[0] is None or pair[1] is None:
        return None, None
    logging = _propensities(pair[0], "pscore_item_position", places, positive=True)
    target = _propensities(pair[1], "evaluation_policy_pscore_item_position", places, positive=False)
    return places.spread(logging), places.spread(target)


def _by_slate(pair: Pair, places: _Places) -> tuple[Floats | None, Floats | None]:
    logging = _one_per_slate(pair[0], "pscore", places, positive=True)
    return logging, _one_per_slate(pair[1], "evaluation_policy_pscore", places, positive=False)


def _one_per_slate(given: Any, name: str, places: _Places, *, positive: bool) -> Floats | None:
    if given is None:
        return None
    values = _propensities(given, name, places, positive=positive)
    one = np.empty(places.slate_id.size)
    one[places.row] = values
    wrong = values != one[places.row]
    if wrong.any():
        slate = places.slate_id[places.row[int(wrong.argmax())]]
        raise InputError(f"{name}: slate {slate} has different values; it is the whole slate's, the same in each slot")
    return one


def _places(slate_id: Any, position: Any, rows: int) -> _Places:
    slate, slot = np.asarray(slate_id), np.asarray(position)
    for name, values in (("slate_id", slate), ("position", slot)):
        if values.shape != (rows,):
            raise InputError(f"{name} must have {rows} rows as reward has, its shape is {values.shape}")
    if slot.dtype.kind not in "iu":
        raise InputError(f"position must be whole numbers, not {slot.dtype}")
    slates, row = np.unique(slate, return_inverse=True)
    positions, column = np.unique(slot, return_inverse=True)
    cell = row.astype(np.int64) * positions.size + column
    ordered = np.sort(cell)
    twice = np.flatnonzero(ordered[1:] == ordered[:-1])
    if twice.size:
        at = int(ordered[twice[0]])
        raise InputError(f"slate {slates[at // positions.size]} has position {positions[at % positions.size]} twice")
    return _Places(slates, row.astype(np.int64), column.astype(np.int64), int(positions.size))


def _numbers(values: Any, name: str, rows: int | None) -> Floats:
    numbers = np.asarray(values)
    if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "biuf":
        raise InputError(f"{name} must be numbers in one dimension, not {numbers.dtype} of shape {numbers.shape}")
    if rows is not None and numbers.size != rows:
        raise InputError(f"{name} must have {rows} rows as reward has, it has {numbers.size}")
    return numbers.astype(np.float64)


def _propensities(values: Any, name: str, places: _Places, *, positive: bool) -> Floats:
    numbers = _numbers(values, name, places.row.size)
    above: Flags = numbers > 0 if positive else numbers >= 0
    wrong = ~(above & (numbers <= 1 + 1e-6))
    if wrong.any():
        at = int(wrong.argmax())
        raise InputError(f"{name}: row {at + 1} is {numbers[at]}; it must lie in {'(' if positive else '['}0, 1]")
    return np.minimum(numbers, 1.0)


def _differ(slots: Floats | None, slates: Floats | None) -> bool:
    if slots is None or slates is None:
        return False
    product = np.nanprod(slots, axis=1)
    return bool((np.abs(product - slates) > TOLERANCE * np.maximum(product, slates)).any())
