"""A log that a Spark cluster reads: files, or a DataFrame."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _data, _slateval, _tasks
from .._data import Elsewhere
from .._errors import DataTypeError, InputError, NoRowsError
from .._options import Options
from ._cluster import collected, on_executors
from ._frame import Narrow, refuse_streams
from ._session import session_of
from ._tasks import Groups, group

SLATE, POSITION = "slate_id", "position"
"""Columns of a log with one row per slot, unless others are named."""


class Parts(NamedTuple):
    """Parts of a log that executors will make, and how many, if that is known."""

    frame: Any
    expected: int | None
    what: str


class SparkLog(Elsewhere):
    """A log that a Spark cluster reads."""

    def __init__(self, source: Any, spark: Any) -> None:
        if type(source).__module__.startswith("pyspark.pandas") and hasattr(source, "to_spark"):
            source = source.to_spark()
        self.paths = _data.paths_of(source)
        if isinstance(source, (list, tuple)) and not source:
            raise NoRowsError("the list of paths is empty: give at least one file, directory or pattern")
        if self.paths is None and not _is_frame(source):
            raise DataTypeError(
                f"slateval.spark takes paths or a Spark DataFrame, not a {type(source).__name__}; "
                "slateval.evaluate takes everything else"
            )
        self.frame: Any = None if self.paths is not None else source
        self.session = session_of(source, spark)
        if self.frame is not None:
            refuse_streams(self.frame)

    def read(self, options: Options, method: str | None, progress: Any) -> _slateval.Summary:
        frame, count, what = self._of_files(options, method) if self.frame is None else self._of_rows(options, method)
        part = collected(self.session, frame, count, what, progress)
        merger = _slateval.Merger(True)
        if part is not None:
            merger.add(_slateval.Summary.from_bytes(part))
        summary = merger.finish(options.request(), self.paths or [])
        if summary is None or summary.rows == 0:
            raise NoRowsError("there are no rows in data: an empty log says nothing about any policy")
        return summary

    def inspect(self, options: Options, method: str, band_width: float, progress: Any) -> tuple[str, str]:
        summary = self.read(options, method, progress)
        schema = None if self.frame is None else Narrow.of(self.frame, options.bases()).without_rows()
        names = [] if self.frame is None else list(self.frame.columns)
        request, paths, interactions = options.request(), self.paths or [], options.interactions
        return _slateval.inspect_summary(request, method, summary, paths, schema, names, interactions, band_width)

    def _of_files(self, options: Options, method: str | None) -> Parts:
        tasks = _tasks.plan_of(options, self.paths or [], method)
        groups = Groups.of(group(tasks))
        places = self.session.range(0, groups.count, 1, groups.count)
        parts = on_executors(places, "files", groups.count, groups.packed, groups.job)
        files = len({task.file for task in tasks})
        return Parts(parts, groups.count, f"reading {files} file{'s' if files > 1 else ''}")

    def _of_rows(self, options: Options, method: str | None) -> Parts:
        if options.on_bad_file != "fail":
            raise InputError(f"on_bad_file={options.on_bad_file!r}: a DataFrame has no files; leave the setting out")
        if options.on_unknown_file != "warn":
            given = options.on_unknown_file
            raise InputError(f"on_unknown_file={given!r}: a DataFrame has no files; leave the setting out")
        narrow, names, request = Narrow.of(self.frame, options.bases()), list(self.frame.columns), options.request()
        _slateval.check_batches(request, narrow.without_rows(), names, method)
        if options.columns.long:
            narrow = narrow.together(options.columns.slate or SLATE, POSITION)
        parts = on_executors(narrow.frame, "rows", narrow.columns, request, names)
        return Parts(parts, None, "reading a DataFrame")


def _is_frame(source: Any) -> bool:
    kind = type(source)
    return kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame"
