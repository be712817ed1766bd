"""An estimate with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import InputError

DASH = "\u2013"


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its interval. What is missing is `None`, and `reason` says why.

    >>> mean = Interval(0.5, 0.4, 0.6)
    >>> float(mean), mean.lower
    (0.5, 0.4)
    >>> print(mean)
    0.5 [0.4, 0.6]

    An interval that holds only under a condition that the log cannot test has no `lower` and `upper`; it is shown with
    the ends that hold under the condition. One whose structure the log contradicts is shown with an exclamation mark:

    >>> print(Interval(0.5, if_order_holds=(0.45, 0.55), conditional=True))
    0.5 (0.45, 0.55)?
    >>> print(Interval(0.5, 0.4, 0.6, refuted=True))
    0.5 [0.4, 0.6]!
    """

    estimate: float | None
    lower: float | None = None
    upper: float | None = None
    reason: str | None = None
    if_order_holds: tuple[float | None, float | None] | None = None
    """The narrower interval that holds if the order chosen from the data is right."""
    conditional: bool = False
    """Whether there is an interval only under a condition that the log cannot test: `if_order_holds` has it."""
    refuted: bool = False
    """Whether the log contradicts the structure that was asked for by name, and that the interval rests on."""

    @classmethod
    def _of(cls, facts: Mapping[str, Any]) -> Interval:
        narrow = facts.get("if_order_holds")
        ends = (narrow["lower"], narrow["upper"]) if narrow else None
        marks = (facts.get("conditional", False), facts.get("refuted", False))
        return cls(facts["estimate"], facts["lower"], facts["upper"], facts.get("reason"), ends, *marks)

    def __float__(self) -> float:
        if self.estimate is None:
            raise InputError(f"there is no estimate: {self.reason}")
        return self.estimate

    def __format__(self, spec: str) -> str:
        def show(value: float | None) -> str:
            return DASH if value is None else format(value, spec or ".6g")

        lower, upper = self.lower, self.upper
        before, after = "[", "]!" if self.refuted else "]"
        if self.conditional and self.if_order_holds is not None:
            (lower, upper), before, after = self.if_order_holds, "(", ")?"
        missing = lower is None and upper is None
        ends = f"[{DASH}]" if missing else f"{before}{show(lower)}, {show(upper)}{after}"
        return f"{show(self.estimate)} {ends}"

    def __str__(self) -> str:
        return format(self)
