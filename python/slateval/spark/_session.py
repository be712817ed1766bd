"""The Spark session to work in."""

from __future__ import annotations

from typing import Any

from .. import _errors


class ClusterError(_errors.Error, RuntimeError):
    """A job that the cluster did not finish."""


def session_of(source: Any, spark: Any) -> Any:
    """The session to work in: the one given, that of a DataFrame, or the one that runs already."""
    found = spark if spark is not None else getattr(source, "sparkSession", None)
    if found is None:
        found = _running()
    if not hasattr(type(found), "conf"):
        raise ClusterError(f"spark= takes a SparkSession, not a {type(found).__name__}")
    if _is_stopped(found):
        raise ClusterError(
            "the Spark session was stopped: make a new one, and read the DataFrame again if there is one"
        )
    return found


def is_connect(session: Any) -> bool:
    """Whether a session is one of Spark Connect, which has no context on the driver."""
    return "connect" in type(session).__module__


def _running() -> Any:
    """The session of this thread or, in other threads and after Ctrl-C, of the process. None is started."""
    try:
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession
    except ImportError:
        raise ClusterError("slateval.spark needs pyspark: pip install pyspark pandas pyarrow") from None
    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        if not _has_context():
            raise ClusterError("there is no active Spark session: make one, or pass it as spark=") from None
    return SparkSession.builder.getOrCreate()


def _has_context() -> bool:
    try:
        from pyspark import SparkContext
    except ImportError:
        # The client of Spark Connect comes without.
        return False
    return SparkContext._active_spark_context is not None


def _is_stopped(session: Any) -> bool:
    if is_connect(session):
        return bool(session.is_stopped)
    context = session.sparkContext._jsc
    return context is None or bool(context.sc().isStopped())


def is_on(session: Any, setting: str) -> bool:
    """Whether a setting of Spark's is on."""
    return str(session.conf.get(setting)).lower() == "true"
