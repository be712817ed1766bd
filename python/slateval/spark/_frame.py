"""The columns of a Spark DataFrame that are needed, on their way to Python."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import _data
from .._errors import DataTypeError
from ._session import is_on


def refuse_streams(frame: Any) -> None:
    """Refuses a DataFrame whose rows never end."""
    if frame.isStreaming:
        raise DataTypeError(
            "a streaming DataFrame has no end: write it to files or a table, and evaluate what is there by then"
        )


class Narrow(NamedTuple):
    """The needed columns of a frame: moving rows to Python is what takes the time.

    In the frame they are called c0, c1, …: Spark does not move columns whose names have dots or backticks in them.
    """

    frame: Any
    columns: list[str]

    @classmethod
    def of(cls, frame: Any, bases: set[str]) -> Narrow:
        """The columns that may be asked for by these names."""
        columns = _data.needed(frame.columns, bases)
        _data.refuse_twins(columns)
        if not is_on(frame.sparkSession, "spark.sql.caseSensitive"):
            _refuse_alike(columns, frame.columns)
        aliases = [f"c{place}" for place in range(len(frame.columns))]
        places = [frame.columns.index(name) for name in columns]
        return cls(frame.toDF(*aliases).select(*(aliases[place] for place in places)), columns)

    def without_rows(self) -> Iterator[Any]:
        """The columns as Arrow data without rows."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        # New versions of Spark want to be told the time zone; old ones take UTC, and have no such argument.
        zone = {"timezone": "UTC"} if "timezone" in inspect.signature(to_arrow_schema).parameters else {}
        empty = pa.RecordBatch.from_pylist([], schema=to_arrow_schema(self.frame.schema, **zone))
        return iter([arrived(empty, self.columns)])

    def together(self, slate: str, position: str) -> Narrow:
        """The rows of each slate in one partition, one after the other, in the order of their slots."""
        by = self._alias(slate)
        return Narrow(self.frame.repartition(by).sortWithinPartitions(by, self._alias(position)), self.columns)

    def _alias(self, column: str) -> str:
        alias: str = self.frame.columns[self.columns.index(column)]
        return alias


def arrived(batch: Any, columns: list[str]) -> Any:
    """A batch whose columns have their names again.

    Points in time come in the session's time zone. They are read in UTC, as they are from files that Spark writes, so
    that their labels do not depend on the session.
    """
    import pyarrow as pa

    def in_utc(values: Any) -> Any:
        kind = values.type
        return values.cast(pa.timestamp(kind.unit, "+00:00")) if pa.types.is_timestamp(kind) and kind.tz else values

    return pa.RecordBatch.from_arrays([in_utc(values) for values in batch.columns], names=columns)


def _refuse_alike(columns: list[str], names: list[str]) -> None:
    """Refuses needed columns that differ from others in upper and lower case alone."""
    for column in columns:
        for name in names:
            if name != column and name.lower() == column.lower():
                raise DataTypeError(
                    f"the frame has columns `{column}` and `{name}`, which are one column to Spark; rename one of "
                    "them, or set spark.sql.caseSensitive to true"
                )
