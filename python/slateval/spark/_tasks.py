"""The tasks of a plan, grouped so that each group is worth a task of Spark's, and packed for the journey."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from .. import _slateval
from .._tasks import Task

LEAST, MOST = 1 << 26, 1 << 28
"""Bytes of a group: fewer are not worth a task, more are too much to lose when an executor dies."""

FEW, MANY = 256, 10_000
"""Groups that are wanted of a small log, and groups that no log is to exceed by much."""


def group(tasks: Sequence[Task]) -> list[list[Task]]:
    """Runs of tasks of about the same size.

    They depend on the log alone and not on the cluster, so that the same log gives the same numbers everywhere.
    """
    total = sum(task.bytes for task in tasks)
    wanted = max(min(max(total // FEW, LEAST), MOST), total // MANY)
    groups: list[list[Task]] = []
    size = wanted
    for task in tasks:
        if size + task.bytes // 2 >= wanted:
            groups.append([])
            size = 0
        groups[-1].append(task)
        size += task.bytes
    return groups


@dataclass(frozen=True)
class Groups:
    """Groups of tasks in few bytes: every executor is sent all of them, and reads those it is told to."""

    count: int
    packed: bytes = field(repr=False)
    job: str = field(repr=False)

    @classmethod
    def of(cls, groups: Sequence[Sequence[Task]]) -> Groups:
        texts = [[task._task for task in tasks] for tasks in groups]
        return cls(len(texts), zlib.compress(json.dumps(texts).encode()), groups[0][0]._job)

    def read(self, place: int) -> _slateval.Summary:
        """The summary of one group."""
        tasks: list[list[str]] = json.loads(zlib.decompress(self.packed))
        return _slateval.partial(tasks[place], self.job)
