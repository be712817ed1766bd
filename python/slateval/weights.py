"""Weights for logging policies whose slots depend on each other, such as rankers that show no item twice.

With `Gamma(x) = E_mu[1_A 1_A' | x]`, where `1_A` marks which item stands in which slot, and `q(x) = E_pi[1_A | x]`, the
additive weight for any logging policy is `G = q' pinv(Gamma) 1_A` (Swaminathan et al., "Off-policy evaluation for slate
recommendation", 2017). It equals `1 + sum_k (pi_k/mu_k - 1)` where the slots are independent, and is right, as that
one is, if the reward's distribution is a sum of slot effects::

    w = slateval.weights.pseudo_inverse(actions, logging=PlackettLuce(scores), target=new_slates)
    slateval.evaluate(reward=reward, **w.arguments())
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import _slateval
from ._columns import Flags, Floats, Ints
from ._errors import InputError
from ._marginals import Marginals, native_request, target_marginals
from ._options import TargetSlots, slots_argument
from ._options import threads as threads_option
from ._progress import teller
from ._rows_of_pandas import in_one_order_with_labels, labelled
from ._slates import (
    Drawn,
    Effort,
    Family,
    Listed,
    PlackettLuce,
    Rankers,
    Sampler,
    Slates,
    UniformRanking,
    family,
    rows_of,
    with_rows,
)

__all__ = ["PlackettLuce", "PseudoInverse", "Sampler", "Slates", "UniformRanking", "pseudo_inverse"]

LARGEST = 2000
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class PseudoInverse:
    """Weights, to be evaluated as they are.

    Parameters
    ----------
    weights : array (n,)
        The weight of each row.
    error : array (n,) or None
        None if nothing was drawn: the weights are then exact. Otherwise each weight's standard error from having drawn
        slates. Rows of one policy share their draws, so it does not average out over such rows: draw more (`samples`)
        until it is small beside the weights.
    unsupported : array (n,)
        How far each row's target lies outside of what logging can tell of, in probability; 0 but for rounding if it is
        supported.
    target_slots : {"independent", "joint"}
        "joint" if the target's slots are known to depend on each other given the context, as those of a ranker without
        repeats do.

    If actions were of pandas, their index is remembered, and `arguments()` has it.

    Examples
    --------
    >>> w = pseudo_inverse([[0, 1], [1, 0], [1, 2]], UniformRanking(3), [0, 1])
    >>> w.weights.round(6), w.error
    (array([ 5.,  1., -1.]), None)
    """

    weights: Floats
    error: Floats | None
    unsupported: Floats
    target_slots: TargetSlots = "independent"
    _labels: Any = None
    """The pandas index of the rows, if they have one."""

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for `slateval.evaluate(reward=reward, **w.arguments())`.

        Returns
        -------
        dict
            The arguments by name. If actions were of pandas, the weights are a Series with the index of the actions,
            so that `evaluate` matches rows with the labels of `reward`, or refuses labels that differ.
        """
        weight = labelled(self.weights, self._labels)
        return {"weight": weight, "structure": "given"} | slots_argument(self.target_slots)

    def __repr__(self) -> str:
        """A line.

        >>> pseudo_inverse([[0, 1], [1, 0], [1, 2]], UniformRanking(3), [0, 1])
        <PseudoInverse: 3 weights from -1 to 5, mean 1.67, exact>
        """
        low, high, mean = self.weights.min(), self.weights.max(), self.weights.mean()
        exact = "exact" if self.error is None else f"standard errors up to {self.error.max():.3g} from drawing"
        beyond = self.unsupported.max()
        missing = f", up to {beyond:.3g} of a target out of reach" if beyond > TOLERANCE else ""
        found = f"{self.weights.size:,} weights from {low:.3g} to {high:.3g}, mean {mean:.3g}"
        return f"<PseudoInverse: {found}, {exact}{missing}>"


