"""What an evaluation says: policies, their distributions, how they compare."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from . import _slateval
from ._errors import DataTypeError, InputError
from ._interval import Interval
from ._options import number
from ._rerun_call import call

SegmentValue = str | int | bool | None


class Cdf:
    """A policy's CDF, one row for each bin of rewards: columns `reward`, `raw`, `estimate`, `lower`, `upper`.

    Any Arrow library takes it without a copy (`pyarrow.table(cdf)`, `polars.DataFrame(cdf)`); `cdf["estimate"]` is a
    NumPy array, with NaN where the band is missing.

    >>> import slateval
    >>> ev = slateval.evaluate(reward=[1.0, 0.0], logging=[[0.5], [0.5]], target=[[0.9], [0.1]], band="none")
    >>> cdf = ev["target"].cdf
    >>> cdf["reward"], cdf["estimate"].round(3)
    (array([0., 1.]), array([0.1, 1. ]))
    """

    def __init__(self, table: _slateval.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._table.__arrow_c_schema__()

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._table.column_names

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, column: str) -> Any:
        import numpy as np

        return np.frombuffer(self._table.column_bytes(column))

    def to_numpy(self) -> dict[str, Any]:
        """All columns as NumPy arrays."""
        return {name: self[name] for name in self.column_names}

    def __repr__(self) -> str:
        return f"<slateval.Cdf: {len(self)} rewards>"


class Policy:
    """One policy's reward distribution.

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

    @property
    def name(self) -> str:
        """The policy's name; `logging` wrote the log."""
        return str(self._facts["name"])

    @property
    def mean(self) -> Interval:
        """The mean reward."""
        return Interval._of(self._facts["mean"])

    @property
    def variance(self) -> Interval:
        """The variance of rewards."""
        return Interval._of(self._facts["variance"])

    @property
    def std(self) -> Interval:
        """The standard deviation of rewards."""
        return Interval._of(self._facts["std"])

    @property
    def iqr(self) -> Interval:
        """Quantile 75% minus quantile 25%."""
        return Interval._of(self._facts["iqr"])

    def quantile(self, level: float) -> Interval:
        """The smallest reward v with F(v) >= level, for any level in (0, 1)."""
        return self._at("quantiles", "level", number("level", level))

    def var(self, alpha: float) -> Interval:
        """The value at risk: the quantile at alpha, or at 1 - alpha with `tail="upper"`."""
        return self._at("var", "alpha", number("alpha", alpha))

    def cvar(self, alpha: float) -> Interval:
        """The mean of the worst alpha of slates; with `tail="upper"`, of the best."""
        return self._at("cvar", "alpha", number("alpha", alpha))

    def prob(self, at_least: float) -> Interval:
        """The probability of a reward of at least this, the reward itself included.

        >>> import slateval
        >>> ev = slateval.evaluate(reward=[1.0, 0.0], logging=[[0.5], [0.5]], target=[[0.9], [0.1]], band="none")
        >>> round(float(ev["target"].prob(at_least=1)), 3)
        0.9
        """
        reward = number("at_least", at_least)
        for facts in self._facts.get("probabilities", []):
            if facts["at_least"] == reward:
                return Interval._of(facts)
        again = self._evaluation._at("at_least", reward)
        return again._policy(self._index, self._segment).prob(reward)

    def _at(self, what: str, key: str, level: float) -> Interval:
        if not 0 < level < 1:
            raise InputError(f"{key} `{level}`: must lie between 0 and 1")
        for facts in self._facts[what]:
            if facts[key] == level:
                return Interval._of(facts)
        again = self._evaluation._at(key, level)
        return again._policy(self._index, self._segment)._at(what, key, level)

    @cached_property
    def cdf(self) -> Cdf:
        """The whole distribution."""
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
    def checks(self) -> list[dict[str, Any]]:
        """The checks, each with `name`, `status` (ok, warn, fail), `value` and `message`."""
        checks: list[dict[str, Any]] = self.diagnostics["checks"]
        return checks

    def to_dict(self) -> dict[str, Any]:
        """Everything but the CDF, as plain values."""
        return dict(self._facts)

    def __repr__(self) -> str:
        return f"<slateval.Policy {self.name!r}: mean {self.mean}>"


