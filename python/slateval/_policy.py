"""One policy's answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _tidy
from ._cdf import Cdf
from ._checks import Check
from ._interval import Interval
from ._options import fraction, number
from ._text import aligned, preformatted

if TYPE_CHECKING:
    from ._evaluation import Evaluation


class Policy(_tidy.Tidy):
    """One policy's reward distribution: `ev["new"]`, or `ev.segment("phone")["new"]`.

    Parameters
    ----------
    evaluation : Evaluation
        What it is part of.
    index : int
        Its place among the policies.
    segment : int, optional
        The segment's place, for a policy in one segment.

    Examples
    --------
    >>> import slateval
    >>> ev = slateval.evaluate(reward=[1.0, 0.0], logging=[[0.5], [0.5]], target=[[0.9], [0.1]], band="none")
    >>> round(float(ev["target"].mean), 3)
    0.9
    """

    def __init__(self, evaluation: Evaluation, index: int, segment: int | None = None) -> None:
        self._evaluation = evaluation
        self._index = index
        self._segment = segment

    @cached_property
    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self._evaluation._core.policy(self._index, self._segment))
        return facts

    def _interval(self, facts: Any) -> Interval:
        return Interval._of(facts, self._evaluation.confidence)

    @property
    def name(self) -> str:
        """The policy's name; `logging` wrote the log."""
        return self._evaluation._names[self._index]

    @property
    def mean(self) -> Interval:
        """The mean reward."""
        return self._interval(self._facts["mean"])

    @property
    def variance(self) -> Interval:
        """The variance of rewards."""
        return self._interval(self._facts["variance"])

    @property
    def std(self) -> Interval:
        """The standard deviation of rewards."""
        return self._interval(self._facts["std"])

    @property
    def iqr(self) -> Interval:
        """Quantile 75% minus quantile 25%."""
        return self._interval(self._facts["iqr"])

    @property
    def se(self) -> float | None:
        """The standard error of the mean; `None` without an interval."""
        return self.mean.se

    def conf_int(self) -> tuple[float | None, float | None]:
        """The confidence interval of the mean.

        Returns
        -------
        tuple of float or None
            Its ends. For other levels of confidence, `ev.at(confidence=0.9)["new"].conf_int()`.
        """
        return self.mean.conf_int()

    def quantile(self, level: float) -> Interval:
        """The smallest reward v with F(v) >= level.

        Parameters
        ----------
        level : float
            Any level between 0 and 1, asked for before or not.

        Returns
        -------
        Interval
            The quantile.

        Raises
        ------
        InputError
            For a level that does not lie between 0 and 1.
        """
        return self._at("quantiles", "level", fraction("level", level))

    def var(self, alpha: float) -> Interval:
        """The value at risk: the quantile at alpha, or at 1 - alpha with `tail="upper"`.

        Parameters
        ----------
        alpha : float
            The size of the tail, between 0 and 1.

        Returns
        -------
        Interval
            The value at risk.

        Raises
        ------
        InputError
            For an alpha that does not lie between 0 and 1.
        """
        return self._at("var", "alpha", fraction("alpha", alpha))

    def cvar(self, alpha: float) -> Interval:
        """The mean of the worst alpha of slates; with `tail="upper"`, of the best.

        Parameters
        ----------
        alpha : float
            The size of the tail, between 0 and 1.

        Returns
        -------
        Interval
            The tail's mean.

        Raises
        ------
        InputError
            For an alpha that does not lie between 0 and 1.
        """
        return self._at("cvar", "alpha", fraction("alpha", alpha))

    def prob(self, at_least: float) -> Interval:
        """The probability of a reward of at least this, the reward itself included.

        Parameters
        ----------
        at_least : float
            The reward.

        Returns
        -------
        Interval
            The probability.

        Examples
        --------
        >>> import slateval
        >>> ev = slateval.evaluate(reward=[1.0, 0.0], logging=[[0.5], [0.5]], target=[[0.9], [0.1]], band="none")
        >>> round(float(ev["target"].prob(1)), 3)
        0.9
        """
        return self._at("probabilities", "at_least", number("at_least", at_least))

    def _at(self, what: str, key: str, level: float) -> Interval:
        for facts in self._facts.get(what, []):
            if facts[key] == level:
                return self._interval(facts)
        found = self._evaluation._at(key, level, self._segment)
        return self._interval(found["policies"][self._index][what][0])

    @cached_property
    def cdf(self) -> Cdf:
        """The whole distribution: a table, and a function of rewards."""
        return Cdf(self._evaluation._core.cdf(self._index, self._segment))

    @property
    def structure(self) -> str | None:
        """The structure used; none for the logging policy."""
        structure: str | None = self._facts["structure"]
        return structure

    @property
    def correction(self) -> str | None:
        """The correction used; none for the logging policy."""
        correction: str | None = self._facts["correction"]
        return correction

    @property
    def selection(self) -> dict[str, Any] | None:
        """How the order was chosen from the data, where it was."""
        selection: dict[str, Any] | None = self._facts["selection"]
        return selection

    @property
    def diagnostics(self) -> dict[str, Any]:
        """What the numbers rest on: effective sample sizes, weights, checks."""
        diagnostics: dict[str, Any] = self._facts["diagnostics"]
        return diagnostics

    @property
    def checks(self) -> list[Check]:
        """The checks, each with `name`, `status` (ok, warn, fail), `value` and `message`."""
        return [Check(check, self.name, self._segment_value) for check in self.diagnostics["checks"]]

    @property
    def _segment_value(self) -> Any:
        return None if self._segment is None else self._evaluation.segments[self._segment].value

    def to_dict(self) -> dict[str, Any]:
        """Everything but the CDF, as plain values.

        Returns
        -------
        dict
            The policy as the JSON has it.
        """
        return dict(self._facts)

    def _metrics(self) -> Iterator[tuple[str, float | None, Interval]]:
        """What was asked for: metric, level, interval."""
        for name in ("mean", "variance", "std", "iqr"):
            yield name, None, self._interval(self._facts[name])
        for name, key, metric in (
            ("quantiles", "level", "quantile"),
            ("var", "alpha", "var"),
            ("cvar", "alpha", "cvar"),
            ("probabilities", "at_least", "prob"),
        ):
            for facts in self._facts.get(name, []):
                yield metric, facts[key], self._interval(facts)

    def _rows(self, **of: Any) -> list[_tidy.Row]:
        return [_tidy.row(*metric, **of, policy=self.name) for metric in self._metrics()]

    def _columns(self) -> dict[str, Any]:
        return _tidy.columns(self._rows(), _tidy.COLUMNS)

    def __repr__(self) -> str:
        where = "" if self._segment is None else f" in {self._evaluation.segments[self._segment]._label()}"
        lines = [(_named(metric, level), f"{interval:.4g}") for metric, level, interval in self._metrics()]
        return f"<slateval.Policy {self.name!r}{where}>\n{aligned(lines)}"

    def _repr_html_(self) -> str:
        return preformatted(repr(self))


def _named(metric: str, level: float | None) -> str:
    if level is None:
        return metric
    return f"prob {level:g}" if metric == "prob" else f"{metric} {100 * level:g}%"
