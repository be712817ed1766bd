"""How two policies compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from . import _tidy
from ._interval import Interval
from ._options import fraction, number
from ._policy import _named
from ._text import aligned, preformatted

if TYPE_CHECKING:
    from ._evaluation import Evaluation

Dominance = Literal["policy", "baseline", "none"]

NAMES = ("policy", "baseline", *_tidy.COLUMNS[1:])
"""The columns of a table of differences."""


class Comparison(_tidy.Tidy):
    """A target minus another policy; intervals are paired, for both are judged by the same rows.

    Parameters
    ----------
    evaluation : Evaluation
        What it is part of.
    index : int
        Its place among the comparisons.
    facts : mapping
        The comparison as the JSON has it.
    segment : int, optional
        The segment's place, for a comparison in one segment.

    Examples
    --------
    >>> import slateval
    >>> ev = slateval.evaluate(reward=[1.0, 0.0], logging=[[0.5], [0.5]], target=[[0.9], [0.1]], band="none")
    >>> difference = ev.comparison("target")
    >>> round(float(difference.mean), 3)
    0.4
    >>> difference.mean.above(0) is None                # no interval, so nothing is shown
    True
    """

    def __init__(
        self, evaluation: Evaluation, index: int, facts: Mapping[str, Any], segment: int | None = None
    ) -> None:
        self._evaluation = evaluation
        self._index = index
        self._facts = facts
        self._segment = segment

    def _interval(self, facts: Any) -> Interval:
        return Interval._of(facts, self._evaluation.confidence)

    @property
    def policy(self) -> str:
        """The target."""
        return str(self._facts["policy"])

    @property
    def baseline(self) -> str:
        """What it is compared with."""
        return str(self._facts["baseline"])

    @property
    def paired(self) -> bool:
        """Whether both are judged by the same rows."""
        return bool(self._facts["paired"])

    @property
    def mean(self) -> Interval:
        """The difference of means."""
        return self._interval(self._facts["mean"])

    @property
    def dominance(self) -> Dominance | None:
        """`"policy"` or `"baseline"` if one is shown to dominate, `"none"`, or `None` where it cannot be told."""
        dominance: Dominance | None = self._facts["dominance"]
        return dominance

    @property
    def se(self) -> float | None:
        """The standard error of the difference of means; `None` without an interval."""
        return self.mean.se

    def conf_int(self) -> tuple[float | None, float | None]:
        """The confidence interval of the difference of means.

        Returns
        -------
        tuple of float or None
            Its ends.
        """
        return self.mean.conf_int()

    def quantile(self, level: float) -> Interval:
        """The difference of quantiles.

        Parameters
        ----------
        level : float
            Any level between 0 and 1, asked for before or not.

        Returns
        -------
        Interval
            The difference.

        Raises
        ------
        InputError
            For a level that does not lie between 0 and 1.
        """
        return self._at("quantiles", "level", fraction("level", level))

    def var(self, alpha: float) -> Interval:
        """The difference of values at risk.

        Parameters
        ----------
        alpha : float
            The size of the tail, between 0 and 1.

        Returns
        -------
        Interval
            The difference.

        Raises
        ------
        InputError
            For an alpha that does not lie between 0 and 1.
        """
        alpha = fraction("alpha", alpha)
        return self.quantile(1 - alpha if self._evaluation.settings["tail"] == "upper" else alpha)

    def cvar(self, alpha: float) -> Interval:
        """The difference of the means of a tail.

        Parameters
        ----------
        alpha : float
            The size of the tail, between 0 and 1.

        Returns
        -------
        Interval
            The difference.

        Raises
        ------
        InputError
            For an alpha that does not lie between 0 and 1.
        """
        return self._at("cvar", "alpha", fraction("alpha", alpha))

    def prob(self, at_least: float) -> Interval:
        """The difference of the probabilities of a reward of at least this.

        Parameters
        ----------
        at_least : float
            The reward.

        Returns
        -------
        Interval
            The difference.
        """
        return self._at("probabilities", "at_least", number("at_least", at_least))

    def _at(self, what: str, key: str, level: float) -> Interval:
        for facts in self._facts.get(what, []):
            if facts[key] == level:
                return self._interval(facts)
        found = self._evaluation._at(key, level, self._segment)
        return self._interval(found["comparisons"][self._index][what][0])

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values.

        Returns
        -------
        dict
            The comparison as the JSON has it.
        """
        return dict(self._facts)

    def _metrics(self) -> Iterator[tuple[str, float | None, Interval]]:
        yield "mean", None, self.mean
        for name, key, metric in (
            ("quantiles", "level", "quantile"),
            ("cvar", "alpha", "cvar"),
            ("probabilities", "at_least", "prob"),
        ):
            for facts in self._facts.get(name, []):
                yield metric, facts[key], self._interval(facts)

    def _rows(self, **of: Any) -> list[_tidy.Row]:
        return [_tidy.row(*metric, **of, policy=self.policy, baseline=self.baseline) for metric in self._metrics()]

    def _columns(self) -> dict[str, Any]:
        return _tidy.columns(self._rows(), NAMES)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Comparison) and self._facts == other._facts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = [(_named(metric, level), f"{interval:+.4g}") for metric, level, interval in self._metrics()]
        return f"<slateval.Comparison {self.policy!r} minus {self.baseline!r}>\n{aligned(lines)}"

    def _repr_html_(self) -> str:
        return preformatted(repr(self))
