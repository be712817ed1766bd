"""Segments given as names, columns and arrays; arguments that are refused or warned of; messages in Python's words."""

from __future__ import annotations

import warnings
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import slateval
from conftest import Log

R, MU, PI = np.array([1.0, 0.0, 1.0, 0.0]), np.full((4, 1), 0.5), np.array([[0.9], [0.1], [0.9], [0.1]])
PLATFORM, COUNTRY = ["ios", "web", "ios", "web"], ["DE", "DE", None, "FR"]
FRAME = {"reward": R, "mu_1": MU[:, 0], "pi_1": PI[:, 0], "platform": PLATFORM, "country": COUNTRY}


@pytest.mark.parametrize("frame", [pd.DataFrame(FRAME), pl.DataFrame(FRAME)])
def test_a_series_names_its_segments(frame: Any) -> None:
    user = frame["reward"].astype(int) if isinstance(frame, pd.DataFrame) else frame["reward"].cast(int)
    user = user.rename("user")
    ev = slateval.evaluate(reward=R, logging=MU, target=PI, by=frame["platform"], cluster=user, band="none")
    assert ev.settings["by"] == "platform" and ev.settings["cluster"] == "user"
    assert [segment.column for segment in ev.segments] == ["platform"] * 2
    with pytest.raises(slateval.DataTypeError, match="pass a column's name, by='platform', or arrays alone"):
        slateval.evaluate(frame, by=frame["platform"])
    # A name that is taken is not given twice; arrays without one are called by their argument.
    for by in (frame["platform"].rename("mu"), PLATFORM):
        assert slateval.evaluate(reward=R, logging=MU, target=PI, by=by, band="none").settings["by"] == "by"


PAIRS = ["ios, DE", "ios, null", "web, DE", "web, FR"]


@pytest.mark.parametrize(
    "data", [FRAME, pd.DataFrame(FRAME), pl.DataFrame(FRAME), pl.DataFrame(FRAME).lazy(), pa.table(FRAME)]
)
def test_two_columns_make_segments_of_their_pairs(data: Any) -> None:
    ev = slateval.evaluate(data, by=["platform", "country"], band="none")
    assert [segment.value for segment in ev.segments] == PAIRS
    assert ev.segment("ios", None).rows == ev.segment("ios, null").rows == 1
    assert ev.segments[0].column == "platform, country" and ev.settings["by"] == "platform, country"
    assert slateval.evaluate(data, by=("platform",), band="none").settings["by"] == "platform"


def test_two_columns_of_files_and_arrays(tmp_path: Any) -> None:
    pl.DataFrame(FRAME).write_parquet(tmp_path / "log.parquet")
    pl.DataFrame(FRAME).write_csv(tmp_path / "log.csv")
    relation = duckdb.sql(f"SELECT * FROM '{tmp_path}/log.parquet'")
    for log in (tmp_path / "log.parquet", tmp_path / "log.csv", relation):
        ev = slateval.evaluate(log, by=["platform", "country"], band="none")
        assert [segment.value for segment in ev.segments] == PAIRS
        assert [segment.rows for segment in ev.segments] == [1, 1, 1, 1]
    frame = pd.DataFrame(FRAME)
    for by in (
        frame[["platform", "country"]],
        [frame.platform, frame.country],
        {"platform": PLATFORM, "country": np.array(COUNTRY, dtype=object)},
    ):
        ev = slateval.evaluate(reward=R, logging=MU, target=PI, by=by, band="none")
        assert [segment.value for segment in ev.segments] == PAIRS and ev.settings["by"] == "platform, country"
    with pytest.raises(slateval.ColumnError, match="`platfrom`"):
        slateval.evaluate(FRAME, by=["platfrom", "country"])
    with pytest.raises(slateval.InputError, match="by is empty"):
        slateval.evaluate(FRAME, by=[])


def test_an_order_higher_than_the_slots_is_refused(log: Log) -> None:
    for structure in ("order:9", "order:4", "paper-order:4"):
        with pytest.raises(slateval.InputError, match="slates have only 3 slots, so there are no sets of"):
            slateval.evaluate(reward=log.reward, logging=log.mu, target=log.pi, structure=structure)
    assert slateval.evaluate(reward=log.reward, logging=log.mu, target=log.pi, structure="order:3", band="none")


def test_exchanged_propensities_are_named(log: Log) -> None:
    columns = log.columns()
    exchanged = {name.replace("mu", "x").replace("pi", "mu").replace("x", "pi"): v for name, v in columns.items()}
    arrays = {"reward": log.reward, "logging": log.pi, "target": log.mu}
    for given in (arrays, {"data": exchanged}, {"data": pd.DataFrame(exchanged)}, {"data": pl.DataFrame(exchanged)}):
        with pytest.warns(slateval.SlatevalWarning, match="logging and target `target` look exchanged") as caught:
            slateval.evaluate(**given, draws=200)
        assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        slateval.evaluate(reward=log.reward, logging=log.mu, target=log.pi, draws=200)
        slateval.evaluate(reward=log.reward, logging=log.mu, target=np.full_like(log.pi, 0.9), draws=200)
    assert not any("exchanged" in str(warning.message) for warning in caught)


def test_messages_are_in_pythons_words(log: Log) -> None:
    """Settings are keyword arguments here, not flags."""
    odd = slateval.evaluate(reward=log.reward**9, logging=log.mu, target=np.full_like(log.pi, 0.99), bins=16, draws=200)
    weak = slateval.evaluate(reward=R, logging=MU, target=PI, by=PLATFORM)
    for ev in (odd, weak):
        texts = [check["message"] for check in ev.checks] + [str(ev), repr(ev), ev._repr_html_().replace("<!--", "")]
        texts += [str(reason) for reason in ev.to_pandas().reason]
        for text in texts:
            assert "slateval evaluate" not in text and not any(f"--{flag}" in text for flag in FLAGS), text[:300]


FLAGS = [
    "structure",
    "bins",
    "band",
    "correction",
    "target-slots",
    "by",
    "cluster",
    "confidence",
    "draws",
    "chi",
    "json",
]


def test_segments_are_found_by_the_values_of_a_frame() -> None:
    days = pd.to_datetime(["2026-01-02", "2026-01-03"] * 10)
    frame = pd.DataFrame({"reward": [1.0, 0.0] * 10, "mu_1": 0.5, "pi_1": 0.5, "new": [True, False] * 10})
    for by, column in (("new", frame.new), ("day", pd.Series(days)), ("day", pd.Series(days.date))):
        ev = slateval.evaluate(frame.assign(**{by: column}), by=by, band="none")
        assert ev.segment(column[0]).rows == 10
        assert float(ev.segment(column[1])["logging"].mean) == 0
