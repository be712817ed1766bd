"""Bad input never becomes a number, and the message says what to pass instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import slateval
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

R, MU, PI = np.ones(4), np.full((4, 2), 0.5), np.full((4, 2), 0.25)


def arrays(**changed: Any) -> slateval.Evaluation:
    return slateval.evaluate(**{"reward": R, "logging": MU, "target": PI, **changed})


def wrong(values: np.ndarray, row: int, value: float) -> np.ndarray:
    changed = values.copy()
    changed[(row, *[1] * (values.ndim - 1))] = value
    return changed


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        (
            {"reward": wrong(R, 2, np.nan)},
            ValueError,
            "row 3: `reward` is NaN: .* only if rewards are missing at random",
        ),
        ({"reward": wrong(R, 2, np.inf)}, ValueError, "row 3: `reward` is inf"),
        ({"logging": wrong(MU, 1, 0.0)}, ValueError, "row 2: `mu` item 2 is 0: a logging propensity lies in"),
        ({"logging": wrong(MU, 1, 1.5)}, ValueError, "row 2: `mu` item 2 is 1.5"),
        ({"target": wrong(PI, 1, -0.1)}, ValueError, "row 2: `pi` item 2 is -0.1"),
        ({"logging": wrong(MU, 1, np.nan)}, ValueError, "row 2: `mu` item 2 is null but `pi` item 2 is not"),
        ({"reward": np.ones(3)}, ValueError, "different numbers of rows: reward 3, logging 4, target 4"),
        ({"target": np.full((4, 3), 0.2)}, ValueError, "different numbers of slots: logging 2, target 3"),
        ({"target": PI.reshape(2, 2, 2)}, ValueError, r"target has shape \(2, 2, 2\); pass \(n, K\)"),
        ({"reward": MU}, ValueError, r"reward has shape \(4, 2\); pass \(n,\)"),
        ({"logging": MU.astype(object)}, TypeError, r"logging is an array of Python objects; pass floats of shape"),
        ({"logging": [[0.5], [0.5, 0.5], [0.5], [0.5]]}, ValueError, "logging: rows of different lengths; pass floats"),
        ({"reward": np.array(["a"] * 4)}, TypeError, r"reward is an array of <U1; numbers are needed"),
        ({"target": "pi"}, TypeError, "target is the name of a column, and there are no data"),
        ({"reward": "reward"}, TypeError, "there are no data: pass a log"),
        ({"by": np.array([0.5] * 4)}, TypeError, "by holds numbers with decimals"),
        ({"by": [1, "a", 2, None]}, TypeError, "`by` holds values of different kinds"),
        ({"structure": "sideways"}, ValueError, "structure `sideways`"),
        ({"confidence": 2}, ValueError, "confidence `2`: must lie between 0 and 1"),
        ({"confidence": float("nan")}, ValueError, "confidence `nan`: must be a finite number"),
        ({"confidence": "high"}, TypeError, "confidence must be a number, not a str"),
        ({"seed": 1.5}, TypeError, "seed must be a whole number"),
        ({"threads": 0}, ValueError, "threads `0`: must be at least 1"),
        ({"estimator": "snips"}, ValueError, 'use "suno" or "uno"'),
        ({"estimator": "suno", "correction": "none"}, ValueError, "leave those two out"),
        ({"debias_cvar": True, "band": "none"}, ValueError, "debias_cvar `on`: needs the draws of band multiplier"),
        ({"baseline": "target"}, ValueError, "it is the only target; give another target to compare with it"),
        ({"alpha": [0.1, 1.2]}, ValueError, "alpha `1.2`"),
        ({"bins": "many"}, ValueError, "bins"),
        ({"long": True}, ValueError, "arrays have one row per slate"),
        ({"progress": 3}, TypeError, "progress must be True"),
    ],
)
def test_arrays_and_settings(changed: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        arrays(**changed)
    assert isinstance(caught.value, slateval.Error)
    assert "--" not in str(caught.value)


def test_columns(parquet: str) -> None:
    frame = pl.DataFrame({"rewards": R, "mu_1": MU[:, 0], "pi_1": PI[:, 0]})
    for data in (frame, frame.to_pandas(), frame.to_arrow(), frame.lazy()):
        with pytest.raises(KeyError) as caught:
            slateval.evaluate(data)
        assert str(caught.value).startswith("data: there is no column `reward`; say which column holds the rewards.")
        assert "`rewards`" in str(caught.value)
    with pytest.raises(slateval.ColumnError, match=r"there is no column `pi_x` \(looked for"):
        slateval.evaluate(parquet, target="pi_x")
    text = frame.with_columns(reward=pl.Series(["a", "b", "c", "d"]))
    with pytest.raises(TypeError, match=r"column `reward` is of type .*; numbers are needed here .*: cast it first"):
        slateval.evaluate(text)
    mixed = pd.DataFrame({"reward": [1.0, "x", None, []], "mu_1": MU[:, 0], "pi_1": PI[:, 0]}, dtype=object)
    with pytest.raises(TypeError, match="different kinds"):
        slateval.evaluate(mixed)
    with pytest.raises(slateval.InputError, match="chi `x=c`: there is no target `x`, only target"):
        slateval.evaluate(parquet, chi={"x": "c"})
    with pytest.raises(TypeError, match="reward is an array, and there are data"):
        slateval.evaluate(parquet, reward=R)


def test_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        slateval.evaluate(tmp_path / "nothing.parquet")
    with pytest.raises(FileNotFoundError, match="no file fits this pattern"):
        slateval.evaluate(str(tmp_path / "*.parquet"))
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        slateval.load(tmp_path / "nothing.slateval")
    with pytest.raises(slateval.FileError, match="cannot read it"):
        slateval.load(tmp_path)
    with pytest.raises(slateval.DataTypeError, match="load takes the path of a summary, not a int"):
        slateval.load(3)  # type: ignore[arg-type]
    with pytest.raises(slateval.DataTypeError, match="a summary is made of bytes, not of a str"):
        slateval.Summary.from_bytes("x")  # type: ignore[arg-type]
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and no more")
    with pytest.raises(OSError, match="not a readable Parquet file"):
        slateval.evaluate(broken)
    (tmp_path / "no.slateval").write_bytes(b"SLATEVAL")
    with pytest.raises(ValueError, match="not a readable summary"):
        slateval.load(tmp_path / "no.slateval")
    with pytest.raises(OSError, match="cannot write"):
        arrays().save(tmp_path / "no" / "where.slateval")


def test_things_that_are_no_log() -> None:
    for thing in (5, object(), b"bytes", MU, [1, 2], ["log.parquet", 3], pa.array([1.0])):
        with pytest.raises(slateval.DataTypeError):
            slateval.evaluate(thing)
    for thing in (pl.Series(R), pd.Series(R), pa.chunked_array([R])):
        with pytest.raises(slateval.DataTypeError, match="is one column and no log"):
            slateval.evaluate(thing)
    for thing in ({}, {"x": R}):
        with pytest.raises(slateval.ColumnError, match="none of the columns that a log has"):
            slateval.evaluate(thing)
    with pytest.raises(slateval.InputError, match="there are no rows in data"):
        slateval.evaluate([])
    with pytest.raises(ValueError, match="there are no rows in data"):
        slateval.evaluate({"reward": [], "mu_1": [], "pi_1": []})
    with pytest.raises(ValueError, match="there are no rows"):
        slateval.Summary().evaluate()
    with pytest.raises(TypeError, match="add them to a new one"):
        slateval.Summary.from_bytes(_summary().to_bytes()).add({})


def _summary(**columns: Any) -> slateval.Summary:
    summary = slateval.Summary(**columns)
    summary.add({"reward": R, "mu_1": MU[:, 0], "pi_1": PI[:, 0], "device": ["a"] * 4})
    return summary


def test_summaries_of_different_things() -> None:
    with pytest.raises(ValueError, match="these summaries do not fit together: segments"):
        _summary().merge(_summary(by="device"))
    with pytest.raises(ValueError, match="nothing to merge"):
        slateval.merge([])


def test_batches_that_are_not_of_one_log() -> None:
    whole = pl.DataFrame({"reward": R, "mu_1": MU[:, 0], "pi_1": PI[:, 0]})
    turned = whole.select("pi_1", "reward", "mu_1")
    assert slateval.evaluate([whole, turned]).log["rows"] == 8
    with pytest.raises(ValueError, match="column `mu_1` is Float64 in data and absent in data from row 5 on"):
        slateval.evaluate([whole, whole.drop("mu_1")])
    with pytest.raises(ValueError, match="data, row 7: `reward` is null"):
        slateval.evaluate([whole, whole.with_columns(reward=pl.Series([1.0, 1.0, None, 1.0]))])


def test_errors_of_producers_arrive_as_they_are() -> None:
    def batches() -> Any:
        yield pl.DataFrame({"reward": R, "mu_1": MU[:, 0], "pi_1": PI[:, 0]})
        raise RuntimeError("the lake is on fire")

    with pytest.raises(RuntimeError, match="the lake is on fire"):
        slateval.evaluate(batches())


numbers = st.one_of(
    st.floats(0.01, 1.0),
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-3, 3),
    st.none(),
    st.booleans(),
    st.text(max_size=3),
)
columns = st.lists(numbers, min_size=0, max_size=6)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.sampled_from(["reward", "mu_1", "mu_2", "pi_1", "pi_2", "mu", "pi", "chi_1", "x"]), columns),
    st.sampled_from(["auto", "additive", "product", "order:2", "given", "ranking:3"]),
    st.sampled_from(["pandas", "dict", "polars"]),
)
@pytest.mark.filterwarnings("ignore::slateval.SlatevalWarning")
def test_random_frames_are_refused_or_right(data: dict[str, list[Any]], structure: str, kind: str) -> None:
    try:
        frame = {"pandas": pd.DataFrame, "polars": lambda d: pl.DataFrame(d, strict=False), "dict": dict}[kind](data)
    except (ValueError, TypeError, pl.exceptions.PolarsError, OverflowError):
        return
    try:
        ev = slateval.evaluate(frame, structure=structure, draws=100)
    except (slateval.Error, ValueError, TypeError, KeyError, OverflowError):
        return
    rewards = np.array([float(r) for r in data["reward"]])
    assert float(ev["logging"].mean) == pytest.approx(rewards.mean(), rel=1e-9, abs=1e-9)
    assert ev.log["rows"] == len(rewards)
