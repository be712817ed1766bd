"""A log in parts that can be read anywhere: plan, partial, merge.

Three pure functions, for any engine that runs Python on several machines: `plan` lists the tasks of a log, `partial`
reads one and returns bytes, `merge` puts the bytes together.

>>> import slateval
>>> tasks = slateval.plan("examples/slates.parquet", target={"new": "pi_new"})
>>> summary = slateval.merge(map(slateval.partial, tasks))
>>> summary.rows
12000
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from . import _data, _options, _slateval, _summary_settings, _warn
from ._errors import DataTypeError, InputError
from ._options import Columns, Options
from ._summary import Summary


@dataclass(frozen=True)
class Task:
    """A part of a log that can be read by itself, on any machine that sees the file.

    Parameters
    ----------
    file : str
        The file, or its address without user, password, and what follows `?`. The task itself keeps them, for it is
        read elsewhere: pickled tasks of such addresses are secrets.
    row_groups : tuple of int, optional
        From this row group to before that one (Parquet); all of the file if `None`.
    bytes : int
        The part of the file's bytes that it stands for.
    """

    file: str
    row_groups: tuple[int, int] | None
    bytes: int
    _task: str = field(repr=False)
    _job: str = field(repr=False)


def plan(
    paths: Any,
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
    on_bad_row: _options.OnBad = "fail",
    on_unknown_file: _options.OnUnknown = "warn",
    allow_unended: bool = False,
    allow_duplicates: bool = False,
) -> list[Task]:
    """The tasks of a log: files or objects, or row groups of Parquet files. Reads schemas and no rows.

    Parameters
    ----------
    paths : path or list of paths
        Files, globs, directories; addresses such as `s3://bucket/logs/` too.
    reward, logging : str, optional
        Names of columns, as for `evaluate`.
    target, chi, anywhere, weight : str or dict, optional
        Names of columns, as for `evaluate`.
    long, slate, by, cluster
        As for `evaluate`.
    structure, target_slots, propensities, bins, baseline, on_bad_row, on_unknown_file, allow_unended, allow_duplicates
        As for `evaluate`.

    Returns
    -------
    list of Task
        Tasks for `partial`, which pickle.

    Raises
    ------
    Error
        As `evaluate`.

    Examples
    --------
    >>> import slateval
    >>> tasks = slateval.plan("examples/slates.parquet", target={"new": "pi_new"})
    >>> tasks[0].row_groups
    (0, 3)
    """
    found = _data.paths_of(paths)
    if isinstance(paths, (list, tuple)) and not paths:
        raise InputError("there are no paths to plan: give at least one")
    if found is None:
        raise DataTypeError("plan takes paths, and not data: a task must be readable where it is sent")
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
    slots = _options.text("target_slots", target_slots)
    source = _options.text("propensities", propensities, '"known" or "estimated"')
    structure, kept = _options.text("structure", structure), _options.bins_text(bins)
    # A task may be a part of a file, and a file is left out as a whole: bad files are refused.
    tolerance = _options.tolerance(on_bad_row, "fail", on_unknown_file, allow_unended)
    allowed = bool(allow_duplicates)
    options = Options(
        columns, structure, slots, kept, baseline, propensities=source, allow_duplicates=allowed, **tolerance
    )
    return plan_of(options, found)


def plan_of(options: Options, paths: list[str], method: str | None = None) -> list[Task]:
    """The tasks of a log, to be evaluated like this if that is known already."""
    if options.on_bad_file != "fail":
        raise InputError(
            'on_bad_file="skip" is for logs that one process reads: a bad file is left out as a whole, and a task may '
            "be a part of a file"
        )
    tasks, job, remarks = _slateval.plan(options.request(), [everywhere(path) for path in paths], method)
    _warn.warn(remarks)
    return [Task(*listed, job) for listed in tasks]


def everywhere(path: str) -> str:
    """A path that means the same in another directory."""
    return path if _data.is_address(path) else os.path.abspath(path)


def partials(tasks: Sequence[Task]) -> _slateval.Summary:
    """Reads some tasks of one plan, and merges them in their order."""
    return _slateval.partial([task._task for task in tasks], tasks[0]._job)


def partial(task: Task) -> bytes:
    """Reads one task: its summary as bytes, compressed.

    Parameters
    ----------
    task : Task
        One of `plan`.

    Returns
    -------
    bytes
        For `merge`.

    Raises
    ------
    Error
        As `evaluate`.

    Examples
    --------
    >>> import slateval
    >>> (task,) = slateval.plan("examples/slates.parquet", target={"new": "pi_new"})
    >>> slateval.Summary.from_bytes(slateval.partial(task)).rows
    12000
    """
    if not isinstance(task, Task):
        raise DataTypeError(f"partial takes a task of slateval.plan, not {_slateval.redacted_text(repr(task)):.60}")
    return partials([task]).to_compressed()


def merge(parts: Iterable[bytes | Summary], *, allow_duplicates: bool = False) -> Summary:
    """The summary of all parts. The order does not matter but for the last bits of the numbers.

    Parameters
    ----------
    parts : iterable of bytes or Summary
        What `partial` returned, `Summary.to_bytes`, or summaries.
    allow_duplicates : bool
        Whether rows of a file that is in several parts are counted again; otherwise that is refused.

    Returns
    -------
    Summary
        All parts together.

    Raises
    ------
    InputError
        For no parts, for parts that do not fit together, and for rows of one file in two of them.
    DataTypeError
        For what is no part.

    Examples
    --------
    >>> import slateval
    >>> day = slateval.Summary(structure="additive")
    >>> day.add({"reward": [1.0, 0.0], "mu_1": [0.5, 0.5], "pi_1": [0.9, 0.1]})
    >>> slateval.merge([day, day.to_bytes()]).rows
    4
    """
    if isinstance(parts, (Summary, bytes, str)) or not isinstance(parts, Iterable):
        raise DataTypeError(f"merge takes several parts, not one {type(parts).__name__}: write merge([one, other])")
    total = _slateval.Merger(bool(allow_duplicates))
    first: Summary | None = None
    for part in parts:
        own = _summary_of(part)
        if own._core is not None:
            total.add(own._core)
        if first is None:
            first = own
        elif first._core is None or own._core is None:
            # The merger sees rows alone; summaries without any have to be of the same kind of log too.
            _summary_settings.refuse_differences(first._wanted(), own._wanted())
    if first is None:
        raise InputError("there is nothing to merge: give at least one part")
    core = total.finish()
    return Summary._of(core, None if core is not None else first._options)


def _summary_of(part: Any) -> Summary:
    if isinstance(part, Summary):
        return part
    if isinstance(part, (bytes, bytearray, memoryview)):
        return Summary.from_bytes(bytes(part))
    raise DataTypeError(
        "merge takes summaries, as slateval.Summary.load(path) reads them, and the bytes of summaries, not "
        f"{_summary_settings.kind(part)}"
    )
