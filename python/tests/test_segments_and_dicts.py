"""Segments and dicts of arrays: missing values become null, and unreadable values are refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import slateval
from conftest import Log

R, MU, PI = np.ones(4), np.full((4, 2), 0.5), np.full((4, 2), 0.25)
HIDDEN = [False, True, False, False]

pytestmark = pytest.mark.filterwarnings("ignore::slateval.SlatevalWarning")


def segments(by: Any) -> dict[Any, int]:
    ev = slateval.evaluate(reward=R, logging=MU, target=PI, by=by, band="none")
    return {segment.value: segment.rows for segment in ev.segments}


@pytest.mark.parametrize(
    ("by", "wanted"),
    [
        (np.ma.array([1, 9, 2, 2], mask=HIDDEN), {None: 1, 1: 1, 2: 2}),
        (np.ma.array([True, True, False, False], mask=HIDDEN), {None: 1, True: 1, False: 2}),
        (np.ma.array(list("axbb"), mask=HIDDEN), {None: 1, "a": 1, "b": 2}),
        (
            np.array(["2020-01-01", "NaT", "2020-01-02", "NaT"], dtype="M8[D]"),
            {None: 2, "2020-01-01": 1, "2020-01-02": 1},
        ),
        (pd.Series(["a", None, "b", np.nan], dtype=object), {None: 2, "a": 1, "b": 1}),
        (pd.Series(["a", None, "b", "b"], dtype="string"), {None: 1, "a": 1, "b": 2}),
        (pd.Series(["a", None, "b", "b"], dtype="category"), {None: 1, "a": 1, "b": 2}),
        (pd.Series([1, None, 2, 2], dtype="Int64"), {None: 1, 1: 1, 2: 2}),
        (pd.Series([1, None, 2, 2], dtype="Int64").astype("category"), {None: 1, 1: 1, 2: 2}),
        (pd.Series([True, None, False, False], dtype="boolean"), {None: 1, True: 1, False: 2}),
        (pl.Series([1, None, 2, 2]), {None: 1, 1: 1, 2: 2}),
        (pa.array(["a", None, "b", "b"]), {None: 1, "a": 1, "b": 2}),
        (np.array([1, 1, 2, 2], dtype=np.uint64), {1: 2, 2: 2}),
    ],
)
def test_nulls(by: Any, wanted: dict[Any, int]) -> None:
    assert segments(by) == wanted
    frame = {"reward": R, "mu": MU, "pi": PI, "by": by}
    ev = slateval.evaluate(frame, by="by", band="none")
    assert {segment.value: segment.rows for segment in ev.segments} == wanted


@pytest.mark.parametrize(
    ("by", "error", "message"),
    [
        (
            np.array([2**64 - 1] * 4, dtype=np.uint64),
            slateval.InputError,
            "by holds 18446744073709551615; .* make them text",
        ),
        ([2**70] * 4, slateval.InputError, "by holds 1180591620717411303424; whole numbers go up to"),
        (np.array([b"a"] * 4), slateval.DataTypeError, "by holds bytes; text is needed: decode them"),
        ([b"a", None, b"b", b"b"], slateval.DataTypeError, "by holds bytes"),
        ([1, "a", None, 2], slateval.DataTypeError, r"different kinds \(int, str\)"),
        ([object()] * 4, slateval.DataTypeError, r"of a kind that is not read \(object\)"),
        ([[1], [1, 2], [1], [1]], slateval.InputError, "by: rows of different lengths"),
    ],
)
def test_labels_that_are_refused(by: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        segments(by)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"reward": np.ma.array([1, 9, 2, 2], mask=HIDDEN)}, "row 2: `reward` is null"),
        ({"reward": np.ma.array([True] * 4, mask=HIDDEN)}, "row 2: `reward` is null"),
        ({"reward": np.ma.array(R, mask=HIDDEN)}, "row 2: `reward` is null"),
        ({"reward": [1.0, None, 2, 3]}, "row 2: `reward` is null"),
        ({"reward": np.array([1, np.inf, 1, 1])}, "row 2: `reward` is inf"),
        ({"mu": np.full((4, 2), np.inf), "pi": np.full((4, 2), np.inf)}, "`mu` item 1 is inf"),
        ({"reward": R[:3]}, "different numbers of rows: reward 3, mu 4, pi 4"),
        ({"mu": [[0.5], [0.5, 0.5], [0.5], [0.5]]}, r"column `mu`: lists are read .* pass an array of shape \(n, K\)"),
    ],
)
def test_dicts_that_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(slateval.InputError, match=message):
        slateval.evaluate({"reward": R, "mu": MU, "pi": PI, **changed})


def test_lists_of_pandas_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "pyarrow" else found(name, *rest)
    )
    with pytest.raises(
        slateval.DataTypeError, match=r"column `mu` holds lists: .* with pyarrow: install it, or pass an"
    ):
        slateval.evaluate(pd.DataFrame({"reward": R, "mu": MU.tolist(), "pi": PI.tolist()}))


def test_what_is_no_path() -> None:
    with pytest.raises(slateval.InputError, match="standard input is read by the command line"):
        slateval.evaluate("-")
    with pytest.raises(slateval.InputError, match="`hdfs` is not read; use s3://, gs://, az://"):
        slateval.evaluate("hdfs://host/log.parquet")
    with pytest.raises(slateval.InputError, match="a path object drops one of them: pass text"):
        slateval.evaluate(Path("s3://bucket/log.parquet"))
    with pytest.raises(slateval.InputError, match=r"pass logging=, an array \(n, K\)"):
        slateval.evaluate(reward=R, target=PI)


def test_old_times_of_parquet_are_in_utc(log: Log, tmp_path: Path) -> None:
    """Spark and Impala count times of 96 bits from midnight in UTC, though the file does not say so."""
    hours = np.datetime64("2026-11-16T05:00:00", "ns") + (np.arange(len(log.reward)) % 3) * np.timedelta64(1, "h")
    path = tmp_path / "old.parquet"
    table = pa.table({**log.columns(), "hour": hours})
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    found = [segment.value for segment in slateval.evaluate(path, by="hour", band="none").segments]
    assert found == [f"2026-11-16T0{hour}:00:00Z" for hour in (5, 6, 7)]
