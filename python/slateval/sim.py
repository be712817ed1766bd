"""Logs of simulated recommenders whose truth is known.

Each function returns the log, as a table that any Arrow library and `slateval.evaluate` take, and the truth about its
policies as a dict (schema `slateval/truth/1`).

>>> import slateval
>>> log, truth = slateval.sim.additive(rows=20_000, seed=7)
>>> ev = slateval.evaluate(log)
>>> mean = ev["target"].mean
>>> mean.lower < truth["policies"][1]["mean"] < mean.upper
True

Policies are written as on the command line: `uniform`, `deterministic`, `epsilon-greedy:E`, `softmax:S`, `ranking`,
`plackett-luce:S`, and for logging also `mismatch`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from . import _slateval
from ._errors import DataTypeError
from ._options import number, numbers, text, threads, whole

Target = str | Mapping[str, str] | None
Simulated = tuple[_slateval.Table, dict[str, Any]]


def additive(
    rows: int = 100_000,
    *,
    slots: int = 3,
    items: int = 3,
    curves: Literal["slices", "powers"] = "slices",
    logging: str = "uniform",
    target: Target = None,
    seed: int = 1,
    **more: Any,
) -> Simulated:
    """A CDF that is a mean over slots: what the additive weight needs.

    Parameters
    ----------
    rows : int
        How many slates.
    slots, items : int
        How many slots a slate has, and how many items there are for each.
    curves : {"slices", "powers"}
        What each slot's own distribution looks like.
    logging : str
        The policy that writes the log.
    target : str or dict, optional
        The target policy, or several by name.
    seed : int
        Where the random numbers begin; the same seed gives the same log.
    **more
        `truth_rows`, `alpha`, `quantile` and `threads`: how the truth is told.

    Returns
    -------
    tuple of Table and dict
        The log, and the truth about its policies.

    Raises
    ------
    InputError
        For a policy or a number that there is not.

    Examples
    --------
    >>> log, truth = additive(rows=100, slots=2, seed=7)
    >>> len(log), [policy["name"] for policy in truth["policies"]]
    (100, ['logging', 'target'])
    """
    return _simulate("additive", rows, slots, items, logging, target or "deterministic", seed, {"curves": curves}, more)


def pairwise(
    rows: int = 100_000,
    *,
    slots: int = 4,
    items: int = 3,
    any_interaction: bool = False,
    logging: str = "uniform",
    target: Target = None,
    seed: int = 1,
    **more: Any,
) -> Simulated:
    """A CDF that is a mean over pairs of slots: what order 2 needs.

    Parameters
    ----------
    rows : int
        How many slates.
    slots, items : int
        How many slots a slate has, and how many items there are for each.
    any_interaction : bool
        Whether pairs of slots interact in any way.
    logging : str
        The policy that writes the log.
    target : str or dict, optional
        The target policy, or several by name.
    seed : int
        Where the random numbers begin; the same seed gives the same log.
    **more
        `truth_rows`, `alpha`, `quantile` and `threads`: how the truth is told.

    Returns
    -------
    tuple of Table and dict
        The log, and the truth about its policies.

    Raises
    ------
    InputError
        For a policy or a number that there is not.

    Examples
    --------
    >>> log, truth = pairwise(rows=100, slots=2, seed=7)
    >>> len(log), truth["policies"][1]["mean"] > 0
    (100, True)
    """
    own = {"any_interaction": bool(any_interaction)}
    default = f"epsilon-greedy:{0.2 / whole('items', items, 1)}"
    return _simulate("pairwise", rows, slots, items, logging, target or default, seed, own, more)


def cascade(
    rows: int = 100_000,
    *,
    slots: int = 3,
    items: int = 10,
    logging: str = "uniform",
    target: Target = None,
    seed: int = 1,
    **more: Any,
) -> Simulated:
    """Clicks that depend on what stands above.

    Parameters
    ----------
    rows : int
        How many slates.
    slots, items : int
        How many slots a slate has, and how many items there are for each.
    logging : str
        The policy that writes the log.
    target : str or dict, optional
        The target policy, or several by name.
    seed : int
        Where the random numbers begin; the same seed gives the same log.
    **more
        `truth_rows`, `alpha`, `quantile` and `threads`: how the truth is told.

    Returns
    -------
    tuple of Table and dict
        The log, and the truth about its policies.

    Raises
    ------
    InputError
        For a policy or a number that there is not.

    Examples
    --------
    >>> log, truth = cascade(rows=100, slots=2, truth_rows=1000, seed=7)
    >>> log.column_names[:4]
    ['context', 'reward', 'item_1', 'item_2']
    """
    return _simulate("cascade", rows, slots, items, logging, target or "softmax:3", seed, {}, more)


def ratings(
    path: str | os.PathLike[str],
    rows: int = 100_000,
    *,
    slots: int = 5,
    items: int = 20,
    reward: Literal["ndcg", "dcg"] = "ndcg",
    threshold: float = 4.0,
    fewest: int = 5,
    likes: tuple[int, int] = (10, 15),
    ridge: float = 500.0,
    logging: str = "uniform",
    target: Target = None,
    seed: int = 1,
    **more: Any,
) -> Simulated:
    """(n)DCG of slates for the users of a ratings file, with a model fitted to it (EASE).

    Parameters
    ----------
    path : str or path
        A CSV file with columns userId, movieId, rating.
    rows : int
        How many slates.
    slots, items : int
        How many slots a slate has, and how many items there are for each.
    reward : {"ndcg", "dcg"}
        The reward of a slate.
    threshold : float
        Ratings from here on are likes.
    fewest : int
        Users with fewer likes are left out.
    likes : tuple of int
        How many likes a user of the simulation has, from and to.
    ridge : float
        How strongly the model is held back.
    logging : str
        The policy that writes the log.
    target : str or dict, optional
        The target policy, or several by name.
    seed : int
        Where the random numbers begin; the same seed gives the same log.
    **more
        `truth_rows`, `alpha`, `quantile` and `threads`: how the truth is told.

    Returns
    -------
    tuple of Table and dict
        The log, and the truth about its policies.

    Raises
    ------
    InputError
        For a policy or a number that there is not.
    """
    own = {
        "ratings": {
            "path": os.fspath(path),
            "reward": text("reward", reward, '"ndcg" or "dcg"'),
            "threshold": number("threshold", threshold),
            "fewest": whole("fewest", fewest),
            "likes": [whole("likes", end) for end in likes],
            "ridge": number("ridge", ridge),
        }
    }
    return _simulate("ratings", rows, slots, items, logging, target or "epsilon-greedy:0.01", seed, own, more)


def _simulate(
    world: str,
    rows: int,
    slots: int,
    items: int,
    logging: str,
    target: Target,
    seed: int,
    own: dict[str, Any],
    more: dict[str, Any],
) -> Simulated:
    wanted = {
        "world": world,
        "rows": whole("rows", rows, 1),
        "slots": whole("slots", slots, 1),
        "items": whole("items", items, 1),
        "seed": whole("seed", seed),
        "logging": text("logging", logging, "a policy"),
        "target": _targets(target),
        **own,
        **_common(**more),
    }
    table, truth = _slateval.simulate(json.dumps(wanted))
    return table, json.loads(truth)


def _common(
    *,
    truth_rows: int = 4_000_000,
    alpha: float | Iterable[float] = (0.05, 0.1, 0.25),
    quantile: float | Iterable[float] = (0.25, 0.5, 0.75),
    **rest: Any,
) -> dict[str, Any]:
    """What all worlds have in common."""
    count = threads(rest.pop("threads", None))
    if rest:
        raise DataTypeError(f"unexpected argument {next(iter(rest))!r}")
    return {
        "truth_rows": whole("truth_rows", truth_rows),
        "alpha": numbers("alpha", alpha),
        "quantile": numbers("quantile", quantile),
        "threads": count,
    }


def _targets(target: Target) -> list[tuple[str | None, str]]:
    if isinstance(target, str):
        return [(None, target)]
    if isinstance(target, Mapping):
        return [(text("a target's name", name, "text"), text("target", policy)) for name, policy in target.items()]
    raise DataTypeError("target must be a policy or a dict of names and policies")
