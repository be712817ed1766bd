"""Targets over whole slates: their probability of each item in each slot, and whether slots depend on each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._columns import Array
from ._errors import InputError
from ._marginals import Marginals, target_marginals
from ._policies import Dense, Reader
from ._shown_propensities import Shown
from ._slates import Effort, PlackettLuce, Sampler, Slates, UniformRanking, sets_of_items

OVER_SLATES = (PlackettLuce, Sampler, Slates, UniformRanking)

SET_LIMIT = 50_000
"""The most sets of items that a ranker's probabilities are computed from."""

PER_SLOT = "give its probability of each item in each slot, with target_slots='joint'"


@dataclass(frozen=True)
class _Slots:
    """What a policy over slates shows in each slot."""

    name: str
    marginals: Marginals
    items: int

    def rows(self, start: int, stop: int) -> Array:
        """Those of the rows from `start` to `stop`."""
        index = self.marginals.index[start:stop]
        flat = self.marginals.rows(index, self.items)
        return flat.reshape(index.size, -1, self.items)


def of_slates(reader: Reader, name: str, policy: Any, shown: Shown) -> tuple[Dense, bool]:
    """The policy slot by slot, and whether its slots depend on each other."""
    if name == "logging":
        raise InputError(
            "logging: the slots of a policy over slates depend on each other: use slateval.weights.pseudo_inverse"
        )
    if not shown.present.all():
        raise InputError(f"{name}: a policy over slates needs slates of one length, and some are shorter; {PER_SLOT}")
    _check_size(name, policy, reader.slots)
    effort = Effort(SET_LIMIT, samples=2, parts=2, seed=0)
    marginals = target_marginals(policy, reader.rows, reader.slots, effort)
    known = reader.item_count if reader.items.universe is None else int(reader.items.universe.size)
    if known is not None and marginals.items > known:
        raise InputError(f"{name}: item {marginals.items - 1}, but others know only 0 to {known - 1}")
    return _Slots(name, marginals, known or marginals.items), marginals.joint


def _check_size(name: str, policy: Any, slots: int) -> None:
    """Only what can be counted is exact; what has to be drawn has errors that no interval would know of."""
    if isinstance(policy, Sampler):
        raise InputError(f"{name}: a Sampler can only be drawn from; {PER_SLOT}")
    if not isinstance(policy, PlackettLuce):
        return
    sets = sets_of_items(np.shape(policy.scores)[-1], slots)
    if sets > SET_LIMIT:
        raise InputError(
            f"{name}: its slates are made of {sets:,} sets of items, {SET_LIMIT:,} are the most; {PER_SLOT}"
        )
