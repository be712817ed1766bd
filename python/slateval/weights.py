"""Weights for logging policies whose slots depend on each other, such as rankers that show no item twice.

With `Gamma(x) = E_mu[1_A 1_A' | x]`, where `1_A` marks which item stands in which slot, and `q(x) = E_pi[1_A | x]`, the
additive weight for any logging policy is `G = q' pinv(Gamma) 1_A` (Swaminathan et al., "Off-policy evaluation for slate
recommendation", 2017). It equals `1 + sum_k (pi_k/mu_k - 1)` where the slots are independent, and is right, as that
one is, if the reward's distribution is a sum of slot effects::

    w = slateval.weights.pseudo_inverse(actions, logging=PlackettLuce(scores), target=new_slates)
    slateval.evaluate(reward=reward, **w.arguments())
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ._columns import Flags, Floats, Ints
from ._errors import InputError
from ._marginals import Marginals, target_marginals
from ._options import TargetSlots, slots_argument
from ._slates import Effort, Family, PlackettLuce, Sampler, Slates, UniformRanking, family
from ._solve import Solved, from_slates, inverse, uniform

__all__ = ["PlackettLuce", "PseudoInverse", "Sampler", "Slates", "UniformRanking", "pseudo_inverse"]

LARGEST = 2000
CELLS_AT_ONCE = 1 << 22
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class PseudoInverse:
    """Weights (n,), to be evaluated as they are.

    `error` is None where all slates could be listed. Otherwise it is each weight's standard error from having drawn
    them. Rows of one policy share their draws, so it does not average out over such rows: draw more (`samples`) until
    it is small beside the weights. `unsupported` (n,) tells how far each row's target lies outside of what logging can
    tell of, in probability; 0 but for rounding if it is supported. `target_slots` is `"joint"` if the target's slots
    are known to depend on each other given the context, as those of a ranker without repeats do.
    """

    weights: Floats
    error: Floats | None
    unsupported: Floats
    target_slots: TargetSlots = "independent"

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for `slateval.evaluate(reward=reward, **w.arguments())`."""
        return {"weight": self.weights, "structure": "given"} | slots_argument(self.target_slots)


def pseudo_inverse(
    actions: Any,
    logging: PlackettLuce | UniformRanking | Slates | Sampler,
    target: Any,
    *,
    slate_limit: int = 20_000,
    samples: int = 100_000,
    parts: int = 20,
    seed: int = 0,
    on_unsupported: Literal["error", "warn"] = "error",
) -> PseudoInverse:
    """The additive weight of each slate shown, for a logging policy over whole slates.

    `actions` is an array (n, K) of item numbers from 0. `target` is one of

    - the probability of each item in each slot, (n, K, N) or (K, N), as floats;
    - the one slate that it shows, (n, K) or (K,), as whole numbers;
    - a policy over slates, as `logging` is.

    Rows with the same policy share one inverse of a matrix with K·N rows. Rankings of up to `slate_limit` slates are
    listed and the weights exact. Beyond, and for a `Sampler`, `samples` slates are drawn from `seed`, and `error`
    tells what that costs: the standard error by leaving out one of `parts` parts at a time.

    A target outside of what logging's slates can tell of is an error. With `on_unsupported="warn"` that part of it is
    left out, and `unsupported` tells how much it is.

    Logging ranks two of three items uniformly, the target always shows (0, 1):

    >>> w = pseudo_inverse([[0, 1], [1, 0], [1, 2]], UniformRanking(3), [0, 1])
    >>> w.weights.round(6), w.error
    (array([ 5.,  1., -1.]), None)

    The same weights, as of a ranker that scores all items alike:

    >>> w = pseudo_inverse([[0, 1], [1, 0], [1, 2]], PlackettLuce([0.0, 0.0, 0.0]), [0, 1])
    >>> w.weights.round(6)
    array([ 5.,  1., -1.])
    """
    effort = _effort(slate_limit, samples, parts, seed)
    if on_unsupported not in ("error", "warn"):
        raise InputError(f"on_unsupported must be 'error' or 'warn', not {on_unsupported!r}")
    shown = _read_actions(actions)
    count, slots = shown.shape
    policy = family(logging, count, slots, effort)
    goal = target_marginals(target, count, slots, effort)
    items = max(policy.items, goal.items)
    _check(shown, policy, goal, items, is_fixed=isinstance(logging, PlackettLuce | UniformRanking | Sampler))
    weights, errors, beyond = np.empty(count), np.zeros(count), np.zeros(count)
    sampled = goal.parts > 1
    for rows, solver_parts, solve in _solvers(logging, policy, shown, items):
        drawn_in = max(solver_parts, goal.parts)
        sampled |= drawn_in > 1
        weights[rows], beyond[rows] = _weights(shown[rows], rows, goal, items, solve, None)
        if drawn_in > 1:
            without = [_weights(shown[rows], rows, goal, items, solve, part)[0] for part in range(drawn_in)]
            # The delete-one-part jackknife.
            errors[rows] = np.sqrt((drawn_in - 1) * np.var(without, axis=0))
    _report(beyond, on_unsupported)
    return PseudoInverse(weights, errors if sampled else None, beyond, "joint" if goal.joint else "independent")


