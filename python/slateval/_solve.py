"""`q' pinv(Gamma)`: how much each item in each slot adds to the weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._columns import Floats
from ._slates import Weighted

# Slot effects (m, K·N) for target marginals (m, K·N), and how far each of those is out of reach.
Solved = Callable[[Floats], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Moments:
    """`E[1_A 1_A']`, one for each part in which slates were drawn."""

    parts: Floats

    def without(self, part: int | None) -> Floats:
        """The mean of all parts but one."""
        if part is None or len(self.parts) == 1:
            mean: Floats = self.parts.mean(axis=0)
            return mean
        rest: Floats = (self.parts.sum(axis=0) - self.parts[part]) / (len(self.parts) - 1)
        return rest


def from_slates(slates: Weighted, items: int) -> Moments:
    """The moments of slates with probabilities."""
    slots = slates.slates.shape[1]
    size = slots * items
    cells = np.arange(slots) * items + slates.slates
    pairs = cells[:, :, None] * size + cells[:, None, :]
    probability = np.broadcast_to(slates.probability[:, None, None], pairs.shape)
    parts = [
        np.bincount(at.ravel(), p.ravel(), size * size).reshape(size, size) * slates.parts
        for at, p in zip(np.split(pairs, slates.parts), np.split(probability, slates.parts), strict=True)
    ]
    return Moments(np.array(parts))


def inverse(moments: Moments, without: int | None) -> Solved:
    """Solves with a generalised inverse of Gamma.

    Any generalised inverse gives the same weights for slates and targets in Gamma's range. Scaling Gamma to a diagonal
    of ones first keeps items apart that are shown rarely from directions that are never taken.
    """
    gamma = moments.without(without)
    marginal = np.diag(gamma)
    shown = np.flatnonzero(marginal > 0)
    scale = np.sqrt(marginal[shown])
    values, vectors = np.linalg.eigh(gamma[np.ix_(shown, shown)] / np.outer(scale, scale))
    kept = values > values[-1] * shown.size * 1e-13
    basis = vectors[:, kept]
    back = (basis / values[kept]).T / scale

    def solve(q: Floats) -> tuple[Floats, Floats]:
        inner = (q[:, shown] / scale) @ basis
        effects = np.zeros_like(q)
        effects[:, shown] = inner @ back
        reached = np.zeros_like(q)
        reached[:, shown] = (inner @ basis.T) * scale
        return effects, np.abs(q - reached).max(axis=1)

    return solve


def uniform(slots: int, items: int) -> Solved:
    """Slates without repeats, all equally likely: the inverse in closed form."""

    def solve(q: Floats) -> tuple[Floats, Floats]:
        by_slot = q.reshape(-1, slots, items)
        anywhere = by_slot.sum(axis=1, keepdims=True)
        if slots == items:
            effects = (items - 1) * by_slot - (items - 2) / slots
            beyond = np.abs(anywhere - 1).max(axis=(1, 2))
        else:
            constant = (slots - 1) / (items - slots) + (slots - 1) / slots
            effects = (items - 1) * (by_slot + anywhere / (items - slots)) - constant
            beyond = np.zeros(len(q))
        return effects.reshape(q.shape), beyond

    return solve
