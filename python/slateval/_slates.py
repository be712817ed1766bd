"""Distributions over whole slates: how they are given, and how they are checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np

from ._columns import Array, Flags, Floats, Ints, factorize
from ._errors import DataTypeError, InputError


@dataclass(frozen=True, eq=False)
class PlackettLuce:
    """A ranker that fills slot after slot, without repeats: an item left is taken in proportion to `exp(score)`.

    Parameters
    ----------
    scores : array (n, N) or (N,)
        The score of each item; (N,) if they are the same in every context. An item with score `-inf` is never shown.

    Examples
    --------
    >>> from slateval.weights import pseudo_inverse
    >>> pseudo_inverse([[0, 1], [1, 0]], logging=PlackettLuce([1.0, 0.0, 0.0]), target=[0, 1]).weights.round(3)
    array([3.252, 0.408])
    """

    scores: Any


@dataclass(frozen=True, eq=False)
class UniformRanking:
    """Slates without repeats, all of them equally likely.

    Parameters
    ----------
    items : int
        How many items there are.

    Examples
    --------
    >>> from slateval.weights import pseudo_inverse
    >>> pseudo_inverse([[0, 1], [1, 0]], logging=UniformRanking(3), target=[0, 1]).weights.round(3)
    array([5., 1.])
    """

    items: int


@dataclass(frozen=True, eq=False)
class Slates:
    """An explicit distribution over slates.

    Parameters
    ----------
    slates : array (S, K)
        The slates that are ever shown, as item numbers from 0.
    probabilities : array (S,) or (n, S)
        Their probabilities; (n, S) if they depend on the context.

    Examples
    --------
    >>> from slateval.weights import pseudo_inverse
    >>> logging = Slates([[0, 1], [1, 0]], probabilities=[0.75, 0.25])
    >>> pseudo_inverse([[0, 1], [0, 1]], logging, target=[0, 1]).weights.round(3)
    array([1.333, 1.333])
    """

    slates: Any
    probabilities: Any


@dataclass(frozen=True, eq=False)
class Sampler:
    """A policy that can only be drawn from.

    Parameters
    ----------
    draw : callable
        `draw(context, size, rng)` gives `size` slates (size, K).
    items : int
        How many items there are.
    contexts : array (n,), optional
        Each row's context; without them `draw` is given None.

    Examples
    --------
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


def rows_of(policy: Any) -> Any:
    """What a policy over slates has for each row of the log; None if it is the same in every row."""
    field = _BY_ROW.get(type(policy))
    if field is None:
        return None
    values = getattr(policy, field)
    # Scores and probabilities of one dimension are those of items and slates.
    return values if isinstance(policy, Sampler) or np.ndim(values) == 2 else None


def with_rows(policy: Any, rows: Any) -> Any:
    """The policy with other values for each row of the log, if it has any."""
    return policy if rows is None else replace(policy, **{_BY_ROW[type(policy)]: rows})


_BY_ROW: dict[type, str] = {PlackettLuce: "scores", Slates: "probabilities", Sampler: "contexts"}


@dataclass(frozen=True)
class Effort:
    """How much to spend: the most sets of items to walk through; else how many slates to draw, in how many parts."""

    slate_limit: int
    samples: int
    parts: int
    seed: int
    threads: int | None = None


@dataclass(frozen=True)
class Rankers:
    """Plackett-Luce rankers by their scores, and which of them each row has."""

    scores: Floats
    index: Ints

    @property
    def items(self) -> int:
        """The number of items."""
        return int(self.scores.shape[1])

    def impossible(self, actions: Ints) -> Flags:
        """Which rows show a slate that has probability 0."""
        never = np.isneginf(self.scores[self.index[:, None], actions]).any(axis=1)
        return never | repeats(actions)


