"""Work on a Spark cluster: functions that run on executors, and parts that are merged there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .. import _slateval
from ._progress import followed
from ._session import ClusterError, is_on
from ._worker import COLUMNS, raise_fault

FAN_IN = 16
"""Parts that are merged at once: all of them may be in one batch of Spark's, so they have to fit into its memory."""

UNKNOWN = FAN_IN**3
"""How many parts are expected where Spark cannot say. More are merged too, but the last task has more to do."""

TASKS_OF_UNKNOWN = (64, 8)
"""Tasks that merge so many parts, level by level, where Spark does not choose their number by itself."""

LOST = ("ExecutorLostFailure", "Python worker exited unexpectedly", "OutOfMemory", "exit code", "exit status")
"""How Spark says that an executor, or the Python process of one, is gone."""


NOT_INSTALLED = ("ModuleNotFoundError", "No module named", "PACKAGE_NOT_INSTALLED", "must be installed")
"""How Spark says that the Python of an executor lacks a package."""


def on_executors(frame: Any, work: str, *arguments: Any) -> Any:
    """The parts that executors make of a frame's partitions by one kind of work."""
    return frame.mapInArrow(_travelling(work, arguments, _slateval.__version__), COLUMNS)


def _travelling(work: str, arguments: tuple[Any, ...], version: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function that executors can load though they may lack slateval, or have another version of it.

    It is defined inside another one and uses none of this module's names, so that it travels by value.
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import json
        import socket
        import sys

        where = f"executor {socket.gethostname()}: "
        try:
            import slateval
        except ImportError as error:
            wrong = (
                f"its Python, {sys.executable}, cannot import slateval: {error}; install slateval {version} and "
                "pyarrow there, or set PYSPARK_PYTHON (spark.pyspark.python) to a Python that has both"
            )
        else:
            own = slateval.__version__
            wrong = "" if own == version else f"it has slateval {own}, and the driver {version}: install the same"
        if not wrong:
            from slateval.spark import _worker

            yield from _worker.run(work, arguments, batches)
            return
        import pyarrow as pa

        fault = json.dumps({"kind": "ClusterError", "message": where + wrong})
        schema = pa.schema([("place", pa.int64()), ("part", pa.binary()), ("fault", pa.string())])
        yield pa.RecordBatch.from_pylist([{"place": 0, "part": None, "fault": fault}], schema=schema)

    return run


def merged(parts: Any, count: int | None) -> Any:
    """All parts as one.

    They are merged in a tree whose shape depends on their places alone, so that the numbers are the same every time,
    whatever the order in which executors finish.
    """
    for tasks in _levels(parts.sparkSession, count):
        runs = parts.selectExpr("place", "part", "fault", f"place div {FAN_IN} as run").repartition(*tasks, "run")
        parts = on_executors(runs.sortWithinPartitions("place"), "merge", FAN_IN)
    return on_executors(parts.repartition(1).sortWithinPartitions("place"), "merge", 1 << 62)


def _levels(session: Any, count: int | None) -> Iterator[tuple[int, ...]]:
    """The number of tasks of each level of the tree above the last one; nothing where Spark is to choose it."""
    if count is None:
        adaptive = is_on(session, "spark.sql.adaptive.enabled")
        yield from (() if adaptive else (tasks,) for tasks in TASKS_OF_UNKNOWN)
        return
    while count > FAN_IN:
        count = -(-count // FAN_IN)
        yield (count,)


def collected(session: Any, parts: Any, count: int | None, what: str, progress: Any) -> bytes | None:
    """The one part that all parts make; none if there are no rows."""
    with followed(session, what, count, progress):
        try:
            rows = merged(parts, count).collect()
        except Exception as error:
            if not type(error).__module__.startswith(("pyspark", "py4j", "grpc")):
                raise
            raise ClusterError(f"the cluster did not finish: {_in_short(str(error))}{_advice(str(error))}") from error
    for row in rows:
        if row["fault"] is not None:
            raise_fault(row["fault"])
        return bytes(row["part"]) if row["part"] is not None else None
    return None


def _advice(message: str) -> str:
    """What may help, where Spark's words tell what went wrong."""
    if "maxResultSize" in message:
        return "\nOne summary is sent to the driver. Clusters and segments make it large: raise that setting."
    if any(words in message for words in NOT_INSTALLED):
        return (
            "\nThe Python of the executors lacks a package. Install slateval and pyarrow there, or set PYSPARK_PYTHON "
            "(spark.pyspark.python) to a Python that has both."
        )
    if any(words in message for words in LOST):
        return "\nExecutors that are lost may lack memory: raise spark.executor.memoryOverhead."
    return ""


def _in_short(message: str) -> str:
    """Spark's message without the places in Spark where it came up."""
    lines = (line.strip() for line in message.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("at "))[:1000]
