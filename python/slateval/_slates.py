"""Distributions over whole slates: how they are given, and their slates with probabilities, listed or drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import perm
from typing import Any, Protocol

import numpy as np

from ._columns import Array, Flags, Floats, Ints, factorize
from ._errors import DataTypeError, InputError


@dataclass(frozen=True, eq=False)
class PlackettLuce:
    """A ranker that fills slot after slot, without repeats: an item left is taken in proportion to `exp(score)`.

    `scores` is (n, N), or (N,) if they are the same in every context. An item with score `-inf` is never shown.

    >>> from slateval.weights import pseudo_inverse
    >>> pseudo_inverse([[0, 1], [1, 0]], logging=PlackettLuce([1.0, 0.0, 0.0]), target=[0, 1]).weights.round(3)
    array([3.252, 0.408])
    """

    scores: Any


@dataclass(frozen=True, eq=False)
class UniformRanking:
    """Slates without repeats from `items` items, all of them equally likely.

    >>> from slateval.weights import pseudo_inverse
    >>> pseudo_inverse([[0, 1], [1, 0]], logging=UniformRanking(3), target=[0, 1]).weights.round(3)
    array([5., 1.])
    """

    items: int


@dataclass(frozen=True, eq=False)
class Slates:
    """An explicit distribution: `slates` (S, K), with `probabilities` (S,), or (n, S) if they depend on the context.

    >>> from slateval.weights import pseudo_inverse
    >>> logging = Slates([[0, 1], [1, 0]], probabilities=[0.75, 0.25])
    >>> pseudo_inverse([[0, 1], [0, 1]], logging, target=[0, 1]).weights.round(3)
    array([1.333, 1.333])
    """

    slates: Any
    probabilities: Any


@dataclass(frozen=True, eq=False)
class Sampler:
    """A policy that can only be drawn from: `draw(context, size, rng)` gives `size` slates (size, K).

    `items` is the number of items; `contexts` (n,) has each row's context, without them `draw` is given None.

    >>> from slateval.weights import pseudo_inverse
    >>> def draw(context, size, rng):
    ...     return np.argsort(rng.random((size, 3)), axis=1)[:, :2]
    >>> w = pseudo_inverse([[0, 1], [1, 0]], logging=Sampler(draw, items=3), target=[0, 1])
    >>> bool((abs(w.weights - [5, 1]) < 5 * w.error).all())
    True
    """

    draw: Callable[[Any, int, np.random.Generator], Any]
    items: int
    contexts: Any = None


@dataclass(frozen=True)
class Effort:
    """How much to spend: the most slates to list one by one, and how many to draw beyond, in how many parts."""

    slate_limit: int
    samples: int
    parts: int
    seed: int


@dataclass(frozen=True)
class Weighted:
    """Slates with probabilities that sum to 1; drawn ones in `parts` parts of equal size, listed ones in 1."""

    slates: Ints
    probability: Floats
    parts: int


class Family(Protocol):
    """Distributions over slates, one for each different context, and which of them each row has."""

    @property
    def items(self) -> int:
        """The number of items."""
        ...

    @property
    def index(self) -> Ints:
        """The distribution of each row."""
        ...

    def weighted(self, which: int, stream: int) -> Weighted:
        """One of the distributions; different streams are drawn independently."""
        ...

    def impossible(self, actions: Ints) -> Flags:
        """Which rows show a slate that has probability 0."""
        ...


@dataclass(frozen=True)
class _Rankings:
    scores: Floats
    index: Ints
    slots: int
    effort: Effort

    @property
    def items(self) -> int:
        return int(self.scores.shape[1])

    def weighted(self, which: int, stream: int) -> Weighted:
        scores = self.scores[which]
        if perm(self.items, self.slots) <= self.effort.slate_limit:
            slates = _all_rankings(self.items, self.slots)
            return Weighted(slates, plackett_luce(scores, slates), 1)
        rng, size = _rng(self.effort, stream, which), (self.effort.samples // self.effort.parts, self.items)
        # The largest scores with Gumbel noise, in their order, are a draw from Plackett and Luce's distribution.
        noisy = (scores + rng.gumbel(size=size) for _ in range(self.effort.parts))
        return _drawn(np.concatenate([np.argsort(-part, axis=1)[:, : self.slots] for part in noisy]), self.effort)

    def impossible(self, actions: Ints) -> Flags:
        never = np.isneginf(self.scores[self.index[:, None], actions]).any(axis=1)
        return never | repeats(actions)


@dataclass(frozen=True)
class _Listed:
    slates: Ints
    probability: Floats
    index: Ints
    items: int

    def weighted(self, which: int, stream: int) -> Weighted:
        shown = self.probability[which] > 0
        return Weighted(self.slates[shown], self.probability[which, shown], 1)

    def impossible(self, actions: Ints) -> Flags:
        known = {tuple(slate): at for at, slate in enumerate(self.slates.tolist())}
        at = np.array([known.get(tuple(slate), -1) for slate in actions.tolist()], dtype=np.int64)
        impossible: Flags = (at < 0) | (self.probability[self.index, at] == 0)
        return impossible


@dataclass(frozen=True)
class _Drawn:
    policy: Sampler
    contexts: Array | None
    index: Ints
    slots: int
    effort: Effort

    @property
    def items(self) -> int:
        return self.policy.items

    def weighted(self, which: int, stream: int) -> Weighted:
        context = None if self.contexts is None else self.contexts[which]
        size = self.effort.samples
        slates = np.asarray(self.policy.draw(context, size, _rng(self.effort, stream, which)))
        if slates.shape != (size, self.slots) or slates.dtype.kind not in "iu":
            raise InputError(
                f"the sampler must give whole numbers of shape ({size}, {self.slots}), not {slates.dtype} of shape "
                f"{slates.shape}"
            )
        if slates.min() < 0 or slates.max() >= self.items:
            raise InputError(
                f"the sampler gave an item outside 0 to {self.items - 1}: {slates.min()} to {slates.max()}"
            )
        return _drawn(slates.astype(np.int64), self.effort)

    def impossible(self, actions: Ints) -> Flags:
        return np.zeros(actions.shape[0], dtype=bool)


def family(policy: Any, rows: int, slots: int, effort: Effort) -> Family:
    """A policy over slates as given by the user, for `rows` rows."""
    if isinstance(policy, PlackettLuce):
        return _rankings(policy, rows, slots, effort)
    if isinstance(policy, UniformRanking):
        return _rankings(PlackettLuce(np.zeros(enough(policy.items, slots))), rows, slots, effort)
    if isinstance(policy, Slates):
        return _listed(policy, rows, slots)
    if isinstance(policy, Sampler):
        contexts, index = _distinct_contexts(policy.contexts, rows)
        return _Drawn(policy, contexts, index, slots, effort)
    advice = "; wrap a function as Sampler(draw, items=…)" if callable(policy) else ""
    raise DataTypeError(
        f"a policy over slates is PlackettLuce, UniformRanking, Slates or Sampler, not {type(policy).__name__}{advice}"
    )


def _rankings(policy: PlackettLuce, rows: int, slots: int, effort: Effort) -> _Rankings:
    scores = np.asarray(policy.scores, dtype=np.float64)
    distinct, index = _distinct(scores, rows, "scores")
    if np.isnan(distinct).any() or np.isposinf(distinct).any():
        raise InputError("scores must be numbers, or -inf for items that are never shown")
    enough(int(np.isfinite(distinct).sum(axis=1).min()), slots)
    return _Rankings(distinct, index, slots, effort)


def enough(items: int, slots: int) -> int:
    """The number of items, if a slate without repeats can be made of them."""
    if items < slots:
        raise InputError(f"a ranking of {slots} slots without repeats needs at least as many items, there are {items}")
    return items


def _listed(policy: Slates, rows: int, slots: int) -> _Listed:
    slates = np.asarray(policy.slates)
    if slates.ndim != 2 or slates.shape[1] != slots or slates.dtype.kind not in "iu" or slates.min() < 0:
        raise InputError(f"slates must be (S, {slots}) item numbers from 0, not {slates.dtype} of shape {slates.shape}")
    if np.unique(slates, axis=0).shape[0] != slates.shape[0]:
        raise InputError("slates must be different from each other: add up the probabilities of equal ones")
    probability = np.asarray(policy.probabilities, dtype=np.float64)
    distinct, index = _distinct(probability, rows, "probabilities")
    if distinct.shape[1] != slates.shape[0]:
        raise InputError(f"{distinct.shape[1]} probabilities for {slates.shape[0]} slates")
    if not ((distinct >= 0) & (distinct <= 1 + 1e-6)).all() or (np.abs(distinct.sum(axis=1) - 1) > 1e-6).any():
        raise InputError("the probabilities of slates must lie in [0, 1] and sum to 1")
    return _Listed(slates.astype(np.int64), distinct, index, int(slates.max()) + 1)


def _distinct(values: Floats, rows: int, what: str) -> tuple[Floats, Ints]:
    """Equal rows once, so that each different policy is worked out once."""
    if values.ndim == 1:
        return values[None], np.zeros(rows, dtype=np.int64)
    if values.ndim != 2 or values.shape[0] != rows:
        raise InputError(f"{what} must be one-dimensional, or have a row for each of {rows} rows, not {values.shape}")
    distinct, index = np.unique(values, axis=0, return_inverse=True)
    return distinct, index.reshape(rows).astype(np.int64)


def _distinct_contexts(contexts: Any, rows: int) -> tuple[Array | None, Ints]:
    if contexts is None:
        return None, np.zeros(rows, dtype=np.int64)
    values = np.asarray(contexts)
    if values.ndim != 1 or values.size != rows:
        raise InputError(f"contexts must be one for each of {rows} rows, not {values.shape}")
    return factorize(values)


@lru_cache(maxsize=4)
def _all_rankings(items: int, slots: int) -> Ints:
    return np.array(list(permutations(range(items), slots)), dtype=np.int64)


def plackett_luce(scores: Floats, slates: Ints) -> Floats:
    """The probability of each of `slates` (S, K), without repeats, under scores (N,)."""
    left = np.repeat(scores[None], slates.shape[0], axis=0)
    everyone = np.arange(slates.shape[0])
    log_probability = np.zeros(slates.shape[0])
    for slot in range(slates.shape[1]):
        chosen = left[everyone, slates[:, slot]]
        top = left.max(axis=1)
        # Nothing but items that are never shown is left, and one of them is asked for.
        top[np.isneginf(top)] = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            total = top + np.log(np.exp(left - top[:, None]).sum(axis=1))
            log_probability += np.where(np.isneginf(chosen), -np.inf, chosen - total)
        left[everyone, slates[:, slot]] = -np.inf
    probability: Floats = np.exp(log_probability)
    return probability


def factorises(slates: Weighted) -> bool:
    """Whether each slate's probability is the product of its slots': then these do not depend on each other.

    Drawn slates can only show it where they are all the same.
    """
    if slates.slates.shape[1] == 1:
        return True
    if slates.parts > 1:
        return bool((slates.slates == slates.slates[0]).all())
    product = np.ones(slates.probability.size)
    for slot in slates.slates.T:
        product *= np.bincount(slot, slates.probability)[slot]
    return bool(np.allclose(product, slates.probability, rtol=0, atol=1e-9))


def repeats(actions: Ints) -> Flags:
    """Which slates show an item twice."""
    in_order = np.sort(actions, axis=1)
    flags: Flags = (in_order[:, 1:] == in_order[:, :-1]).any(axis=1)
    return flags


def _rng(effort: Effort, stream: int, which: int) -> np.random.Generator:
    return np.random.default_rng((effort.seed, stream, which))


def _drawn(slates: Ints, effort: Effort) -> Weighted:
    return Weighted(slates, np.full(slates.shape[0], 1 / slates.shape[0]), effort.parts)
