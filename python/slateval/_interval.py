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
    """

    estimate: float | None
    lower: float | None = None
    upper: float | None = None
    reason: str | None = None
    if_order_holds: tuple[float | None, float | None] | None = None
    """The narrower interval that holds if the order chosen from the data is right."""

    @classmethod
    def _of(cls, facts: Mapping[str, Any]) -> Interval:
        narrow = facts.get("if_order_holds")
        ends = (narrow["lower"], narrow["upper"]) if narrow else None
        return cls(facts["estimate"], facts["lower"], facts["upper"], facts.get("reason"), ends)

    def __float__(self) -> float:
        if self.estimate is None:
            raise InputError(f"there is no estimate: {self.reason}")
        return self.estimate

    def __format__(self, spec: str) -> str:
        def show(value: float | None) -> str:
            return DASH if value is None else format(value, spec or ".6g")

        missing = self.lower is None and self.upper is None
        ends = f"[{DASH}]" if missing else f"[{show(self.lower)}, {show(self.upper)}]"
        return f"{show(self.estimate)} {ends}"

    def __str__(self) -> str:
        return format(self)