def pseudo_inverse(
    actions: Any,
    logging: PlackettLuce | UniformRanking | Slates | Sampler,
    target: Any,
    *,
    slate_limit: int = 50_000,
    samples: int = 100_000,
    parts: int = 20,
    seed: int = 0,
    on_unsupported: Literal["error", "warn"] = "error",
    threads: int | None = None,
    progress: Any = None,
) -> PseudoInverse:
    """The additive weight of each slate shown, for a logging policy over whole slates.

    It takes the reward to be a sum of effects of single slots, given the context. What two items do together it gets
    wrong, and nothing in the result shows it: a weight that is given is taken as it is.

    The weights of a Plackett-Luce ranker are exact where its slates are made of at most `slate_limit` sets of items:
    those that can fill all slots but the last. Five slots of 20 items have 4,845 such sets (and 1,860,480 slates).
    Beyond, and for a `Sampler`, slates are drawn. Rows with the same policy share one inverse of a matrix with K·N
    rows.

    Parameters
    ----------
    actions : array (n, K)
        What was shown, as item numbers from 0.
    logging : PlackettLuce, UniformRanking, Slates or Sampler
        The policy that wrote the log.
    target : array or policy
        The probability of each item in each slot, (n, K, N) or (K, N), as floats; the one slate that it shows, (n, K)
        or (K,), as whole numbers; or a policy over slates, as `logging` is.
    slate_limit : int
        The most sets of items to walk through.
    samples, parts, seed : int
        How many slates are drawn beyond that, and from where. `error` tells what drawing costs: the standard error by
        leaving out one of `parts` parts at a time.
    on_unsupported : {"error", "warn"}
        What to do with a target outside of what logging's slates can tell of: "warn" leaves that part of it out, and
        `unsupported` tells how much it is.
    threads : int, optional
        Different policies are shared out among so many; all processors if None.
    progress : bool, callable or bar, optional
        As for `evaluate`, in rows. Ctrl-C ends it.

    Returns
    -------
    PseudoInverse
        The weights; `slateval.evaluate(reward=reward, **w.arguments())` takes them.

    Raises
    ------
    InputError
        For values and shapes that cannot be right, and for a target that logging cannot tell of.

    Examples
    --------
    Logging ranks two of three items uniformly, the target always shows (0, 1):

    >>> w = pseudo_inverse([[0, 1], [1, 0], [1, 2]], UniformRanking(3), [0, 1])
    >>> w.weights.round(6), w.error
    (array([ 5.,  1., -1.]), None)

    The same weights, as of a ranker that scores all items alike:

    >>> w = pseudo_inverse([[0, 1], [1, 0], [1, 2]], PlackettLuce([0.0, 0.0, 0.0]), [0, 1])
    >>> w.weights.round(6)
    array([ 5.,  1., -1.])
    """
    effort = _effort(slate_limit, samples, parts, seed, threads)
    if on_unsupported not in ("error", "warn"):
        raise InputError(f"on_unsupported must be 'error' or 'warn', not {on_unsupported!r}")
    actions, logging, target, labels = _in_one_order(actions, logging, target)
    shown = _read_actions(actions)
    count, slots = shown.shape
    policy = family(logging, count, slots)
    goal = target_marginals(target, count, slots, effort)
    items = max(policy.items, goal.items)
    _check(shown, policy, goal, items, is_fixed=isinstance(logging, PlackettLuce | UniformRanking | Sampler))
    if not isinstance(logging, UniformRanking):
        _check_size(slots, items)
    work = _Work(shown, goal, items, effort, teller(progress))
    if isinstance(logging, UniformRanking):
        alike = np.zeros(count, dtype=np.int64)
        weights, errors, beyond = work.run("uniform", np.arange(count), alike, {})
    elif isinstance(policy, Drawn):
        weights, errors, beyond = work.context_by_context(policy)
    else:
        weights, errors, beyond = work.run(*_native(policy, count))
    _report(beyond, on_unsupported)
    return PseudoInverse(weights, errors, beyond, "joint" if goal.joint else "independent", labels)


def _in_one_order(actions: Any, logging: Any, target: Any) -> tuple[Any, Any, Any, Any]:
    """Rows of pandas objects in the order of `actions`, and the index that they then have."""
    # A frame of probabilities (K, N) has a row for each slot, and one of whole numbers (n, K) one for each slate.
    is_policy = isinstance(target, PlackettLuce | Slates | Sampler)
    is_by_row = hasattr(target, "iloc") and np.asarray(target).dtype.kind in "iu" and np.ndim(target) == 2
    by_row = rows_of(target) if is_policy else target if is_by_row else None
    found, labels = in_one_order_with_labels({"actions": actions, "logging": rows_of(logging), "target": by_row})
    rows = found["target"]
    target = with_rows(target, rows) if is_policy else target if rows is None else rows
    return found["actions"], with_rows(logging, found["logging"]), target, labels


Found = tuple[Floats, Floats | None, Floats]
"""Weights, their errors if slates were drawn, and how far each target is out of reach."""


