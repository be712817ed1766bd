"""Jobs with a name in Spark's pages, a bar on the driver, and an end at Ctrl-C."""

from __future__ import annotations

import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .._progress import Tell, teller
from ._session import is_connect

PATIENCE = 0.2
"""Seconds between two looks at a job."""

Look = Callable[[], tuple[int, int]]
"""Tasks done, and all tasks."""

_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


@contextmanager
def followed(session: Any, what: str, count: int | None, progress: Any) -> Iterator[None]:
    """Names the jobs that follow, tells how they get on, and cancels them if we are interrupted.

    Spark Connect has no context on the driver: its jobs go without.
    """
    if is_connect(session):
        yield
        return
    context = session.sparkContext
    group = f"slateval-{uuid.uuid4()}"
    before = [(name, context.getLocalProperty(name)) for name in _PROPERTIES]
    context.setJobGroup(group, f"slateval: {what}", interruptOnCancel=True)
    try:
        with _told(lambda: _tasks_done(context, group), count, progress):
            yield
    except KeyboardInterrupt:
        context.cancelJobGroup(group)
        raise
    finally:
        for name, value in before:
            context.setLocalProperty(name, value)


def _tasks_done(context: Any, group: str) -> tuple[int, int]:
    """Tasks done and all tasks of the first stage, which reads."""
    tracker = context.statusTracker()
    jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group))
    stages = sorted({stage for job in jobs if job is not None for stage in job.stageIds})
    info = tracker.getStageInfo(stages[0]) if stages else None
    return (info.numCompletedTasks, info.numTasks) if info is not None else (0, 0)


@contextmanager
def _told(look: Look, count: int | None, progress: Any) -> Iterator[None]:
    line = _Line() if progress is True else None
    tell = line or teller(progress)
    if tell is None:
        yield
        return
    follower = _Follower(look, count, tell)
    follower.start()
    try:
        yield
        follower.finish()
    finally:
        follower.stop()
        if line is not None:
            line.end()
    if follower.failure is not None:
        raise follower.failure


class _Follower(threading.Thread):
    """Looks at a job now and then, and tells what has changed. What goes wrong in telling is kept for the end."""

    def __init__(self, look: Look, count: int | None, tell: Tell) -> None:
        super().__init__(name="slateval-progress", daemon=True)
        self.look, self.count, self.tell = look, count, tell
        self.told: tuple[int, int | None] | None = None
        self.failure: Exception | None = None
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.wait(PATIENCE):
            try:
                done, total = self.look()
            except Exception:
                # The job says by itself that the cluster is gone.
                return
            self._say(done, self.count or total or None)

    def stop(self) -> None:
        self.stopped.set()
        self.join()

    def finish(self) -> None:
        """Tells that all is done."""
        self.stop()
        total = self.count or self.look()[1]
        if total:
            self._say(total, total)

    def _say(self, done: int, total: int | None) -> None:
        if self.failure is not None or self.told == (done, total):
            return
        self.told = (done, total)
        try:
            self.tell(done, total)
        except Exception as error:
            self.failure = error


class _Line:
    """A line on standard error, which is written over until it ends."""

    def __init__(self) -> None:
        self.begun = False

    def __call__(self, done: int, total: int | None) -> None:
        self.begun = True
        of = f"{total:,}" if total else "?"
        print(f"\rslateval: {done:,} of {of} tasks", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.begun:
            print(file=sys.stderr, flush=True)
