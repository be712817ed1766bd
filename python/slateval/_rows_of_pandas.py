"""Rows of several pandas arguments, brought into one order by their indexes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ._errors import InputError


def in_one_order(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, rows of pandas objects in the order of the first pandas object among them.

    pandas joins rows by their labels, so two Series that hold the same labels in another order are the same rows. Other
    arrays have no labels, and stay in the order in which they are. Dicts and lists of arrays are looked into.
    Arguments of different lengths are left to the check of shapes.

    Examples
    --------
    >>> import pandas as pd
    >>> given = {"reward": pd.Series([1.0, 2.0], ["a", "b"]), "logging": pd.Series([0.2, 0.1], ["b", "a"])}
    >>> in_one_order(given)["logging"].tolist()
    [0.1, 0.2]
    """
    return in_one_order_with_labels(arguments)[0]


def in_one_order_with_labels(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """The same, and the index that the rows then have; None if no argument has one.

    Series in a list may be rows, so the list does not tell the labels of rows.

    Examples
    --------
    >>> import pandas as pd
    >>> in_one_order_with_labels({"actions": [0, 1], "contexts": pd.Series([7, 8], ["a", "b"])})[1].tolist()
    ['a', 'b']
    """
    pandas = sys.modules.get("pandas")
    if pandas is None:
        # Without the library, there can be no object of its kinds.
        return dict(arguments), None
    order = _Order((pandas.Series, pandas.DataFrame))
    found = {argument: order.apply(argument, value) for argument, value in arguments.items()}
    return found, _labels_of(found, order.kinds)


def labelled(values: Any, labels: Any) -> Any:
    """An array as a pandas object with this index, which `in_one_order` looks at; as it is if there is no index.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> labelled(np.array([0.5, 0.2]), pd.Index(["a", "b"])).to_dict()
    {'a': 0.5, 'b': 0.2}
    >>> labelled(np.array([0.5, 0.2]), None)
    array([0.5, 0.2])
    """
    if labels is None:
        return values
    pandas = import_module("pandas")
    kind = pandas.Series if values.ndim == 1 else pandas.DataFrame
    return kind(values, index=labels, copy=False)


def _labels_of(arguments: Mapping[str, Any], kinds: tuple[type, ...]) -> Any:
    for value in arguments.values():
        if isinstance(value, kinds):
            return value.index  # type: ignore[attr-defined]
        labels = _labels_of(value, kinds) if isinstance(value, Mapping) else None
        if labels is not None:
            return labels
    return None


class _Order:
    """The order of rows that the first pandas object sets for those after it."""

    def __init__(self, kinds: tuple[type, ...]) -> None:
        self.kinds = kinds
        self.argument = ""
        self.index: Any = None

    def apply(self, argument: str, value: Any) -> Any:
        if isinstance(value, self.kinds):
            return self._aligned(argument, value)
        if isinstance(value, Mapping):
            return {name: self.apply(f"{argument}[{name!r}]", own) for name, own in value.items()}
        if isinstance(value, (list, tuple)) and any(isinstance(own, self.kinds) for own in value):
            return [self.apply(f"{argument}[{place}]", own) for place, own in enumerate(value)]
        return value

    def _aligned(self, argument: str, value: Any) -> Any:
        if self.index is None:
            self.argument, self.index = argument, value.index
            return value
        own = value.index
        # `equals` of two ranges compares their ends alone.
        if own is self.index or len(own) != len(self.index) or self.index.equals(own):
            return value
        if not (self.index.is_unique and own.is_unique):
            raise InputError(
                f"{self.argument} and {argument} have {self._repeated(argument, own)}. {self._remedy(argument)}"
            )
        places = own.get_indexer(self.index)
        if (places < 0).any():
            difference = _absent(self.argument, self.index, places < 0, argument)
            raise InputError(f"{self.argument} and {argument} have {difference}. {self._remedy(argument)}")
        return value.iloc[places]

    def _repeated(self, argument: str, own: Any) -> str:
        """How two indexes differ, at least one of which has repeated labels."""
        # Equal labels get the same number, whether they are in one index or in both.
        numbers, labels = self.index.append(own).factorize(use_na_sentinel=False)
        first, second = numbers[: len(self.index)], numbers[len(self.index) :]
        counts = [_counts(part, len(labels)) for part in (first, second)]
        if (counts[1][first] == 0).any():
            return _absent(self.argument, self.index, counts[1][first] == 0, argument)
        if (counts[0][second] == 0).any():
            return _absent(argument, own, counts[0][second] == 0, self.argument)
        other = (counts[0] != counts[1]).nonzero()[0]
        if other.size:
            ours, theirs = (count[other[0]] for count in counts)
            return (
                f"different pandas indexes: the label {_first(labels, other)!r} stands for {ours:,} of the rows of "
                f"{self.argument}, and for {theirs:,} of the rows of {argument}"
            )
        return "pandas indexes with repeated labels in different orders, so rows cannot be matched"

    def _remedy(self, argument: str) -> str:
        return (
            "If their rows are in the same order, drop the labels with .to_numpy() or .reset_index(drop=True); "
            f"otherwise give both the same unique labels, for example with .set_index(…), and {argument} is put into "
            f"the order of {self.argument}"
        )


def _counts(numbers: Any, size: int) -> Any:
    import numpy as np

    return np.bincount(numbers, minlength=size)


def _absent(argument: str, index: Any, absent: Any, other: str) -> str:
    """Says that the index of `other` lacks labels of the index of `argument`."""
    places = absent.nonzero()[0]
    return (
        f"different pandas indexes: {places.size:,} of the {len(index):,} labels of {argument}, such as "
        f"{_first(index, places)!r}, are not in the index of {other}"
    )


def _first(index: Any, places: Any) -> Any:
    """The label at the first of the places, as a Python object."""
    return index[places[:1]].tolist()[0]
