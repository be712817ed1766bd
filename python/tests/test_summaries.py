"""Summaries: several threads, days without traffic, settings that differ, slates that are torn apart."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import slateval

ROWS: dict[str, Any] = {"reward": np.ones(4), "mu_1": np.full(4, 0.5), "pi_1": np.full(4, 0.25), "device": ["a"] * 4}


def filled(**settings: Any) -> slateval.Summary:
    summary = slateval.Summary(**settings)
    summary.add(ROWS)
    return summary


def test_threads_that_add_lose_no_rows() -> None:
    summary = pickle.loads(pickle.dumps(slateval.Summary(structure="additive")))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: summary.add(ROWS), range(200)))
    assert summary.rows == 800


def test_a_saved_summary_knows_its_day(parquet: str, tmp_path: Path) -> None:
    path = tmp_path / "day.slateval"
    slateval.evaluate(parquet).save(path, day="2024-02-29")
    loaded = slateval.Summary.load(path)
    assert loaded.days == ["2024-02-29"]
    assert [found["day"] for found in loaded.inputs] == ["2024-02-29"]
    loaded.save(path, day=datetime.date(2024, 3, 1))
    assert slateval.Summary.load(path).days == ["2024-02-29", "2024-03-01"]
    with pytest.raises(slateval.InputError, match="2024-05-31"):
        loaded.save(path, day="yesterday")
    assert slateval.Summary().days == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"structure": "addtive"}, "structure `addtive`: must be auto, additive"),
        ({"bins": "many"}, "bins `many`"),
        ({"target_slots": "sideways"}, "sideways"),
        ({"baseline": "nope"}, "nope"),
    ],
)
def test_settings_are_checked_before_there_are_rows(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(slateval.InputError, match=message):
        slateval.Summary(**settings)


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ({"structure": "additive"}, {"structure": "product"}, "structure: additive against product"),
        ({}, {"by": "device"}, "by: None against device"),
        ({"bins": 64}, {"bins": "log"}, "bins: 64 against log"),
        ({"target": {"new": "pi"}}, {"target": {"old": "pi"}}, "targets: new against old"),
    ],
)
def test_an_empty_summary_keeps_its_settings(one: dict[str, Any], other: dict[str, Any], what: str) -> None:
    others = (filled(**other), slateval.Summary(**other), slateval.Summary.from_bytes(filled(**other).to_bytes()))
    for with_other in others:
        with pytest.raises(slateval.InputError, match=f"do not fit together: {what}"):
            slateval.Summary(**one).merge(with_other)
    with pytest.raises(slateval.InputError, match="do not fit together"):
        slateval.merge([filled(**one), slateval.Summary(**other)])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"structure": "order:1", "by": "device"},
        {"structure": "interactions:1", "target": {"new": "pi"}, "bins": "log"},
        {"structure": "paper-order:1", "logging": "mu", "cluster": "device"},
    ],
)
def test_a_day_without_traffic(settings: dict[str, Any]) -> None:
    summary = filled(**settings)
    nothing = {name: values[:0] for name, values in ROWS.items()}
    for empty in (nothing, pd.DataFrame(ROWS)[:0], pl.DataFrame(ROWS)[:0], pa.table(ROWS).slice(0, 0), []):
        summary.add(empty)
    day = slateval.Summary(**settings)
    day.add(nothing)
    assert slateval.merge([summary, day]).rows == slateval.merge([day, summary.to_bytes()]).rows == 4
    assert slateval.merge([day, day]).rows == 0
    assert slateval.evaluate([nothing, ROWS, nothing], **settings).log["rows"] == 4


def long_rows() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "slate_id": np.repeat(np.arange(4), 2),
            "position": [1, 2] * 4,
            "reward": 1.0,
            "pscore_item_position": 0.5,
            "evaluation_policy_pscore_item_position": 0.5,
        }
    )


MAKERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "polars": pl.DataFrame,
    "lazy": lambda frame: pl.DataFrame(frame).lazy(),
    "table": pa.Table.from_pandas,
    "reader": lambda frame: pa.Table.from_pandas(frame).to_reader(max_chunksize=1),
    "duckdb": duckdb.from_df,
    "dict": lambda frame: {name: frame[name].to_numpy() for name in frame},
    "frames": lambda frame: iter([pl.DataFrame(frame)[:1], pl.DataFrame(frame)[1:]]),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_slates_in_two_adds(make: Callable[[pd.DataFrame], Any]) -> None:
    rows = long_rows()
    summary = slateval.Summary(long=True)
    for start, stop in ((0, 2), (2, 4)):
        summary.add(make(rows[start:stop]))
    summary = pickle.loads(pickle.dumps(summary))
    with pytest.raises(slateval.InputError, match="slate 1 was in the rows added before as well: keep the rows of a"):
        summary.add(make(rows[3:]))
    assert summary.rows == 2
    summary.add(make(rows[4:]))
    assert summary.rows == 4


class OnlyStream:
    """Arrow data of a library that nothing else is known of."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self.table = pa.Table.from_pandas(rows)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def test_streams_that_cannot_be_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slateval._data._has_pyarrow", lambda: False)
    summary = slateval.Summary(long=True)
    summary.add(OnlyStream(long_rows()[:4]))
    with pytest.raises(slateval.InputError, match="cannot be seen without pyarrow: install it, or keep the rows of a"):
        summary.add(OnlyStream(long_rows()[4:]))


