"""An estimate with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ._errors import InputError

DASH = "\u2013"


@dataclass(frozen=True, slots=True, repr=False)
class Interval:
    """An estimate with its interval. What is missing is `None`, and `reason` says why.

    An interval that holds only under a condition that the log cannot test has no `lower` and `upper`; it is shown with
    the ends that hold under the condition. One that the log contradicts, by its structure or by a check that did not
    pass, is shown with an exclamation mark. Nothing is claimed from either.

    Parameters
    ----------
    estimate : float or None
        The estimate.
    lower, upper : float or None
        The ends of the interval.
    reason : str or None
        Why something is missing or marked.
    if_order_holds : tuple of float or None, optional
        The narrower interval that holds if the order chosen from the data is right.
    conditional : bool
        Whether there is an interval only under a condition that the log cannot test: `if_order_holds` has it.
    refuted : str or None
        What stands against the interval: the structure that was asked for by name and that the log contradicts, such as
        `"additive"`, or the check that leaves no number of the policy to be relied on, such as `"propensities"`. A
        refuted interval is never conditional.
    confidence : float or None
        The probability with which the interval is to hold the truth.
    se : float or None
        The standard error: of the influence function for means, variances, standard deviations and differences of
        means; of the CDF for a probability, and what that makes of a quantile; the standard deviation of the draws for
        CVaR, the IQR and other differences. The interval is not the estimate plus or minus a multiple of it:
        intervals also allow for skewness, for the error of the standard error, and for what bins hide. `None`
        without an interval, and with
        `band="bernstein"`.

    Examples
    --------
    >>> mean = Interval(0.5, 0.4, 0.6, confidence=0.95)
    >>> estimate, lower, upper = mean
    >>> float(mean), lower
    (0.5, 0.4)
    >>> print(mean)
    0.5 [0.4, 0.6]
    >>> f"{mean:.2f}", mean.above(0), mean.above(0.5), mean.below(0.45)
    ('0.50 [0.40, 0.60]', True, None, None)
    >>> print(Interval(0.5, if_order_holds=(0.45, 0.55), conditional=True))
    0.5 (0.45, 0.55)?
    >>> print(Interval(0.5, 0.4, 0.6, refuted="propensities"))
    0.5 [0.4, 0.6]!
    """

    estimate: float | None
    lower: float | None = None
    upper: float | None = None
    reason: str | None = None
    if_order_holds: tuple[float | None, float | None] | None = None
    conditional: bool = False
    refuted: str | None = None
    confidence: float | None = field(default=None, compare=False)
    se: float | None = None

    @classmethod
    def _of(cls, facts: Mapping[str, Any], confidence: float | None = None) -> Interval:
        narrow = facts.get("if_order_holds")
        ends = (narrow["lower"], narrow["upper"]) if narrow else None
        marks = (facts.get("conditional", False), facts.get("refuted"))
        return cls(
            facts["estimate"],
            facts["lower"],
            facts["upper"],
            facts.get("reason"),
            ends,
            *marks,
            confidence,
            facts.get("se"),
        )

    def __float__(self) -> float:
        if self.estimate is None:
            raise InputError(f"there is no estimate: {self.reason}")
        return self.estimate

    def __iter__(self) -> Iterator[float | None]:
        """The estimate, the lower and the upper end: `estimate, lower, upper = interval`."""
        return iter((self.estimate, self.lower, self.upper))

    def conf_int(self) -> tuple[float | None, float | None]:
        """The ends of the interval.

        Returns
        -------
        tuple of float or None
            `lower` and `upper`; `None` where there is none, and `reason` says why.

        Examples
        --------
        >>> Interval(0.5, 0.4, 0.6).conf_int()
        (0.4, 0.6)
        """
        return self.lower, self.upper

    def above(self, value: float) -> bool | None:
        """Whether what is estimated is shown to lie above a value.

        Parameters
        ----------
        value : float
            What to compare with; 0 for a difference.

        Returns
        -------
        bool or None
            `True` if the whole interval lies above, `False` if none of it does, `None` if that cannot be told: the
            interval holds the value, is missing, or cannot be relied on. `why(value)` says which.

        Examples
        --------
        >>> Interval(0.5, 0.4, 0.6).above(0)
        True
        >>> withheld = Interval(0.5, reason="the log is worth too few rows")
        >>> withheld.above(0) is None
        True
        >>> withheld.why(0)
        'it cannot be told: the log is worth too few rows'
        """
        if self._is_unreliable():
            return None
        if self.lower is not None and self.lower > value:
            return True
        return False if self.upper is not None and self.upper <= value else None

    def below(self, value: float) -> bool | None:
        """Whether what is estimated is shown to lie below a value; the mirror image of `above`.

        Parameters
        ----------
        value : float
            What to compare with; 0 for a difference.

        Returns
        -------
        bool or None
            `True` if the whole interval lies below, `False` if none of it does, `None` if that cannot be told.

        Examples
        --------
        >>> Interval(-0.2, -0.3, -0.1).below(0)
        True
        """
        if self._is_unreliable():
            return None
        if self.upper is not None and self.upper < value:
            return True
        return False if self.lower is not None and self.lower >= value else None

    def why(self, value: float) -> str:
        """What `above` and `below` say of a value, and why, as a sentence.

        Parameters
        ----------
        value : float
            What to compare with.

        Returns
        -------
        str
            The sentence.

        Examples
        --------
        >>> Interval(0.1, -0.1, 0.3).why(0)
        'it cannot be told: the interval [-0.1, 0.3] holds 0'
        """
        if self._is_unreliable():
            return f"it cannot be told: {self.reason or 'there is no interval'}"
        ends = f"the interval {self._ends('.6g')}"
        if self.above(value):
            return f"it is shown to be above {value:g}: {ends} lies above"
        if self.below(value):
            return f"it is shown to be below {value:g}: {ends} lies below"
        return f"it cannot be told: {ends} holds {value:g}"

    def _is_unreliable(self) -> bool:
        return self.refuted is not None or self.conditional or (self.lower is None and self.upper is None)

    def _ends(self, spec: str) -> str:
        def show(value: float | None) -> str:
            return DASH if value is None else format(value, spec)

        lower, upper = self.lower, self.upper
        before, after = "[", "]" if self.refuted is None else "]!"
        if self.conditional and self.if_order_holds is not None:
            (lower, upper), before, after = self.if_order_holds, "(", ")?"
        return f"[{DASH}]" if lower is None and upper is None else f"{before}{show(lower)}, {show(upper)}{after}"

    def __format__(self, spec: str) -> str:
        spec = spec or ".6g"
        estimate = DASH if self.estimate is None else format(self.estimate, spec)
        return f"{estimate} {self._ends(spec)}"

    def __str__(self) -> str:
        return format(self)

    def __repr__(self) -> str:
        def show(value: Any) -> str:
            return f"{value:.6g}" if isinstance(value, float) else repr(value)

        given = [f"{name}={show(getattr(self, name))}" for name in ("estimate", "lower", "upper")]
        if self.conditional and self.if_order_holds is not None:
            given.append(f"if_order_holds=({', '.join(map(show, self.if_order_holds))})")
        given += ["conditional=True"] if self.conditional else []
        given += [] if self.refuted is None else [f"refuted={self.refuted!r}"]
        given += [f"reason={self.reason!r}"] if self.reason else []
        return f"Interval({', '.join(given)})"
