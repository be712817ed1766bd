"""The same evaluation on a Spark cluster.

Given paths, executors read the files by themselves, and only summaries travel; given a Spark DataFrame, its rows are
moved to Python by Spark. In both cases summaries are merged on the executors, and one reaches the driver.

    from slateval.spark import evaluate

    ev = evaluate("s3://logs/day=*/", target={"new": "pi_new"})        # the fast way
    ev = evaluate(spark.table("slates"), target={"new": "pi_new"})     # views, joins, tables with deletes

Needs pyspark 3.5 or newer with pandas and pyarrow, and slateval in the same version on every executor.
"""

from __future__ import annotations

import inspect as _signatures
from typing import Any

from .. import _evaluate
from .._evaluation import Evaluation
from .._inspection import Inspection
from .._summary import Summary
from ._log import SparkLog
from ._session import ClusterError

__all__ = ["ClusterError", "evaluate", "inspect", "summary"]


def evaluate(source: Any, *, spark: Any = None, **settings: Any) -> Evaluation:
    """Estimates each target policy's reward distribution from a log that a Spark cluster reads.

    Parameters
    ----------
    source : path, list of paths or Spark DataFrame
        Files, globs or directories that the driver and all executors see, or a DataFrame. Executors read files
        natively, which is many times faster than moving the rows of a DataFrame.
    spark : SparkSession, optional
        The session; by default that of the DataFrame, the active one or the only one.
    **settings
        As for `slateval.evaluate`: the same names, defaults and numbers. `threads` are those that the driver evaluates
        with; `progress` counts tasks.

    Returns
    -------
    Evaluation
        As `slateval.evaluate`.

    Raises
    ------
    Error
        As `slateval.evaluate`; messages also say where it happened. `ClusterError` if the job failed for other
        reasons, such as executors that lack slateval or memory.

    Examples
    --------
    >>> from slateval.spark import evaluate
    >>> ev = evaluate("examples/slates.parquet", target={"new": "pi_new"}, spark=spark)    # doctest: +SKIP
    >>> print(f"{ev['new'].mean:.4f}")                                                     # doctest: +SKIP
    0.6654 [0.6552, 0.6705]
    """
    return _evaluate.evaluate(SparkLog(source, spark), **settings)


def inspect(source: Any, *, spark: Any = None, **settings: Any) -> Inspection:
    """Tells whether a log that a Spark cluster reads is fit for the job.

    Parameters
    ----------
    source, spark
        As for `evaluate`.
    **settings
        As for `slateval.inspect`.

    Returns
    -------
    Inspection
        As `slateval.inspect`.

    Raises
    ------
    Error
        As `evaluate`.

    Examples
    --------
    >>> from slateval.spark import inspect
    >>> inspect(spark.table("slates"), target={"new": "pi_new"}).to_dict()["log"]["rows"]  # doctest: +SKIP
    12000
    """
    return _evaluate.inspect(SparkLog(source, spark), **settings)


def summary(source: Any, *, spark: Any = None, progress: Any = None, **settings: Any) -> Summary:
    """The mergeable summary of a log that a Spark cluster reads: to keep, to merge, to evaluate in several ways.

    Parameters
    ----------
    source, spark, progress
        As for `evaluate`.
    **settings
        As for `slateval.Summary`.

    Returns
    -------
    Summary
        The summary of all rows.

    Raises
    ------
    Error
        As `evaluate`.

    Examples
    --------
    >>> from slateval.spark import summary
    >>> monday = summary("s3://logs/day=2026-11-16/", target={"new": "pi_new"})            # doctest: +SKIP
    >>> monday.save("monday.slateval")                                                     # doctest: +SKIP
    """
    log, made = SparkLog(source, spark), Summary(**settings)
    made.add(log, progress=progress)
    return made


def _say_arguments(own: Any, like: Any) -> None:
    """Lets `help` and editors list the settings by name."""
    settings = [
        parameter
        for parameter in _signatures.signature(like).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    signature = _signatures.signature(own)
    first = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    own.__signature__ = signature.replace(parameters=first + settings)


_say_arguments(evaluate, _evaluate.evaluate)
_say_arguments(inspect, _evaluate.inspect)
_say_arguments(summary, Summary)