@pytest.mark.parametrize("thing", [5, b"bytes", np.ones(3), [3], ["log.parquet", 3], iter(["x"]), None])
def test_things_that_are_no_long_log(thing: Any) -> None:
    with pytest.raises(slateval.DataTypeError, match="is no log; pass a path"):
        slateval.Summary(long=True).add(thing)


def test_what_is_given_in_place_of_summaries() -> None:
    summary, evaluation = filled(), filled().evaluate(band="none")
    for misuse, message in (
        (lambda: slateval.merge([summary, evaluation]), r"not an Evaluation; ev.merge\(other\) merges evaluations"),
        (lambda: slateval.merge([summary, "x"]), "merge takes summaries, as .* and the bytes of summaries, not a str"),
        (lambda: slateval.merge(summary), r"not one Summary: write merge\(\[one, other\]\)"),
        (lambda: evaluation.merge(summary), "an evaluation merges with an evaluation, not with a Summary"),
        (lambda: summary.merge(evaluation), "a summary merges with a summary, not with an Evaluation"),
        (lambda: slateval.partial(3), "partial takes a task of slateval.plan, not 3"),
        (lambda: summary.evaluate(bins=3), "bins is fixed when rows are added"),
        (lambda: summary.evaluate(bands="none"), "there is no setting 'bands'"),
    ):
        with pytest.raises(slateval.DataTypeError, match=message):
            misuse()
    with pytest.raises(slateval.InputError, match="there are no paths to plan"):
        slateval.plan([])


@pytest.mark.parametrize("make", [lambda: iter([ROWS]), lambda: pa.table(ROWS).to_reader()])
def test_streams_are_read_once(make: Callable[[], Any]) -> None:
    stream = make()
    slateval.evaluate(stream, band="none")
    for again in (slateval.evaluate, slateval.inspect):
        with pytest.raises(slateval.NoRowsError, match="no rows in data, or it has been read already"):
            again(stream)


def test_an_empty_iterator_has_no_rows() -> None:
    """A day without traffic may come as an iterator without batches."""
    summary = slateval.Summary()
    summary.add(iter([]))
    summary.add(batch for batch in [])
    assert summary.rows == 0
    with pytest.raises(slateval.NoRowsError, match="an empty summary says nothing"):
        summary.evaluate()
    with pytest.raises(slateval.NoRowsError, match="no rows in data"):
        slateval.evaluate(iter([]))
    batches = (batch for batch in [ROWS])
    summary.add(batches)
    with pytest.raises(slateval.NoRowsError, match="a generator that has been read already"):
        summary.add(batches)
