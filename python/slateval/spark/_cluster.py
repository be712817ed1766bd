"""Work on a Spark cluster: functions that run on executors, and parts that are merged there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .. import _errors, _slateval
from ._progress import followed
from ._worker import COLUMNS, raise_fault

FAN_IN = 16
"""Parts that are merged at once: all of them may be in one batch of Spark's, so they have to fit into its memory."""

UNKNOWN = FAN_IN**3
"""How many parts are expected where Spark cannot say. More are merged too, but the last task has more to do."""


class ClusterError(_errors.Error, RuntimeError):
    """A job that the cluster did not finish."""


def session_of(source: Any, spark: Any) -> Any:
    """The session to work in: the one given, that of a DataFrame, or the active one."""
    found = spark if spark is not None else getattr(source, "sparkSession", None)
    if found is not None:
        return found
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ClusterError("slateval.spark needs pyspark: pip install pyspark pandas pyarrow") from None
    active = SparkSession.getActiveSession()
    if active is None:
        raise ClusterError("there is no active Spark session: make one, or pass it as spark=")
    return active


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
            wrong = f"its Python, {sys.executable}, cannot import slateval: {error}; install slateval {version} there"
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
    left = UNKNOWN if count is None else count
    while left > FAN_IN:
        runs = parts.selectExpr("place", "part", "fault", f"place div {FAN_IN} as run").repartition("run")
        parts = on_executors(runs.sortWithinPartitions("place"), "merge", FAN_IN)
        left = -(-left // FAN_IN)
    return on_executors(parts.repartition(1).sortWithinPartitions("place"), "merge", 1 << 62)


def collected(session: Any, parts: Any, count: int | None, what: str, progress: Any) -> bytes | None:
    """The one part that all parts make; none if there are no rows."""
    with followed(session, what, count, progress):
        try:
            rows = merged(parts, count).collect()
        except Exception as error:
            if not type(error).__module__.startswith(("pyspark", "py4j", "grpc")):
                raise
            raise ClusterError(
                f"the cluster did not finish: {_in_short(str(error))}\n"
                "If executors died, memory is the usual reason: give them more (spark.executor.memoryOverhead), or use "
                "fewer segments or targets."
            ) from error
    for row in rows:
        if row["fault"] is not None:
            raise_fault(row["fault"])
        return bytes(row["part"]) if row["part"] is not None else None
    return None


def _in_short(message: str) -> str:
    """Spark's message without the places in Spark where it came up."""
    lines = (line.strip() for line in message.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("at "))[:1000]
