"""Parts of a log."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _tidy
from ._comparison import Comparison
from ._interval import Interval
from ._policy import Policy
from ._text import aligned, preformatted, shown

if TYPE_CHECKING:
    from ._evaluation import Evaluation

SegmentValue = str | int | bool | None


class Segment(_tidy.Tidy, Mapping[str, Policy]):
    """One segment of the log: its policies by name, as in the whole log.

    Parameters
    ----------
    evaluation : Evaluation
        What it is part of.
    index : int
        Its place among the segments.
    facts : mapping
        What is known of it.

    Examples
    --------
    >>> import slateval
    >>> log = {"reward": [1.0, 0.0, 0.0], "mu_1": [0.5] * 3, "pi_1": [0.9, 0.1, 0.1], "device": ["tv", "tv", "phone"]}
    >>> ev = slateval.evaluate(log, by="device", band="none")
    >>> float(ev.segment("tv")["logging"].mean)
    0.5
    >>> [(segment.value, segment.rows, float(segment["logging"].mean)) for segment in ev.segments]
    [('phone', 1, 0.0), ('tv', 2, 0.5)]
    """

    def __init__(self, evaluation: Evaluation, index: int, facts: Mapping[str, Any]) -> None:
        self.column: str = facts["column"]
        self.value: SegmentValue = facts["value"]
        self.rows: int = facts["rows"]
        self.comparisons = [Comparison(evaluation, i, c, index) for i, c in enumerate(facts["comparisons"])]
        self._evaluation = evaluation
        self._index = index

    def comparison(self, policy: str, baseline: str = "logging") -> Comparison:
        """The comparison of a target with another policy, in this segment.

        Parameters
        ----------
        policy : str
            The target.
        baseline : str
            What it is compared with.

        Returns
        -------
        Comparison
            Target minus baseline.

        Raises
        ------
        KeyError
            For policies that were not compared.
        """
        return self._evaluation._find(self.comparisons, policy, baseline)

    def __getitem__(self, name: str) -> Policy:
        return self._evaluation._policy(self._evaluation._index(name), self._index)

    def __iter__(self) -> Iterator[str]:
        return iter(self._evaluation)

    def __len__(self) -> int:
        return len(self._evaluation)

    def _of(self) -> dict[str, Any]:
        return {"column": self.column, "segment": self.value, "rows": self.rows}

    def _rows(self) -> list[_tidy.Row]:
        return [row for policy in self.values() for row in policy._rows(**self._of())]

    def _columns(self) -> dict[str, Any]:
        return _tidy.columns(self._rows(), NAMES)

    def _label(self) -> str:
        return f"{shown(self.column)}={self.value!r}"

    def __repr__(self) -> str:
        means = aligned([(shown(name), f"mean {policy.mean:.4g}") for name, policy in self.items()])
        return f"<slateval.Segment {self._label()}: {self.rows:,} slates>\n{means}"

    def _repr_html_(self) -> str:
        return preformatted(repr(self))


NAMES = ("column", "segment", "rows", *_tidy.COLUMNS)
"""The columns of a table of segments."""


@dataclass(frozen=True)
class Disparity:
    """The two segments furthest apart under one policy.

    Parameters
    ----------
    policy : str
        The policy.
    metric : str
        What is compared: `mean` or `cvar`.
    alpha : float or None
        The tail of a CVaR.
    low, high : segment values
        The segments with the lowest and the highest estimate.
    difference : Interval
        High minus low. The interval allows for the two having been found by looking.
    """

    policy: str
    metric: str
    alpha: float | None
    low: SegmentValue
    high: SegmentValue
    difference: Interval

    def __repr__(self) -> str:
        metric = self.metric if self.alpha is None else f"{self.metric} {100 * self.alpha:g}%"
        return f"<slateval.Disparity {self.policy!r} {metric}: {self.high!r} minus {self.low!r} {self.difference:.4g}>"


def wanted(value: tuple[SegmentValue, ...]) -> SegmentValue:
    """The value of the segment that was asked for; several are the pairs of several columns."""
    plain = tuple(_plain(part) for part in (value[0] if len(value) == 1 and isinstance(value[0], tuple) else value))
    return plain[0] if len(plain) == 1 else pair(plain)


def _plain(value: Any) -> Any:
    """A value of a dataframe as segments have it: plain numbers and truth values, and dates as text."""
    value = value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return str(value) if isinstance(value, datetime.date) else value


def pair(values: tuple[Any, ...]) -> str:
    """The name of a segment of several columns.

    Examples
    --------
    >>> pair(("phone", None)), pair(("a, b", "c"))
    ('phone, null', '"a, b", c')
    """
    return ", ".join(_word(value) for value in values)


def _word(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    # Text that could be mistaken for something else is quoted, as the readers do it.
    doubtful = isinstance(value, str) and ("," in text or '"' in text or text in ("null", "true", "false"))
    return '"' + text.replace('"', '""') + '"' if doubtful else text
