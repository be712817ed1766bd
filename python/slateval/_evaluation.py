"""What an evaluation says: policies, how they compare, segments, checks."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from . import _comparison, _options, _segment, _slateval, _tidy
from ._checks import Check
from ._comparison import Comparison
from ._errors import DataTypeError, InputError
from ._interval import Interval
from ._plot import Plot, PlotName, chosen
from ._policy import Policy
from ._rerun_call import call
from ._segment import Disparity, Segment, SegmentValue
from ._text import Text, shown

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

TableName = Literal["policies", "comparisons", "segments", "segment_comparisons", "checks", "cdf"]
"""What an evaluation can be turned into a dataframe of."""


class Evaluation(Mapping[str, Policy]):
    """Everything a log says about its target policies: a mapping of policies, `logging` first.

    It shows itself as a short table, printed as a full one, and in a notebook as the page that `report` writes.

    Parameters
    ----------
    core : object
        The native part. `slateval.evaluate` and `slateval.load` make evaluations.

    Examples
    --------
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
        self._answers: dict[tuple[Any, ...], Any] = {}
        self._policies: dict[tuple[int, int | None], Policy] = {}

    @classmethod
    def load(cls, path: str | os.PathLike[str], **settings: Any) -> Evaluation:
        """Evaluates a saved summary: `slateval.load`.

        Parameters
        ----------
        path : str or path
            The file.
        **settings
            As for `slateval.load`.

        Returns
        -------
        Evaluation
            The evaluation.
        """
        from ._summary import load

        return load(path, **settings)

    def _index(self, name: str) -> int:
        if name not in self._names:
            raise KeyError(f"there is no policy {name!r}, only {', '.join(map(shown, self._names))}")
        return self._names.index(name)

    def _policy(self, index: int, segment: int | None = None) -> Policy:
        return self._policies.setdefault((index, segment), Policy(self, index, segment))

    def _at(self, key: str, level: float, segment: int | None) -> Any:
        """Every policy and comparison at another level, computed from the kept summary once."""
        asked = (key, level, segment)
        if asked not in self._answers:
            quantile, alpha, at_least = ([level] if key == own else [] for own in ("level", "alpha", "at_least"))
            self._answers[asked] = json.loads(self._core.levels(quantile, alpha, at_least, segment))
        return self._answers[asked]

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

    @property
    def confidence(self) -> float:
        """The probability with which each interval is to hold the truth."""
        return float(self.settings["confidence"])

    def at(self, **settings: Any) -> Evaluation:
        """The same log with other settings, from the kept summary: nothing is read again.

        Parameters
        ----------
        **settings
            Those of `slateval.load`: `confidence`, `alpha`, `quantile`, `tail`, `band`, `correction`, `draws`, `seed`,
            … Settings that are not given stay as they are.

        Returns
        -------
        Evaluation
            Evaluated when it is first asked for something.

        Raises
        ------
        DataTypeError
            For a setting that the rows have decided, or that there is not.
        InputError
            For a setting out of its range.

        Examples
        --------
        >>> import slateval
        >>> ev = slateval.evaluate("examples/slates.parquet", target={"new": "pi_new"})
        >>> print(f"{ev.at(confidence=0.9)['new'].mean:.4f}")
        0.6654 [0.6564, 0.6693]
        """
        from . import _summary_settings

        _summary_settings.refuse_settings_of_rows(settings)
        kept = {name: self.settings[name] for name in _options.METHOD if name in self.settings}
        return Evaluation(self._core.at(_options.method(**(kept | settings))))

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """Each target minus logging, then minus the baseline, if there is one."""
        return [Comparison(self, i, facts) for i, facts in enumerate(json.loads(self._core.comparisons()))]

    def comparison(self, policy: str, baseline: str = "logging") -> Comparison:
        """The comparison of a target with another policy.

        Parameters
        ----------
        policy : str
            The target.
        baseline : str
            What it is compared with: `logging`, or the `baseline` given to `evaluate`.

        Returns
        -------
        Comparison
            Target minus baseline.

        Raises
        ------
        KeyError
            For policies that were not compared.
        """
        return self._find(self.comparisons, policy, baseline)

    def _find(self, comparisons: list[Comparison], policy: str, baseline: str) -> Comparison:
        for comparison in comparisons:
            if (comparison.policy, comparison.baseline) == (policy, baseline):
                return comparison
        self._index(policy)
        self._index(baseline)
        known = ", ".join(f"{c.policy!r} with {c.baseline!r}" for c in comparisons)
        if policy in (baseline, "logging"):
            raise KeyError(f"{policy!r} is not compared with {baseline!r}; compared are {known}")
        raise KeyError(
            f"{policy!r} was not compared with {baseline!r}; compared are {known}. To compare targets with "
            f"{baseline!r}, evaluate with baseline={baseline!r}"
        )

    @cached_property
    def segments(self) -> list[Segment]:
        """The same for each value of the column given as `by`, ascending."""
        return [Segment(self, i, facts) for i, facts in enumerate(json.loads(self._core.segments()))]

    def segment(self, *value: SegmentValue) -> Segment:
        """The segment of a value.

        Parameters
        ----------
        *value
            The value of the column given as `by`; one for each column, if several were given.

        Returns
        -------
        Segment
            Its policies by name.

        Raises
        ------
        KeyError
            For a value that the log does not have.

        Examples
        --------
        >>> import slateval
        >>> ev = slateval.evaluate("examples/slates.parquet", target={"new": "pi_new"}, by="device")
        >>> ev.segment("phone").rows
        4695
        """
        wanted = _segment.wanted(value)
        for segment in self.segments:
            if segment.value == wanted and isinstance(segment.value, bool) == isinstance(wanted, bool):
                return segment
        if not self.segments:
            raise KeyError("there are no segments: evaluate with by=, the column whose values are to be told apart")
        raise KeyError(f"there is no segment {wanted!r}, only {_some([repr(s.value) for s in self.segments])}")

    @cached_property
    def disparities(self) -> list[Disparity]:
        """How far apart segments are."""
        found = json.loads(self._core.disparities())
        interval = [Interval._of(facts, self.confidence) for facts in found]
        return [
            Disparity(f["policy"], f["metric"], f["alpha"], f["low"], f["high"], i)
            for f, i in zip(found, interval, strict=True)
        ]

    @cached_property
    def checks(self) -> list[Check]:
        """Every check of every policy, first of the whole log and then of each segment."""
        parts: list[Mapping[str, Policy]] = [self, *self.segments]
        return [check for part in parts for policy in part.values() for check in policy.checks]

    @property
    def failed_checks(self) -> list[Check]:
        """The checks that failed, in the whole log and in segments. Empty is good."""
        return [check for check in self.checks if check["status"] == "fail"]

    def conf_int(self) -> dict[str, tuple[float | None, float | None]]:
        """The confidence interval of each policy's mean.

        Returns
        -------
        dict of tuple
            The ends by policy; `None` where there is no interval.
        """
        return {name: policy.conf_int() for name, policy in self.items()}

    @property
    def se(self) -> dict[str, float | None]:
        """The standard error of each policy's mean; `None` where there is no interval."""
        return {name: policy.se for name, policy in self.items()}

    def summary(self) -> Text:
        """What people decide on first, as a table.

        Returns
        -------
        str
            The table of `slateval evaluate`, which shows itself; `print(ev)` shows everything.
        """
        return Text(self._core.to_text(False))

    def to_pandas(self, what: TableName = "policies") -> pandas.DataFrame:
        """The numbers as a tidy pandas frame.

        Parameters
        ----------
        what : {"policies", "comparisons", "segments", "segment_comparisons", "checks", "cdf"}
            Whose numbers: those of policies or of their differences, each over the whole log or in segments; the
            checks; or the points of the CDFs.

        Returns
        -------
        pandas.DataFrame
            Columns `policy`, `metric`, `level`, `estimate`, `lower`, `upper`, `se` and `reason`, beside those that say
            what a row is of; a row for each number.

        Raises
        ------
        InputError
            For another name.
        ImportError
            Without pandas.

        Examples
        --------
        >>> import slateval
        >>> ev = slateval.evaluate("examples/slates.parquet", target={"new": "pi_new"})
        >>> frame = ev.to_pandas()
        >>> frame[frame.metric == "mean"][["policy", "estimate", "lower", "upper"]].round(4)
             policy  estimate   lower   upper
        0   logging    0.6430  0.6377  0.6483
        13      new    0.6654  0.6552  0.6705
        """
        return _tidy.frame(self._table(what), "pandas")

    def to_polars(self, what: TableName = "policies") -> polars.DataFrame:
        """The numbers as a tidy Polars frame.

        Parameters
        ----------
        what : {"policies", "comparisons", "segments", "segment_comparisons", "checks", "cdf"}
            As for `to_pandas`.

        Returns
        -------
        polars.DataFrame
            As for `to_pandas`.

        Raises
        ------
        InputError
            For another name.
        ImportError
            Without Polars.
        """
        made: polars.DataFrame = _tidy.frame(self._table(what), "polars")
        return made

    def to_arrow(self, what: TableName = "policies") -> pyarrow.Table:
        """The numbers as a tidy pyarrow table.

        Parameters
        ----------
        what : {"policies", "comparisons", "segments", "segment_comparisons", "checks", "cdf"}
            As for `to_pandas`.

        Returns
        -------
        pyarrow.Table
            As for `to_pandas`.

        Raises
        ------
        InputError
            For another name.
        ImportError
            Without pyarrow.
        """
        return _tidy.frame(self._table(what), "pyarrow")

    def _table(self, what: str) -> dict[str, Any]:
        if what == "policies":
            return _tidy.columns((row for policy in self.values() for row in policy._rows()), _tidy.COLUMNS)
        if what == "comparisons":
            return _tidy.columns((row for c in self.comparisons for row in c._rows()), _comparison.NAMES)
        if what == "segments":
            return _tidy.columns((row for segment in self.segments for row in segment._rows()), _segment.NAMES)
        if what == "segment_comparisons":
            rows = (row for s in self.segments for c in s.comparisons for row in c._rows(**s._of()))
            return _tidy.columns(rows, (*_segment.NAMES[:3], *_comparison.NAMES))
        if what == "checks":
            rows = ({"policy": c.policy, "segment": c.segment, **c} for c in self.checks)
            return _tidy.columns(rows, ("policy", "segment", "name", "status", "value", "message"))
        if what == "cdf":
            return _points(self)
        known = "policies, comparisons, segments, segment_comparisons, checks, cdf"
        raise InputError(f"there is no table {what!r}; there are {known}")

    def to_json(self, *, full_cdf: bool = False) -> str:
        """The JSON that `slateval evaluate --json` writes.

        Parameters
        ----------
        full_cdf : bool
            Whether CDFs have a point for each bin of rewards, as `Policy.cdf` has, or at most 256.

        Returns
        -------
        str
            The document.
        """
        return self._core.to_json(full_cdf)

    def to_dict(self, *, full_cdf: bool = False) -> dict[str, Any]:
        """The JSON as plain values.

        Parameters
        ----------
        full_cdf : bool
            As in `to_json`.

        Returns
        -------
        dict
            The document.
        """
        document: dict[str, Any] = json.loads(self.to_json(full_cdf=full_cdf))
        return document

    def save(self, path: str | os.PathLike[str], *, day: str | datetime.date | None = None) -> None:
        """Saves the summary, to merge with others or to look at again: `slateval.load`, `slateval show`.

        Parameters
        ----------
        path : str or path
            The file, by custom one that ends in `.slateval`.
        day : str or date, optional
            The day that the rows are of, such as "2024-05-31", to be saved with them.

        Raises
        ------
        FileError
            For a file that cannot be written.
        InputError
            For a day that is not in the calendar.
        """
        self._core.save(os.fspath(path), None if day is None else str(day))

    def merge(self, other: Evaluation, *, allow_duplicates: bool = False) -> Evaluation:
        """The evaluation of both logs together, with this one's settings.

        Parameters
        ----------
        other : Evaluation
            An evaluation of the same columns of another log.
        allow_duplicates : bool
            Whether rows of a file that is in both are counted twice; otherwise that is refused.

        Returns
        -------
        Evaluation
            Both together; neither is changed.

        Raises
        ------
        InputError
            For evaluations of different things, and for rows of one file in both.
        DataTypeError
            For what is no evaluation.
        """
        if not isinstance(other, Evaluation):
            raise DataTypeError(
                f"an evaluation merges with an evaluation, not with a {type(other).__name__}; slateval.merge puts "
                "summaries together"
            )
        return Evaluation(self._core.merge(other._core, bool(allow_duplicates)))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the page of `slateval evaluate --report`: one HTML file, for a decision.

        Parameters
        ----------
        path : str or path
            The file.

        Raises
        ------
        FileError
            For a file that cannot be written.
        """
        self._core.report(os.fspath(path), call(self.settings))

    def plot(
        self, what: PlotName | Sequence[PlotName] | str | os.PathLike[str] | None = None, *, ax: Any = None
    ) -> Any:
        """A picture, which shows itself in a notebook.

        Parameters
        ----------
        what : {"cdf", "difference", "tails", "segments", "weights"}, several of them, or a path
            What is drawn: CDFs with their bands; differences of quantiles to logging's at all levels; means of tails of
            all sizes; differences of means in segments; how many slates have which weight. By default the first two,
            beside each other. With a path that ends in `.svg` or `.png`, these two are written there.
        ax : matplotlib axes, optional
            Where to draw one of them with matplotlib.

        Returns
        -------
        Plot or matplotlib axes
            A picture with `save(path)`; with `ax`, the axes.

        Raises
        ------
        InputError
            For another name, for segments without `by`, and for several names with `ax`.
        FileError
            For a file that cannot be written.

        Examples
        --------
        >>> import slateval
        >>> ev = slateval.evaluate("examples/slates.parquet", target={"new": "pi_new"})
        >>> ev.plot("tails")
        <slateval.Plot of tails>
        """
        names, path = chosen(what)
        if "segments" in names and self.settings["by"] is None:
            raise InputError(
                "there are no segments to draw: evaluate with by=, the column whose values are to be told apart"
            )
        if ax is not None:
            from ._axes import draw

            return draw(self, names, ax)
        plot = Plot(names, self._core.svg(names))
        if path is not None:
            plot.save(path)
        return plot

    def __str__(self) -> str:
        return self._core.to_text(True)

    def __repr__(self) -> str:
        return self._core.to_text(False)

    def _repr_html_(self) -> str:
        return self._core.notebook(call(self.settings))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evaluation):
            return self is other
        return self.to_json(full_cdf=True) == other.to_json(full_cdf=True)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _restore, self._core.state()


def _points(ev: Evaluation) -> dict[str, Any]:
    """The CDFs below each other, of the whole log and then of each segment."""
    import numpy as np

    parts: list[tuple[SegmentValue, Mapping[str, Policy]]] = [(None, ev), *((s.value, s) for s in ev.segments)]
    found = [(segment, policy.name, policy.cdf.to_numpy()) for segment, part in parts for policy in part.values()]
    columns: dict[str, Any] = {
        "policy": [name for _, name, cdf in found for _ in cdf["reward"]],
        "segment": [segment for segment, _, cdf in found for _ in cdf["reward"]],
    }
    names = ("reward", "raw", "estimate", "lower", "upper")
    return columns | {name: np.concatenate([cdf[name] for *_, cdf in found]) for name in names}


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:10])
    return shown if len(names) <= 10 else f"{shown} and {len(names) - 10} more"


def _restore(summary: bytes, settings: str, record: str) -> Evaluation:
    """A pickled evaluation. It is evaluated again when it is first asked, which gives the same numbers."""
    return Evaluation(_slateval.Evaluated.from_state(summary, settings, record))
