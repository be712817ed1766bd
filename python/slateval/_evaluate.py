"""From data to answers: evaluate, inspect, load, Summary."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from . import _arrays, _data, _options, _slateval
from ._errors import DataTypeError, InputError, MissingFileError, SlatevalWarning
from ._evaluation import Evaluation, Inspection
from ._options import Columns, Options
from ._progress import teller

Result = TypeVar("Result")

Column = Any
"""A column's name; where there are no data, an array."""


def _reading(
    data: Any,
    read: Callable[[Any, Columns], Result],
    *,
    reward: Any,
    logging: Any,
    target: Any,
    chi: Any,
    anywhere: Any,
    weight: Any,
    long: bool,
    slate: Any,
    by: Any,
    cluster: Any,
) -> Result:
    """Reads the data, whether they came as a log with names of columns or as arrays."""
    if data is None:
        return _read_arrays((reward, logging, target, chi, anywhere, weight, by, cluster), read)
    for argument, value in (("reward", reward), ("logging", logging), ("target", target), ("by", by)):
        if hasattr(value, "__array__"):
            raise DataTypeError(f"{argument} is an array, and there are data: pass a column's name, or arrays alone")
    named = Columns.of_names(
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
    return read(data, named)


def _read_arrays(arrays: tuple[Any, ...], read: Callable[[Any, Columns], Result]) -> Result:
    """Reads arrays; NaN in slots, which are then not there, is looked for only where it was in the way."""
    try:
        return read(*_arrays.of_arguments(*arrays))
    except InputError:
        if not _arrays.has_nan(*arrays[1:5]):
            raise
    return read(*_arrays.of_arguments(*arrays, missing=True))


def _read(data: Any, options: Options, method: str | None, threads: int | None, progress: Any) -> _slateval.Summary:
    tell = teller(progress)
    paths = _data.paths_of(data)
    if paths is not None:
        return _slateval.Summary.read_files(options.request(), paths, method, threads, tell)
    objects, names = _data.batches_of(data, options.bases())
    return _slateval.Summary.read_batches(options.request(), objects, names, method, threads, tell)


def _evaluated(summary: _slateval.Summary, method: str, stacklevel: int = 3) -> Evaluation:
    core = summary.evaluate(method)
    lines = core.warnings()
    if lines:
        # Where the user called us.
        warnings.warn("\n".join(lines), SlatevalWarning, stacklevel=stacklevel)
    return Evaluation(core)


def evaluate(
    data: Any = None,
    *,
    reward: Column = "reward",
    logging: Column = None,
    target: Any = None,
    chi: Any = None,
    anywhere: Any = None,
    weight: Any = None,
    long: bool = False,
    slate: str | None = None,
    by: Column = None,
    cluster: Column = None,
    estimator: str | None = None,
    structure: str = "auto",
    correction: str = "auto",
    target_slots: str = "independent",
    band: str | None = "multiplier",
    min_propensity: float | None = None,
    confidence: float = 0.95,
    baseline: str | None = None,
    alpha: float | Iterable[float] = (0.05, 0.1, 0.25),
    tail: str = "lower",
    quantile: float | Iterable[float] = (0.25, 0.5, 0.75),
    bins: int | str = 4096,
    draws: int = 2000,
    debias_cvar: bool = False,
    seed: int = 0,
    threads: int | None = None,
    progress: Any = None,
) -> Evaluation:
    """Estimates each target policy's reward distribution from a log.

    `data` is one of: a path, a glob or a list of them (Parquet, CSV, JSON lines, Arrow); a pandas or Polars frame,
    lazy ones included; a pyarrow Table, RecordBatch, RecordBatchReader or Dataset; a DuckDB relation; anything else
    with `__arrow_c_stream__`; a dict of arrays; an iterable of these. Streams are read as streams, in constant memory.
    Without `data`, `reward`, `logging`, `target` and the other columns are arrays: `(n,)`, `(n, K)`, `(n, K)`.

    Columns, as the flags of the command line: `reward` ("reward"), `logging` ("mu": columns `mu_1` to `mu_K`, or a
    list), `target` ("pi", or `{"new": "pi_new", …}`), and beside each target `chi`, `anywhere` and `weight`;
    `long=True` for one row per slot, with `slate`; `by` for segments, `cluster` for rows that are not independent of
    each other.

    Method: `estimator` ("suno", "uno"), or `structure` and `correction`; `band` ("multiplier", "bernstein", "none"),
    `confidence`, `draws`, `seed`; `baseline` to compare targets with; `alpha`, `tail` and `quantile` for what is
    reported. The numbers do not depend on `threads`.

    `progress` is `True`, a function of `(rows, total)`, or a bar with `update(n)` such as tqdm's.

    Checks that do not go well are a `SlatevalWarning`.

    >>> import numpy as np
    >>> import slateval
    >>> random = np.random.default_rng(1)
    >>> items = random.integers(0, 2, size=(10_000, 3))            # uniform logging: two items for each of three slots
    >>> clicks = (random.random(items.shape) < 0.1 + 0.2 * items).sum(axis=1)
    >>> pi = np.where(items == 1, 0.9, 0.1)                        # a target that prefers item 1
    >>> ev = slateval.evaluate(reward=clicks, logging=np.full(items.shape, 0.5), target=pi)
    >>> mean = ev["target"].mean                                   # the truth is 3 * (0.1 + 0.2 * 0.9) = 0.84
    >>> mean.lower < 0.84 < mean.upper
    True
    """
    structure, correction = _options.structure_of(estimator, structure, correction)
    threads = _options.threads(threads)
    method = _options.method(
        correction=correction,
        band=band,
        min_propensity=min_propensity,
        confidence=confidence,
        alpha=alpha,
        tail=tail,
        quantile=quantile,
        draws=draws,
        debias_cvar=debias_cvar,
        seed=seed,
        threads=threads,
    )
    slots, bins = _options.text("target_slots", target_slots), _options.bins_text(bins)

    def read(data: Any, columns: Columns) -> _slateval.Summary:
        options = Options(columns, structure, slots, bins, baseline)
        return _read(data, options, method, threads, progress)

    summary = _reading(
        data,
        read,
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
    return _evaluated(summary, method)


def inspect(
    data: Any = None,
    *,
    reward: Column = "reward",
    logging: Column = None,
    target: Any = None,
    chi: Any = None,
    anywhere: Any = None,
    weight: Any = None,
    long: bool = False,
    slate: str | None = None,
    by: Column = None,
    cluster: Column = None,
    structure: str = "auto",
    target_slots: str = "independent",
    bins: int | str = 4096,
    interactions: bool = False,
    band_width: float = 0.05,
    confidence: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    progress: Any = None,
) -> Inspection:
    """Tells whether a log is fit for the job: its schema as understood, every check, and what to do.

    Takes the data and columns of `evaluate`. `interactions=True` tells how strongly each two slots interact, and
    `band_width` asks how many rows a CDF band of that width takes.
    """
    threads = _options.threads(threads)
    structure, correction = _options.structure_of(None, structure, "auto")
    method = _options.method(correction=correction, confidence=confidence, seed=seed, threads=threads)
    width = _options.number("band_width", band_width)
    if not 0 < width < 1:
        raise InputError(f"band_width `{width}`: a band's width lies between 0 and 1")
    slots, bins = _options.text("target_slots", target_slots), _options.bins_text(bins)

    def read(data: Any, columns: Columns) -> tuple[str, str]:
        options = Options(columns, structure, slots, bins, None, bool(interactions))
        paths = _data.paths_of(data)
        found = None if paths is not None else _data.batches_of(data, options.bases())
        objects, names = found or (None, [])
        return _slateval.inspect(
            options.request(),
            method,
            paths or [],
            objects,
            names,
            bool(interactions),
            width,
            threads,
            teller(progress),
        )

    found = _reading(
        data,
        read,
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
    return Inspection(*found)


def load(path: str | os.PathLike[str], **settings: Any) -> Evaluation:
    """Evaluates a summary saved with `Evaluation.save` or `slateval evaluate --save`.

    `settings` are those of `evaluate` that can be decided after the log has been read: `correction`, `band`,
    `confidence`, `alpha`, `tail`, `quantile`, `draws`, `seed` and the like, and `structure` for another order of a
    summary made with structure "auto".
    """
    return Summary.load(path)._evaluate(settings)


class Summary:
    """A mergeable summary of logged slates: add rows as they come, merge with others, evaluate.

    Its size does not depend on the rows, and summaries of days, files or machines merge in any order. Columns and
    structure are those of `evaluate`.

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
        by: str | None = None,
        cluster: str | None = None,
        structure: str = "auto",
        target_slots: str = "independent",
        bins: int | str = 4096,
        baseline: str | None = None,
        interactions: bool = False,
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
        slots, bins = _options.text("target_slots", target_slots), _options.bins_text(bins)
        self._options: Options | None = Options(columns, structure, slots, bins, baseline, bool(interactions))
        self._core: _slateval.Summary | None = None

    @classmethod
    def _of(cls, core: _slateval.Summary | None, options: Options | None = None) -> Summary:
        summary = cls.__new__(cls)
        summary._options, summary._core = options, core
        return summary

    @classmethod
    def from_bytes(cls, data: bytes) -> Summary:
        """A summary from `to_bytes`, or from the bytes of a summary file."""
        return cls._of(_slateval.Summary.from_bytes(data))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Summary:
        """A summary from a file."""
        path = os.fspath(path)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            raise MissingFileError(f"{path}: there is no such file") from None
        return cls._of(_slateval.Summary.from_bytes(data, path))

    def add(self, data: Any, *, threads: int | None = None, progress: Any = None) -> None:
        """Adds rows: anything that `evaluate` takes as data."""
        if self._options is None:
            raise TypeError("a summary made of bytes takes no rows: add them to a new one and merge the two")
        part = _read(data, self._options, None, _options.threads(threads), progress)
        self._core = part if self._core is None else self._core.merge(part)

    def merge(self, other: Summary) -> Summary:
        """Both together; neither is changed."""
        if not isinstance(other, Summary):
            raise TypeError(f"a summary merges with a summary, not with a {type(other).__name__}")
        if other._core is None:
            return Summary._of(self._core, self._options)
        if self._core is None:
            return Summary._of(other._core, self._options)
        return Summary._of(self._core.merge(other._core), self._options)

    @property
    def rows(self) -> int:
        """The number of slates added."""
        return 0 if self._core is None else self._core.rows

    def evaluate(self, **settings: Any) -> Evaluation:
        """The reward distribution of every policy; `settings` as for `slateval.load`."""
        return self._evaluate(settings)

    def _evaluate(self, settings: dict[str, Any]) -> Evaluation:
        correction = _options.text("correction", settings.pop("correction", "auto"), "the name of a correction")
        settings["threads"] = _options.threads(settings.get("threads"))
        method = _options.method(correction=correction, **settings)
        return _evaluated(self._filled(), method, stacklevel=4)

    def _filled(self) -> _slateval.Summary:
        if self._core is None:
            raise InputError("there are no rows: an empty summary says nothing about any policy")
        return self._core

    def to_bytes(self) -> bytes:
        """The summary as bytes: those of a summary file."""
        return self._filled().to_bytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a summary file, whole or not at all."""
        self._filled().save(os.fspath(path))

    def __getstate__(self) -> tuple[Options | None, bytes | None]:
        return self._options, None if self._core is None else self._core.to_bytes()

    def __setstate__(self, state: tuple[Options | None, bytes | None]) -> None:
        self._options, data = state
        self._core = None if data is None else _slateval.Summary.from_bytes(data)

    def __repr__(self) -> str:
        return f"<slateval.Summary: {self.rows:,} slates>"
