"""What newcomers' mistakes are answered with; for the command line, see `crates/slateval-cli/tests/hints.rs`."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import slateval

RANDOM = np.random.default_rng(3)
FIRST = RANDOM.random((4000, 3)) < 0.8
MU, PI = np.where(FIRST, 0.8, 0.2), np.where(FIRST, 0.4, 0.6)
REWARD = FIRST.mean(axis=1) + RANDOM.normal(0, 0.1, 4000)


def log(mu: np.ndarray, pi: np.ndarray, reward: np.ndarray = REWARD) -> pd.DataFrame:
    columns = {"reward": reward}
    columns |= {f"{name}_{k + 1}": of[:, k] for name, of in (("mu", mu), ("pi", pi)) for k in range(of.shape[1])}
    return pd.DataFrame(columns)


def warned(*args: object, **settings: object) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        slateval.evaluate(*args, structure="additive", draws=200, **settings)
    return "\n".join(str(warning.message) for warning in caught)


def test_a_missing_column_comes_with_its_argument() -> None:
    frame = log(MU, PI).rename(columns={"reward": "clicks"})
    with pytest.raises(slateval.ColumnError, match='Name it with reward="COLUMN"'):
        slateval.evaluate(frame)
    with pytest.raises(slateval.ColumnError, match='Name it with target="new=COLUMN"'):
        slateval.evaluate(frame, reward="clicks", target={"new": "q"})


def test_points_in_time_are_not_to_be_cast() -> None:
    times = pd.date_range("2024-05-01", periods=4000, freq="s")
    with pytest.raises(slateval.DataTypeError, match="a point in time is no number") as caught:
        slateval.evaluate(reward=times.to_numpy(), logging=MU, target=PI)
    assert "astype" not in str(caught.value)
    with pytest.raises(slateval.DataTypeError, match="a point in time is no number"):
        slateval.evaluate(log(MU, PI).assign(reward=times))


def test_spans_of_time_are_divided_by_a_unit() -> None:
    spans = pd.Series(pd.to_timedelta(np.arange(4000) % 7, unit="s"))
    for reward in (spans, spans.to_numpy(), spans.astype(object)):
        with pytest.raises(
            slateval.DataTypeError, match=r'divide it by a unit, .* / np\.timedelta64\(1, "s"\)'
        ) as caught:
            slateval.evaluate(reward=reward, logging=MU, target=PI)
        assert "point in time" not in str(caught.value)
    assert slateval.evaluate(reward=spans / np.timedelta64(1, "s"), logging=MU, target=PI, band="none")


@pytest.mark.parametrize("dtype", ["str", "object", "category", None])
def test_text_is_not_to_be_cast(dtype: str | None) -> None:
    text = np.where(np.arange(4000) % 2 == 0, "1", "abc")
    reward = text if dtype is None else pd.Series(text, dtype=dtype)
    with pytest.raises(slateval.DataTypeError, match=r"convert the text to numbers, .* pandas\.to_numeric") as caught:
        slateval.evaluate(reward=reward, logging=MU, target=PI)
    assert "astype" not in str(caught.value)
    with pytest.raises(slateval.DataTypeError, match="convert the text of each column to numbers"):
        slateval.evaluate(reward=np.ones(4000), logging=MU.astype(str), target=PI)


def test_a_list_of_targets_names_each() -> None:
    frame = log(MU, PI).rename(columns=lambda name: name.replace("pi_", "pi_new_"))
    frame = frame.assign(**{f"pi_bolder_{k}": frame[f"pi_new_{k}"] for k in (1, 2, 3)})
    ev = slateval.evaluate(frame, target=["pi_new", "pi_bolder"], band="none")
    assert list(ev) == ["logging", "new", "bolder"]


def test_exchanged_propensities_are_named_wherever_rows_come_from(tmp_path: Path) -> None:
    says = "logging and target `target` look exchanged"
    wrong, path = log(PI, MU), str(tmp_path / "log.parquet")
    wrong.to_parquet(path)
    for data in (wrong, path, [wrong.iloc[:2000], wrong.iloc[2000:]]):
        assert says in warned(data)
    assert says in warned(reward=REWARD, logging=PI, target=MU)
    assert says not in warned(log(MU, PI))
    assert any(says in text for text in slateval.inspect(wrong).to_dict()["suspicions"])
    # A stream is read once.
    assert "propensities" in warned(frame for frame in [wrong])


def test_propensities_of_whole_slates_are_recognised() -> None:
    whole = [np.repeat(of.prod(axis=1, keepdims=True), 3, axis=1) for of in (MU, PI)]
    says = "these look like propensities of the whole slate"
    assert says in warned(reward=REWARD, logging=whole[0], target=whole[1])
    assert says in warned(log(whole[0], PI))
    assert says not in warned(log(MU, PI))


def test_inspect_counts_rows_that_are_alike() -> None:
    once = log(MU, PI)
    assert slateval.inspect(once).to_dict()["log"]["alike_rows"] == 0
    twice = slateval.inspect(pd.concat([once, once.iloc[:1000]], ignore_index=True)).to_dict()
    assert twice["log"]["alike_rows"] == 1000 and "written twice" in twice["suspicions"][0]
    shorter = np.where(np.arange(4000)[:, None] * np.array([0, 0, 1]) % 4 == 1, np.nan, 1.0)
    found = slateval.inspect(log(MU * shorter, PI * shorter)).to_dict()
    assert found["log"]["shorter_slates"] == 1000
