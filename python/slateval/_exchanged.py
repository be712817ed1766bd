"""Target and logging propensities that were given in each other's place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ._evaluation import Evaluation
from ._options import Columns

SURE = 4.0
"""Standard errors that a mean must lie from 1 to be taken for another."""

ENOUGH = 100_000
"""Rows that are looked at, about: an advice need not take longer than the evaluation that it is about."""

Slots = Any
"""An array of shape (n, K)."""


def advice(ev: Evaluation, data: Any, columns: Columns, logging: Any, target: Any) -> str | None:
    """A sentence, if the propensities of a target that failed its check would pass it the other way round.

    The mean of `pi / mu` over a log is 1. Only data in memory are looked at again.
    """
    checks = (check for policy in ev.values() for check in policy.checks)
    wrong = {check.policy for check in checks if (check["name"], check["status"]) == ("propensities", "fail")}
    if not wrong:
        return None
    given = _arrays(logging, target) if data is None else _columns(data, columns)
    for name, mu, pi in given:
        if name in wrong and is_exchanged(mu, pi):
            return (
                f"logging and target {name!r} look exchanged: the mean of logging / target is 1, as that of target / "
                "logging should be. Give the propensities of the policy that wrote the log as logging"
            )
    return None


def is_exchanged(mu: Slots, pi: Slots) -> bool:
    """Whether `mu / pi` has mean 1 in every slot, and `pi / mu` has not.

    Examples
    --------
    >>> import numpy as np
    >>> shown = np.random.default_rng(1).random((5000, 1)) < 0.9        # 9 of 10 slates show the first item
    >>> mu, pi = np.where(shown, 0.9, 0.1), np.where(shown, 0.4, 0.6)
    >>> is_exchanged(mu, pi), is_exchanged(pi, mu)
    (False, True)
    """
    import numpy as np

    mu, pi = np.asarray(_some(mu), dtype=float), np.asarray(_some(pi), dtype=float)
    if mu.shape != pi.shape or mu.ndim != 2 or len(mu) < 2:
        return False
    with np.errstate(divide="ignore", invalid="ignore"):
        away, back = _distance(pi / mu), _distance(mu / pi)
    return bool((np.abs(away) > SURE).any() and (np.abs(back) < SURE).all() and (np.abs(away) > 2 * np.abs(back)).any())


def _some(rows: Any) -> Any:
    """Evenly spaced rows of an array, if it has many."""
    return rows[:: max(1, len(rows) // ENOUGH)]


def _distance(ratio: Slots) -> Any:
    """How far the mean of each slot lies from 1, in standard errors. Slots that are not there are NaN."""
    import numpy as np

    rows = (~np.isnan(ratio)).sum(axis=0)
    error = np.nanstd(ratio, axis=0) / np.sqrt(np.maximum(rows, 1))
    return (np.nanmean(ratio, axis=0) - 1) / np.where(error > 0, error, np.inf)


def _arrays(logging: Any, target: Any) -> Iterator[tuple[str, Slots, Slots]]:
    import numpy as np

    def slots(array: Any) -> Slots:
        found = np.asarray(array)
        return found.reshape(-1, 1) if found.ndim == 1 else found

    if logging is None or target is None:
        return
    for name, array in (target if isinstance(target, Mapping) else {"target": target}).items():
        yield name, slots(logging), slots(array)


def _columns(data: Any, columns: Columns) -> Iterator[tuple[str, Slots, Slots]]:
    """Numbered columns of a dict or a frame in memory."""
    import numpy as np

    names = list(data) if isinstance(data, Mapping) else list(getattr(data, "columns", []))
    if columns.long or not names or not hasattr(data, "__getitem__") or hasattr(data, "collect"):
        return

    def slots(base: str) -> Slots:
        if isinstance(data, Mapping) and base in names:
            return np.asarray(data[base])
        found: list[Any] = []
        while f"{base}_{len(found) + 1}" in names:
            found.append(_some(np.asarray(data[f"{base}_{len(found) + 1}"])).astype(float))
        return np.column_stack(found) if found else np.empty((0, 0))

    for name, column in columns.target or [(None, "pi")]:
        yield name or "target", slots(columns.logging or "mu"), slots(column)
