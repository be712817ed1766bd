"""Daily summaries, merged over a week, and a decision every day.

A summary's size does not depend on the rows, so days are kept and logs are not; a week is its days merged.

    pip install ./python && python examples/python/monitoring.py
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import slateval

SLOTS = 3
LOGGING, TARGET = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.3, 0.3, 0.2, 0.2])


def days() -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """The log of a day at a time; a frame or a path would do as well."""
    random = np.random.default_rng(3)
    for day in range(1, 8):
        items = random.choice(4, size=(2000, SLOTS), p=LOGGING)
        clicks = random.random(items.shape) < 0.05 + 0.03 * items
        yield day, {"reward": clicks.sum(axis=1), "mu": LOGGING[items], "pi_new": TARGET[items]}


with tempfile.TemporaryDirectory() as folder:
    for day, log in days():
        today = slateval.Summary(target={"new": "pi_new"})
        today.add(log)
        today.save(Path(folder) / f"day-{day}.slateval")

        week = slateval.merge(slateval.Summary.load(path) for path in sorted(Path(folder).iterdir()))
        ev = week.evaluate()
        gain = ev.comparison("new").mean
        failed = [check["name"] for check in ev["new"].checks if check["status"] == "fail"]
        if failed:
            verdict = f"cannot tell: {', '.join(failed)} failed"
        elif gain.lower is None or gain.upper is None or gain.lower <= 0 <= gain.upper:
            verdict = "cannot tell yet"
        else:
            verdict = "the mean rises" if gain.lower > 0 else "the mean falls"
        print(f"day {day}: {week.rows:6,} slates, mean {gain:+.4f}: {verdict}")
