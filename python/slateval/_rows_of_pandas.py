"""Rows of several pandas arguments, brought into one order by their indexes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
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
    pandas = sys.modules.get("pandas")
    if pandas is None:
        # Without the library, there can be no object of its kinds.
        return dict(arguments)
    order = _Order((pandas.Series, pandas.DataFrame))
    return {argument: order.apply(argument, value) for argument, value in arguments.items()}


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
                f"{self.argument} and {argument} have pandas indexes with repeated labels in different orders, so rows "
                f"cannot be matched. {self._remedy(argument)}"
            )
        places = own.get_indexer(self.index)
        unmatched = (places < 0).nonzero()[0]
        if unmatched.size:
            label = self.index[unmatched[:1]].tolist()[0]
            raise InputError(
                f"{self.argument} and {argument} have different pandas indexes: {unmatched.size:,} of the "
                f"{len(own):,} labels of {self.argument}, such as {label!r}, are not in the index of {argument}. "
                f"{self._remedy(argument)}"
            )
        return value.iloc[places]

    def _remedy(self, argument: str) -> str:
        return (
            "If their rows are in the same order, drop the labels with .to_numpy() or .reset_index(drop=True); "
            f"otherwise give both the same unique labels, for example with .set_index(…), and {argument} is put into "
            f"the order of {self.argument}"
        )
