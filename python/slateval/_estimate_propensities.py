"""Logging propensities for logs that have none: frequencies within cells of contexts, or a classifier."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._actions import MISSING, Items, as_matrix, item_list, read_actions
from ._columns import Array, Flags, Floats, Ints, collected, factorize, has_missing, read_columns
from ._errors import DataTypeError, InputError, SlatevalWarning
from ._estimated import EstimatedPropensities
from ._options import number, whole
from ._rows_of_pandas import in_one_order_with_labels

FEW_ROWS = 20
"""Cells with fewer rows are mostly what smoothing makes of them."""


def estimate_propensities(
    actions: Any,
    context: Any = None,
    *,
    items: Sequence[Any] | Array | None = None,
    smoothing: float = 10.0,
    classifier: Any = None,
    folds: int = 5,
    seed: int = 0,
) -> EstimatedPropensities:
    """Estimates what the logging policy did, for a log that does not tell.

    This is second best. Propensities that the recommender writes down when it shows a slate are right by construction;
    an estimate is right only if `context` holds *everything* that the logging policy looked at. Nothing in the log can
    show that it does. `evaluate` takes the estimate as known, so its intervals leave out the estimate's own error. The
    result is marked: the check `estimated-propensities` warns, and no rule of a gate holds by it.

    Each slot is estimated by itself. Without a classifier, rows with the same `context` share the frequencies of their
    cell.

    Parameters
    ----------
    actions : array or frame
        What was shown, one column for each slot, as for `propensities`.
    context : column, array (n, d) or frame, optional
        What the logging policy looked at. Each different combination of values is a cell; a classifier is given it as
        an array (n, d).
    items : sequence, optional
        All items that can be shown, as for `propensities`.
    smoothing : float
        So many rows' worth of the slot's frequencies in the whole log are added to each cell, or mixed into what a
        classifier says, so that rare cells do not decide and nothing that was shown has probability 0.
    classifier : object, optional
        Has `fit(X, y)` and `predict_proba(X)`, as scikit-learn's do. Copies of it are cross-fitted: each of `folds`
        parts of the rows is predicted by a copy that was fitted to the others, so that no row predicts itself.
    folds, seed : int
        Into how many parts rows are put for that, and where the random numbers begin that decide which.

    Returns
    -------
    EstimatedPropensities
        The propensities of the actions shown, and of all items. If actions are of pandas, it remembers their index, and
        its rows are matched with other pandas objects by label.

    Raises
    ------
    InputError
        For values and shapes that cannot be right.

    Examples
    --------
    >>> import numpy as np
    >>> actions = np.array([[0], [0], [1], [0], [1], [1]])
    >>> device = np.array(["phone", "phone", "phone", "web", "web", "web"])
    >>> estimated = estimate_propensities(actions, device, smoothing=0)
    >>> estimated.mu.ravel().round(3)
    array([0.667, 0.667, 0.333, 0.333, 0.667, 0.667])
    """
    smoothing = number("smoothing", smoothing)
    if smoothing < 0:
        raise InputError(f"smoothing `{smoothing}`: must not be negative")
    given, labels = in_one_order_with_labels({"actions": collected(actions), "context": collected(context)})
    actions, context = given.values()
    names = _items(actions, items)
    shown = read_actions(actions, names)
    count = int(shown.max()) + 1 if names.universe is None else int(names.universe.size)
    known = np.arange(count) if names.universe is None else names.universe
    overall = _frequencies(shown, np.zeros(len(shown), dtype=np.int64), 1, count)
    if classifier is None:
        found = _by_cells(shown, context, overall, smoothing)
    else:
        fit = _CrossFit(classifier, whole("folds", folds, 2), whole("seed", seed))
        found = _by_classifier(shown, context, overall, smoothing, fit)
    return _estimated(shown, found, known, labels)


def _items(actions: Any, items: Sequence[Any] | Array | None) -> Items:
    """The list of items: as given, numbers by themselves, or whatever was shown."""
    given = item_list(items)
    values, absent = as_matrix(actions)
    if given.universe is not None or values.dtype.kind in "iu":
        return given
    return Items(factorize(values[~absent])[0])


def _frequencies(shown: Ints, cells: Ints, cell_count: int, items: int) -> Floats:
    """How often each item was shown in each slot, (cells, K, N)."""
    slots = shown.shape[1]
    row, slot = np.nonzero(shown != MISSING)
    keys = (cells[row] * slots + slot) * items + shown[row, slot]
    return np.bincount(keys, minlength=cell_count * slots * items).astype(np.float64).reshape(-1, slots, items)


@dataclass(frozen=True)
class _Found:
    """Distributions (m, K, N), which of them each row has, and how they were found."""

    distributions: Floats
    index: Ints
    how: str


def _by_cells(shown: Ints, context: Any, overall: Floats, smoothing: float) -> _Found:
    cells, cell_count = _cells(context, len(shown))
    counts = _frequencies(shown, cells, cell_count, overall.shape[2])
    rows = np.bincount(cells, minlength=cell_count)
    lonely = float(rows[rows < FEW_ROWS].sum()) / len(shown)
    if lonely > 0.5 and cell_count > 1:
        warnings.warn(
            f"{lonely:.0%} of the rows are in contexts with fewer than {FEW_ROWS} rows: their propensities are mostly "
            "what smoothing makes of them. Use a coarser context, or a classifier",
            SlatevalWarning,
            stacklevel=3,
        )
    distributions = _mixed(counts, overall, smoothing)
    how = f"frequencies in {cell_count:,} cell" + ("s" if cell_count > 1 else "")
    return _Found(distributions, cells, how)


def _mixed(counts: Floats, overall: Floats, smoothing: float) -> Floats:
    """Frequencies with some rows of the whole log's added; slots that no slate has stay 0."""
    whole_log = _shares(overall)
    with np.errstate(invalid="ignore", divide="ignore"):
        mixed = (counts + smoothing * whole_log) / (counts.sum(axis=2, keepdims=True) + smoothing)
    # A cell that never has this slot, and no smoothing: nobody asks for it, but every row must be a distribution.
    return np.where(np.isnan(mixed), whole_log, mixed)


