"""A target's probability of each item in each slot, from what the user gives."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from . import _slateval
from ._columns import Floats, Ints
from ._errors import DataTypeError, InputError
from ._slates import Drawn, Effort, Listed, PlackettLuce, Rankers, Sampler, Slates, UniformRanking, enough, family


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

    def rows(self, which: Ints, items: int) -> Floats:
        """Some of the targets, (m, K·N)."""
        ...

    def arrays(self, items: int) -> dict[str, Any]:
        """All targets as the native part takes them."""
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

    def rows(self, which: Ints, items: int) -> Floats:
        return _flat(self.probability[which], items)

    def arrays(self, items: int) -> dict[str, Any]:
        return {"goals": _flat(self.probability, items).reshape(-1)}


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

    def rows(self, which: Ints, items: int) -> Floats:
        slates = self.slates[which]
        marks = np.zeros((*slates.shape, items))
        np.put_along_axis(marks, slates[..., None], 1.0, axis=2)
        return _flat(marks, items)

    def arrays(self, items: int) -> dict[str, Any]:
        return {"goal_slates": self.slates.reshape(-1)}


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

    def rows(self, which: Ints, items: int) -> Floats:
        return _flat(self.probability[:, which].mean(axis=0), items)

    def arrays(self, items: int) -> dict[str, Any]:
        each = self.probability.reshape(-1, *self.probability.shape[2:])
        return {"goals": _flat(each, items).reshape(-1)}


def _flat(probability: Floats, items: int) -> Floats:
    """(m, K, N) as (m, K·items), items beyond N having probability 0."""
    if items > probability.shape[2]:
        probability = np.pad(probability, [(0, 0), (0, 0), (0, items - probability.shape[2])])
    return np.ascontiguousarray(probability).reshape(len(probability), -1)


def target_marginals(target: Any, rows: int, slots: int, effort: Effort) -> Marginals:
    """The target as given by the user, for `rows` slates of `slots` slots."""
    if isinstance(target, UniformRanking):
        alike = np.full((slots, enough(target.items, slots)), 1 / target.items)
        return replace(_known(alike, rows, slots), joint=slots > 1)
    if isinstance(target, PlackettLuce | Slates | Sampler):
        return _of_slates(family(target, rows, slots), slots, effort)
    values = np.asarray(target)
    if values.dtype.kind in "iu":
        return _certain(values, rows, slots)
    if values.dtype.kind == "f":
        return _known(values.astype(np.float64), rows, slots)
    raise DataTypeError(
        "target must be floats (each item's probability in each slot), whole numbers (one slate) or a policy over "
        f"slates, not {type(target).__name__}"
    )


def _of_slates(policy: Rankers | Listed | Drawn, slots: int, effort: Effort) -> Marginals:
    if isinstance(policy, Rankers):
        return _of_rankers(policy, slots, effort)
    if isinstance(policy, Listed):
        joint = not all(_factorises(policy.slates, p) for p in policy.probability)
        shares = [_shares(policy.slates, p, policy.items) for p in policy.probability]
        return _OfSlates(np.array([shares]), policy.index, joint)
    drawn = (policy.draw(which, stream=1, effort=effort) for which in range(policy.count))
    parts, joint = [], False
    for slates in drawn:
        joint = joint or (slots > 1 and not (slates == slates[0]).all())
        each = np.split(slates, effort.parts)
        parts.append([_shares(part, np.full(len(part), 1 / len(part)), policy.items) for part in each])
    return _OfSlates(np.moveaxis(np.array(parts), 1, 0), policy.index, joint)


def _of_rankers(policy: Rankers, slots: int, effort: Effort) -> Marginals:
    count, items = policy.scores.shape
    request = native_request(slots, items, effort)
    scores = np.ascontiguousarray(policy.scores).reshape(-1)
    parts, found = _slateval.ranker_marginals(json.dumps(request), scores)
    probability = np.frombuffer(found).reshape(parts, count, slots, items)
    return _OfSlates(probability, policy.index, _repeats_are_missed(probability.mean(axis=0)))


def native_request(slots: int, items: int, effort: Effort) -> dict[str, Any]:
    """What the native part needs to know beside its arrays."""
    return {
        "slots": slots,
        "items": items,
        "limit": effort.slate_limit,
        "samples": effort.samples,
        "parts": effort.parts,
        "seed": effort.seed,
        "threads": effort.threads,
    }


def _repeats_are_missed(probability: Floats) -> bool:
    """Whether slots (m, K, N) that never show one item twice would do so were they independent."""
    slots = range(probability.shape[1])
    pairs = ((probability[:, k] * probability[:, j]).max() for k in slots for j in range(k))
    return any(pair > 1e-9 for pair in pairs)


def _shares(slates: Ints, p: Floats, items: int) -> Floats:
    """The probability of each item in each slot, (K, N)."""
    slots = slates.shape[1]
    cells = np.arange(slots) * items + slates
    found = np.bincount(cells.ravel(), np.repeat(p, slots), slots * items)
    return found.astype(np.float64).reshape(slots, items)


def _factorises(slates: Ints, p: Floats) -> bool:
    """Whether each slate's probability is the product of its slots': then these do not depend on each other."""
    if slates.shape[1] == 1:
        return True
    slates, p = slates[p > 0], p[p > 0]
    product = np.ones(p.size)
    for slot in slates.T:
        product *= np.bincount(slot, p)[slot]
    return bool(np.allclose(product, p, rtol=0, atol=1e-9))


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
