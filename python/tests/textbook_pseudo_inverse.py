"""The pseudo-inverse weight as a textbook has it: every slate listed, NumPy's eigenvalues. Slow, and short."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np


def rankings(items: int, slots: int) -> Any:
    """Every slate without repeats."""
    return np.array(list(permutations(range(items), slots)))


def plackett_luce(scores: Any, slates: Any) -> Any:
    """The probability of each of `slates` (S, K), without repeats, under scores (N,)."""
    left = np.repeat(np.asarray(scores, dtype=float)[None], len(slates), axis=0)
    everyone = np.arange(len(slates))
    log_probability = np.zeros(len(slates))
    for slot in range(slates.shape[1]):
        chosen = left[everyone, slates[:, slot]]
        top = left.max(axis=1)
        top[np.isneginf(top)] = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            total = top + np.log(np.exp(left - top[:, None]).sum(axis=1))
            log_probability += np.where(np.isneginf(chosen), -np.inf, chosen - total)
        left[everyone, slates[:, slot]] = -np.inf
    return np.exp(log_probability)


def marginals(slates: Any, p: Any, items: int) -> Any:
    """The probability of each item in each slot, (K, N)."""
    slots = slates.shape[1]
    cells = np.arange(slots) * items + slates
    return np.bincount(cells.ravel(), np.repeat(p, slots), slots * items).reshape(slots, items)


def moments(slates: Any, p: Any, items: int) -> Any:
    """`E[1_A 1_A']`, (K·N, K·N)."""
    slots = slates.shape[1]
    size = slots * items
    cells = np.arange(slots) * items + slates
    pairs = cells[:, :, None] * size + cells[:, None, :]
    return np.bincount(pairs.ravel(), np.repeat(p, slots * slots), size * size).reshape(size, size)


def weights(shown: Any, slates: Any, p: Any, q: Any) -> tuple[Any, float]:
    """`q' pinv(Gamma) 1_A` of each slate shown, and how far the target is out of reach."""
    slots, items = q.shape
    gamma = moments(slates, p, items)
    marginal = np.diag(gamma)
    seen = np.flatnonzero(marginal > 0)
    scale = np.sqrt(marginal[seen])
    values, vectors = np.linalg.eigh(gamma[np.ix_(seen, seen)] / np.outer(scale, scale))
    kept = values > values[-1] * seen.size * 1e-13
    basis = vectors[:, kept]
    flat = q.reshape(-1)
    inner = (flat[seen] / scale) @ basis
    effects, reached = np.zeros(flat.size), np.zeros(flat.size)
    effects[seen] = (basis / values[kept]) @ inner / scale
    reached[seen] = (basis @ inner) * scale
    cells = np.arange(slots) * items + shown
    return effects[cells].sum(axis=1), float(np.abs(flat - reached).max())