def _shares(counts: Floats) -> Floats:
    total = counts.sum(axis=2, keepdims=True)
    # A slot that no slate has is filled with anything.
    shares: Floats = np.where(total > 0, counts / np.maximum(total, 1), 1 / counts.shape[2])
    return shares


def _cells(context: Any, rows: int) -> tuple[Ints, int]:
    """The number of each row's cell, and how many there are."""
    codes = np.zeros(rows, dtype=np.int64)
    for values in _columns(context, rows):
        _, own = factorize(values)
        codes = codes * (int(own.max()) + 1) + own
        # Renumbered at each step, so that many columns do not overflow.
        _, codes = factorize(codes)
    return codes, int(codes.max()) + 1


def _columns(context: Any, rows: int) -> list[Array]:
    """The columns of a context."""
    if context is None:
        return []
    names = getattr(context, "column_names", None) or getattr(context, "columns", None)
    if isinstance(context, Mapping) or names is not None:
        found = list(read_columns(context, list(context if names is None else names)).values())
    else:
        values = np.asarray(context)
        if values.ndim not in (1, 2):
            raise InputError(f"context must be (n,) or (n, d), not {values.shape}")
        found = [values] if values.ndim == 1 else list(values.T)
    for values in found:
        if len(values) != rows:
            raise InputError(f"{len(values)} contexts for {rows} rows of actions; there must be one for each row")
        if has_missing(values):
            raise InputError("context has nulls; fill them with a value of their own")
    return found


class _CrossFit:
    """Predicts each part of the rows by a copy of a classifier that was fitted to the others."""

    def __init__(self, classifier: Any, folds: int, seed: int) -> None:
        if not (hasattr(classifier, "fit") and hasattr(classifier, "predict_proba")):
            raise DataTypeError(
                f"classifier needs fit(X, y) and predict_proba(X); a {type(classifier).__name__} does not have both"
            )
        self.classifier, self.folds, self.seed = classifier, folds, seed

    def predict(self, features: Array, items: Ints, count: int, present: Flags) -> Floats:
        """The probability of each item, (n, N), for all rows; fitted to those where the slot is `present`."""
        fold = np.random.default_rng(self.seed).permutation(len(features)) % self.folds
        found = np.zeros((len(features), count))
        for part in range(self.folds):
            held, rest = fold == part, (fold != part) & present
            if not rest.any():
                raise InputError(f"too few rows for {self.folds} folds")
            if (items[rest] == items[rest][0]).all():
                found[held, items[rest][0]] = 1.0
                continue
            fitted = deepcopy(self.classifier)
            fitted.fit(features[rest], items[rest])
            classes = np.asarray(getattr(fitted, "classes_", np.arange(count)), dtype=np.int64)
            found[np.ix_(held, classes)] = _checked(fitted.predict_proba(features[held]), int(held.sum()), classes.size)
        return found


def _checked(predicted: Any, rows: int, classes: int) -> Floats:
    values = np.asarray(predicted, dtype=np.float64)
    if values.shape != (rows, classes):
        raise InputError(f"predict_proba must give {classes} probabilities for {rows} rows, not {values.shape}")
    if not (values >= 0).all() or (np.abs(values.sum(axis=1) - 1) > 1e-4).any():
        raise InputError("predict_proba must give probabilities that sum to 1 in each row")
    normalised: Floats = values / values.sum(axis=1, keepdims=True)
    return normalised


def _by_classifier(shown: Ints, context: Any, overall: Floats, smoothing: float, fit: _CrossFit) -> _Found:
    columns = _columns(context, len(shown))
    if not columns:
        raise InputError("a classifier needs `context`: an array (n, d) or a frame")
    features = np.column_stack(columns)
    (rows, slots), count = shown.shape, overall.shape[2]
    predicted = np.empty((rows, slots, count))
    for slot in range(slots):
        present = shown[:, slot] != MISSING
        predicted[:, slot] = fit.predict(features, np.maximum(shown[:, slot], 0), count, present)
    share = smoothing / (rows + smoothing)
    distributions = (1 - share) * predicted + share * _shares(overall)
    how = f"{type(fit.classifier).__name__}, {fit.folds} folds"
    return _Found(distributions, np.arange(rows), how)


def _estimated(shown: Ints, found: _Found, names: Array, labels: Any) -> EstimatedPropensities:
    slots = np.arange(shown.shape[1])
    mu = found.distributions[found.index[:, None], slots, np.maximum(shown, 0)]
    mu[shown == MISSING] = np.nan
    never = np.argwhere(mu == 0)
    if never.size:
        row, slot = never[0]
        raise InputError(
            f"row {row + 1}, slot {slot + 1}: the classifier gives probability 0 to what was shown; use smoothing "
            "above 0"
        )
    return EstimatedPropensities(mu, found.how, found.distributions, found.index, names, labels)
