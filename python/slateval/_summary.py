"""Summaries: rows added as they come, merged, kept, evaluated."""

from __future__ import annotations

import datetime
import os
import threading
from collections.abc import Sequence
from typing import Any, Literal

from . import _options, _slateval, _summary_settings
from ._errors import DataTypeError, FileError, MissingFileError, NoRowsError
from ._evaluate import _evaluated, _read
from ._evaluation import Evaluation
from ._long import Last, Watch
from ._options import Columns, Options
from ._text import shown


def load(path: str | os.PathLike[str], **settings: Any) -> Evaluation:
    """Evaluates a summary saved with `Evaluation.save` or `slateval evaluate --save`.

    Parameters
    ----------
    path : str or path
        The file.
    **settings
        Those of `evaluate` that can be decided after the log has been read: `correction`, `band`, `confidence`,
        `alpha`, `tail`, `quantile`, `draws`, `seed` and the like, and `structure` for another order of a summary made
        with structure "auto".

    Returns
    -------
    Evaluation
        The evaluation.

    Raises
    ------
    MissingFileError, FileError
        For a file that is not there or cannot be read.
    InputError
        For a file that is no summary, or a setting out of its range.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import slateval
    >>> ev = slateval.evaluate(reward=[1.0, 0.0], logging=[[0.5], [0.5]], target=[[0.9], [0.1]], band="none")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ev.save(pathlib.Path(folder) / "monday.slateval")
    ...     again = slateval.load(pathlib.Path(folder) / "monday.slateval", band="none", alpha=0.5)
    >>> round(float(again["target"].mean), 3)
    0.9
    """
    return Summary.load(path)._evaluate(settings)