Solver = Callable[[int | None], Solved]


def _solvers(logging: Any, policy: Family, shown: Ints, items: int) -> Iterator[tuple[Ints, int, Solver]]:
    """For each different logging policy its rows, the number of parts it was drawn in, and how to solve for it."""
    slots = shown.shape[1]
    if isinstance(logging, UniformRanking):
        yield np.arange(len(shown)), 1, lambda _: uniform(slots, items)
        return
    if slots * items > LARGEST:
        raise InputError(
            f"{slots} slots of {items} items need a matrix of {slots * items} rows; {LARGEST} are the most: leave "
            "items out that are never shown"
        )
    order = np.argsort(policy.index, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(policy.index[order])) + 1):
        slates = policy.weighted(int(policy.index[rows[0]]), stream=0)
        moments = from_slates(slates, items)
        whole = inverse(moments, None)
        if slates.parts == 1:
            yield rows, 1, lambda _, whole=whole: whole  # type: ignore[misc]
        else:
            _check_reached(shown[rows], rows, whole, items)
            yield rows, slates.parts, lambda part, moments=moments: inverse(moments, part)  # type: ignore[misc]


def _weights(
    shown: Ints, rows: Ints, goal: Marginals, items: int, solve: Solver, without: int | None
) -> tuple[Floats, Floats]:
    """The weights of `rows`, and how far each target is out of reach."""
    solved = solve(without)
    slots = shown.shape[1]
    cells = np.arange(slots) * items + shown
    weights, beyond = np.empty(len(rows)), np.empty(len(rows))
    different, which = np.unique(goal.index[rows], return_inverse=True)
    step = max(1, CELLS_AT_ONCE // (slots * items))
    order = np.argsort(which, kind="stable")
    for start in range(0, different.size, step):
        part = order[slice(*np.searchsorted(which[order], [start, start + step]))]
        q = goal.rows(different[start : start + step], items, without)
        effects, residual = solved(q)
        at = which[part] - start
        weights[part] = effects[at[:, None], cells[part]].sum(axis=1)
        beyond[part] = residual[at]
    return weights, beyond


def _effort(slate_limit: int, samples: int, parts: int, seed: int) -> Effort:
    if parts < 2 or samples < parts or samples % parts:
        raise InputError(f"samples ({samples}) must be a multiple of parts ({parts}), and parts at least 2")
    if slate_limit < 0 or seed < 0:
        raise InputError(f"slate_limit ({slate_limit}) and seed ({seed}) must not be negative")
    return Effort(slate_limit, samples, parts, seed)


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


def _check_reached(shown: Ints, rows: Ints, solved: Solved, items: int) -> None:
    """Drawn slates must tell of every slate shown."""
    different, which = np.unique(shown, axis=0, return_inverse=True)
    marks = np.zeros((len(different), shown.shape[1] * items))
    np.put_along_axis(marks, np.arange(shown.shape[1]) * items + different, 1.0, axis=1)
    step = max(1, CELLS_AT_ONCE // marks.shape[1])
    for start in range(0, len(different), step):
        residual = solved(marks[start : start + step])[1]
        if (residual > TOLERANCE).any():
            slate = start + int(residual.argmax())
            row = int(rows[np.flatnonzero(which.reshape(-1) == slate)[0]])
            raise InputError(
                f"row {row + 1}: slate {different[slate].tolist()} was shown, but no slates drawn from logging tell of "
                "it: draw more samples, or check the policy"
            )


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
