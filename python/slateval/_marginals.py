"""A target's probability of each item in each slot, from what the user gives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ._columns import Floats, Ints
from ._errors import DataTypeError, InputError
from ._slates import Effort, Family, PlackettLuce, Sampler, Slates, UniformRanking, enough, factorises, family


class Marginals(Protocol):
    """Marginals of different targets, and which of them each row has."""

    @property
    def items(self) -> int:
        """The number of items."""
        ...

    @property
    def index(self) -> Ints:
        """The target of each row."""
        ...

    @property
    def parts(self) -> int:
        """The number of parts in which they were drawn; 1 if they are exact."""
        ...

    @property
    def joint(self) -> bool:
        """Whether the slots of a target are known to depend on each other, given the context."""
        ...

    def rows(self, which: Ints, items: int, without: int | None) -> Floats:
        """Some of the targets, (m, K·N), without one of the parts."""
        ...


@dataclass(frozen=True)
class _Known:
    probability: Floats
    index: Ints
    parts: int = 1
    joint: bool = False

    @property
    def items(self) -> int:
        return int(self.probability.shape[2])

    def rows(self, which: Ints, items: int, without: int | None) -> Floats:
        return _flat(self.probability[which], items)


@dataclass(frozen=True)
class _Shown:
    """One slate, for certain: its slots leave nothing to depend on."""

    slates: Ints
    index: Ints
    parts: int = 1
    joint: bool = False

    @property
    def items(self) -> int:
        return int(self.slates.max()) + 1

    def rows(self, which: Ints, items: int, without: int | None) -> Floats:
        slates = self.slates[which]
        marks = np.zeros((*slates.shape, items))
        np.put_along_axis(marks, slates[..., None], 1.0, axis=2)
        return _flat(marks, items)


@dataclass(frozen=True)
class _OfSlates:
    """Marginals (parts, targets, K, N) of policies over slates."""

    probability: Floats
    index: Ints
    joint: bool

    @property
    def items(self) -> int:
        return int(self.probability.shape[3])

    @property
    def parts(self) -> int:
        return int(self.probability.shape[0])

    def rows(self, which: Ints, items: int, without: int | None) -> Floats:
        taken = self.probability[:, which]
        if without is not None and self.parts > 1:
            taken = np.delete(taken, without, axis=0)
        return _flat(taken.mean(axis=0), items)


def _flat(probability: Floats, items: int) -> Floats:
    """(m, K, N) as (m, K·items), items beyond N having probability 0."""
    wider = np.pad(probability, [(0, 0), (0, 0), (0, items - probability.shape[2])])
    return wider.reshape(len(wider), -1)


def target_marginals(target: Any, rows: int, slots: int, effort: Effort) -> Marginals:
    """The target as given by the user, for `rows` slates of `slots` slots."""
    if isinstance(target, UniformRanking):
        alike = np.full((slots, enough(target.items, slots)), 1 / target.items)
        return replace(_known(alike, rows, slots), joint=slots > 1)
    if isinstance(target, PlackettLuce | Slates | Sampler):
        return _of_slates(family(target, rows, slots, effort), slots)
    values = np.asarray(target)
    if values.dtype.kind in "iu":
        return _certain(values, rows, slots)
    if values.dtype.kind == "f":
        return _known(values.astype(np.float64), rows, slots)
    raise DataTypeError(
        "target must be floats (each item's probability in each slot), whole numbers (one slate) or a policy over "
        f"slates, not {type(target).__name__}"
    )


def _of_slates(policy: Family, slots: int) -> Marginals:
    targets, joint = [], False
    for which in range(int(policy.index.max()) + 1):
        slates = policy.weighted(which, stream=1)
        joint = joint or not factorises(slates)
        cells = np.arange(slots) * policy.items + slates.slates
        probability = np.broadcast_to(slates.probability[:, None], cells.shape)
        targets.append(
            [
                np.bincount(at.ravel(), p.ravel(), slots * policy.items).reshape(slots, policy.items) * slates.parts
                for at, p in zip(np.split(cells, slates.parts), np.split(probability, slates.parts), strict=True)
            ]
        )
    return _OfSlates(np.moveaxis(np.array(targets), 1, 0), policy.index, joint)


def _certain(slates: Ints, rows: int, slots: int) -> Marginals:
    if slates.shape not in ((slots,), (rows, slots)):
        raise InputError(
            f"a target of whole numbers is one slate, ({slots},), or one for each row, ({rows}, {slots}), not "
            f"{slates.shape}; give probabilities as floats"
        )
    if slates.min() < 0:
        raise InputError("target: items count from 0")
    each = slates.reshape(-1, slots).astype(np.int64)
    different, index = np.unique(each, axis=0, return_inverse=True)
    return _Shown(different, np.broadcast_to(index.reshape(-1), (rows,)))


def _known(probability: Floats, rows: int, slots: int) -> _Known:
    if probability.ndim not in (2, 3) or probability.shape[:-1] not in ((slots,), (rows, slots)):
        raise InputError(
            f"target must be ({rows}, {slots}, items) or ({slots}, items) probabilities, not {probability.shape}"
        )
    each = probability.reshape(-1, slots, probability.shape[-1])
    wrong = np.argwhere(~((each >= 0) & (each <= 1 + 1e-6)))
    if wrong.size:
        row, slot, item = (int(part) for part in wrong[0])
        raise InputError(
            f"target: row {row + 1}, slot {slot + 1}, item {item}: probability {each[row, slot, item]}; it must lie in "
            "[0, 1]"
        )
    wrong = np.argwhere(np.abs(each.sum(axis=2) - 1) > 1e-6)
    if wrong.size:
        row, slot = (int(part) for part in wrong[0])
        raise InputError(
            f"target: row {row + 1}, slot {slot + 1}: the probabilities sum to {each[row, slot].sum():.9g}, not 1"
        )
    index = np.zeros(rows, dtype=np.int64) if len(each) == 1 else np.arange(rows)
    return _Known(each, index)