@dataclass(frozen=True)
class Comparison:
    """A target minus another policy; intervals are paired, for both are judged by the same rows.

    >>> import slateval
    >>> ev = slateval.evaluate(reward=[1.0, 0.0], logging=[[0.5], [0.5]], target=[[0.9], [0.1]], band="none")
    >>> round(float(ev.comparison("target").mean), 3)
    0.4
    """

    policy: str
    baseline: str
    paired: bool
    mean: Interval
    dominance: str | None
    """`"policy"` or `"baseline"` if one is shown to dominate, `"none"`, or `None` where it cannot be told."""
    _quantiles: Mapping[float, Interval]
    _cvar: Mapping[float, Interval]
    _probabilities: Mapping[float, Interval] = field(default_factory=dict)

    @classmethod
    def _of(cls, facts: Mapping[str, Any]) -> Comparison:
        return cls(
            facts["policy"],
            facts["baseline"],
            facts["paired"],
            Interval._of(facts["mean"]),
            facts["dominance"],
            {q["level"]: Interval._of(q) for q in facts["quantiles"]},
            {a["alpha"]: Interval._of(a) for a in facts["cvar"]},
            {p["at_least"]: Interval._of(p) for p in facts.get("probabilities", [])},
        )

    def quantile(self, level: float) -> Interval:
        """The difference of quantiles, at a level that the evaluation was asked for."""
        return _reported(self._quantiles, "quantile", level)

    def cvar(self, alpha: float) -> Interval:
        """The difference of CVaR, at a tail that the evaluation was asked for."""
        return _reported(self._cvar, "alpha", alpha)

    def prob(self, at_least: float) -> Interval:
        """The difference of the probability of a reward of at least this, which the evaluation was asked for.

        With at most 8 distinct rewards, all of them but the smallest are reported without being asked for.
        """
        return _reported(self._probabilities, "at_least", at_least)


def _reported(found: Mapping[float, Interval], argument: str, level: float) -> Interval:
    if level not in found:
        known = ", ".join(map(str, found)) or "no such level"
        raise InputError(
            f"{argument} `{level}`: differences were taken at {known}; ask evaluate for {argument}=({level},)"
        )
    return found[level]


class Segment(Mapping[str, Policy]):
    """One segment of the log: its policies by name, as in the whole log.

    >>> import slateval
    >>> log = {"reward": [1.0, 0.0, 0.0], "mu_1": [0.5] * 3, "pi_1": [0.9, 0.1, 0.1], "device": ["tv", "tv", "phone"]}
    >>> ev = slateval.evaluate(log, by="device", band="none")
    >>> [(segment.value, segment.rows, float(segment["logging"].mean)) for segment in ev.segments]
    [('phone', 1, 0.0), ('tv', 2, 0.5)]
    """

    def __init__(self, evaluation: Evaluation, index: int, facts: Mapping[str, Any]) -> None:
        self.column: str = facts["column"]
        self.value: SegmentValue = facts["value"]
        self.rows: int = facts["rows"]
        self.comparisons = [Comparison._of(c) for c in facts["comparisons"]]
        self._evaluation = evaluation
        self._index = index

    def __getitem__(self, name: str) -> Policy:
        return self._evaluation._policy(self._evaluation._index(name), self._index)

    def __iter__(self) -> Iterator[str]:
        return iter(self._evaluation)

    def __len__(self) -> int:
        return len(self._evaluation)

    def __repr__(self) -> str:
        return f"<slateval.Segment {self.column}={self.value!r}: {self.rows:,} slates>"


@dataclass(frozen=True)
class Disparity:
    """The two segments furthest apart under one policy."""

    policy: str
    metric: str
    alpha: float | None
    low: SegmentValue
    high: SegmentValue
    difference: Interval


