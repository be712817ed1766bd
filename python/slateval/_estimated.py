"""Logging propensities that were estimated from a log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from ._columns import Array, Floats, Ints, places
from ._errors import InputError
from ._rows_of_pandas import labelled


@dataclass(frozen=True, eq=False)
class EstimatedPropensities:
    """An estimate of the logging policy: `mu` (n, K) of what was shown, and the whole distribution behind it.

    A slot that a slate does not have is NaN in `mu`. Give it to `propensities` as `logging`, or to `evaluate` with the
    target's probabilities::

        slateval.evaluate(reward=reward, target=pi, **estimated.arguments())

    Either way the evaluation is marked: its check `estimated-propensities` warns, and no rule of a gate holds by it.

    An estimate from pandas actions remembers their index, by which its rows are matched with other pandas arguments.
    """

    mu: Floats
    how: str
    """How it was estimated, in a few words."""
    _distributions: Floats
    _index: Ints
    _names: Array
    """The items in the order of the distributions."""
    _labels: Any = None
    """The pandas index of the rows, if they have one."""

    @property
    def name(self) -> str:
        """How messages call it."""
        return "logging"

    @property
    def items(self) -> int:
        """The number of items."""
        return int(self._distributions.shape[2])

    def rows(self, start: int, stop: int) -> Array:
        """The probability of each item in each slot, (stop - start, K, N), of the rows from `start` to `stop`."""
        part: Array = self._distributions[self._index[start:stop]]
        return part

    def in_order_of(self, universe: Array | None, items: int | None) -> EstimatedPropensities:
        """The same with the items that other policies know, in their order; logging never shows those it did not know.

        `universe` lists the items. Without it, items are the numbers below `items`.
        """
        if universe is None and self._names.dtype.kind in "iu":
            size = max(items or 0, int(self._names.max()) + 1)
            at = self._names.astype(np.int64)
        elif universe is None:
            raise InputError("logging was estimated for items that are no numbers: give `items`, the list of all items")
        else:
            size, at = int(universe.size), places(self._names, universe)
        if (at < 0).any():
            unknown = self._names[at < 0].tolist()[0]
            raise InputError(f"logging was estimated for item {unknown!r}, which is not one of `items`")
        wider = np.zeros((*self._distributions.shape[:2], size))
        wider[:, :, at] = self._distributions
        return replace(self, _distributions=wider, _names=np.arange(size) if universe is None else universe)

    def places(self) -> Any:
        """The place of each row, with the labels of the rows; None if the rows have no labels."""
        return None if self._labels is None else labelled(np.arange(len(self.mu)), self._labels)

    def at(self, places: Any) -> EstimatedPropensities:
        """The rows at these places, in this order: `places()`, as other pandas objects put them in order."""
        order = np.asarray(places)
        return replace(self, mu=self.mu[order], _index=self._index[order], _labels=places.index)

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for `slateval.evaluate(reward=reward, target=pi, **estimated.arguments())`.

        The propensities are an array, or, if the actions were of pandas, a frame with the index of the actions.
        """
        return {"logging": labelled(self.mu, self._labels), "propensities": "estimated"}

    def to_columns(self) -> dict[str, Floats]:
        """Columns `mu_1 …` of a log. Say `propensities="estimated"` when it is evaluated: columns cannot tell.

        They are arrays without an index, in the order of the actions.
        """
        return {f"mu_{slot + 1}": self.mu[:, slot] for slot in range(self.mu.shape[1])}

    def to_pandas(self) -> Any:
        """`to_columns()` as a pandas DataFrame, with the index of the actions if they were of pandas."""
        return import_module("pandas").DataFrame(self.to_columns(), index=self._labels)

    def __repr__(self) -> str:
        rows, slots = self.mu.shape
        low, high = np.nanmin(self.mu), np.nanmax(self.mu)
        return (
            f"<EstimatedPropensities: {rows:,} slates of up to {slots} slots, {low:.3g} to {high:.3g}, by {self.how}>"
        )