class Summary:
    """A mergeable summary of logged slates: add rows as they come, merge with others, evaluate.

    Its size does not depend on the rows, and summaries of days, files or machines merge in any order. Columns and
    structure are those of `evaluate`.

    Parameters
    ----------
    reward, logging : str, optional
        Names of columns, as for `evaluate`.
    target, chi, anywhere, weight : str or dict, optional
        Names of columns, as for `evaluate`.
    long, slate, by, cluster
        As for `evaluate`.
    structure, target_slots, propensities, bins, baseline, allow_duplicates, on_bad_row, on_bad_file, on_unknown_file,
    allow_unended, memory
        As for `evaluate`.
    interactions : bool
        Whether to keep how strongly each two slots interact, for `slateval show`.

    Raises
    ------
    InputError
        For settings that contradict each other.

    Examples
    --------
    >>> import slateval
    >>> monday, tuesday = slateval.Summary(structure="additive"), slateval.Summary(structure="additive")
    >>> monday.add({"reward": [1.0, 0.0], "mu_1": [0.5, 0.5], "pi_1": [0.9, 0.1]})
    >>> tuesday.add({"reward": [0.0, 0.0], "mu_1": [0.5, 0.5], "pi_1": [0.9, 0.1]})
    >>> both = monday.merge(tuesday)
    >>> both.rows, float(both.evaluate(band="none")["logging"].mean)
    (4, 0.25)
    """

    def __init__(
        self,
        *,
        reward: str = "reward",
        logging: str | None = None,
        target: Any = None,
        chi: Any = None,
        anywhere: Any = None,
        weight: Any = None,
        long: bool = False,
        slate: str | None = None,
        by: str | Sequence[str] | None = None,
        cluster: str | None = None,
        structure: str = "auto",
        target_slots: _options.TargetSlots = "independent",
        propensities: _options.PropensitySource = "known",
        bins: int | Literal["log"] = 4096,
        baseline: str | None = None,
        interactions: bool = False,
        allow_duplicates: bool = False,
        on_bad_row: _options.OnBad = "fail",
        on_bad_file: _options.OnBad = "fail",
        on_unknown_file: _options.OnUnknown = "warn",
        allow_unended: bool = False,
        memory: int | None = None,
    ) -> None:
        columns = Columns.of_names(
            reward=reward,
            logging=logging,
            target=target,
            chi=chi,
            anywhere=anywhere,
            weight=weight,
            long=long,
            slate=slate,
            by=by,
            cluster=cluster,
        )
        structure = _options.text("structure", structure)
        slots, kept = _options.text("target_slots", target_slots), _options.bins_text(bins)
        source = _options.text("propensities", propensities, '"known" or "estimated"')
        tolerance = _options.tolerance(on_bad_row, on_bad_file, on_unknown_file, allow_unended, memory)
        self._options: Options | None = Options(
            columns, structure, slots, kept, baseline, bool(interactions), source, bool(allow_duplicates), **tolerance
        )
        _summary_settings.check(self._options)
        self._core: _slateval.Summary | None = None
        self._last: Last | None = None
        self._adding = threading.Lock()

    @classmethod
    def _of(cls, core: _slateval.Summary | None, options: Options | None = None) -> Summary:
        summary = cls.__new__(cls)
        summary._options, summary._core, summary._last = options, core, None
        summary._adding = threading.Lock()
        return summary

    @classmethod
    def from_bytes(cls, data: bytes) -> Summary:
        """A summary from `to_bytes`, or from the bytes of a summary file.

        Parameters
        ----------
        data : bytes
            The bytes.

        Returns
        -------
        Summary
            The summary. It takes no rows; merge it with one that does.

        Raises
        ------
        InputError
            For bytes that are no summary.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise DataTypeError(f"a summary is made of bytes, not of a {type(data).__name__}; load reads a file")
        return cls._of(_slateval.Summary.from_bytes(bytes(data)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Summary:
        """A summary from a file.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        Summary
            The summary.

        Raises
        ------
        MissingFileError, FileError
            For a file that is not there or cannot be read.
        InputError
            For a file that is no summary.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise DataTypeError(f"load takes the path of a summary, not a {type(path).__name__}")
        path = os.fspath(path)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            raise MissingFileError(f"{shown(_slateval.redacted(str(path)))}: there is no such file") from None
        except OSError as error:
            raise FileError(f"{shown(_slateval.redacted(str(path)))}: cannot read it: {error.strerror}") from None
        return cls._of(_slateval.Summary.from_bytes(data, path))

    def add(self, data: Any, *, threads: int | None = None, progress: Any = None) -> None:
        """Adds rows. No rows are fine, and several threads may add at once.

        Parameters
        ----------
        data : path, frame, Arrow data, dict or iterable
            Anything that `evaluate` takes as data. With `long=True`, keep the rows of a slate in one add.
        threads, progress
            As for `evaluate`.

        Raises
        ------
        Error
            As `evaluate`. A refused batch changes nothing.
        """
        if self._options is None:
            raise DataTypeError("a summary made of bytes takes no rows: add them to a new one and merge the two")
        if hasattr(data, "gi_frame") and data.gi_frame is None:
            raise NoRowsError("data is a generator that has been read already: make it again")
        count = _options.threads(threads)
        if self._options.columns.long:
            with self._adding:
                self._add_long(self._options, data, count, progress)
            return
        part = _part(data, self._options, count, progress)
        with self._adding:
            self._keep(part)

    def _add_long(self, options: Options, data: Any, threads: int | None, progress: Any) -> None:
        watch = Watch(options, self._last)
        self._keep(_part(watch.over(data), options, threads, progress))
        self._last = watch.last

    def _keep(self, part: _slateval.Summary | None) -> None:
        if part is not None:
            allowed = self._options is not None and self._options.allow_duplicates
            self._core = part if self._core is None else self._core.merge(part, allowed)

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """The files that rows came from, by name: `name`, `bytes`, `fingerprint`, `row_groups`, `rows`, `day`."""
        names = ("name", "bytes", "fingerprint", "row_groups", "rows", "day")
        found = [] if self._core is None else self._core.inputs()
        return [dict(zip(names, facts, strict=True)) for facts in found]

    @property
    def days(self) -> list[str]:
        """The days that rows are of, as far as `save(day=)` or the command line's `--day` said."""
        return [] if self._core is None else self._core.days()

    def merge(self, other: Summary, *, allow_duplicates: bool = False) -> Summary:
        """Both together; neither is changed.

        Parameters
        ----------
        other : Summary
            A summary of the same columns and settings.
        allow_duplicates : bool
            Whether rows of a file that is in both are counted twice; otherwise that is refused.

        Returns
        -------
        Summary
            The summary of all rows.

        Raises
        ------
        InputError
            For summaries of different things, and for rows of one file in both.
        """
        if not isinstance(other, Summary):
            raise DataTypeError(f"a summary merges with a summary, not with {_summary_settings.kind(other)}")
        if self._core is not None and other._core is not None:
            merged = Summary._of(self._core.merge(other._core, bool(allow_duplicates)), self._options)
        else:
            _summary_settings.refuse_differences(self._wanted(), other._wanted())
            merged = Summary._of(self._core or other._core, self._options)
        merged._last = self._last
        return merged

    def _wanted(self) -> dict[str, str]:
        if self._core is not None:
            return _summary_settings.of_spec(self._core.spec)
        return _summary_settings.of_options(self._options) if self._options is not None else {}

    @property
    def rows(self) -> int:
        """The number of slates added."""
        return 0 if self._core is None else self._core.rows

    def evaluate(self, **settings: Any) -> Evaluation:
        """The reward distribution of every policy.

        Parameters
        ----------
        **settings
            As for `slateval.load`.

        Returns
        -------
        Evaluation
            The evaluation.

        Raises
        ------
        NoRowsError
            For a summary without rows.
        InputError
            For a setting out of its range.
        """
        return self._evaluate(settings)

    def _evaluate(self, settings: dict[str, Any]) -> Evaluation:
        _summary_settings.refuse_settings_of_rows(settings)
        correction = _options.text("correction", settings.pop("correction", "auto"), "the name of a correction")
        settings["threads"] = _options.threads(settings.get("threads"))
        method = _options.method(correction=correction, **settings)
        return _evaluated(self._filled(), method, stacklevel=4)

    def _filled(self) -> _slateval.Summary:
        if self._core is None:
            raise NoRowsError("there are no rows: an empty summary says nothing about any policy")
        return self._core

    def to_bytes(self) -> bytes:
        """The summary as bytes: those of a summary file.

        Returns
        -------
        bytes
            The bytes.

        Raises
        ------
        NoRowsError
            For a summary without rows.
        """
        return self._filled().to_bytes()

    def save(self, path: str | os.PathLike[str], *, day: str | datetime.date | None = None) -> None:
        """Writes a summary file, whole or not at all.

        Parameters
        ----------
        path : str or path
            The file.
        day : str or date, optional
            The day that the rows are of, such as "2024-05-31", to be saved with them.

        Raises
        ------
        NoRowsError
            For a summary without rows.
        FileError
            For a file that cannot be written.
        InputError
            For a day that is not in the calendar.
        """
        self._filled().save(os.fspath(path), None if day is None else str(day))

    def __getstate__(self) -> tuple[Options | None, bytes | None, Last | None]:
        return self._options, None if self._core is None else self._core.to_compressed(), self._last

    def __setstate__(self, state: tuple[Options | None, bytes | None, Last | None]) -> None:
        self._options, data, self._last = state
        self._core = None if data is None else _slateval.Summary.from_compressed(data)
        self._adding = threading.Lock()

    def __repr__(self) -> str:
        return f"<slateval.Summary: {self.rows:,} slates>"


def _part(data: Any, options: Options, threads: int | None, progress: Any) -> _slateval.Summary | None:
    """The summary of these rows; none of no rows, such as those of a day without traffic."""
    try:
        return _read(data, options, None, threads, progress)
    except NoRowsError:
        return None