@dataclass(frozen=True)
class Listed:
    """Slates with the probabilities of several policies, and which of these each row has."""

    slates: Ints
    probability: Floats
    index: Ints
    items: int

    def impossible(self, actions: Ints) -> Flags:
        """Which rows show a slate that has probability 0."""
        known = {tuple(slate): at for at, slate in enumerate(self.slates.tolist())}
        at = np.array([known.get(tuple(slate), -1) for slate in actions.tolist()], dtype=np.int64)
        impossible: Flags = (at < 0) | (self.probability[self.index, at] == 0)
        return impossible


@dataclass(frozen=True)
class Drawn:
    """A policy that can only be drawn from, its different contexts, and which of them each row has."""

    policy: Sampler
    contexts: Array | None
    index: Ints
    slots: int

    @property
    def items(self) -> int:
        """The number of items."""
        return self.policy.items

    @property
    def count(self) -> int:
        """The number of different contexts."""
        return 1 if self.contexts is None else int(self.contexts.size)

    def draw(self, which: int, stream: int, effort: Effort) -> Ints:
        """Slates of one of the contexts; different streams are drawn independently."""
        context = None if self.contexts is None else self.contexts[which]
        size = effort.samples
        rng = np.random.default_rng((effort.seed, stream, which))
        slates = np.asarray(self.policy.draw(context, size, rng))
        if slates.shape != (size, self.slots) or slates.dtype.kind not in "iu":
            raise InputError(
                f"the sampler must give whole numbers of shape ({size}, {self.slots}), not {slates.dtype} of shape "
                f"{slates.shape}"
            )
        if slates.min() < 0 or slates.max() >= self.items:
            raise InputError(
                f"the sampler gave an item outside 0 to {self.items - 1}: {slates.min()} to {slates.max()}"
            )
        return slates.astype(np.int64)

    def impossible(self, actions: Ints) -> Flags:
        """No slate is known to be impossible."""
        return np.zeros(actions.shape[0], dtype=bool)


Family = Rankers | Listed | Drawn
"""Distributions over slates, one for each different context."""


def family(policy: Any, rows: int, slots: int) -> Family:
    """A policy over slates as given by the user, for `rows` rows."""
    if isinstance(policy, PlackettLuce):
        return _rankings(policy, rows, slots)
    if isinstance(policy, UniformRanking):
        return _rankings(PlackettLuce(np.zeros(enough(policy.items, slots))), rows, slots)
    if isinstance(policy, Slates):
        return _listed(policy, rows, slots)
    if isinstance(policy, Sampler):
        contexts, index = _distinct_contexts(policy.contexts, rows)
        return Drawn(policy, contexts, index, slots)
    advice = "; wrap a function as Sampler(draw, items=…)" if callable(policy) else ""
    raise DataTypeError(
        f"a policy over slates is PlackettLuce, UniformRanking, Slates or Sampler, not {type(policy).__name__}{advice}"
    )


def _rankings(policy: PlackettLuce, rows: int, slots: int) -> Rankers:
    scores = np.asarray(policy.scores, dtype=np.float64)
    distinct, index = _distinct(scores, rows, "scores")
    if np.isnan(distinct).any() or np.isposinf(distinct).any():
        raise InputError("scores must be numbers, or -inf for items that are never shown")
    enough(int(np.isfinite(distinct).sum(axis=1).min()), slots)
    return Rankers(distinct, index)


def enough(items: int, slots: int) -> int:
    """The number of items, if a slate without repeats can be made of them."""
    if items < slots:
        raise InputError(f"a ranking of {slots} slots without repeats needs at least as many items, there are {items}")
    return items


def _listed(policy: Slates, rows: int, slots: int) -> Listed:
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
    return Listed(slates.astype(np.int64), distinct, index, int(slates.max()) + 1)


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


def sets_of_items(items: int, slots: int) -> int:
    """How many sets of items an exact walk over a ranker's slates has to remember at most."""
    return max(comb(items, size) for size in range(slots))


def repeats(actions: Ints) -> Flags:
    """Which slates show an item twice."""
    in_order = np.sort(actions, axis=1)
    flags: Flags = (in_order[:, 1:] == in_order[:, :-1]).any(axis=1)
    return flags