class Evaluation(Mapping[str, Policy]):
    """Everything a log says about its target policies: `ev["new"].mean`. Shows itself as a table, and
    in a notebook as the page that `report` writes.

    >>> import slateval
    >>> ev = slateval.evaluate(reward=[1.0, 0.0], logging=[[0.5], [0.5]], target=[[0.9], [0.1]], band="none")
    >>> list(ev)
    ['logging', 'target']
    >>> ev.log["rows"]
    2
    """

    def __init__(self, core: _slateval.Evaluated) -> None:
        self._core = core
        self._names: list[str] = core.names
        self._other_levels: dict[tuple[str, float], Evaluation] = {}
        self._policies: dict[tuple[int, int | None], Policy] = {}

    @classmethod
    def load(cls, path: str | os.PathLike[str], **settings: Any) -> Evaluation:
        """Evaluates a saved summary: `slateval.load`."""
        from ._summary import load

        return load(path, **settings)

    def _index(self, name: str) -> int:
        if name not in self._names:
            raise KeyError(f"there is no policy {name!r}, only {', '.join(self._names)}")
        return self._names.index(name)

    def _policy(self, index: int, segment: int | None = None) -> Policy:
        return self._policies.setdefault((index, segment), Policy(self, index, segment))

    def _at(self, key: str, level: float) -> Evaluation:
        """The same log at another level, computed from the kept summary once."""
        if (key, level) not in self._other_levels:
            quantile, alpha = ([level], []) if key == "level" else ([], [level])
            again = self._core.at_least([level]) if key == "at_least" else self._core.at(quantile, alpha)
            self._other_levels[key, level] = Evaluation(again)
        return self._other_levels[key, level]

    def __getitem__(self, name: str) -> Policy:
        return self._policy(self._index(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @cached_property
    def log(self) -> dict[str, Any]:
        """The log: `rows`, `slots`, and its rewards' `min`, `max` and number of `distinct` values."""
        log: dict[str, Any] = json.loads(self._core.log())
        return log

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Everything needed to run the evaluation again."""
        settings: dict[str, Any] = json.loads(self._core.record())
        return settings

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """Each target minus logging, then minus the baseline, if there is one."""
        return [Comparison._of(facts) for facts in json.loads(self._core.comparisons())]

    def comparison(self, policy: str, baseline: str = "logging") -> Comparison:
        """The comparison of a target with another policy."""
        for comparison in self.comparisons:
            if (comparison.policy, comparison.baseline) == (policy, baseline):
                return comparison
        raise KeyError(f"{policy!r} was not compared with {baseline!r}; give baseline={baseline!r} to evaluate")

    @cached_property
    def segments(self) -> list[Segment]:
        """The same for each value of the column given as `by`, ascending."""
        return [Segment(self, i, facts) for i, facts in enumerate(json.loads(self._core.segments()))]

    @cached_property
    def disparities(self) -> list[Disparity]:
        """How far apart segments are."""
        found = json.loads(self._core.disparities())
        return [Disparity(f["policy"], f["metric"], f["alpha"], f["low"], f["high"], Interval._of(f)) for f in found]

    def to_json(self, *, full_cdf: bool = False) -> str:
        """The JSON that `slateval evaluate --json` writes.

        Its CDFs have at most 256 points, or with `full_cdf=True` one for each bin of rewards, as `Policy.cdf` has.
        """
        return self._core.to_json(full_cdf)

    def to_dict(self, *, full_cdf: bool = False) -> dict[str, Any]:
        """The JSON as plain values, with `full_cdf` as in `to_json`."""
        document: dict[str, Any] = json.loads(self.to_json(full_cdf=full_cdf))
        return document

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the summary, to merge with others or to look at again: `slateval.load`, `slateval show`."""
        self._core.save(os.fspath(path))

    def merge(self, other: Evaluation) -> Evaluation:
        """The evaluation of both logs together, with this one's settings."""
        if not isinstance(other, Evaluation):
            raise DataTypeError(
                f"an evaluation merges with an evaluation, not with a {type(other).__name__}; slateval.merge puts "
                "summaries together"
            )
        return Evaluation(self._core.merge(other._core))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the page of `slateval evaluate --report`: one HTML file, for a decision."""
        self._core.report(os.fspath(path), call(self.settings))

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draws the CDFs and the difference of quantiles, as `.svg` or `.png`."""
        self._core.plot(os.fspath(path))

    def __str__(self) -> str:
        return self._core.to_text()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self._core.notebook(call(self.settings))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evaluation):
            return self is other
        return self.to_json(full_cdf=True) == other.to_json(full_cdf=True)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _restore, self._core.state()


def _restore(summary: bytes, settings: str, record: str) -> Evaluation:
    """Computes a pickled evaluation again, which gives the same numbers."""
    return Evaluation(_slateval.Evaluated.from_state(summary, settings, record))


class Inspection:
    """Whether a log is fit for the job: its schema as understood, every check, and what to do.

    >>> import slateval
    >>> found = slateval.inspect({"reward": [1.0, 0.0], "mu_1": [0.5, 0.5], "pi_1": [0.9, 0.1]})
    >>> print(str(found).splitlines()[0])
    2 slates, 1 slot
    """

    def __init__(self, document: str, text: str) -> None:
        self._document = document
        self._text = text

    def to_json(self) -> str:
        """The JSON that `slateval inspect --json` writes."""
        return self._document

    def to_dict(self) -> dict[str, Any]:
        """The JSON as plain values."""
        document: dict[str, Any] = json.loads(self._document)
        return document

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f'<pre style="line-height: 1.2">{html.escape(self._text)}</pre>'
