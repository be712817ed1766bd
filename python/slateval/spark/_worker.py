"""What executors do: read a part of the log, and merge parts.

Parts travel as rows of a DataFrame: a place that puts them in order, the part, and what went wrong instead of it. A
fault is a result like any other, so that Spark does not read a bad file four times over, and the driver can raise what
the executor met.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from .. import _errors, _slateval
from .._errors import Error, FileError, MissingFileError, NoRowsError
from ._frame import arrived
from ._session import ClusterError
from ._tasks import Groups

COLUMNS = "place long, part binary, fault string"
"""The columns of parts, as Spark writes them."""

_HIDDEN = "; the driver sees it: put the log where all executors see it too, on a shared disk or object storage"

PAUSES = (1.0, 4.0)
"""Seconds before a file is tried again: network disks and object storage have short outages."""

Read = Callable[[], _slateval.Summary]


class Part(NamedTuple):
    """A part of the log, or why there is none."""

    place: int
    part: bytes | None
    fault: str | None


def read_files(batches: Iterable[Any], count: int, packed: bytes, job: str) -> Iterator[Part]:
    """Reads the groups of tasks whose places come in the batches."""
    groups = Groups(count, packed, job)
    for batch in batches:
        for place in batch.column(0).to_pylist():
            yield _part(place, f"executor {socket.gethostname()}", partial(_tried, groups, place))


def _tried(groups: Groups, place: int) -> _slateval.Summary:
    for pause in PAUSES:
        try:
            return groups.read(place)
        except (FileError, MissingFileError):
            time.sleep(pause)
    return groups.read(place)


def read_rows(batches: Iterable[Any], columns: list[str], request: str, names: list[str]) -> Iterator[Part]:
    """Reads the rows of one partition of a DataFrame, whose columns get their names back. A partition may be empty."""
    from pyspark import TaskContext

    context = TaskContext.get()
    partition = context.partitionId() if context is not None else 0

    def read() -> _slateval.Summary:
        named = (arrived(batch, columns) for batch in batches)
        return _slateval.Summary.read_batches(request, named, names, None, 1, None)

    try:
        yield _part(partition, f"partition {partition}", read)
    except NoRowsError:
        return


def _part(place: int, where: str, read: Read) -> Part:
    try:
        return Part(place, read().to_bytes(), None)
    except NoRowsError:
        raise
    except Error as error:
        hint = _HIDDEN if isinstance(error, MissingFileError) else ""
        return Part(place, None, _fault(error, f"{where}: {error}{hint}"))


def _fault(error: Error, message: str) -> str:
    return json.dumps({"kind": type(error).__name__, "message": message})


def merge_runs(batches: Iterable[Any], length: int) -> Iterator[Part]:
    """Merges each run of so many places. Parts have to come in the order of their places."""
    for place, parts in groupby(_parts_in(batches), lambda part: part.place // length):
        yield _merged(place, parts)


def _merged(place: int, parts: Iterable[Part]) -> Part:
    """One part of many. Of several faults the first is kept: there is nothing to merge then."""
    merger = _slateval.Merger(True)
    try:
        for _, part, fault in parts:
            if fault is not None:
                return Part(place, None, fault)
            if part is not None:
                merger.add(_slateval.Summary.from_bytes(part))
        total = merger.finish()
        return Part(place, None if total is None else total.to_bytes(), None)
    except Error as error:
        return Part(place, None, _fault(error, str(error)))


def _parts_in(batches: Iterable[Any]) -> Iterator[Part]:
    for batch in batches:
        columns = [batch.column(name) for name in Part._fields]
        for row in range(batch.num_rows):
            yield Part(*(column[row].as_py() for column in columns))


WORK: dict[str, Callable[..., Iterator[Part]]] = {"files": read_files, "rows": read_rows, "merge": merge_runs}


def run(work: str, arguments: tuple[Any, ...], batches: Iterable[Any]) -> Iterator[Any]:
    """Does one kind of work, and hands parts to Spark as Arrow batches, one by one: a part may be large."""
    import pyarrow as pa

    schema = pa.schema([("place", pa.int64()), ("part", pa.binary()), ("fault", pa.string())])
    for part in WORK[work](batches, *arguments):
        yield pa.RecordBatch.from_pylist([part._asdict()], schema=schema)


def raise_fault(text: str) -> None:
    """Raises on the driver what an executor has met."""
    found = json.loads(text)
    kind = ClusterError if found["kind"] == "ClusterError" else getattr(_errors, found["kind"], Error)
    raise kind(found["message"])
