"""Parquet files of pyarrow, Polars, DuckDB and fastparquet in random configurations are read as NumPy says.

`SLATEVAL_DIFFERENTIAL=5000` tries as many files in place of 300. A failure names the seed and the writer's options;
`pytest python/tests/test_parquet_writers.py -k 'seed-17'` tries one seed again.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import slateval
from parquet_writers import FAULTS, WHOLE, WRITERS, Slates, Written, plan, write

FILES = int(os.environ.get("SLATEVAL_DIFFERENTIAL", "300"))
SETTINGS: dict[str, Any] = {"by": "segment", "structure": "additive", "correction": "none", "band": "none"}


def label(value: Any) -> Any:
    """A segment's value as slateval has it."""
    return value.isoformat() if isinstance(value, datetime.date) else value


def expected(slates: Slates) -> dict[Any, tuple[int, float, float]]:
    """Rows, logging's mean and the target's mean of each segment, and of the whole log as `...`."""
    rows_of: dict[Any, list[int]] = defaultdict(list)
    for row, value in enumerate(slates.labels):
        rows_of[type(value), label(value)].append(row)
    rows_of[type(...), ...] = list(range(len(slates.reward)))
    weighted = slates.weights * slates.reward
    return {
        value: (len(rows), float(slates.reward[rows].mean()), float(weighted[rows].mean()))
        for (_, value), rows in rows_of.items()
    }


def found(document: dict[str, Any]) -> dict[Any, tuple[int, float, float]]:
    """The same of an evaluation."""

    def means(part: dict[str, Any]) -> list[float]:
        return [policy["mean"]["estimate"] for policy in part["policies"]]

    parts = {part["value"]: (part["rows"], *means(part)) for part in document["segments"]}
    return parts | {...: (document["log"]["rows"], *means(document))}


def compare(document: dict[str, Any], slates: Slates) -> None:
    ours, numpys = found(document), expected(slates)
    assert {(type(value), value) for value in ours} == {(type(label(value)), label(value)) for value in numpys}
    size = float(np.abs(slates.weights * slates.reward).max(initial=0)) + float(np.abs(slates.reward).max())
    for value, (rows, *means) in numpys.items():
        assert ours[value][0] == rows, value
        assert list(ours[value][1:]) == pytest.approx(means, rel=1e-12, abs=1e-12 * size), value


def check(written: Written, evaluate: Any) -> None:
    slates = written.slates
    if slates.fault is None:
        compare(evaluate(), slates)
        return
    with pytest.raises(slateval.Error, match=f"row {slates.faulty_row + 1}\\b"):
        evaluate()


@pytest.mark.parametrize("seed", range(FILES), ids=lambda seed: f"seed-{seed}")
def test_every_writers_files_are_read_as_numpy_says(seed: int, tmp_path: Path) -> None:
    written = write(seed, tmp_path)

    def evaluate() -> dict[str, Any]:
        return slateval.evaluate(str(written.path), **SETTINGS).to_dict()

    try:
        check(written, evaluate)
    except Exception as error:
        raise AssertionError(f"{written}: {error}") from error


@pytest.mark.parametrize("seed", range(0, FILES, 25), ids=lambda seed: f"seed-{seed}")
def test_the_command_reads_them_alike(seed: int, tmp_path: Path, binary: Path) -> None:
    written = write(seed, tmp_path)
    flags = [word for name, value in SETTINGS.items() for word in (f"--{name}", value)]

    def evaluate() -> dict[str, Any]:
        words = [binary, "evaluate", written.path, *flags, "--json", "-"]
        run = subprocess.run(words, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise slateval.Error(run.stderr)
        return json.loads(run.stdout)

    try:
        check(written, evaluate)
    except Exception as error:
        raise AssertionError(f"{written}: {error}") from error


def test_every_writer_type_and_fault_is_among_them() -> None:
    """The seeds are many enough: nothing is left out by chance."""
    plans = [plan(seed) for seed in range(300)]
    assert {plan.writer for plan in plans} == set(WRITERS)
    assert {plan.slates.fault for plan in plans} == {None, *FAULTS}
    assert {plan.numbers for plan in plans} == {"float64", "float32", "float16", "decimal"}
    assert {plan.rewards for plan in plans} == {"float64", "float32", "float16", "decimal", *WHOLE}
    assert {plan.layout for plan in plans} == {"columns", "lists", "large lists", "fixed lists"}
