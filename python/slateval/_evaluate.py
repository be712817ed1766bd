"""From data to answers: evaluate, inspect."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar

from . import _arrays, _data, _options, _slateval, _warn
from ._errors import DataTypeError, InputError, NoRowsError, SlatevalWarning
from ._evaluation import Evaluation
from ._inspection import Inspection
from ._options import Columns, Options
from ._progress import teller
from ._rows_of_pandas import in_one_order

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
    if data is None and (long or slate is not None):
        raise InputError(
            "long is for data with one row per slot; arrays have one row per slate, and one column per slot"
        )
    if data is None:
        arrays = in_one_order(
            {
                "reward": reward,
                "logging": logging,
                "target": target,
                "chi": chi,
                "anywhere": anywhere,
                "weight": weight,
                "by": by,
                "cluster": cluster,
            }
        )
        return _read_arrays(tuple(arrays.values()), read)
    for argument, value in (("reward", reward), ("logging", logging), ("target", target), ("by", by)):
        if hasattr(value, "__array__"):
            name = getattr(value, "name", None)
            own = f", {argument}={name!r}," if isinstance(name, str) else ""
            raise DataTypeError(
                f"{argument} is an array, and there are data: pass a column's name{own} or arrays alone"
            )
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
    if isinstance(data, _data.Elsewhere):
        return data.read(options, method, progress)
    summary = _read_here(data, options, method, threads, progress)
    _warn.warn(summary.remarks())
    return summary


def _read_here(
    data: Any, options: Options, method: str | None, threads: int | None, progress: Any
) -> _slateval.Summary:
    tell = teller(progress)
    paths = _data.paths_of(data)
    if paths is not None:
        return _with_rows(data, lambda: _slateval.Summary.read_files(options.request(), paths, method, threads, tell))
    objects, names = _data.batches_of(data, options.bases())
    return _with_rows(
        data, lambda: _slateval.Summary.read_batches(options.request(), objects, names, method, threads, tell)
    )


def _second_look(core: _slateval.Evaluated, data: Any, options: Options) -> list[str]:
    """What some rows in memory suggest, where propensities failed their check. Files are looked at by their reader."""
    is_read_once = any(hasattr(data, name) for name in ("__next__", "read_next_batch", "collect", "project", "scanner"))
    if is_read_once or isinstance(data, _data.Elsewhere) or _data.paths_of(data) is not None:
        return []
    if not core.asks_for_a_second_look():
        return []
    objects, names = _data.batches_of(data, options.bases())
    return core.second_look(options.request(), objects, names)


def _with_rows(data: Any, read: Callable[[], Result]) -> Result:
    """What was read; a log without rows is told from everything else that may be wrong with it."""
    try:
        return read()
    except NoRowsError:
        if hasattr(data, "__next__") or hasattr(data, "read_next_batch"):
            message = "there are no rows in data, or it has been read already: a stream is read once, make it again"
        elif _data.paths_of(data) is None:
            message = "there are no rows in data: an empty log says nothing about any policy"
        else:
            raise
    raise NoRowsError(message)


def _evaluated(
    summary: _slateval.Summary,
    method: str,
    stacklevel: int = 3,
    look_again: Callable[[_slateval.Evaluated], list[str]] = lambda _: [],
) -> Evaluation:
    core = summary.evaluate(method)
    evaluation, lines = Evaluation(core), core.warnings()
    if lines:
        lines = [line for line in look_again(core) if line not in lines] + lines
        # Where the user called us.
        warnings.warn("\n".join(lines), SlatevalWarning, stacklevel=stacklevel)
    return evaluation


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
    estimator: _options.Estimator | None = None,
    structure: str = "auto",
    correction: _options.Correction = "auto",
    target_slots: _options.TargetSlots = "independent",
    propensities: _options.PropensitySource = "known",
    band: _options.Band | None = "multiplier",
    min_propensity: float | None = None,
    confidence: float = 0.95,
    baseline: str | None = None,
    alpha: float | Iterable[float] = (0.05, 0.1, 0.25),
    tail: _options.Tail = "lower",
    quantile: float | Iterable[float] = (0.25, 0.5, 0.75),
    at_least: float | Iterable[float] = (),
    bins: int | Literal["log"] = 4096,
    draws: int = 2000,
    debias_cvar: bool = False,
    seed: int = 0,
    allow_duplicates: bool = False,
    on_bad_row: _options.OnBad = "fail",
    on_bad_file: _options.OnBad = "fail",
    on_unknown_file: _options.OnUnknown = "warn",
    allow_unended: bool = False,
    memory: int | None = None,
    threads: int | None = None,
    progress: Any = None,
) -> Evaluation:
    """Estimates each target policy's reward distribution from a log.

    Parameters
    ----------
    data : path, frame, Arrow data, dict or iterable, optional
        A path, a glob or a list of them (Parquet, CSV, JSON lines, Arrow); a pandas or Polars frame, lazy ones
        included; a pyarrow Table, RecordBatch, RecordBatchReader or Dataset; a DuckDB relation; anything else with
        `__arrow_c_stream__`; a dict of arrays; an iterable of these. Streams are read in constant memory. Without
        `data`, the columns below are arrays: `(n,)` or `(n, K)`.
    reward : str or array
        The reward of each slate; by default the column `reward`.
    logging : str or array, optional
        Propensities of the actions shown under the policy that wrote the log: columns `mu_1` to `mu_K` or a list for
        the name `mu`, which is the default.
    target : str, dict or array, optional
        Propensities of the same actions under the new policy, or under several by name: `{"new": "pi_new"}`. By
        default `pi`.
    chi, anywhere, weight : str, dict or array, optional
        What some weights need beside each target: `sum_a pi(a)**2 / mu(a) - 1` of each slot, the probability of
        showing the item anywhere (`structure="ranking:N"`), or the weight itself (`structure="given"`).
    long : bool
        Whether the log has one row per slot, as OBP has it.
    slate : str, optional
        The column of slates' ids, with `long`.
    by : str, list of str or array, optional
        Whose values make segments; of several columns, each combination of values.
    cluster : str or array, optional
        Rows with the same value, such as a user, are not independent of each other.
    estimator : {"suno", "uno"}, optional
        The paper's estimators: stands for a structure and no correction.
    structure : str
        How slots act together: "auto" (chosen from the data), "additive", "product", "order:M",
        "interactions:1+2,2+3", "ranking:N", "given" or "paper-order:M".
    correction : {"auto", "none", "self-normalized", "control-variate", "calibrated"}
        What makes the weights less noisy.
    target_slots : {"independent", "joint"}
        Whether the targets' slots depend on each other, given the context.
    propensities : {"known", "estimated"}
        Whether the logging policy wrote its propensities down, or they were estimated from the log: a check then warns.
    band : {"multiplier", "bernstein", "none"}
        Where bands and intervals come from.
    min_propensity : float, optional
        No logging propensity of any action is below this; for band "bernstein".
    confidence : float
        The probability with which each interval is to hold the truth.
    baseline : str, optional
        A target to compare the others with, beside logging.
    alpha : float or several
        Tails for VaR and CVaR.
    tail : {"lower", "upper"}
        Which tail that is.
    quantile : float or several
        Levels of quantiles. Other levels can be asked for later.
    at_least : float or several
        Rewards x for which the probability of a reward of at least x is reported. With at most 8 distinct rewards, all
        but the smallest are reported without being asked for.
    bins : int or "log"
        How many different rewards are kept exactly, or bins on a logarithmic scale.
    draws, seed : int
        How many multiplier draws intervals rest on, and where they begin.
    debias_cvar : bool
        Whether CVaR is corrected for its bootstrap bias.
    allow_duplicates : bool
        Whether a file that is in `data` twice, by another path or a link, is counted twice; otherwise it is refused.
        A copy is a file of its own, and counts.
    on_bad_row : {"fail", "skip"}
        What to do about rows that cannot be used: refuse the log, or leave them out, count them and name the first. In
        a log of one row per slot, the slates of such rows are left out.
    on_bad_file : {"fail", "skip"}
        What to do about files that cannot be read to their end: refuse the log, or leave out each as a whole.
    on_unknown_file : {"warn", "fail", "skip"}
        What to do about files in a directory that are no logs, by their endings and by their first bytes: leave them
        out with a warning, refuse the log, or leave them out.
    allow_unended : bool
        Whether a text file may lack the line feed of its last line, and an Arrow stream its end mark; otherwise it is
        refused, because it may have been cut short.
    memory : int, optional
        Bytes that sums may take; by default half of the machine's memory. Half as many may be held of a Parquet or
        Arrow file while it is read. A log that may need more is refused. The numbers do not depend on it.
    threads : int, optional
        At most so many. The numbers do not depend on it.
    progress : bool, callable or bar, optional
        `True`, a function of `(rows, total)`, or a bar with `update(n)` such as tqdm's.

    Returns
    -------
    Evaluation
        The policies by name, how they compare, segments, checks.

    Raises
    ------
    InputError
        For values, shapes and settings that cannot be right; `NoRowsError` for a log without rows.
    DataTypeError
        For data of a kind that cannot hold a log.
    ColumnError
        For a column that is not there.
    MissingFileError, FileError
        For files that are not there or cannot be read.

    Warns
    -----
    SlatevalWarning
        If checks do not go well, files were left out, or one of two columns for the same thing is read.

    Examples
    --------
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
    structure, corrected = _options.structure_of(estimator, structure, correction)
    threads = _options.threads(threads)
    method = _options.method(
        correction=corrected,
        band=band,
        min_propensity=min_propensity,
        confidence=confidence,
        alpha=alpha,
        tail=tail,
        quantile=quantile,
        at_least=at_least,
        draws=draws,
        debias_cvar=debias_cvar,
        seed=seed,
        threads=threads,
    )
    slots, kept = _options.text("target_slots", target_slots), _options.bins_text(bins)
    source = _options.text("propensities", propensities, '"known" or "estimated"')
    tolerance = _options.tolerance(on_bad_row, on_bad_file, on_unknown_file, allow_unended, memory)

    def read(found: Any, columns: Columns) -> Evaluation:
        options = Options(
            columns,
            structure,
            slots,
            kept,
            baseline,
            propensities=source,
            allow_duplicates=bool(allow_duplicates),
            **tolerance,
        )
        summary = _read(found, options, method, threads, progress)
        # From here, through `_reading` and its kind, to where the user called us.
        depth = 5 if data is not None and not isinstance(data, _data.Elsewhere) else 6
        return _evaluated(summary, method, depth, lambda core: _second_look(core, found, options))

    return _reading(
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
    target_slots: _options.TargetSlots = "independent",
    propensities: _options.PropensitySource = "known",
    bins: int | Literal["log"] = 4096,
    interactions: bool = False,
    band_width: float = 0.05,
    confidence: float = 0.95,
    seed: int = 0,
    allow_duplicates: bool = False,
    on_bad_row: _options.OnBad = "fail",
    on_bad_file: _options.OnBad = "fail",
    on_unknown_file: _options.OnUnknown = "warn",
    allow_unended: bool = False,
    memory: int | None = None,
    threads: int | None = None,
    progress: Any = None,
) -> Inspection:
    """Tells whether a log is fit for the job: its schema as understood, every check, and what to do.

    Parameters
    ----------
    data : path, frame, Arrow data, dict or iterable, optional
        As for `evaluate`.
    reward : str or array
        The reward of each slate; by default the column `reward`.
    logging : str or array, optional
        Propensities of the actions shown under the policy that wrote the log: columns `mu_1` to `mu_K` or a list for
        the name `mu`, which is the default.
    target : str, dict or array, optional
        Propensities of the same actions under the new policy, or under several by name: `{"new": "pi_new"}`. By
        default `pi`.
    chi, anywhere, weight : str, dict or array, optional
        What some weights need beside each target: `sum_a pi(a)**2 / mu(a) - 1` of each slot, the probability of
        showing the item anywhere (`structure="ranking:N"`), or the weight itself (`structure="given"`).
    long : bool
        Whether the log has one row per slot, as OBP has it.
    slate : str, optional
        The column of slates' ids, with `long`.
    by : str, list of str or array, optional
        Whose values make segments; of several columns, each combination of values.
    cluster : str or array, optional
        Rows with the same value, such as a user, are not independent of each other.
    structure : str
        As for `evaluate`.
    target_slots : {"independent", "joint"}
        As for `evaluate`.
    bins : int or "log"
        As for `evaluate`.
    interactions : bool
        Whether to tell how strongly each two slots interact.
    band_width : float
        Tells how many rows a CDF band of this width takes.
    propensities, confidence, seed, allow_duplicates, on_bad_row, on_bad_file, on_unknown_file, allow_unended, memory,
    threads, progress
        As for `evaluate`.

    Returns
    -------
    Inspection
        A text that shows itself, with `to_dict()`.

    Raises
    ------
    Error
        As `evaluate`.

    Examples
    --------
    >>> import slateval
    >>> found = slateval.inspect({"reward": [1.0, 0.0], "mu_1": [0.5, 0.5], "pi_1": [0.9, 0.1]})
    >>> found.to_dict()["log"]["reward_type"]
    'binary'
    """
    threads = _options.threads(threads)
    structure, correction = _options.structure_of(None, structure, "auto")
    method = _options.method(correction=correction, confidence=confidence, seed=seed, threads=threads)
    width = _options.number("band_width", band_width)
    if not 0 < width < 1:
        raise InputError(f"band_width `{width}`: a band's width lies between 0 and 1")
    slots, kept = _options.text("target_slots", target_slots), _options.bins_text(bins)
    source = _options.text("propensities", propensities, '"known" or "estimated"')
    tolerance = _options.tolerance(on_bad_row, on_bad_file, on_unknown_file, allow_unended, memory)

    def read(data: Any, columns: Columns) -> tuple[str, str]:
        options = Options(
            columns, structure, slots, kept, None, bool(interactions), source, bool(allow_duplicates), **tolerance
        )
        if isinstance(data, _data.Elsewhere):
            return data.inspect(options, method, width, progress)
        paths = _data.paths_of(data)
        found = None if paths is not None else _data.batches_of(data, options.bases())
        objects, names = found or (None, [])
        request, tell = options.request(), teller(progress)
        return _with_rows(
            data,
            lambda: _slateval.inspect(
                request, method, paths or [], objects, names, bool(interactions), width, threads, tell
            ),
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