@dataclass(frozen=True)
class _Work:
    """All that the native part needs but the logging policy."""

    shown: Ints
    goal: Marginals
    items: int
    effort: Effort
    tell: Any

    def run(self, kind: str, rows: Ints, policy: Ints, arrays: dict[str, Any], offset: int = 0) -> Found:
        """The weights of some rows, each with the number of its policy."""
        slots = self.shown.shape[1]
        goals = self.goal.arrays(self.items)
        request = native_request(slots, self.items, self.effort)
        request |= {"logging": kind, "goal_parts": self.goal.parts if "goals" in goals else 0}
        arrays = arrays | goals | {"policy": policy, "goal": self.goal.index[rows], "rows": rows}
        arrays["actions"] = self.shown[rows].reshape(-1)
        given = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        found = _slateval.pseudo_inverse(json.dumps(request), given, self._teller(offset))
        weights, errors, beyond = (None if part is None else np.frombuffer(part).copy() for part in found)
        assert weights is not None and beyond is not None
        return weights, errors, beyond

    def context_by_context(self, policy: Drawn) -> Found:
        """Only Python can draw from a sampler: one context after the other."""
        weights, errors, beyond = (np.zeros(len(self.shown)) for _ in range(3))
        order = np.argsort(policy.index, kind="stable")
        done = 0
        for rows in np.split(order, np.flatnonzero(np.diff(policy.index[order])) + 1):
            slates = policy.draw(int(policy.index[rows[0]]), stream=0, effort=self.effort)
            alike = np.zeros(rows.size, dtype=np.int64)
            found = self.run("drawn", rows, alike, {"slates": slates.reshape(-1)}, done)
            weights[rows], beyond[rows] = found[0], found[2]
            errors[rows] = 0.0 if found[1] is None else found[1]
            done += rows.size
        return weights, errors, beyond

    def _teller(self, offset: int) -> Any:
        tell, total = self.tell, len(self.shown)
        return None if tell is None else lambda rows, _: tell(offset + rows, total)


def _native(policy: Rankers | Listed, count: int) -> tuple[str, Ints, Ints, dict[str, Any]]:
    """A policy as the native part takes it."""
    rows = np.arange(count)
    if isinstance(policy, Rankers):
        return "rankers", rows, policy.index, {"scores": policy.scores.reshape(-1)}
    arrays = {"slates": policy.slates.reshape(-1), "probability": policy.probability.reshape(-1)}
    return "listed", rows, policy.index, arrays


def _check_size(slots: int, items: int) -> None:
    if slots * items > LARGEST:
        raise InputError(
            f"{slots} slots of {items} items need a matrix of {slots * items} rows; {LARGEST} are the most: leave "
            "items out that are never shown"
        )


def _effort(slate_limit: int, samples: int, parts: int, seed: int, threads: int | None) -> Effort:
    if parts < 2 or samples < parts or samples % parts:
        raise InputError(f"samples ({samples}) must be a multiple of parts ({parts}), and parts at least 2")
    if slate_limit < 0 or seed < 0:
        raise InputError(f"slate_limit ({slate_limit}) and seed ({seed}) must not be negative")
    return Effort(slate_limit, samples, parts, seed, threads_option(threads))


def _read_actions(actions: Any) -> Ints:
    values = np.asarray(actions)
    if values.ndim != 2 or 0 in values.shape or values.dtype.kind not in "iu":
        raise InputError(f"actions must be whole numbers of shape (n, K), not {values.dtype} of shape {values.shape}")
    wrong = np.argwhere(values < 0)
    if wrong.size:
        row, slot = wrong[0]
        raise InputError(f"actions: row {row + 1}, slot {slot + 1}: {values[row, slot]}; items count from 0")
    return values.astype(np.int64)


def _check(shown: Ints, policy: Family, goal: Marginals, items: int, is_fixed: bool) -> None:
    if is_fixed and goal.items > policy.items:
        raise InputError(f"target is of {goal.items} items, logging of {policy.items}")
    unknown: Flags = np.any(shown >= policy.items, axis=1)
    impossible = unknown | policy.impossible(np.minimum(shown, policy.items - 1))
    if impossible.any():
        row = int(impossible.argmax())
        raise InputError(f"row {row + 1}: slate {shown[row].tolist()} was shown, but has probability 0 under logging")


def _report(beyond: Floats, on_unsupported: str) -> None:
    if not (beyond > TOLERANCE).any():
        return
    row = int(beyond.argmax())
    message = (
        f"target shows what logging never shows in {np.mean(beyond > TOLERANCE):.3%} of the rows, most in row "
        f"{row + 1}: a probability of {beyond[row]:.6g} is out of the log's reach"
    )
    if on_unsupported == "error":
        raise InputError(
            message
            + "; evaluate a target that stays within what logging shows, draw more samples if slates were drawn, "
            "or leave that part out with on_unsupported='warn'"
        )
    warnings.warn(message + " and is left out", UserWarning, stacklevel=3)
